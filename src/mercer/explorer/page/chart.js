// Charts: axes and marks in an SVG, with points that can be dragged, by a pointer or by arrow keys.
"use strict";

const MARGIN = { left: 46, right: 12, top: 12, bottom: 40 };

class ChartView {
  // `moved(points)` is told the new places while something is dragged.
  constructor(host, moved = null) {
    this.host = host;
    this.moved = moved;
    this.dragging = -1;
    this.title = el("h3", { class: "chart-title" });
    this.svg = el("svg", { class: "chart", role: "group" });
    this.svg.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) {
      this.svg.addEventListener(end, () => { this.dragging = -1; });
    }
    host.append(el("figure", {}, this.title, this.svg));
  }

  draw(chart) {
    this.chart = chart;
    const focused = this.svg.contains(document.activeElement)
      ? document.activeElement.getAttribute("data-point") : null;
    const width = Math.max(260, this.host.clientWidth);
    const height = chart.equal ? width : Math.round(Math.min(width * 0.66, 380));
    this.size = { width, height };
    this.title.textContent = chart.title;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-label", chart.title);
    fill(this.svg, this.axes(), chart.marks.map((mark) => this.mark(mark)).flat(),
      this.legend(chart.marks));
    if (focused !== null) {
      const again = this.svg.querySelector(`[data-point="${focused}"]`);
      if (again) again.focus();
    }
  }

  // Places in the picture, and back.
  across(x) {
    const [low, high] = this.chart.x;
    const at = this.chart.log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
    return MARGIN.left + at * (this.size.width - MARGIN.left - MARGIN.right);
  }

  up(y) {
    const [low, high] = this.chart.y;
    const room = this.size.height - MARGIN.top - MARGIN.bottom;
    return MARGIN.top + (1 - (y - low) / (high - low)) * room;
  }

  back(px, py) {
    const { x, y } = this.chart;
    const right = (px - MARGIN.left) / (this.size.width - MARGIN.left - MARGIN.right);
    const above = 1 - (py - MARGIN.top) / (this.size.height - MARGIN.top - MARGIN.bottom);
    const inside = (share) => Math.max(0, Math.min(1, share));
    return [x[0] + inside(right) * (x[1] - x[0]), y[0] + inside(above) * (y[1] - y[0])];
  }

  axes() {
    const { x, y, xlabel, ylabel, log } = this.chart;
    const { width, height } = this.size;
    const [left, right, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top,
      height - MARGIN.bottom];
    const parts = [el("rect", { x: left, y: top, width: right - left, height: bottom - top,
      class: "frame" })];
    for (const tick of log ? powers(x) : ticks(x)) {
      parts.push(el("line", { x1: this.across(tick), x2: this.across(tick), y1: bottom,
        y2: bottom + 4, class: "tick" }));
      parts.push(el("text", { x: this.across(tick), y: bottom + 16, class: "label middle" },
        log ? tick.toExponential(0).replace("e+", "e") : amount(tick, 3)));
    }
    for (const tick of ticks(y)) {
      parts.push(el("line", { x1: left - 4, x2: left, y1: this.up(tick), y2: this.up(tick),
        class: "tick" }));
      parts.push(el("text", { x: left - 7, y: this.up(tick) + 4, class: "label end" },
        amount(tick, 3)));
    }
    parts.push(el("text", { x: (left + right) / 2, y: height - 6, class: "label middle" },
      shortened(xlabel || "", 50)));
    parts.push(el("text", { x: 0, y: 0, class: "label middle",
      transform: `translate(11 ${(top + bottom) / 2}) rotate(-90)` }, shortened(ylabel || "", 40)));
    return parts;
  }

  mark(mark) {
    const at = (point) => `${this.across(point[0]).toFixed(2)},${this.up(point[1]).toFixed(2)}`;
    if (mark.kind === "line") {
      return el("polyline", { points: mark.points.map(at).join(" "), class: "curve",
        stroke: markColor(mark.color), "stroke-width": mark.width,
        "stroke-dasharray": mark.dash ? "5 4" : null });
    }
    if (mark.kind === "area") {
      return el("polygon", { points: mark.points.map(at).join(" "), class: "band",
        fill: markColor(mark.color) });
    }
    if (mark.kind === "text") {
      return el("text", { x: this.across(mark.x), y: this.up(mark.y), class: "label middle strong" },
        mark.text);
    }
    if (mark.kind === "rule") {
      return el("line", { x1: this.across(mark.x), x2: this.across(mark.x), y1: MARGIN.top,
        y2: this.size.height - MARGIN.bottom, class: "rule" });
    }
    return mark.kind === "field" ? this.field(mark) : this.dots(mark);
  }

  // A grid of numbers as a picture: class colors around zero, a scale, or codes of classes.
  field(mark) {
    const rows = mark.field.length;
    const canvas = el("canvas", { width: mark.field[0].length, height: rows });
    const image = canvas.getContext("2d").createImageData(mark.field[0].length, rows);
    const rgb = (color) => (color.startsWith("#")
      ? [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16))
      : color.match(/\d+/g).map(Number));
    mark.field.forEach((row, j) => row.forEach((value, i) => {
      const place = 4 * ((rows - 1 - j) * row.length + i);
      const color = mark.how === "scale" ? scaleColor(value)
        : classColor(mark.how === "codes" ? value : value > 0 ? 1 : 0);
      const strength = mark.how ? (mark.how === "scale" ? 200 : 80)
        : 15 + 95 * Math.sqrt(Math.abs(value));
      image.data.set([...rgb(color), strength], place);
    }));
    canvas.getContext("2d").putImageData(image, 0, 0);
    const [left, top] = [this.across(mark.x[0]), this.up(mark.y[1])];
    return el("image", { href: canvas.toDataURL(), x: left, y: top, preserveAspectRatio: "none",
      width: this.across(mark.x[1]) - left, height: this.up(mark.y[0]) - top, class: "field" });
  }

  dots(mark) {
    return mark.points.map((point, i) => {
      if (point[0] === null || point[1] === null) return null;
      const [x, y] = [this.across(point[0]), this.up(point[1])];
      const code = mark.codes[i];
      const parts = [];
      if (mark.rings && mark.rings[i]) {
        parts.push(el("circle", { cx: x, cy: y, r: mark.size + 5, class: "ring" }));
      }
      const shape = el("path", { d: shapePath(classShape(code), x, y, mark.size),
        class: "dot", fill: mark.colors ? mark.colors[i] : classColor(code) });
      if (!mark.drag) return [...parts, shape];
      const name = (mark.names || [])[i] || `point ${i + 1}`;
      return [...parts, el("g", {
        class: "draggable", tabindex: "0", role: "button", "data-point": i,
        "aria-label": `${name} at ${amount(point[0], 3)}, ${amount(point[1], 3)}; arrow keys move it`,
        onpointerdown: (event) => this.grab(event),
        onkeydown: (event) => this.push(event, i),
      }, el("circle", { cx: x, cy: y, r: 15, class: "handle" }), shape)];
    }).flat();
  }

  legend(marks) {
    const named = marks.filter((mark) => mark.name && mark.kind === "line");
    if (named.length < 2) return [];
    return named.map((mark, i) => el("g", {},
      el("line", { x1: this.size.width - 120, x2: this.size.width - 100, y1: 24 + 16 * i,
        y2: 24 + 16 * i, stroke: markColor(mark.color), "stroke-width": mark.width,
        "stroke-dasharray": mark.dash ? "5 4" : null }),
      el("text", { x: this.size.width - 95, y: 28 + 16 * i, class: "label" },
        shortened(mark.name, 14))));
  }

  dragged() {
    return this.chart.marks.find((mark) => mark.drag);
  }

  // Where an event is in the picture.
  at(event) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.size.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  }

  // Take hold of the point that is nearest, since those of neighbors may lie over it.
  grab(event) {
    event.preventDefault();
    const [px, py] = this.at(event);
    const apart = this.dragged().points.map(([x, y]) => Math.hypot(this.across(x) - px, this.up(y) - py));
    this.dragging = apart.indexOf(Math.min(...apart));
    this.svg.setPointerCapture(event.pointerId);
    this.svg.querySelector(`[data-point="${this.dragging}"]`).focus();
  }

  drag(event) {
    if (this.dragging >= 0) this.place(this.dragging, this.back(...this.at(event)));
  }

  push(event, i) {
    const step = event.shiftKey ? 8 : 40;
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [dx, dy] = move[event.key] || [0, 0];
    if (!dx && !dy) return;
    event.preventDefault();
    const { x, y } = this.chart;
    const [px, py] = this.dragged().points[i];
    this.place(i, [Math.max(x[0], Math.min(x[1], px + dx * (x[1] - x[0]) / step)),
      Math.max(y[0], Math.min(y[1], py + dy * (y[1] - y[0]) / step))]);
  }

  place(i, [x, y]) {
    const points = this.dragged().points;
    points[i] = [this.chart.drag === "y" ? points[i][0] : Number(x.toFixed(4)),
      this.chart.drag === "x" ? points[i][1] : Number(y.toFixed(4))];
    this.draw(this.chart);
    this.moved(points);
  }
}

function ticks([low, high]) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 4));
  const unit = [1, 2, 5, 10].map((k) => k * step).find((size) => (high - low) / size <= 6);
  const found = [];
  for (let value = Math.ceil(low / unit) * unit; value <= high + unit * 1e-9; value += unit) {
    found.push(Math.abs(value) < unit * 1e-9 ? 0 : value);
  }
  return found;
}

function powers([low, high]) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.ceil((last - first + 1) / 6);
  const found = [];
  for (let power = first; power <= last; power += step) found.push(10 ** power);
  return found;
}

// The outline of a shape around a place; classes differ in it as well as in color.
function shapePath(shape, x, y, size) {
  const s = size;
  const corners = (list) => "M" + list.map(([a, b]) => `${(x + a * s).toFixed(2)} ${(y + b * s)
    .toFixed(2)}`).join("L") + "Z";
  const cross = [[-1, -.65], [-.65, -1], [0, -.35], [.65, -1], [1, -.65], [.35, 0], [1, .65],
    [.65, 1], [0, .35], [-.65, 1], [-1, .65], [-.35, 0]];
  switch (shape) {
    case "cross": return corners(cross);
    case "square": return corners([[-.85, -.85], [.85, -.85], [.85, .85], [-.85, .85]]);
    case "triangle": return corners([[0, -1.1], [1, .75], [-1, .75]]);
    case "down": return corners([[0, 1.1], [1, -.75], [-1, -.75]]);
    case "diamond": return corners([[0, -1.2], [1, 0], [0, 1.2], [-1, 0]]);
    case "plus": return corners([[-.35, -1], [.35, -1], [.35, -.35], [1, -.35], [1, .35],
      [.35, .35], [.35, 1], [-.35, 1], [-.35, .35], [-1, .35], [-1, -.35], [-.35, -.35]]);
    default: return `M${x - s} ${y}a${s} ${s} 0 1 0 ${2 * s} 0a${s} ${s} 0 1 0 ${-2 * s} 0Z`;
  }
}
