// Menus close at Escape, which gives the focus back, and when one presses elsewhere.

export function wireMenus() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = document.querySelector("details.menu[open]");
    if (!open) return;
    open.open = false;
    open.querySelector("summary").focus();
    event.stopImmediatePropagation(); // Escape means no more than that now
  });
  document.addEventListener("pointerdown", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
}
