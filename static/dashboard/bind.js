// Fills markup that the server wrote with the values of a frame.
//
// data-text="field" [data-format]   the text          data-title="field"  the tooltip
// data-href="field"                 the address       data-age="field"    a moment, shown as age
// data-set="name:field ..."         data-name         data-attr="name:field ..."  an attribute
// data-type="field"                 an event type: its word, icon and colour
// data-until="field"                a moment to come, counted down      data-aria="field"  its label

import { showAge, showUntil } from "./clock.js";
import { formats } from "./format.js";

const plans = new WeakMap();
const icons = () => document.body.dataset.icons;

function pairs(text) {
  return text.split(" ").map((pair) => pair.split(":"));
}

function setText(element, value) {
  const text = value === null || value === undefined ? "" : String(value);
  if (element.textContent !== text) element.textContent = text;
}

function steps(element) {
  const { text, format, title, href, age, until, aria, set, attr, type } = element.dataset;
  const list = [];
  if (text) {
    const write = formats[format] ?? ((value) => value);
    list.push((record) => text in record && setText(element, write(record[text])));
  }
  if (title) list.push((record) => title in record && (element.title = record[title] ?? ""));
  if (href) list.push((record) => record[href] && element.setAttribute("href", record[href]));
  if (age) list.push((record) => age in record && showAge(element, record[age]));
  if (until) list.push((record) => until in record && showUntil(element, record[until]));
  if (aria) list.push((record) => aria in record && element.setAttribute("aria-label", record[aria]));
  if (set) {
    for (const [name, field] of pairs(set)) {
      list.push((record) => field in record && (element.dataset[name] = String(record[field] ?? "")));
    }
  }
  if (attr) {
    for (const [name, field] of pairs(attr)) {
      list.push((record) => field in record && element.setAttribute(name, record[field] ?? 0));
    }
  }
  if (type) list.push((record) => type in record && showType(element, record[type]));
  return list;
}

export function showType(element, type) {
  if (element.dataset.is === type) return;
  element.dataset.is = type;
  element.querySelector("use").setAttribute("href", `${icons()}#${type.toLowerCase()}`);
  setText(element.querySelector("span"), type);
}

const BOUND = "[data-text],[data-title],[data-href],[data-age],[data-until],[data-aria],[data-set],[data-attr],[data-type]";

// The rows of a table, or of a list, have records of their own: they are no part of what holds it.
function isOwn(root, element) {
  const rows = element.parentElement.closest("[data-template]");
  return !rows || rows === root || !root.contains(rows);
}

export function fill(root, record) {
  let plan = plans.get(root);
  if (!plan) {
    const within = [...root.querySelectorAll(BOUND)].filter((element) => isOwn(root, element));
    plan = [root, ...within].flatMap(steps);
    plans.set(root, plan);
  }
  for (const step of plan) step(record);
}

// A copy of the one element in <template id=...>.
export function copyOf(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}
