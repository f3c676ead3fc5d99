// Three ways compared: each run as it ends.

import { wireRun } from "./learn_run.js";

export function start(socket) {
  const number = (name) => Number(document.getElementById(name).value);
  wireRun(socket, {
    id: "compare:1",
    kind: "comparison",
    names: { body: "runs", chip: "compare-chip", notice: "compare-notice", box: "compare-box", empty: "compare-empty" },
    wish: () => ({ clients: number("clients"), rate: number("rate") }),
    rows: (data) => data.rows ?? [],
  });
}
