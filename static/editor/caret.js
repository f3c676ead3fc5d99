// Where the text cursor stands: its line, its place on the page, its path in the YAML.

// The place of the cursor inside the field's box, in pixels: a monospaced text needs no mirror.
export function caretPlace(field) {
  const before = field.value.slice(0, field.selectionStart);
  const line = before.split("\n").length - 1;
  const column = before.length - before.lastIndexOf("\n") - 1;
  const style = getComputedStyle(field);
  return {
    left: parseFloat(style.paddingLeft) + column * letterWidth(style) - field.scrollLeft,
    top: lineTop(field, line + 1) + lineHeight(field),
  };
}

export function lineHeight(field) {
  return parseFloat(getComputedStyle(field).lineHeight);
}

// The top of a line (from 1) inside the field's box.
export function lineTop(field, line) {
  return parseFloat(getComputedStyle(field).paddingTop) + (line - 1) * lineHeight(field) - field.scrollTop;
}

const widths = new Map();

function letterWidth(style) {
  const font = `${style.fontSize} ${style.fontFamily}`;
  if (!widths.has(font)) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = font;
    widths.set(font, context.measureText("0".repeat(50)).width / 50);
  }
  return widths.get(font);
}

// Reads the lines above the cursor by their indentation: {path, word, value, apiVersion, kind}.
// `path` leads to the object whose fields can stand here; `value` is true behind `key: `, and then
// the path leads to that key. `[]` stands for an element of a list. Null where nothing can be said.
export function contextOf(text, at) {
  const above = text.slice(0, at).split("\n");
  const lines = above.slice(above.findLastIndex((line) => /^---(\s|$)/.test(line)) + 1);
  const match = /^([ ]*(?:- +)*)([\w./-]*)(: +)?("?[\w./-]*)$/.exec(lines.at(-1));
  if (!match || (!match[3] && match[4])) return null;
  const [, lead, key, colon, written] = match;
  const path = pathOf(lines.slice(0, -1), lead);
  if (!path) return null;
  if (colon) path.push(key);
  const whole = lines.join("\n") + text.slice(at).split(/^---(?:\s|$)/m)[0];
  const named = (name) => new RegExp(`^${name}:\\s*["']?([^"'#\\s]+)`, "m").exec(whole)?.[1] ?? "";
  return {
    path,
    word: colon ? written : key,
    value: Boolean(colon),
    apiVersion: named("apiVersion"),
    kind: named("kind"),
  };
}

// From the cursor's line upwards, each mark that stands further left than the last is its parent: a
// key that opens an object, or the dash of an element. A list may stand as far left as its key.
function pathOf(lines, lead) {
  const path = [];
  let limit = lead.length;
  let dash = false;
  const element = (column) => {
    if (column >= limit) return;
    path.unshift("[]");
    limit = column;
    dash = true;
  };
  dashes(lead).forEach(element);
  for (const line of lines.toReversed()) {
    if (limit === 0 && !dash) break;
    const parts = /^([ ]*(?:- +)*)([^\s:#"'-][^\s:#"']*|"[^"]*"|'[^']*'):(?: +(.*))?$/.exec(line);
    const marks = /^[ ]*(?:- +)*/.exec(line)[0];
    if (!line.trim() || line.trimStart().startsWith("#")) continue;
    const column = marks.length;
    if (parts && (column < limit || (dash && column === limit && !dashes(marks).includes(column)))) {
      if (parts[3] && !parts[3].startsWith("#")) return null; // inside a text of several lines
      path.unshift(parts[2].replace(/["']/g, ""));
      limit = column;
      dash = false;
    }
    dashes(marks).forEach(element);
  }
  return path;
}

// The columns of the dashes, the last first.
function dashes(marks) {
  return [...marks].flatMap((letter, column) => (letter === "-" ? [column] : [])).reverse();
}
