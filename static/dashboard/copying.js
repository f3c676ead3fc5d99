// Copy buttons: shown where the browser can copy. Each copies the command beside it, the code after
// it (data-copy-from="next"), or the element that it names.

import { announce } from "./announce.js";

function textFor(button) {
  const from = button.dataset.copyFrom;
  if (!from) return button.parentElement.querySelector("code").textContent;
  return (from === "next" ? button.nextElementSibling : document.getElementById(from)).textContent;
}

export function wireCopying() {
  if (!navigator.clipboard) return;
  document.documentElement.dataset.canCopy = "";
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from]");
    if (!button) return;
    await navigator.clipboard.writeText(textFor(button));
    button.dataset.done = "";
    announce("Copied.");
    setTimeout(() => delete button.dataset.done, 1500);
  });
}
