// Completion from the schema: a list of what may stand at the cursor, asked of the server.
//
// It opens while one types, or at Ctrl+Space; arrows choose, Enter or Tab takes, Escape closes. The
// field keeps the focus; screen readers follow aria-activedescendant.

import { caretPlace, contextOf } from "./caret.js";

const SHOWN = 60;
const PAUSE = 120; // milliseconds after a letter

export function wireCompleting(field, insert) {
  const address = field.closest("[data-schema]")?.dataset.schema;
  const list = new List(field, insert);
  if (!address) return list;
  const known = new Map();
  let timer = 0;
  let asked = 0;

  async function ask(context) {
    const query = new URLSearchParams({ apiVersion: context.apiVersion, kind: context.kind });
    for (const step of context.path) query.append("path", step);
    const key = query.toString();
    if (!known.has(key)) {
      const response = await fetch(`${address}?${key}`, { headers: { Accept: "application/json" } });
      known.set(key, response.ok ? await response.json() : { fields: [], values: [] });
    }
    return known.get(key);
  }

  async function complete(called) {
    if (field.selectionStart !== field.selectionEnd || field.readOnly) return list.close();
    const context = contextOf(field.value, field.selectionStart);
    if (!context || (!called && !context.word && !context.value)) return list.close();
    asked += 1;
    const mine = asked;
    const answer = await ask(context);
    if (mine !== asked || document.activeElement !== field) return list.close();
    const word = context.word.replace(/^"/, "");
    const options = context.value
      ? answer.values.map((name) => ({ name, type: "", text: name }))
      : answer.fields.map((each) => ({ ...each, text: textOf(each) }));
    const fits = options.filter((each) => each.name.toLowerCase().startsWith(word.toLowerCase()));
    if (!called && fits.length === 1 && fits[0].name === word) return list.close();
    return list.show(fits.slice(0, SHOWN), word);
  }

  field.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.inputType?.startsWith("delete") && !list.open) return;
    timer = setTimeout(() => complete(false), PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      clearTimeout(timer); // what was typed just before would close the list again
      complete(true);
    } else if (list.open) list.press(event);
  });
  field.addEventListener("blur", () => list.close());
  field.addEventListener("scroll", () => list.close());
  field.addEventListener("click", () => list.close());
  return list;
}

// A field as it is written: what holds others goes on in the next line.
function textOf(field) {
  return /^(object|map|\[\])/.test(field.type) ? `${field.name}:` : `${field.name}: `;
}

class List {
  constructor(field, insert) {
    this.field = field;
    this.insert = insert;
    this.box = document.createElement("ul");
    this.box.id = "completions";
    this.box.className = "completions";
    this.box.setAttribute("role", "listbox");
    this.box.setAttribute("aria-label", "What may stand here");
    this.box.hidden = true;
    field.parentElement.append(this.box);
    field.setAttribute("aria-autocomplete", "list");
    this.options = [];
    this.at = 0;
  }

  get open() {
    return !this.box.hidden;
  }

  show(options, word) {
    if (!options.length) return this.close();
    this.options = options;
    this.word = word;
    this.box.replaceChildren(...options.map((each, index) => this.#item(each, index)));
    this.box.hidden = false;
    const { left, top } = caretPlace(this.field);
    const room = this.field.offsetHeight - top;
    this.box.style.insetInlineStart = `${Math.max(8, Math.min(left, this.field.clientWidth - this.box.offsetWidth - 8))}px`;
    this.box.style.insetBlockStart = room > this.box.offsetHeight || room > top ? `${top}px` : `${top - this.box.offsetHeight - 22}px`;
    this.field.setAttribute("aria-controls", this.box.id);
    this.#choose(0);
  }

  close() {
    this.box.hidden = true;
    this.field.removeAttribute("aria-activedescendant");
    this.field.removeAttribute("aria-controls");
  }

  press(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in moves) {
      const next = this.at + moves[event.key];
      this.#choose(Math.max(0, Math.min(this.options.length - 1, next)));
    } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) this.take(this.at);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  take(index) {
    const { text } = this.options[index];
    const end = this.field.selectionStart;
    this.field.setSelectionRange(end - this.word.length, end);
    this.close();
    this.insert(this.field, text);
  }

  #item(option, index) {
    const item = document.createElement("li");
    item.id = `completion-${index}`;
    item.setAttribute("role", "option");
    const name = document.createElement("b");
    name.textContent = option.name;
    const type = document.createElement("span");
    type.textContent = option.required ? `${option.type}, required` : option.type;
    item.append(name, type);
    if (option.description) item.title = option.description;
    item.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.take(index);
    });
    return item;
  }

  #choose(index) {
    this.at = index;
    for (const item of this.box.children) item.setAttribute("aria-selected", String(item.id === `completion-${index}`));
    this.field.setAttribute("aria-activedescendant", `completion-${index}`);
    this.box.children[index].scrollIntoView({ block: "nearest" });
  }
}
