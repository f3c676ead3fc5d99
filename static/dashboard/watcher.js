// One watcher: where it stands, its next bookmark, and each event as its selector sees it.

import { fill } from "./bind.js";
import { wireFilter } from "./filter.js";
import { showEmpty } from "./merge.js";
import { KeyedTable } from "./tables.js";

const LIMIT = 100;

export function start(socket) {
  const { watcher, heard } = document.getElementById("watcher-rows").dataset;
  const rows = new KeyedTable(document.getElementById("rows"), { limit: LIMIT });
  const state = document.getElementById("watcher-state");
  wireFilter([rows]);
  let known = false;
  socket.subscribe(`watcher:${watcher}`, (data) => {
    if (data.watcher) fill(document.getElementById("figures"), data.watcher);
    if (data.bookmark) fill(document.getElementById("bookmark"), data.bookmark);
    if (data.reconnect) fill(document.getElementById("reconnect"), data.reconnect);
    if (data.table) fill(document.getElementById("truth").parentElement, data.table);
    if (data.watcher || data.end) showState(state, data);
    for (const row of data.rows ?? []) {
      const fresh = !rows.has(row.id);
      if (fresh && (row.type === undefined || (heard === "true" && row.hears === "nothing"))) continue;
      const flash = known && fresh && row.hears !== "nothing" ? row.hears : "";
      rows.put(row, { front: true, flash });
    }
    if (data.rows) {
      known = true;
      showEmpty("rows", rows);
    }
  });
}

function showState(chip, { watcher, end }) {
  const word = end?.reason ?? watcher?.state;
  if (!word || (chip.dataset.is === "ended" && !end)) return;
  chip.dataset.is = end ? "ended" : word;
  chip.querySelector("[data-word]").textContent = word;
  if (!end) return;
  const ending = document.getElementById("ending");
  if (!ending.hidden || document.querySelector(".ending")) return;
  const title = document.createElement("strong");
  title.textContent = `Ended: ${end.reason}`;
  const says = document.createElement("span");
  says.textContent = `${end.means} ${end.next}`;
  ending.className = "notice ending";
  ending.dataset.is = end.is === "calm" ? "calm" : "";
  ending.append(title, says);
  ending.hidden = false;
}
