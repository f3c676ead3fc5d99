// The pause button of a view: the stream goes on, the view freezes and counts what waits.

import { announce } from "./announce.js";

export class Pause {
  constructor(button, { onChange, what }) {
    this.button = button;
    this.what = what;
    this.paused = false;
    this.onChange = onChange;
    button.hidden = false;
    button.addEventListener("click", () => this.toggle());
  }

  toggle() {
    this.paused = !this.paused;
    this.button.setAttribute("aria-pressed", String(this.paused));
    this.#label(0);
    this.onChange(this.paused);
    announce(`${this.what} ${this.paused ? "paused" : "resumed"}.`);
  }

  waiting(count) {
    if (this.paused) this.#label(count);
  }

  #label(count) {
    const icon = this.button.querySelector("use");
    icon.setAttribute("href", `${document.body.dataset.icons}#${this.paused ? "play" : "pause"}`);
    const word = this.paused ? `Resume${count ? `, ${count.toLocaleString("en-US")} waiting` : ""}` : "Pause";
    this.button.querySelector("span").textContent = word;
  }
}
