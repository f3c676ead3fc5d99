// Polite words for screen readers, at most one in five seconds; the newest wins.

let last = -Infinity;
let timer = 0;

export function announce(text) {
  clearTimeout(timer);
  const wait = Math.max(0, last + 5000 - performance.now());
  timer = setTimeout(() => {
    last = performance.now();
    document.getElementById("announcer").textContent = text;
  }, wait);
}
