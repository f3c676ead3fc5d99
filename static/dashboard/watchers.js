// All watchers: who watches what, how far behind; and those that ended.

import { fill } from "./bind.js";
import { wireFilter } from "./filter.js";
import { mergeTable, showEmpty } from "./merge.js";
import { KeyedTable } from "./tables.js";

export function watcherTables() {
  const watching = new KeyedTable(document.getElementById("watching"));
  const ended = new KeyedTable(document.getElementById("ended"));
  const counts = document.getElementById("watcher-counts");
  return {
    all: [watching, ended],
    take(data) {
      if (data.counts && counts) fill(counts, data.counts);
      mergeTable(watching, data.watching);
      mergeTable(ended, data.ended);
      showEmpty("watching", watching);
      showEmpty("ended", ended);
    },
  };
}

export function start(socket) {
  const tables = watcherTables();
  wireFilter(tables.all);
  socket.subscribe("watchers", (data) => tables.take(data));
}
