// The text of an object: line numbers beside it, Tab that indents, completion from the schema, faults
// in place, and a question before anything is lost.
// Without this module it is a plain field that works as well.

import { wireChecking } from "./checking.js";
import { wireCompleting } from "./completing.js";
import { wireDrafts } from "./drafts.js";

const INDENT = "  ";

function main() {
  const field = document.querySelector("textarea[data-editor]");
  if (!field) return;
  const gutter = wireGutter(field);
  const list = wireCompleting(field, insert); // first: its list takes Tab and Enter while it is open
  wireTab(field, list);
  wireLines(field);
  wireLeaving(field);
  wireSaving(field);
  wireChecking(field, gutter);
  wireDrafts(field); // last: a draft that is put back is checked like what one types
}

// Line numbers, and which lines are to blame.

function wireGutter(field) {
  const gutter = document.createElement("div");
  gutter.className = "gutter";
  gutter.setAttribute("aria-hidden", "true");
  field.before(gutter);
  let bad = new Set(faultyLines());
  let shown = 0;
  const draw = () => {
    const lines = field.value.split("\n").length;
    if (lines !== shown) {
      shown = lines;
      gutter.replaceChildren(...Array.from({ length: lines }, (_, index) => number(index + 1, bad)));
    }
    gutter.scrollTop = field.scrollTop;
  };
  field.addEventListener("input", draw);
  field.addEventListener("scroll", () => {
    gutter.scrollTop = field.scrollTop;
  });
  draw();
  return {
    mark(lines) {
      bad = new Set(lines);
      shown = 0;
      draw();
    },
  };
}

function number(line, bad) {
  const span = document.createElement("span");
  span.textContent = line;
  if (bad.has(line)) span.className = "bad";
  return span;
}

function faultyLines() {
  return Array.from(document.querySelectorAll("[data-line]"), (item) => Number(item.dataset.line)).filter(Boolean);
}

// A fault leads to its line.

function wireLines(field) {
  document.getElementById("faults")?.addEventListener("click", (event) => {
    const item = event.target.closest("a.line")?.closest("[data-line]");
    if (!item) return;
    event.preventDefault();
    select(field, Number(item.dataset.line));
  });
}

function select(field, line) {
  const lines = field.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  const height = field.scrollHeight / lines.length;
  field.scrollTop = Math.max(0, (line - 4) * height);
  field.scrollIntoView({ block: "nearest" });
}

// Tab indents; after Escape it leaves the field, as it does everywhere else.

function wireTab(field, list) {
  let leaving = false;
  field.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || list.open) return;
    if (event.key === "Escape") {
      leaving = true;
      return;
    }
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) {
      event.preventDefault();
      insert(field, `\n${indentOf(field)}`);
    }
    if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      indent(field, event.shiftKey);
    }
    if (event.key !== "Shift") leaving = false;
  });
  field.addEventListener("blur", () => {
    leaving = false;
  });
}

function indentOf(field) {
  const before = field.value.slice(0, field.selectionStart);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const spaces = /^ */.exec(line)[0];
  return line.trimEnd().endsWith(":") ? spaces + INDENT : spaces;
}

function indent(field, back) {
  const { selectionStart: start, selectionEnd: end, value } = field;
  if (start === end && !back) {
    insert(field, INDENT);
    return;
  }
  const first = value.lastIndexOf("\n", start - 1) + 1;
  const lines = value.slice(first, end).split("\n");
  const moved = lines.map((line) => (back ? line.replace(/^ {1,2}/, "") : line && INDENT + line));
  field.setSelectionRange(first, end);
  insert(field, moved.join("\n"));
  field.setSelectionRange(start === end ? field.selectionEnd : first, field.selectionEnd);
}

// execCommand is the only way to insert that the browser's undo knows of.
function insert(field, text) {
  if (!document.execCommand("insertText", false, text)) {
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

// What was typed is not lost without a question.

function wireLeaving(field) {
  const unsaved = document.querySelector("#faults, .panel-stale, .stale") !== null;
  let sending = false;
  field.form.addEventListener("submit", () => {
    sending = true;
  });
  window.addEventListener("beforeunload", (event) => {
    if (!sending && (unsaved || field.value !== field.defaultValue)) event.preventDefault();
  });
}

function wireSaving(field) {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    const button = field.form.querySelector("button[name='_continue'], button[name='_check']");
    if (!button) return;
    event.preventDefault();
    button.click();
  });
}

main();
