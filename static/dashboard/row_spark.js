// Small bars in the rows of a table: events a second, from counters that come once a second.
// One path a row, so that hundreds of rows stay cheap.

const BARS = 30;
const HEIGHT = 16;

export class RowSparks {
  constructor(table, field) {
    this.table = table;
    this.field = field;
    this.histories = new Map(); // id -> {last, values}
  }

  // One bar for each row: those that a look said nothing of had no event.
  tick() {
    for (const [id, record] of this.table.records) {
      const value = Number(record[this.field]);
      const history = this.histories.get(id);
      if (!history) {
        this.histories.set(id, { last: value, values: [], drawn: false });
        continue;
      }
      const grown = Math.max(value - history.last, 0);
      history.last = value;
      const empty = !grown && !history.values.some(Boolean);
      history.values.push(grown);
      if (history.values.length > BARS) history.values.shift();
      if (empty && history.drawn) continue;
      this.#draw(id, history.values);
      history.drawn = true;
    }
    for (const id of this.histories.keys()) if (!this.table.records.has(id)) this.histories.delete(id);
  }

  #draw(id, values) {
    const row = this.table.rows.get(id);
    const svg = row?.querySelector(".spark-row");
    if (!svg || row.hidden) return;
    const most = Math.max(1, ...values);
    const first = BARS - values.length;
    let path = `M0 ${HEIGHT - 0.5}H${BARS}`;
    values.forEach((value, index) => {
      if (value) path += `M${first + index + 0.5} ${HEIGHT}V${(HEIGHT - Math.max(1.5, (value / most) * (HEIGHT - 1))).toFixed(1)}`;
    });
    svg.firstElementChild.setAttribute("d", path);
    svg.setAttribute("aria-label", `Events a second: now ${values.at(-1)}, most ${most}`);
  }
}
