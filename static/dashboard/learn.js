// The step mode: lines of a real stream, stepped through at the reader's pace.

import { announce } from "./announce.js";

const LIMIT = 300;
const ICONS = { ADDED: "added", MODIFIED: "modified", DELETED: "deleted", BOOKMARK: "bookmark", ERROR: "error" };
const id = "lesson:1";

export function start(socket) {
  const at = (name) => document.getElementById(name);
  const lines = at("lines");
  let steps = [];
  let shown = -1;
  let auto = false;

  const line = (step) => {
    const item = document.createElement("li");
    item.dataset.who = step.who;
    const button = document.createElement("button");
    button.type = "button";
    const kind = document.createElement("span");
    kind.className = "line-kind";
    kind.textContent = ICONS[step.kind] ? step.kind : step.who;
    kind.dataset.is = step.kind;
    const text = document.createElement("code");
    text.textContent = step.line;
    button.append(kind, text);
    button.addEventListener("click", () => show(steps.indexOf(step)));
    item.append(button);
    return item;
  };

  const show = (index) => {
    if (index < 0 || index >= steps.length) return;
    lines.querySelector("[aria-current]")?.removeAttribute("aria-current");
    shown = index;
    const step = steps[index];
    at("step-who").textContent = { client: "The client asks", server: "The server says", you: "You wrote" }[step.who];
    at("step-title").textContent = step.title;
    at("step-line").textContent = step.line;
    at("step-means").textContent = step.means;
    at("step-next").textContent = step.next;
    const item = lines.children[index];
    item.firstChild.setAttribute("aria-current", "step");
    lines.scrollTop = item.offsetTop - lines.clientHeight / 2;
    announce(step.title);
    buttons();
  };

  const buttons = () => {
    const waiting = steps.length - 1 - shown;
    at("back").disabled = shown <= 0;
    at("step").disabled = waiting <= 0;
    at("step-count").textContent = `${shown + 1} of ${steps.length}${waiting ? `, ${waiting} more came` : ""}`;
    for (const [index, item] of [...lines.children].entries()) item.hidden = index > shown;
  };

  at("back").addEventListener("click", () => show(shown - 1));
  at("step").addEventListener("click", () => show(shown + 1));
  at("auto").addEventListener("click", () => {
    auto = !auto;
    at("auto").setAttribute("aria-pressed", String(auto));
  });
  setInterval(() => {
    if (auto && !document.hidden && shown < steps.length - 1) show(shown + 1);
  }, 1500);
  at("acts").addEventListener("click", (event) => {
    const act = event.target.closest("[data-act]")?.dataset.act;
    if (act) socket.send({ do: "act", act, id });
  });

  socket.listen(id, (data) => {
    const chip = at("lesson-chip");
    const notice = at("lesson-notice");
    notice.hidden = !data.status;
    if (data.status) {
      notice.querySelector("span").textContent = `${data.status.code} ${data.status.reason}: ${data.status.message}`;
      if (!data.state) return;
    }
    chip.dataset.is = "live";
    chip.querySelector("[data-word]").textContent = "live";
    at("lesson").hidden = at("acts").hidden = false;
    at("lesson-empty").hidden = true;
    for (const step of data.steps ?? []) {
      steps.push(step);
      lines.append(line(step));
    }
    while (steps.length > LIMIT) {
      steps.shift();
      lines.firstElementChild.remove();
      shown -= 1;
    }
    if (shown < 0 && steps.length) show(0);
    else buttons();
  });
  at("begin").disabled = false;
  at("begin").addEventListener("click", () => {
    steps = [];
    shown = -1;
    lines.replaceChildren();
    const streaming = at("streaming").value;
    at("begin").textContent = "Begin anew";
    socket.want(id, () => ({ do: "attach", kind: "lesson", id, streaming }));
  });
}
