// One object: when it changes, the page shows its new state; while one edits, it only says so.

import { announce } from "./announce.js";
import { onAction } from "./keys.js";
import { Pause } from "./pausing.js";

const BETWEEN = 1000; // milliseconds between two looks at the page

export function start(socket) {
  if (document.querySelector("textarea[data-editor]")) import("../editor/editor.js");
  const root = document.getElementById("object");
  const { channel, live } = root.dataset;
  if (!channel) return;
  const moved = document.getElementById("moved");
  const followed = new Followed(root);
  const button = document.getElementById("pause");
  if (button) {
    const pause = new Pause(button, { what: "The object", onChange: (paused) => followed.pause(paused) });
    onAction("pause", () => pause.toggle());
  }
  const take = (data) => {
    const row = data.table?.rows?.[0];
    const gone = data.table && !row && (data.table.gone?.length || (data.table.all && !data.table.order.length));
    document.getElementById("object-gone").hidden = !gone;
    if (gone) announce("This object was deleted.");
    if (!row) return;
    if (moved) warn(moved, row.revision);
    else if (live === "true" && row.revision !== root.dataset.revision) followed.changed(row.revision);
  };
  socket.subscribe(channel, take);
  if (root.dataset.also) {
    let known = false; // what comes first is what the page shows already
    socket.subscribe(root.dataset.also, (data) => {
      if (data.table && known) followed.changed(root.dataset.revision);
      known = true;
    });
  }
}

// The form was opened on another revision: its text stays, and checking it shows both.
function warn(notice, revision) {
  const stale = revision !== notice.dataset.revision;
  if (stale === !notice.hidden) return;
  notice.hidden = !stale;
  if (!stale) return;
  notice.querySelector("span").textContent = `The object has moved on: it is at revision ${revision} now. Your text is as you left it; a check shows both changes.`;
}

// Shows what the server would show now, at most once a second, with what was unfolded left open.
class Followed {
  constructor(root) {
    this.root = root;
    this.timer = 0;
    this.last = 0;
    this.waiting = "";
    this.paused = false;
  }

  pause(paused) {
    this.paused = paused;
    if (!paused && this.waiting) this.changed(this.waiting);
  }

  changed(revision) {
    this.waiting = revision;
    if (this.paused || this.timer) return;
    const wait = Math.max(0, this.last + BETWEEN - performance.now());
    this.timer = setTimeout(() => this.#look(), wait);
  }

  async #look() {
    this.last = performance.now();
    const revision = this.waiting;
    const response = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    this.timer = 0;
    if (!response?.ok || this.paused) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("object");
    if (!fresh) return;
    const open = [...this.root.querySelectorAll("details")].map((each) => each.open);
    this.root.replaceChildren(...fresh.childNodes);
    this.root.querySelectorAll("details").forEach((each, index) => {
      each.open = open[index] ?? each.open;
    });
    this.root.dataset.revision = fresh.dataset.revision;
    announce(`The object is at revision ${fresh.dataset.revision}.`);
    if (this.waiting !== revision) this.changed(this.waiting);
  }
}
