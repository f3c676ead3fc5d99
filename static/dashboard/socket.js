// The page's one WebSocket: subscriptions, attached watchers, acknowledgement of every frame.
//
// The server sends the next frame only after the last one was acknowledged, which happens once the
// page has drawn it: a slow browser gets fewer frames, never a queue. A hidden page says so and
// gets nothing. After a loss everything that was asked for is asked for again.

import { setServerTime } from "./clock.js";

const FIRST_WAIT = 0.5; // seconds before the first new attempt; doubled each time, with jitter
const LONGEST_WAIT = 15;
const QUIET = 12; // seconds without a frame (the server sends one at least every five)

export class Socket {
  constructor(address, { onState }) {
    this.address = address;
    this.onState = onState;
    this.channels = new Map(); // name -> handler
    this.wishes = new Map(); // name -> gives the message that asks for it
    this.lastFrame = 0;
    this.failures = 0;
    this.timer = 0;
    this.closed = false;
    document.addEventListener("visibilitychange", () => this.#visibility());
    window.addEventListener("pagehide", () => this.stop());
    window.addEventListener("pageshow", (event) => event.persisted && this.start());
    setInterval(() => this.#watchSilence(), 2000);
  }

  start() {
    this.closed = false;
    this.#connect();
  }

  stop() {
    this.closed = true;
    clearTimeout(this.timer);
    // One that is still connecting is left to the browser, which would complain in the console.
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.close(1000);
  }

  // Asks for a channel; `handler(data)` gets its part of every frame. `more()` adds to the wish.
  subscribe(channel, handler, more = () => ({})) {
    this.listen(channel, handler);
    this.want(channel, () => ({ do: "subscribe", channel, ...more() }));
  }

  listen(name, handler) {
    this.channels.set(name, handler);
  }

  // Asks for `name` by what `message()` gives, now and after every loss.
  want(name, message) {
    this.wishes.set(name, message);
    this.send(message());
  }

  forget(name) {
    this.wishes.delete(name);
    this.channels.delete(name);
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  retryNow() {
    clearTimeout(this.timer);
    this.#connect();
  }

  #connect() {
    this.onState("connecting", {});
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.addEventListener("open", () => {
      if (this.closed) {
        socket.close(1000);
        return;
      }
      if (document.hidden) this.send({ do: "visible", visible: false });
      for (const wish of this.wishes.values()) this.send(wish());
    });
    socket.addEventListener("message", (event) => this.#take(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => this.#lost(socket, event));
  }

  #take(frame) {
    this.lastFrame = performance.now();
    setServerTime(frame.now);
    const first = this.failures > 0 || !this.wasLive;
    this.failures = 0;
    this.wasLive = true;
    this.onState("live", { frame, first });
    for (const [channel, data] of Object.entries(frame.channels ?? {})) {
      this.channels.get(channel)?.(data, frame);
    }
    // After the next paint, so that a browser that cannot keep up is not sent more.
    const acknowledge = () => this.socket && this.send({ do: "ack", frame: frame.frame });
    if (document.hidden) acknowledge();
    else requestAnimationFrame(acknowledge);
  }

  #lost(socket, event) {
    if (socket !== this.socket || this.closed) return;
    this.wasLive = false;
    if (event.code === 4401) {
      this.onState("signed-out", {});
      return;
    }
    this.failures += 1;
    const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (this.failures - 1));
    const wait = longest * (0.5 + Math.random() / 2);
    this.onState("reconnecting", { wait });
    this.timer = setTimeout(() => this.#connect(), wait * 1000);
  }

  #visibility() {
    this.send({ do: "visible", visible: !document.hidden });
    this.lastFrame = performance.now();
  }

  #watchSilence() {
    const open = this.socket?.readyState === WebSocket.OPEN;
    if (open && !document.hidden && performance.now() - this.lastFrame > QUIET * 1000 && this.wasLive) {
      this.socket.close(4000);
    }
  }
}
