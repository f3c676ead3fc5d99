// Faults in place: when typing rests, the server is asked by a dry run, and what it would refuse
// stands beside its line. Nothing is written, and the form stays as it is.

import { lineTop } from "./caret.js";

const REST = 700; // milliseconds without a key

export function wireChecking(field, gutter) {
  const editor = field.closest("[data-schema]");
  const state = document.getElementById("editor-state");
  const button = field.form.querySelector("[name='_check']");
  if (!editor || !state || !button || field.readOnly) return;
  const address = editor.dataset.check || twinOf(location);
  state.setAttribute("role", "status");
  const notes = document.createElement("div");
  notes.className = "editor-notes";
  editor.append(notes);
  let faults = [];
  let asked = 0;
  let timer = 0;

  const place = () => {
    for (const note of notes.children) note.style.insetBlockStart = `${lineTop(field, Number(note.dataset.line))}px`;
  };
  const show = (found, words) => {
    faults = found;
    gutter.mark(faults.map((each) => each.line));
    notes.replaceChildren(...faults.filter((each) => each.line).map(noteOf));
    place();
    state.textContent = words;
    state.dataset.is = found.length ? "bad" : "good";
    field.setAttribute("aria-invalid", String(found.length > 0));
  };

  async function check() {
    asked += 1;
    const mine = asked;
    const body = new FormData(field.form);
    body.append("_check", "1");
    body.append("_asked", "1"); // answered 200 whatever is found: a question is no failure
    let answer;
    try {
      const response = await fetch(address, { method: "POST", body, headers: { Accept: "application/json" } });
      answer = await response.json();
    } catch {
      return; // the next rest asks again; sending the form says what is wrong
    }
    if (mine !== asked) return;
    if (answer.message) state.textContent = answer.message;
    else if (movedOn(answer)) state.textContent = "The object has moved on; checking shows both.";
    else {
      const found = faultsOf(answer);
      show(found, found.length ? wordsOf(found) : "The server would take this.");
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    asked += 1; // an answer about another text counts no longer
    if (notes.children.length) show([], "");
    state.textContent = "";
    timer = setTimeout(check, REST);
  });
  field.addEventListener("scroll", place);
}

// The form's own address, answered as JSON.
function twinOf({ pathname, search }) {
  return `${pathname.replace(/\/$/, "")}.json${search}`;
}

function movedOn(answer) {
  return Boolean(answer.stale ?? answer.form?.stale);
}

function faultsOf(answer) {
  if (answer.outcomes) return answer.outcomes.flatMap((each) => each.faults);
  return answer.form?.faults ?? answer.faults ?? [];
}

function wordsOf(faults) {
  const bare = faults.filter((each) => !each.line).map((each) => each.message);
  const count = `${faults.length} thing${faults.length > 1 ? "s" : ""} to repair`;
  return [count, ...bare].join(". ");
}

function noteOf(fault) {
  const note = document.createElement("span");
  note.dataset.line = fault.line;
  note.textContent = fault.message;
  note.title = fault.field ? `${fault.field}: ${fault.message}` : fault.message;
  return note;
}
