// Copy buttons: shown where the browser can copy, each copies the command beside it.

export function wireCopying() {
  if (!navigator.clipboard) return;
  document.documentElement.dataset.canCopy = "";
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
    button.dataset.done = "";
    setTimeout(() => delete button.dataset.done, 1500);
  });
}
