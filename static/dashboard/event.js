// One event: asks anew for its way as long as somebody takes it.

import { swap } from "./swap.js";

export function start(socket) {
  const { revision } = document.getElementById("journey").dataset;
  let seen = null;
  socket.subscribe(`event:${revision}`, (data) => {
    // The first answer is what the page was written with, or hardly more.
    if (data.sequence === undefined || data.sequence === seen) return;
    seen = data.sequence;
    swap(location.href, ["journey"]);
  });
}
