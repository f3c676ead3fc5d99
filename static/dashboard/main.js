// The entrance: wires what every page has, then the page's own module.

import { Chip } from "./chip.js";
import { startTicking, setServerTime } from "./clock.js";
import { wireCopying } from "./copying.js";
import { wireKeys } from "./keys.js";
import { wireMenus } from "./menus.js";
import { Socket } from "./socket.js";
import { wireTheme } from "./theme.js";
import { markLost, settle } from "../editor/drafts.js";

const PAGES = {
  overview: () => import("./overview.js"),
  objects: () => ({ start() {} }),
  "object-list": () => import("./object_list.js"),
  object: () => import("./object.js"),
  "object-create": () => import("./object_create.js"),
  resource: () => import("./resource.js"),
  watchers: () => import("./watchers.js"),
  flow: () => import("./flow.js"),
  attach: () => import("./attach.js"),
  watcher: () => import("./watcher.js"),
  event: () => import("./event.js"),
  rings: () => import("./rings.js"),
  ring: () => import("./ring_map.js"),
  informers: () => import("./informers.js"),
  learn: () => import("./learn.js"),
  learn_pod: () => import("./learn_pod.js"),
  learn_compare: () => import("./learn_compare.js"),
  faults: () => import("./faults.js"),
};

wireTheme();
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
wireCopying();
wireMenus();
wireKeys();

const { page, socket: path, now } = document.body.dataset;
// One comes here instead of the answer to what was sent: an editor offers that again.
if (page === "login" || page === "refused") markLost();
else if (!document.querySelector("textarea[data-editor]")) settle();
if (path && PAGES[page]) {
  setServerTime(Number(now));
  startTicking();
  const chip = new Chip(document.getElementById("chip"), document.getElementById("revisions"));
  const address = new URL(path, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new Socket(address, { onState: (state, more) => chip.show(state, more) });
  chip.retry = () => socket.retryNow();
  if (document.getElementById("fault-banner")) (await import("./fault_banner.js")).wireFaults(socket);
  const module = await PAGES[page]();
  module.start(socket);
  socket.start();
}
