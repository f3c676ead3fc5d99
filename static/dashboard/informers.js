// Attached informers: queue, indexer and server truth of each, side by side.

import { announce } from "./announce.js";
import { copyOf, fill } from "./bind.js";
import { wireCompleting } from "./completing.js";
import { onAction } from "./keys.js";
import { Pause } from "./pausing.js";
import { KeyedTable } from "./tables.js";

const FIELDS = ["resource", "namespace", "labels", "fields"];
const CHIPS = { syncing: "connecting", live: "live", held: "paused", paused: "paused", "catching up": "reconnecting", refused: "signed-out" };

class Informer {
  constructor(id, wish, socket, onStop) {
    this.wish = wish;
    this.id = id;
    this.socket = socket;
    this.held = false;
    this.element = copyOf("informer");
    this.element.id = id;
    this.tables = new Map();
    for (const body of this.element.querySelectorAll("[data-of]")) this.tables.set(body.dataset.of, new KeyedTable(body));
    this.element.querySelector("h2").textContent = wish.resource;
    this.pause = new Pause(this.element.querySelector("[data-do=pause]"), {
      what: "The informer's view",
      onChange: (paused) => socket.send({ do: paused ? "pause" : "resume", id }),
    });
    const button = (name, act) => this.element.querySelector(`[data-do=${name}]`).addEventListener("click", act);
    button("hold", () => this.#act(this.held ? "release" : "hold"));
    button("cut", () => this.#act("cut"));
    button("expire", () => this.#act("expire"));
    button("stop", () => {
      socket.send({ do: "detach", id });
      socket.forget(id);
      this.element.remove();
      announce("The informer was stopped.");
      onStop();
    });
    socket.listen(id, (data) => this.#take(data));
    socket.want(id, () => ({ do: "attach", kind: "informer", id, paused: this.pause.paused, ...wish }));
  }

  #act(act) {
    this.socket.send({ do: "act", act, id: this.id });
  }

  #take(data) {
    const chip = this.element.querySelector(".chip");
    const state = data.status && !data.state ? "refused" : data.state;
    chip.dataset.is = CHIPS[state] ?? "connecting";
    chip.querySelector("[data-word]").textContent = state;
    const notice = this.element.querySelector(".notice");
    notice.hidden = !data.status;
    if (data.status) notice.querySelector("span").textContent = `${data.status.code} ${data.status.reason}: ${data.status.message}`;
    if (state === "refused") this.socket.wishes.delete(this.id);
    if (data.held !== undefined) {
      this.held = data.held;
      const button = this.element.querySelector("[data-do=hold]");
      button.setAttribute("aria-pressed", String(data.held));
      button.textContent = data.held ? "Let it pop" : "Hold the queue";
    }
    if (data.title) fill(this.element.querySelector("header"), data);
    for (const part of this.element.querySelectorAll("[data-part]")) {
      if (data[part.dataset.part]) fill(part, data[part.dataset.part]);
    }
    for (const [name, table] of this.tables) {
      if (!data[name]) continue;
      const stay = new Set(data[name].map((each) => String(each.id)));
      for (const id of [...table.rows.keys()]) if (!stay.has(id)) table.remove(id);
      for (const record of data[name]) table.put(record);
      table.order(data[name].map((each) => each.id));
      this.element.querySelector(`[data-none=${name}]`).hidden = table.size > 0;
    }
  }
}

export function start(socket) {
  const form = document.getElementById("attach-form");
  const list = document.getElementById("panes");
  const empty = document.querySelector("[data-empty=panes]");
  const informers = new Map();
  let number = 0;

  const remember = () => {
    empty.hidden = informers.size > 0;
    const address = new URL(location.href);
    address.search = "";
    for (const { wish } of informers.values()) address.searchParams.append("informer", new URLSearchParams(wish).toString());
    history.replaceState(null, "", address);
  };

  const attach = (wish) => {
    number += 1;
    const id = `informer:${number}`;
    const made = new Informer(id, wish, socket, () => {
      informers.delete(id);
      remember();
      form.elements.resource.focus();
    });
    informers.set(id, made);
    list.append(made.element);
    remember();
  };

  const { resource, namespace } = form.elements;
  const adapt = () => {
    const global = resource.selectedOptions[0]?.dataset.namespaced !== "true";
    namespace.disabled = global;
    namespace.placeholder = global ? "none (cluster scope)" : "all";
  };
  form.addEventListener("change", adapt);
  adapt();
  wireCompleting(form, socket);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attach(Object.fromEntries([...new FormData(form)].filter(([name, value]) => FIELDS.includes(name) && value !== "")));
  });
  onAction("pause", () => {
    for (const each of informers.values()) each.pause.toggle();
  });
  for (const text of new URLSearchParams(location.search).getAll("informer")) {
    const wish = Object.fromEntries([...new URLSearchParams(text)].filter(([name]) => FIELDS.includes(name)));
    if (wish.resource) attach(wish);
  }
}
