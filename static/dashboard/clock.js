// The server's time, kept from the last frame, and ages that tick without the network.

import { age } from "./format.js";

let ahead = 0; // the server's clock less the browser's, in seconds

export function setServerTime(seconds) {
  ahead = seconds - Date.now() / 1000;
}

export function serverTime() {
  return Date.now() / 1000 + ahead;
}

// Shows the age of a moment in an element, and the moment itself as its title.
export function showAge(element, seconds) {
  if (element.dataset.at !== String(seconds ?? "")) {
    element.dataset.at = seconds ?? "";
    element.title = seconds ? new Date(seconds * 1000).toISOString() : "";
  }
  const text = seconds ? age(serverTime() - seconds) : "";
  if (element.textContent !== text) element.textContent = text;
}

// Shows how long it is until a moment.
export function showUntil(element, seconds) {
  element.dataset.atUntil = seconds ?? "";
  const text = seconds ? age(Math.max(seconds - serverTime(), 0)) : "";
  if (element.textContent !== text) element.textContent = text;
}

function tick() {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("[data-at-until]")) {
    if (element.dataset.atUntil) showUntil(element, Number(element.dataset.atUntil));
  }
  for (const element of document.querySelectorAll("[data-at]")) {
    if (element.dataset.at && element.dataset.frozen === undefined) {
      showAge(element, Number(element.dataset.at));
    }
  }
}

export function startTicking() {
  setInterval(tick, 1000);
  document.addEventListener("visibilitychange", tick);
}
