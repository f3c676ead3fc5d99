// The overview: figures, and one row a resource.

import { fill } from "./bind.js";
import { wireFilter } from "./filter.js";
import { mergeTable } from "./merge.js";
import { Sparkline } from "./sparkline.js";
import { KeyedTable } from "./tables.js";

export function start(socket) {
  const table = new KeyedTable(document.getElementById("resources"));
  const figures = document.getElementById("figures");
  const spark = new Sparkline(document.getElementById("spark"));
  wireFilter([table]);
  socket.subscribe("overview", (data) => {
    if (data.figures) {
      fill(figures, data.figures);
      spark.add(data.figures.rate);
    }
    mergeTable(table, data.table);
  });
}
