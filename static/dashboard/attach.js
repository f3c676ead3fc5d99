// Attached watchers, side by side. The address carries what each one watches, so that a link or a
// reload attaches them again; after a lost connection each goes on from its last revision.

import { onAction } from "./keys.js";
import { Pane } from "./pane.js";

const FIELDS = ["resource", "namespace", "labels", "fields", "from", "revision", "bookmarks"];

function wishOf(form) {
  const wish = {};
  for (const [name, value] of new FormData(form)) {
    if (FIELDS.includes(name) && value !== "") wish[name] = value;
  }
  if (wish.from !== "revision") delete wish.revision;
  return wish;
}

export function start(socket) {
  const form = document.getElementById("attach-form");
  const list = document.getElementById("panes");
  const empty = document.querySelector("[data-empty=panes]");
  const panes = new Map();
  let number = 0;

  const remember = () => {
    empty.hidden = panes.size > 0;
    const address = new URL(location.href);
    address.search = "";
    for (const pane of panes.values()) {
      address.searchParams.append("watch", new URLSearchParams(pane.wish).toString());
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

  const { from, revision, namespace, resource } = form.elements;
  const adapt = () => {
    revision.closest(".field").hidden = from.value !== "revision";
    revision.required = from.value === "revision";
    const global = resource.selectedOptions[0]?.dataset.namespaced !== "true";
    namespace.disabled = global;
    namespace.placeholder = global ? "none (cluster scope)" : "all";
  };
  form.addEventListener("change", adapt);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attach(wishOf(form));
  });
  adapt();

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
