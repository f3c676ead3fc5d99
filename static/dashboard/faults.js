// The faults page: what is on, what is over; and a form that shows only what matters to its type.

import { fill } from "./bind.js";
import { listenToFaults } from "./fault_banner.js";
import { mergeTable, showEmpty } from "./merge.js";
import { KeyedTable } from "./tables.js";

const EVERYWHERE = new Set(["stop-pump", "compact"]);
const INTEGERS = ["seconds", "times", "delayMilliseconds", "retryAfterSeconds", "watcher"];

function documentOf(form) {
  const spec = {};
  for (const field of form.elements) {
    if (!field.name || field.type === "hidden" || !field.value || field.closest("[hidden]")) continue;
    if (field.type === "radio" && !field.checked) continue;
    spec[field.name] = INTEGERS.includes(field.name) ? Number(field.value) : field.value;
  }
  return { spec };
}

function wireForm(form) {
  const command = form.querySelector(".command code");
  const adapt = () => {
    const type = form.elements.type.value;
    for (const field of form.querySelectorAll("[data-for]")) field.hidden = field.dataset.for !== type;
    for (const field of form.querySelectorAll("[data-narrow]")) field.hidden = EVERYWHERE.has(type);
    form.querySelector("[data-lasts]").hidden = type === "compact";
    // What is hidden is not sent: the server would refuse what does not belong to the type.
    for (const field of form.querySelectorAll(".field")) field.querySelector("input, select").disabled = field.hidden;
    command.textContent = `echo '${JSON.stringify(documentOf(form))}' | kubectl create --raw /debug/faults -f -`;
  };
  form.addEventListener("input", adapt);
  adapt();
}

function rows(records) {
  return { rows: records, order: records.map((each) => each.id), all: true };
}

function replace(table, records) {
  const stay = new Set(records.map((each) => each.id));
  for (const id of [...table.rows.keys()]) if (!stay.has(id)) table.remove(id);
  mergeTable(table, rows(records));
}

export function start(socket) {
  const form = document.getElementById("fault-form");
  if (!form) return;
  wireForm(form);
  const on = new KeyedTable(document.getElementById("faults-on"));
  const over = new KeyedTable(document.getElementById("faults-over"));
  listenToFaults((data) => {
    replace(on, data.active);
    replace(over, data.over);
    fill(document.getElementById("fault-counts"), data.counts);
    showEmpty("faults", on);
    showEmpty("faults-over", over);
  });
}
