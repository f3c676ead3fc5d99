// The connection chip: connecting, live, reconnecting (with Retry now), signed out, still page.

import { revisionsBetween } from "./format.js";
import { announce } from "./announce.js";

export class Chip {
  constructor(element, revisions) {
    this.element = element;
    this.revisions = revisions;
    this.applied = document.querySelector("[data-text=applied]")?.textContent ?? "";
    this.lost = false;
    this.retry = () => {};
  }

  show(state, { frame, first, wait } = {}) {
    if (state === "live") this.#live(frame, first);
    else if (state === "connecting") this.#say("connecting", "connecting");
    else if (state === "signed-out") this.#say("signed-out", "signed out", { label: "Sign in", act: () => location.reload() });
    else if (state === "reconnecting") {
      if (!this.lost) announce("The connection was lost.");
      this.lost = true;
      const seconds = Math.max(1, Math.round(wait));
      this.#say("reconnecting", `lost, again in ${seconds} s`, { label: "Retry now", act: () => this.retry() });
    }
  }

  #live(frame, first) {
    if (first && this.lost) {
      const missed = revisionsBetween(this.applied, frame.applied);
      this.#say("live", missed !== "" && missed !== "0" ? `live, ${missed} revisions passed` : "live");
      announce(`Connected again. ${missed} revisions passed meanwhile.`);
      this.lost = false;
      this.until = performance.now() + 8000;
    } else if (performance.now() > (this.until ?? 0)) {
      this.#say("live", "live");
    }
    if (frame.applied === undefined) return;
    this.applied = frame.applied;
    if (!this.revisions) return;
    for (const name of ["applied", "head"]) {
      const element = this.revisions.querySelector(`[data-text=${name}]`);
      if (element.textContent !== frame[name]) element.textContent = frame[name];
    }
  }

  #say(state, word, action) {
    const key = `${state} ${word}`;
    if (this.said === key) return;
    this.said = key;
    this.element.dataset.is = state;
    const text = document.createElement("span");
    text.textContent = word;
    this.element.replaceChildren(text);
    if (action) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = action.label;
      button.addEventListener("click", action.act);
      this.element.append(button);
    }
  }
}
