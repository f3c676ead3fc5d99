// A flash marks one event on one row. Over twenty events a second none is shown: the numbers tell.

export const PER_SECOND = 20;
let second = 0;
let shown = 0;
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

export const Flashes = {
  on(row, type) {
    if (still.matches || document.hidden) return;
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      second = now;
      shown = 0;
    }
    shown += 1;
    if (shown > PER_SECOND) return;
    row.dataset.flash = type;
    row.addEventListener("animationend", () => delete row.dataset.flash, { once: true });
  },
};
