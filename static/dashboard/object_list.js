// The table of one kind: its rows come, change and go as the watch says.

import { fill } from "./bind.js";
import { wireFilter } from "./filter.js";
import { onAction } from "./keys.js";
import { Flashes } from "./flashes.js";
import { mergeTable, showEmpty } from "./merge.js";
import { Pause } from "./pausing.js";
import { KeyedTable } from "./tables.js";
import { count } from "./format.js";

export function start(socket) {
  const body = document.getElementById("objects");
  document.querySelector(".narrow select")?.addEventListener("change", (event) => event.target.form.requestSubmit());
  if (!body) return;
  const table = new KeyedTable(body);
  const refilter = wireFilter([table]);
  const { channel } = body.dataset;
  if (!channel) return; // an older state, and a later page, stand still
  const counts = document.getElementById("list-counts");
  const refused = document.getElementById("list-refused");
  const pause = new Pause(document.getElementById("pause"), {
    what: "The table",
    onChange: (paused) => socket.send({ do: paused ? "pause" : "resume", id: channel }),
  });
  onAction("pause", () => pause.toggle());
  socket.subscribe(channel, (data) => {
    if (data.status) {
      refused.hidden = false;
      refused.querySelector("span").textContent = `${data.status.code} ${data.status.reason}: ${data.status.message}`;
      return;
    }
    pause.waiting(data.waiting ?? 0);
    if (data.revision === undefined) return;
    refused.hidden = true;
    mergeTable(table, data.table);
    for (const [id, type] of Object.entries(data.flashes ?? {})) {
      const row = table.rows.get(id);
      if (row && !row.hidden) Flashes.on(row, type);
    }
    fill(counts, data);
    counts.querySelector("[data-more]").textContent = data.remaining ? `, ${count(data.remaining)} more` : "";
    showEmpty("objects", table);
    refilter?.();
  }, () => ({ paused: pause.paused }));
}
