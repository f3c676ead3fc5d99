// A saved watch, told again: lines of a watch response, at one to a hundred times their pace.
//
// Lines carry no time of arrival, so the pace is that of the objects themselves: the newest time in
// their metadata. What has none comes right after what stands before it. Nothing here is live, and
// the pane says so.

import { announce } from "./announce.js";
import { copyOf, fill } from "./bind.js";
import { Pause } from "./pausing.js";
import { KeyedTable } from "./tables.js";

const MOST_BYTES = 64 * 1024 * 1024;
const LIMIT = 500; // rows shown
const LONGEST_GAP = 10; // seconds of the original that a gap counts at most
const AT_ONCE = 200; // events shown in one step at most
const END = "k8s.io/initial-events-end";

// The metadata of an object, or of the one in a Table's row.
function metadataOf(object) {
  const row = object.kind === "Table" ? object.rows?.[0]?.object : null;
  return { ...object.metadata, ...row?.metadata };
}

function timeOf(metadata) {
  const times = [metadata.creationTimestamp, metadata.deletionTimestamp, ...(metadata.managedFields ?? []).map((each) => each.time)];
  return Math.max(0, ...times.filter(Boolean).map((text) => Date.parse(text) / 1000).filter(Number.isFinite));
}

// Events of the text of a file, each with the seconds after the first; throws with the line's number.
export function eventsOf(text) {
  const events = [];
  let clock = 0;
  let offset = 0;
  text.split("\n").forEach((line, index) => {
    if (!line.trim()) return;
    let frame;
    try {
      frame = JSON.parse(line);
    } catch (error) {
      throw new Error(`Line ${index + 1} is no JSON: ${error.message}`);
    }
    if (typeof frame?.type !== "string" || typeof frame.object !== "object" || frame.object === null) {
      throw new Error(`Line ${index + 1} is no event of a watch: it needs a type and an object.`);
    }
    const metadata = metadataOf(frame.object);
    const time = timeOf(metadata);
    if (time > clock) {
      if (clock) offset += Math.min(time - clock, LONGEST_GAP);
      clock = time;
    }
    const name = metadata.annotations?.[END] ? END : (metadata.name ?? frame.object.message ?? "");
    events.push({
      id: String(events.length + 1),
      type: frame.type,
      key: metadata.namespace && name !== END ? `${metadata.namespace}/${name}` : name,
      revision: metadata.resourceVersion ?? "",
      at: clock || null,
      offset,
      object: frame.object,
    });
  });
  if (!events.length) throw new Error("The file holds no line.");
  return events;
}

class Replay {
  constructor(id, name, { onClose }) {
    this.element = copyOf("replay");
    this.element.id = id;
    this.events = [];
    this.position = 0;
    this.played = 0; // seconds of the original
    this.last = 0;
    this.table = new KeyedTable(this.element.querySelector("tbody"), { limit: LIMIT });
    this.element.querySelector("h2").textContent = name;
    this.pause = new Pause(this.element.querySelector("[data-do=pause]"), { what: "The replay", onChange: () => this.#say() });
    this.speed = this.element.querySelector("[name=speed]");
    this.element.querySelector("[data-do=close]").addEventListener("click", () => {
      clearInterval(this.timer);
      this.element.remove();
      onClose();
    });
    this.element.querySelector("[data-do=again]").addEventListener("click", () => this.#begin());
    this.element.querySelector("tbody").addEventListener("click", (event) => this.#open(event));
  }

  show(events) {
    this.events = events;
    this.#begin();
    this.timer = setInterval(() => this.#step(), 100);
  }

  refuse(message) {
    const notice = this.element.querySelector(".notice");
    notice.hidden = false;
    notice.querySelector("span").textContent = message;
    this.element.querySelector("[data-playing]").hidden = true;
    announce(message);
  }

  #begin() {
    this.position = 0;
    this.played = 0;
    this.last = performance.now();
    this.table.clear();
    this.#step();
  }

  #step() {
    const now = performance.now();
    const passed = (now - this.last) / 1000;
    this.last = now;
    if (this.pause.paused || document.hidden || this.position >= this.events.length) {
      this.#say();
      return;
    }
    this.played += passed * Number(this.speed.value);
    let shown = 0;
    while (this.position < this.events.length && this.events[this.position].offset <= this.played && shown < AT_ONCE) {
      const event = this.events[this.position];
      const row = this.table.put(event, { front: true, flash: shown < 3 ? event.type : "" });
      row.dataset.event = event.id;
      const age = row.querySelector("[data-age]");
      age.dataset.frozen = "";
      age.textContent = event.at ? new Date(event.at * 1000).toISOString().slice(11, 19) : "";
      this.position += 1;
      shown += 1;
    }
    this.#say();
  }

  #say() {
    const done = this.position >= this.events.length;
    const chip = this.element.querySelector(".chip");
    chip.dataset.is = done ? "still" : this.pause.paused ? "paused" : "connecting";
    chip.querySelector("[data-word]").textContent = done ? "replay ended" : this.pause.paused ? "replay paused" : "replaying";
    this.pause.button.disabled = done;
    const next = this.events[this.position];
    fill(this.element, {
      position: this.position,
      total: this.events.length,
      next: next && !done ? `${Math.max(0, next.offset - this.played).toFixed(0)} s` : "",
    });
    this.element.querySelector("progress").value = this.events.length ? this.position / this.events.length : 0;
  }

  #open(event) {
    const row = event.target.closest("tr[data-event]");
    if (!row || !event.target.closest("button")) return;
    const button = row.querySelector("button");
    if (row.nextElementSibling?.dataset.object !== undefined) {
      row.nextElementSibling.remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    if (!this.pause.paused && !this.pause.button.disabled) this.pause.toggle();
    const detail = document.createElement("tr");
    detail.dataset.object = "";
    const cell = detail.insertCell();
    cell.colSpan = 4;
    const pre = document.createElement("pre");
    pre.className = "object";
    pre.tabIndex = 0;
    pre.textContent = JSON.stringify(this.events[Number(row.dataset.event) - 1].object, null, 2);
    cell.append(pre);
    row.after(detail);
    button.setAttribute("aria-expanded", "true");
  }
}

export async function replayFile(id, file, options) {
  const replay = new Replay(id, file.name, options);
  if (file.size > MOST_BYTES) {
    replay.refuse(`The file is too large to be replayed here: ${file.size.toLocaleString("en-US")} bytes.`);
    return replay;
  }
  try {
    replay.show(eventsOf(await file.text()));
  } catch (error) {
    replay.refuse(error.message);
  }
  return replay;
}
