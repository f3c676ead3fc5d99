// One attached watcher: its state, its command, and the newest of its events.

import { announce } from "./announce.js";
import { copyOf, fill } from "./bind.js";
import { Pause } from "./pausing.js";
import { KeyedTable } from "./tables.js";

const LIMIT = 500;
const WORDS = { opening: "opening", live: "live", paused: "paused", ended: "ended", refused: "refused", cut: "cut" };
const STARTS = { any: "from 0", now: "from now", oldest: "from the oldest" };
const FORMS = { table: "as Table", metadata: "as metadata" };
const OVER = new Set(["ended", "refused", "cut"]);

export class Pane {
  constructor(id, wish, socket, { onDetach }) {
    this.id = id;
    this.wish = wish;
    this.socket = socket;
    this.revision = "";
    this.synced = false;
    this.element = copyOf("pane");
    this.element.id = id;
    this.table = new KeyedTable(this.element.querySelector("tbody"), { limit: LIMIT });
    this.pause = new Pause(this.element.querySelector("[data-do=pause]"), {
      what: "The watcher",
      onChange: (paused) => socket.send({ do: paused ? "pause" : "resume", id }),
    });
    this.element.querySelector("[data-do=detach]").addEventListener("click", () => {
      this.#leave();
      this.element.remove();
      onDetach();
    });
    this.element.querySelector("[data-do=clear]").addEventListener("click", () => this.table.clear());
    this.element.querySelector("[data-do=save]").addEventListener("click", () => this.#save());
    this.again = this.element.querySelector("[data-do=again]");
    this.again.addEventListener("click", () => socket.want(id, () => this.#message()));
    this.#call([wish.resource, wish.namespace, wish.labels, wish.fields].filter(Boolean).join(" "));
    const body = this.element.querySelector("tbody");
    // Rows move while events come: a click that begins on one row would end on another.
    body.addEventListener("pointerdown", (event) => event.button === 0 && this.#open(event));
    body.addEventListener("click", (event) => event.detail === 0 && this.#open(event));
    socket.listen(id, (data) => this.#take(data));
    socket.want(id, () => this.#message());
  }

  // Where it began and how it is written tell apart what else is the same; both stay as they were
  // wished when the watch goes on after a loss.
  #call(title) {
    const { from, revision, as } = this.wish;
    const start = from === "revision" ? `from revision ${revision ?? ""}`.trim() : STARTS[from];
    const heading = this.element.querySelector("h2");
    heading.textContent = [title, start, FORMS[as]].filter(Boolean).join(" ");
    heading.title = heading.textContent;
  }

  // After a loss the same watch goes on from the last revision that was seen here.
  #message() {
    const message = { do: "attach", id: this.id, ...this.wish };
    if (this.revision) {
      Object.assign(message, { from: "revision", revision: this.revision });
      this.table.clear(); // its numbers begin anew
    }
    if (this.pause.paused) message.paused = true;
    return message;
  }

  #leave() {
    this.socket.send({ do: "detach", id: this.id });
    this.socket.forget(this.id);
    announce("The watcher was detached.");
  }

  #take(data) {
    for (const event of data.events ?? []) {
      const row = this.table.put(event, { front: true, flash: this.synced ? event.type : "" });
      row.dataset.event = event.id;
    }
    this.synced = this.synced || data.synced === true;
    if (data.revision) this.revision = data.revision;
    if (data.waiting !== undefined) this.pause.waiting(data.waiting);
    for (const shown of data.shown ?? []) this.#show(shown);
    if (data.saved) this.#saved(data.saved);
    const state = data.state ?? (data.status ? "refused" : undefined);
    if (state) this.#say(state, data);
    if (data.title) this.#call(data.title);
    fill(this.element, data);
  }

  #say(state, data) {
    const chip = this.element.querySelector(".chip");
    chip.dataset.is = { live: "live", opening: "connecting", paused: "paused", ended: "still", cut: "reconnecting" }[state] ?? "signed-out";
    this.element.dataset.state = state;
    chip.querySelector("[data-word]").textContent = state === "ended" ? (data.end_reason ?? "ended") : WORDS[state];
    const over = OVER.has(state);
    this.again.hidden = !(over && this.revision);
    this.pause.button.disabled = over;
    this.element.querySelector("[data-skipped]").hidden = !data.skipped;
    const notice = this.element.querySelector(".notice");
    notice.hidden = !data.status;
    if (data.status) {
      const { code, reason, message } = data.status;
      notice.querySelector("span").textContent = `${code ?? ""} ${reason ?? ""}: ${message ?? ""}`;
    }
    // The server comes back, and so does the socket: then the watch goes on from where it was.
    if (over && data.end_reason !== "server stopping") this.socket.wishes.delete(this.id);
    this.element.querySelector("[data-empty=events]").hidden = this.table.size > 0 || over;
  }

  // The lines come in pieces, exactly as the watch response had them.
  #save() {
    this.pieces = [];
    this.socket.send({ do: "act", act: "save", id: this.id });
  }

  #saved({ text, last, lines, missing }) {
    this.pieces?.push(text);
    if (!last || !this.pieces) return;
    const link = document.createElement("a");
    const name = this.wish.resource.split("/").at(-1);
    link.href = URL.createObjectURL(new Blob(this.pieces, { type: "application/x-ndjson" }));
    link.download = `${name}-${this.revision || "watch"}.ndjson`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    this.pieces = null;
    const rest = missing ? `; ${missing.toLocaleString("en-US")} older ones are no longer held` : "";
    announce(`Saved ${lines.toLocaleString("en-US")} lines${rest}.`);
  }

  #open(event) {
    const row = event.target.closest("tr[data-event]");
    if (!row || !event.target.closest("button")) return;
    const next = row.nextElementSibling;
    const button = row.querySelector("button");
    if (next?.dataset.object !== undefined) {
      next.remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    if (!this.pause.paused && !this.pause.button.disabled) this.pause.toggle(); // to read in peace
    this.socket.send({ do: "act", act: "show", id: this.id, event: Number(row.dataset.event) });
  }

  #show({ id, text, gone, bytes }) {
    const row = this.element.querySelector(`tr[data-event="${id}"]`);
    if (!row || row.nextElementSibling?.dataset.object !== undefined) return;
    const detail = document.createElement("tr");
    detail.dataset.object = "";
    const cell = detail.insertCell();
    cell.colSpan = 4;
    const pre = document.createElement("pre");
    pre.className = "object";
    pre.tabIndex = 0;
    pre.textContent = gone ? "No longer held here: newer events took its place." : text || `Too large to show (${bytes} bytes).`;
    cell.append(pre);
    row.after(detail);
    row.querySelector("button").setAttribute("aria-expanded", "true");
  }
}
