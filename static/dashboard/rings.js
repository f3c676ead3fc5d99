// All rings: a strip each, kept current.

import { wireFilter } from "./filter.js";
import { mergeTable, showEmpty } from "./merge.js";
import { drawRing } from "./ring.js";
import { KeyedTable } from "./tables.js";

export function start(socket) {
  const rings = new KeyedTable(document.getElementById("rings"));
  wireFilter([rings]);
  socket.subscribe("rings", (data) => {
    mergeTable(rings, data.rings);
    for (const record of data.rings?.rows ?? []) drawRing(rings.rows.get(record.id), record.ring);
    showEmpty("rings", rings);
  });
}
