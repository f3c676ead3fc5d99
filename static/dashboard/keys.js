// Keys, as the help dialog lists them: its <kbd data-key data-does> elements are the table.

import { moveRow } from "./rows.js";

const actions = new Map([
  ["help", () => document.getElementById("help").showModal()],
  ["filter", () => document.getElementById("filter-text")?.focus()],
  ["down", () => moveRow(1)],
  ["up", () => moveRow(-1)],
  ["open", () => document.activeElement?.closest("tr")?.querySelector("a[href]")?.click()],
  ["copy", () => press("[data-does=copy]")],
  ["create", () => press("[data-does=create]")],
  ["yaml", () => press("[data-side=yaml]")],
  ["diff", () => press("[data-side=history]")],
  ["edit", () => press("[data-side=edit]")],
  ["back", () => press(".crumb", -1)],
]);

function press(selector, which = 0) {
  const found = [...document.querySelectorAll(selector)].at(which);
  found?.focus();
  found?.click();
}

// Pages add what they can do: pause.
export function onAction(name, act) {
  actions.set(name, act);
}

function typing(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function goTo(name) {
  const link = [...document.querySelectorAll(".tabs a")].find((tab) => tab.dataset.go === name);
  if (link) location.assign(link.href);
}

export function wireKeys() {
  const table = new Map();
  for (const key of document.querySelectorAll("#help [data-key]")) table.set(key.dataset.key, key.dataset.does);
  let leader = "";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const pressed = event.key === " " ? "Space" : event.key;
    // What has the focus does by itself what these keys say.
    if (["Space", "Enter"].includes(pressed) && event.target.closest("button, a, summary")) return;
    const does = table.get(leader ? `${leader} ${pressed}` : pressed);
    leader = !leader && pressed === "g" ? "g" : "";
    if (!does) return;
    if (does.startsWith("go:")) goTo(does.slice(3));
    else if (actions.has(does)) actions.get(does)();
    else return;
    event.preventDefault();
  });
}
