// The event flow: the newest events on top, each with who got it and how long its stages took.

import { fill } from "./bind.js";
import { PER_SECOND } from "./flashes.js";
import { wireFilter } from "./filter.js";
import { onAction } from "./keys.js";
import { showEmpty } from "./merge.js";
import { Pause } from "./pausing.js";
import { KeyedTable } from "./tables.js";

const LIMIT = 120;

export function start(socket) {
  const table = new KeyedTable(document.getElementById("journeys"), { limit: LIMIT });
  const counts = document.getElementById("flow-counts");
  wireFilter([table]);
  const pause = new Pause(document.getElementById("pause"), {
    what: "The flow",
    onChange: (paused) => socket.send({ do: paused ? "pause" : "resume", id: "flow" }),
  });
  onAction("pause", () => pause.toggle());
  let known = false;
  socket.subscribe("flow", (data) => {
    fill(counts, data);
    counts.hidden = false;
    pause.waiting(data.waiting ?? 0);
    const fresh = data.rows ?? [];
    // Over twenty events a second the numbers tell: flashes would never end.
    const calm = (data.rate ?? 0) <= PER_SECOND;
    for (const row of fresh) {
      const flash = known && calm && !table.has(row.id) ? row.type : "";
      table.put(row, { front: true, flash });
    }
    known = true;
    showEmpty("flow", table);
  }, () => ({ paused: pause.paused }));
}
