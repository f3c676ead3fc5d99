// Draws the ring as a strip: slots from the oldest to the newest, then what is free of its
// capacity; above it, each watcher where it stands. The tables beside it say the same in words.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000;
const TYPES = ["ADDED", "MODIFIED", "DELETED", "unread"];

function rect(x, y, width, height, name) {
  const element = document.createElementNS(SVG, "rect");
  element.setAttribute("x", x);
  element.setAttribute("y", y);
  element.setAttribute("width", width);
  element.setAttribute("height", height);
  element.setAttribute("class", name);
  return element;
}

export function drawRing(root, ring) {
  if (ring.buckets) drawSlots(root.querySelector(".ring-strip"), ring);
  if (ring.marks) drawMarks(root.querySelector(".ring-marks"), ring);
}

// `buckets` are [added, modified, deleted, not read yet] counts of neighbouring slots.
function drawSlots(svg, ring) {
  const cell = (WIDTH * ring.per_bucket) / ring.capacity;
  const gap = cell > 4 ? 1 : 0;
  const parts = [];
  ring.buckets.forEach((counts, index) => {
    const total = counts.reduce((sum, each) => sum + each);
    let top = 0;
    counts.forEach((each, type) => {
      if (!each) return;
      const height = (40 * each) / total;
      const width = (cell * total) / ring.per_bucket - gap;
      parts.push(rect(index * cell, top, Math.max(width, 0.5), height, TYPES[type]));
      top += height;
    });
  });
  svg.replaceChildren(svg.querySelector("title"), ...parts);
}

// `marks` are [{at, count, lost, title}], at in slots from the oldest.
function drawMarks(svg, ring) {
  const marks = ring.marks.map((mark) => {
    const percent = (100 * mark.at) / ring.capacity;
    const group = document.createElementNS(SVG, "svg"); // an svg, since its x may be a percentage
    group.setAttribute("x", `${percent.toFixed(2)}%`);
    group.setAttribute("overflow", "visible");
    group.setAttribute("class", mark.lost ? "mark lost" : "mark");
    const title = document.createElementNS(SVG, "title");
    title.textContent = mark.title;
    const tick = document.createElementNS(SVG, "path");
    tick.setAttribute("d", "M-4.5 15h9L.75 22v2h-1.5v-2z");
    const label = document.createElementNS(SVG, "text");
    label.setAttribute("y", 10);
    label.setAttribute("text-anchor", percent > 97 ? "end" : percent < 3 ? "start" : "middle");
    label.textContent = mark.count > 1 ? String(mark.count) : "";
    group.append(title, tick, label);
    return group;
  });
  svg.replaceChildren(...marks);
}
