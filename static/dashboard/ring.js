// Draws the ring as a strip: slots from the oldest to the newest, then what is free of its
// capacity; above it each watcher where it stands, below it each resume point, and a band that says
// how long each stretch will last. The tables beside it say the same in words.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000;
const TYPES = ["ADDED", "MODIFIED", "DELETED", "unread"];
// Each kind a shape of its own, so that colour never speaks alone; dashboard_tags.py has the same.
const TICK = "M-4.5 15h9L.75 22v2h-1.5v-2z";
const MARKS = {
  fine: TICK,
  still: TICK,
  soon: "M0 13l5 5-4.25 4.25V24h-1.5v-1.75L-5 18z",
  near: "M-4.5 13h9v7.5H.75V24h-1.5v-3.5h-3.75z",
  lost: "M-5 15.5l1.5-1.5L0 17.5 3.5 14 5 15.5 1.5 19 5 22.5 3.5 24 0 20.5-3.5 24-5 22.5-1.5 19z",
};

function make(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function drawRing(root, ring) {
  if (ring.buckets) drawSlots(root.querySelector(".ring-strip"), ring);
  if (ring.zones) drawZones(root.querySelector(".ring-zones"), ring);
  if (!ring.marks) return;
  for (const svg of root.querySelectorAll(".ring-marks")) drawMarks(svg, ring);
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
      const width = Math.max((cell * total) / ring.per_bucket - gap, 0.5);
      parts.push(make("rect", { x: index * cell, y: top, width, height, class: TYPES[type] }));
      top += height;
    });
  });
  svg.replaceChildren(...parts);
}

// `zones` are [{from, size, is}], in slots from the oldest.
function drawZones(svg, ring) {
  const share = 100 / ring.capacity;
  const zones = ring.zones.map((zone) =>
    make("rect", { x: `${zone.from * share}%`, width: `${zone.size * share}%`, height: 6, fill: `url(#hatch-${zone.is})` }),
  );
  svg.replaceChildren(...zones);
}

// `marks` are [{at, count, label, is, of, title}], at in slots from the oldest.
function drawMarks(svg, ring) {
  const { of } = svg.dataset;
  const below = of === "resume";
  const marks = ring.marks.filter((mark) => mark.of === of).map((mark) => {
    const percent = (100 * mark.at) / ring.capacity;
    const title = make("title", {}, mark.title);
    const tick = make("path", { d: MARKS[mark.is], transform: below ? "translate(0 28) scale(1 -1)" : "" });
    const anchor = percent > 97 ? "end" : percent < 3 ? "start" : "middle";
    const label = make("text", { y: below ? 26 : 10, "text-anchor": anchor }, mark.label);
    // An svg, since its x may be a percentage.
    return make("svg", { x: `${percent.toFixed(2)}%`, overflow: "visible", class: "mark", "data-is": mark.is }, title, tick, label);
  });
  svg.replaceChildren(...marks);
}
