// Attached watchers, side by side. The address carries what each one watches, so that a link or a
// reload attaches them again; after a lost connection each goes on from its last revision.

import { wireCompleting } from "./completing.js";
import { onAction } from "./keys.js";
import { Pane } from "./pane.js";
import { replayFile } from "./replay.js";
import { swap } from "./swap.js";

const FIELDS = ["resource", "namespace", "labels", "fields", "from", "revision", "bookmarks", "streaming", "as"];
const WITH_STATE = new Set(["state", "any", "revision"]);

function wishOf(form) {
  const wish = {};
  for (const [name, value] of new FormData(form)) {
    if (FIELDS.includes(name) && value !== "") wish[name] = value;
  }
  if (wish.from !== "revision") delete wish.revision;
  if (wish.as === "full") delete wish.as;
  // What is not said is as usual: the state is a streaming list, nothing else is.
  const usual = wish.from === "state";
  const streaming = WITH_STATE.has(wish.from) && form.elements.streaming.checked;
  delete wish.streaming;
  if (streaming !== usual) wish.streaming = String(streaming);
  return wish;
}

export function start(socket) {
  const form = document.getElementById("attach-form");
  const list = document.getElementById("panes");
  const empty = document.querySelector("[data-empty=panes]");
  const panes = new Map();
  let number = 0;

  const remember = () => {
    empty.hidden = list.childElementCount > 0;
    const address = new URL(location.href);
    address.search = "";
    for (const pane of panes.values()) {
      if (pane.wish) address.searchParams.append("watch", new URLSearchParams(pane.wish).toString());
    }
    history.replaceState(null, "", address);
  };

  const attach = (wish) => {
    number += 1;
    const id = `attach:${number}`;
    const pane = new Pane(id, wish, socket, {
      onDetach: () => {
        panes.delete(id);
        remember();
        form.elements.resource.focus();
      },
    });
    panes.set(id, pane);
    list.append(pane.element);
    remember();
  };

  const { from, revision, namespace, resource, streaming } = form.elements;
  const adapt = () => {
    revision.closest(".field").hidden = from.value !== "revision";
    revision.required = from.value === "revision";
    streaming.disabled = !WITH_STATE.has(from.value);
    const global = resource.selectedOptions[0]?.dataset.namespaced !== "true";
    namespace.disabled = global;
    namespace.placeholder = global ? "none (cluster scope)" : "all";
  };
  from.addEventListener("change", () => {
    streaming.checked = from.value === "state";
  });
  form.addEventListener("change", () => {
    adapt();
    // What there is to copy follows the form; the address stays that of what is attached.
    swap(new URL(`?${new URLSearchParams(new FormData(form))}`, location.href), ["copies"]);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attach(wishOf(form));
  });
  adapt();
  wireCompleting(form, socket);

  const file = document.getElementById("replay-file");
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    file.value = "";
    if (!chosen) return;
    number += 1;
    const id = `replay:${number}`;
    const replay = await replayFile(id, chosen, {
      onClose: () => {
        panes.delete(id);
        remember();
        file.focus();
      },
    });
    panes.set(id, replay);
    list.append(replay.element);
    remember();
    replay.element.querySelector("h2").focus();
  });

  onAction("pause", () => {
    const all = [...panes.values()];
    const focused = all.find((pane) => pane.element.contains(document.activeElement));
    const paused = all.some((pane) => pane.pause.paused);
    if (focused) focused.pause.toggle();
    else for (const pane of all) if (pane.pause.paused === paused) pane.pause.toggle();
  });

  for (const text of new URLSearchParams(location.search).getAll("watch")) {
    const wish = Object.fromEntries([...new URLSearchParams(text)].filter(([name]) => FIELDS.includes(name)));
    if (wish.resource) attach(wish);
  }
}
