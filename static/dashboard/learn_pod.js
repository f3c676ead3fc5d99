// The way of a pod: each hop with its time.

import { wireRun } from "./learn_run.js";

export function start(socket) {
  wireRun(socket, {
    id: "way:1",
    kind: "way",
    names: { body: "hops", chip: "way-chip", notice: "way-notice", box: "way-box", empty: "way-empty" },
    wish: () => ({ replicas: Number(document.getElementById("replicas").value) }),
    rows: (data) => data.hops ?? [],
  });
}
