// Something that runs once and is told as it goes: the way of a pod, three ways compared.

import { KeyedTable } from "./tables.js";

const CHIPS = { coming: "live", going: "live", measuring: "live", done: "still", stuck: "reconnecting", failed: "signed-out" };

// `names` are the ids of the page's parts; `wish()` is what to ask for; `rows(data)` what came.
export function wireRun(socket, { id, kind, names, wish, rows }) {
  const at = (name) => document.getElementById(name);
  const table = new KeyedTable(at(names.body));
  const chip = at(names.chip);
  const notice = at(names.notice);
  const over = (phase) => ["done", "stuck", "failed"].includes(phase);

  const say = (text) => {
    notice.hidden = !text;
    notice.querySelector("span").textContent = text ?? "";
  };
  socket.listen(id, (data) => {
    const phase = data.phase ?? (data.status ? "failed" : "coming");
    chip.dataset.is = CHIPS[phase];
    chip.querySelector("[data-word]").textContent = phase;
    say(data.status ? `${data.status.code} ${data.status.reason}: ${data.status.message}` : data.says);
    for (const row of rows(data)) table.put(row);
    at(names.box).hidden = table.size === 0;
    at(names.empty).hidden = table.size > 0;
    if (data.namespace && at("way-namespace")) at("way-namespace").textContent = `in namespace ${data.namespace}`;
    at("stop").hidden = over(phase);
    at("begin").disabled = !over(phase);
    // What is over is not begun again by itself after a lost connection.
    if (over(phase)) socket.wishes.delete(id);
  });
  at("begin").disabled = false;
  at("begin").addEventListener("click", () => {
    table.clear();
    say("");
    at("begin").disabled = true;
    const message = { do: "attach", kind, id, ...wish() };
    socket.want(id, () => message);
  });
  at("stop").addEventListener("click", () => {
    socket.send({ do: "detach", id });
    socket.wishes.delete(id);
    chip.dataset.is = "still";
    chip.querySelector("[data-word]").textContent = "stopped";
    at("stop").hidden = true;
    at("begin").disabled = false;
  });
}
