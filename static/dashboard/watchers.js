// All watchers: who watches what, how far behind; and those that ended.

import { fill } from "./bind.js";
import { wireFilter } from "./filter.js";
import { mergeTable, showEmpty } from "./merge.js";
import { RowSparks } from "./row_spark.js";
import { KeyedTable } from "./tables.js";

export function watcherTables() {
  const watching = new KeyedTable(document.getElementById("watching"));
  const ended = new KeyedTable(document.getElementById("ended"));
  const counts = document.getElementById("watcher-counts");
  const sparks = new RowSparks(watching, "events");
  setInterval(() => document.hidden || sparks.tick(), 1000);
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

// What the server is asked for: the words and the order that stand in the address.
function query() {
  const wanted = new URLSearchParams();
  const given = new URLSearchParams(location.search);
  for (const name of ["q", "sort"]) if (given.get(name)) wanted.set(name, given.get(name));
  return wanted.toString();
}

export function start(socket) {
  const tables = watcherTables();
  wireFilter(tables.all);
  let asked;
  const ask = () => {
    const wanted = query();
    if (wanted === asked) return;
    if (asked !== undefined) {
      socket.forget(`watchers:${asked}`);
      socket.send({ do: "unsubscribe", channel: `watchers:${asked}` });
    }
    asked = wanted;
    socket.subscribe(`watchers:${asked}`, (data) => tables.take(data));
  };
  let timer = 0;
  document.getElementById("filter-text").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 300); // beyond the rows that are here, the server looks
  });
  for (const link of document.querySelectorAll("[data-sort]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      sortBy(link);
      ask();
    });
  }
  ask();
}

// As the links that the server writes: the useful direction first, then the other, then none.
function sortBy(link) {
  const head = link.closest("th");
  const key = link.dataset.sort;
  const first = head.classList.contains("num") ? "descending" : "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const next = { [first]: other, [other]: "" }[head.getAttribute("aria-sort") ?? ""] ?? first;
  for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
  const address = new URL(location.href);
  if (next) {
    head.setAttribute("aria-sort", next);
    address.searchParams.set("sort", next === "descending" ? `-${key}` : key);
  } else address.searchParams.delete("sort");
  history.replaceState(null, "", address);
}
