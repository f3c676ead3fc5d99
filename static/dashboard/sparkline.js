// Sixty bars, one a look at the statistics; each is as high as the events of its second.

const BARS = 60;
const SVG = "http://www.w3.org/2000/svg";

export class Sparkline {
  constructor(svg) {
    this.svg = svg;
    this.values = [];
    svg.setAttribute("viewBox", `0 0 ${BARS} 100`);
  }

  add(value) {
    if (value === null || value === undefined) return;
    this.values.push(value);
    if (this.values.length > BARS) this.values.shift();
    const most = Math.max(4, ...this.values);
    while (this.svg.childElementCount < this.values.length) {
      this.svg.append(document.createElementNS(SVG, "rect"));
    }
    const first = BARS - this.values.length;
    this.values.forEach((each, index) => {
      const rect = this.svg.children[index];
      const height = each ? Math.max(3, (each / most) * 96) : 0;
      rect.setAttribute("x", first + index + 0.12);
      rect.setAttribute("y", 100 - height);
      rect.setAttribute("width", 0.76);
      rect.setAttribute("height", height);
    });
    this.svg.setAttribute("aria-label", `Events a second, the last minute: now ${Math.round(value)}, most ${Math.round(Math.max(...this.values))}`);
  }
}
