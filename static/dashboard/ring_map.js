// The map of one ring: its figures, strip, growth and places, and the 410 calculator.

import { fill } from "./bind.js";
import { formats } from "./format.js";
import { mergeTable, showEmpty } from "./merge.js";
import { drawRing } from "./ring.js";
import { swap } from "./swap.js";
import { KeyedTable } from "./tables.js";

export function start(socket) {
  const ring = document.getElementById("ring");
  const places = new KeyedTable(document.getElementById("places"));
  const resizes = new KeyedTable(document.getElementById("resizes"));
  socket.subscribe(`ring:${ring.dataset.resource}`, (data) => {
    if (data.figures) fill(document.getElementById("figures"), data.figures);
    if (data.growth) {
      fill(document.getElementById("growth"), data.growth);
      resizes.clear();
      for (const row of data.growth.rows) resizes.put(row);
    }
    if (data.ends) showEnds(data.ends);
    mergeTable(places, data.places);
    showEmpty("places", places);
    if (!data.ring) return;
    fill(ring, data.ring);
    drawRing(ring, data.ring);
  });
  wireCalculator(document.getElementById("calculator-form"));
}

function showEnds(ends) {
  const items = ends.map((each) => {
    const [item, word, count] = ["li", "span", "b"].map((name) => document.createElement(name));
    word.className = "end";
    word.dataset.is = each.is;
    word.textContent = each.reason;
    count.textContent = formats.count(each.count);
    item.append(word, count);
    return item;
  });
  if (!items.length) {
    const none = document.createElement("li");
    none.className = "dim";
    none.textContent = "none has ended yet";
    items.push(none);
  }
  document.getElementById("ends").replaceChildren(...items);
}

// Answers while one types; without this module the form asks for the page anew.
function wireCalculator(form) {
  let timer = 0;
  const ask = async () => {
    const address = new URL(location.href);
    address.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", address);
    await swap(address, ["explanation"]);
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 250);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    ask();
  });
}
