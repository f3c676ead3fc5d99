// The banner of every page while a fault is on, and the seconds that are left of each.

import { announce } from "./announce.js";
import { copyOf, fill } from "./bind.js";
import { serverTime } from "./clock.js";

const listeners = [];
let known = new Set();

// The faults page shows more of the same data.
export function listenToFaults(listener) {
  listeners.push(listener);
}

function left(until) {
  const seconds = Math.max(0, Math.ceil(until - serverTime()));
  return seconds < 120 ? `${seconds}s` : `${Math.ceil(seconds / 60)}m`;
}

// An attribute of its own: data-until, as bind.js has it, names a field, and other pages use it.
function tick() {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("[data-lifts]")) {
    const text = element.dataset.lifts ? left(Number(element.dataset.lifts)) : "";
    if (element.textContent !== text) element.textContent = text;
  }
}

function show(banner, list, faults) {
  list.replaceChildren(...faults.map((fault) => {
    const row = copyOf(list.dataset.template);
    fill(row, fault);
    return row;
  }));
  banner.hidden = faults.length === 0;
  const now = new Set(faults.map((fault) => fault.id));
  const fresh = faults.filter((fault) => !known.has(fault.id));
  if (fresh.length) announce(`Fault on: ${fresh.map((fault) => `${fault.title} on ${fault.reach}`).join(", ")}.`);
  else if (known.size && !now.size) announce("No fault is on any more.");
  known = now;
}

export function wireFaults(socket) {
  const banner = document.getElementById("fault-banner");
  if (!banner) return;
  const list = document.getElementById("fault-banner-list");
  known = new Set([...list.children].map((row) => row.dataset.row));
  setInterval(tick, 1000);
  tick();
  socket.subscribe("faults", (data) => {
    show(banner, list, data.active);
    for (const listener of listeners) listener(data);
    tick();
  });
}
