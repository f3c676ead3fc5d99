// One resource: its ring, its slots, its watchers.

import { fill } from "./bind.js";
import { wireFilter } from "./filter.js";
import { mergeTable, showEmpty } from "./merge.js";
import { drawRing } from "./ring.js";
import { KeyedTable } from "./tables.js";
import { watcherTables } from "./watchers.js";

export function start(socket) {
  const { resource, live } = document.getElementById("ring").dataset;
  const facts = document.getElementById("facts");
  const ring = document.getElementById("ring");
  const watchers = watcherTables();
  const slots = new KeyedTable(document.getElementById("slots"));
  wireFilter([slots, ...watchers.all]);
  let known = slots.size > 0;
  socket.subscribe(`resource:${resource}`, (data) => {
    if (data.facts) fill(facts, data.facts);
    if (data.ring) {
      fill(ring, data.ring);
      drawRing(ring, data.ring);
    }
    watchers.take(data);
    if (!data.slots || live !== "true") return; // an older page of slots stands still
    for (const record of data.slots.rows ?? []) {
      slots.put(record, { flash: known && !slots.has(record.id) ? record.type : "" });
    }
    mergeTable(slots, { gone: data.slots.gone, order: data.slots.order });
    known = true;
    showEmpty("slots", slots);
  });
}
