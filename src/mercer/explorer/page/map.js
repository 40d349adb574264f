// The map: all rows on a canvas, with zoom, lasso, search, links to known rows, and arrow keys.
"use strict";

class MapView {
  // `chosen(row)` is told the row that was clicked, `selected(rows)` those in a lasso.
  constructor(canvas, opening, ask, chosen, selected) {
    Object.assign(this, { canvas, opening, ask, chosen, selected });
    this.color = Object.keys(opening.colors).includes("truth") ? "truth" : "predicted";
    this.current = -1;
    this.hovered = -1;
    this.group = new Set();
    this.links = [];
    this.ghost = null;
    this.lassoing = false;
    this.path = null;
    this.known = new Map();
    this.home();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
    darkness.addEventListener("change", () => this.draw());
  }

  home() {
    const ends = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const margin = 0.06 * ((high - low) || 1);
      return [low - margin, high + margin];
    };
    this.x = ends(this.opening.x);
    this.y = ends(this.opening.y);
    this.draw();
  }

  listen() {
    const { canvas } = this;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, at(event));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.begin = { at: at(event), x: this.x, y: this.y, moved: false };
      this.path = this.lassoing || event.shiftKey ? [at(event)] : null;
    });
    canvas.addEventListener("pointermove", (event) => this.move(at(event)));
    canvas.addEventListener("pointerup", (event) => this.release(at(event)));
    canvas.addEventListener("pointercancel", () => { this.begin = this.path = null; this.draw(); });
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  across(x) { return (x - this.x[0]) / (this.x[1] - this.x[0]) * this.canvas.clientWidth; }
  up(y) { return (1 - (y - this.y[0]) / (this.y[1] - this.y[0])) * this.canvas.clientHeight; }

  zoom(factor, at = [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2]) {
    const share = [at[0] / this.canvas.clientWidth, 1 - at[1] / this.canvas.clientHeight];
    for (const [k, name] of ["x", "y"].entries()) {
      const [low, high] = this[name];
      const middle = low + share[k] * (high - low);
      this[name] = [middle - factor * (middle - low), middle + factor * (high - middle)];
    }
    this.draw();
  }

  move(at) {
    if (!this.begin) {
      this.hover(this.nearest(at), at);
      return;
    }
    const [dx, dy] = [at[0] - this.begin.at[0], at[1] - this.begin.at[1]];
    this.begin.moved ||= Math.hypot(dx, dy) > 4;
    if (this.path) {
      this.path.push(at);
    } else if (this.begin.moved) {
      const [x, y] = [this.begin.x, this.begin.y];
      const shift = [dx / this.canvas.clientWidth * (x[1] - x[0]),
        dy / this.canvas.clientHeight * (y[1] - y[0])];
      this.x = x.map((value) => value - shift[0]);
      this.y = y.map((value) => value + shift[1]);
    }
    this.draw();
  }

  release(at) {
    const { path, begin } = this;
    this.begin = this.path = null;
    if (path && path.length > 3) {
      this.select(this.opening.x.map((_, i) => i).filter((i) => inside(path,
        [this.across(this.opening.x[i]), this.up(this.opening.y[i])])));
    } else if (begin && !begin.moved) {
      const row = this.nearest(at);
      if (row >= 0) this.choose(row);
    }
    this.draw();
  }

  nearest(at, reach = 14) {
    let [best, row] = [reach ** 2, -1];
    this.opening.x.forEach((x, i) => {
      const apart = (this.across(x) - at[0]) ** 2 + (this.up(this.opening.y[i]) - at[1]) ** 2;
      if (apart < best) [best, row] = [apart, i];
    });
    return row;
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (moves[event.key]) this.step(moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") {
      if (this.hovered >= 0) this.choose(this.hovered);
    } else if (event.key === "+" || event.key === "=") this.zoom(0.8);
    else if (event.key === "-") this.zoom(1.25);
    else if (event.key === "0") this.home();
    else if (event.key === "Escape") this.select([]);
    else return;
    event.preventDefault();
  }

  // Go to the nearest row in a direction: what is aside counts twice.
  step([dx, dy]) {
    const from = this.hovered >= 0 ? this.hovered : this.current;
    const start = from >= 0 ? [this.across(this.opening.x[from]), this.up(this.opening.y[from])]
      : [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2];
    let [best, row] = [Infinity, from];
    this.opening.x.forEach((x, i) => {
      const [a, b] = [this.across(x) - start[0], this.up(this.opening.y[i]) - start[1]];
      const along = a * dx + b * dy;
      const cost = along + 2 * Math.abs(a * dy - b * dx);
      if (i !== from && along > 0.5 && cost < best) [best, row] = [cost, i];
    });
    if (row >= 0) {
      this.hover(row, [this.across(this.opening.x[row]), this.up(this.opening.y[row])]);
      announce(this.describe(row));
    }
  }

  choose(row) {
    this.current = row;
    this.chosen(row);
  }

  select(rows) {
    this.group = new Set(rows);
    this.draw();
    this.selected(rows);
  }

  show({ links = this.links, ghost = this.ghost }) {
    this.links = links;
    this.ghost = ghost;
    this.draw();
  }

  describe(row) {
    const { colors, classes, numbers } = this.opening;
    const named = (code) => code === null || code === undefined ? "unknown"
      : classes ? classes[code] : amount(code);
    const truth = colors.truth ? `${this.opening.target} ${named(colors.truth[row])}, ` : "";
    return `row ${numbers[row]}: ${truth}predicted ${named(colors.predicted[row])}`;
  }

  // Show what is under the pointer: the row's own cells, picture or letters.
  hover(row, at = null) {
    if (row === this.hovered) return;
    this.hovered = row;
    const tip = byId("tip");
    tip.hidden = row < 0;
    this.draw();
    if (row < 0) return;
    fill(tip, el("strong", {}, this.describe(row)));
    this.ask("row", { row }).then((found) => {
      if (this.hovered !== row) return;
      const columns = this.opening.columns;
      const cells = found.picture ? [] : found.cells.slice(0, 8).map((entry, k) => el("div", {},
        el("span", { class: "dim" }, `${shortened(columns[k].name, 24)} `),
        shortened(entryText(entry), 80)));
      const more = found.picture || found.cells.length <= 8 ? null
        : el("div", { class: "dim" }, `and ${found.cells.length - 8} more columns`);
      fill(tip, el("strong", {}, this.describe(row)), picture(found.picture, 84), cells, more);
      const room = this.canvas.clientWidth - tip.offsetWidth - 4;
      tip.style.left = `${Math.max(4, Math.min(room, at[0] + 14))}px`;
      tip.style.top = `${Math.max(4, at[1] + (at[1] > this.canvas.clientHeight / 2
        ? -tip.offsetHeight - 14 : 14))}px`;
    }).catch((error) => complain(error.message));
  }

  colorOf() {
    const { colors, classes } = this.opening;
    const values = colors[this.color];
    const labels = ["truth", "predicted"].includes(this.color) && classes;
    if (labels) return (i) => values[i] === null ? styled("--muted") : classColor(values[i]);
    if (this.color === "error" && classes) {
      return (i) => values[i] ? classColor(1) : styled("--faint");
    }
    const there = values.filter((value) => value !== null);
    const [low, high] = [Math.min(...there), Math.max(...there)];
    return (i) => scaleColor((values[i] - low) / ((high - low) || 1));
  }

  draw() {
    const { canvas, opening } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width) return;
    if (canvas.width !== width * ratio || canvas.height !== height * ratio) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const color = this.colorOf();
    const shapes = opening.colors[this.color === "truth" ? "truth" : "predicted"];
    const size = opening.x.length > 1500 ? 3.4 : 4.6;
    opening.x.forEach((x, i) => {
      const faded = this.group.size && !this.group.has(i);
      pen.globalAlpha = faded ? 0.15 : 0.85;
      pen.fillStyle = color(i);
      const shape = opening.classes ? classShape(shapes[i] ?? 0) : "circle";
      pen.fill(new Path2D(shapePath(shape, this.across(x), this.up(opening.y[i]), size)));
    });
    pen.globalAlpha = 1;
    this.drawLinks(pen);
    this.drawMarks(pen);
  }

  // Links to the known rows that pulled: solid for, dashed against.
  drawLinks(pen) {
    const from = this.ghost || (this.current >= 0
      ? [this.opening.x[this.current], this.opening.y[this.current]] : null);
    if (!from) return;
    for (const link of this.links) {
      pen.beginPath();
      pen.moveTo(this.across(from[0]), this.up(from[1]));
      pen.lineTo(this.across(link.x), this.up(link.y));
      pen.setLineDash(link.pull !== null && link.pull < 0 ? [5, 4] : []);
      pen.strokeStyle = classColor(link.pull !== null && link.pull < 0 ? 1 : 0);
      pen.lineWidth = 1 + 6 * Math.sqrt(link.share ?? 0.04);
      pen.globalAlpha = 0.7;
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  drawMarks(pen) {
    const ring = (x, y, radius, width) => {
      pen.beginPath();
      pen.arc(x, y, radius, 0, 7);
      pen.lineWidth = width;
      pen.strokeStyle = styled("--ink");
      pen.stroke();
    };
    for (const [row, radius, width] of [[this.hovered, 8, 1.5], [this.current, 9, 2.5]]) {
      if (row >= 0) ring(this.across(this.opening.x[row]), this.up(this.opening.y[row]), radius, width);
    }
    if (this.ghost) {
      const [x, y] = [this.across(this.ghost[0]), this.up(this.ghost[1])];
      pen.fillStyle = styled("--ink");
      pen.fill(new Path2D(shapePath("diamond", x, y, 7)));
    }
    if (this.path) {
      pen.beginPath();
      this.path.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.lineWidth = 1.5;
      pen.strokeStyle = styled("--ink");
      pen.stroke();
    }
  }
}

// Whether a place is inside a polygon: an odd number of its edges are to the right.
function inside(path, [x, y]) {
  let odd = false;
  for (let i = 0, j = path.length - 1; i < path.length; j = i++) {
    const [[a, b], [c, d]] = [path[i], path[j]];
    if ((b > y) !== (d > y) && x < (c - a) * (y - b) / (d - b) + a) odd = !odd;
  }
  return odd;
}
