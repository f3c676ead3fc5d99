// Tables whose rows are told apart by a key: rows come, change and go; order is the server's.

import { copyOf, fill } from "./bind.js";
import { Flashes } from "./flashes.js";

export class KeyedTable {
  // `body` is a <tbody data-template="id of its row">, or a list; rows that the server wrote are taken over.
  constructor(body, { limit = Infinity } = {}) {
    this.body = body;
    this.limit = limit;
    this.rows = new Map();
    this.records = new Map();
    this.filter = null;
    for (const row of body.children) this.rows.set(row.dataset.row, row);
  }

  get size() {
    return this.rows.size;
  }

  has(id) {
    return this.rows.has(String(id));
  }

  // Puts a row in or changes it; a new one goes to the end, or to the front.
  put(record, { front = false, flash = "" } = {}) {
    const id = String(record.id);
    let row = this.rows.get(id);
    if (!row) {
      row = copyOf(this.body.dataset.template);
      row.dataset.row = id;
      this.rows.set(id, row);
      if (front) this.body.prepend(row);
      else this.body.append(row);
    }
    const merged = { ...this.records.get(id), ...record };
    this.records.set(id, merged);
    fill(row, merged);
    this.#judge(row);
    if (flash) Flashes.on(row, flash);
    while (this.rows.size > this.limit) this.#drop(front ? this.body.lastElementChild : this.body.firstElementChild);
    return row;
  }

  remove(id) {
    const row = this.rows.get(String(id));
    if (row) this.#drop(row);
  }

  clear() {
    this.body.replaceChildren();
    this.rows.clear();
    this.records.clear();
  }

  // Makes the order that of `ids`, moving only what stands elsewhere.
  order(ids) {
    let at = this.body.firstElementChild;
    for (const id of ids) {
      const row = this.rows.get(String(id));
      if (!row) continue;
      if (row === at) at = at.nextElementSibling;
      else this.body.insertBefore(row, at);
    }
  }

  // Shows only rows that `matches(row)` takes; returns how many those are.
  show(matches) {
    this.filter = matches;
    let shown = 0;
    for (const row of this.rows.values()) shown += this.#judge(row) ? 1 : 0;
    return shown;
  }

  #judge(row) {
    const visible = !this.filter || this.filter(row);
    if (row.hidden === visible) row.hidden = !visible;
    return visible;
  }

  #drop(row) {
    this.rows.delete(row.dataset.row);
    this.records.delete(row.dataset.row);
    row.remove();
  }
}
