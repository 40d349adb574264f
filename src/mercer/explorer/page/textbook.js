// The textbooks: knobs, draggable points and steps of one demonstration at a time.
"use strict";

class TextbookView {
  constructor(host, list, ask) {
    Object.assign(this, { host, list, ask });
    // What comes after another demonstration was opened belongs to the one before.
    this.draw = latest((parts) => ask("textbook", parts), (scene, parts) => {
      if (parts.name === this.one.name) this.show(scene);
    });
    this.names = el("nav", { class: "demonstrations", "aria-label": "Demonstrations" },
      el("ul", {}, list.map((one) => el("li", {}, el("button", { type: "button", "data-name": one.name,
        onclick: () => this.open(one) }, one.title)))));
    this.page = el("section", { class: "demonstration", "aria-live": "off" });
    fill(host, this.names, this.page);
    this.open(list.find((one) => `#${one.name}` === window.location.hash) || list[0]);
  }

  open(one) {
    this.one = one;
    this.values = Object.fromEntries(one.knobs.map((knob) => [knob.name, knob.value]));
    this.points = one.points.map((point) => [...point]);
    this.step = 0;
    this.playing = false;
    for (const button of this.names.querySelectorAll("button")) {
      button.setAttribute("aria-current", button.dataset.name === one.name ? "true" : "false");
    }
    this.words = el("p", { id: "words" });
    this.readouts = el("dl", { class: "readouts", id: "readouts", "aria-live": "polite" });
    this.hosts = el("div", { class: "charts" });
    this.charts = [];
    this.stepping = one.steps ? [
      el("button", { type: "button", id: "step", onclick: () => this.go(1) }, "Step"),
      el("button", { type: "button", id: "play", "aria-pressed": "false", onclick: () => this.play() }, "Run"),
    ] : [];
    fill(this.page, el("h2", {}, one.title), el("p", {}, one.about),
      el("div", { class: "fields" }, one.knobs.map((knob) => this.knob(knob))),
      el("div", { class: "line" }, this.stepping,
        el("button", { type: "button", id: "again", onclick: () => this.open(one) }, "Start again")),
      this.hosts, this.words, this.readouts, el("p", { class: "dim" }, one.source));
    this.refresh();
  }

  knob(knob) {
    const id = `knob-${knob.name}`;
    if (knob.kind === "choice") {
      return el("div", { class: "field" }, el("label", { for: id }, knob.label), el("select", { id,
        onchange: (event) => this.set(knob.name, event.target.value) }, knob.options.map((option) =>
        el("option", { value: option, selected: option === knob.value }, option))));
    }
    const log = knob.kind === "log";
    const place = (value) => (log ? Math.log10(value) : value);
    const output = el("output", { for: id }, amount(knob.value, 3));
    const [low, high] = [place(knob.low), place(knob.high)];
    return el("div", { class: "field" }, el("label", { for: id }, knob.label), el("input", {
      type: "range", id, min: low, max: high, step: (high - low) / 200, value: place(knob.value),
      oninput: (event) => {
        const value = log ? 10 ** Number(event.target.value) : Number(event.target.value);
        const inside = Math.max(knob.low, Math.min(knob.high, value));
        output.textContent = amount(inside, 3);
        this.set(knob.name, inside);
      } }), output);
  }

  set(name, value) {
    this.values[name] = value;
    this.refresh();
  }

  refresh() {
    complain("");
    this.draw({ name: this.one.name, values: this.values, points: this.points, step: this.step });
  }

  go(steps) {
    this.step += steps;
    this.refresh();
  }

  // Run on, a step at a time, until there is none left or somebody stops it.
  play() {
    this.playing = !this.playing;
    const button = byId("play");
    button.setAttribute("aria-pressed", String(this.playing));
    button.textContent = this.playing ? "Stop" : "Run";
    if (this.playing) this.go(1);
  }

  show(scene) {
    this.step = scene.step;
    if (this.charts.length !== scene.charts.length) {
      fill(this.hosts);
      this.charts = scene.charts.map(() => {
        const host = el("div", { class: "chart-host" });
        this.hosts.append(host);
        return new ChartView(host, (points) => this.moved(points));
      });
    }
    scene.charts.forEach((chart, i) => {
      for (const mark of chart.marks) {
        if (mark.drag) mark.names = mark.codes.map((code, k) => `point ${k + 1}, ${this.one.classes[code] ?? ""}`);
      }
      if (this.charts[i].dragging < 0) this.charts[i].draw(chart);
      else this.charts[i].draw(this.held(chart, this.charts[i]));
    });
    this.words.textContent = scene.words;
    fill(this.readouts, scene.readouts.map(([name, value]) => el("div", {}, el("dt", {}, name),
      el("dd", {}, value))));
    for (const button of this.stepping) button.disabled = scene.last && !this.playing;
    if (this.playing && scene.last) this.play();
    else if (this.playing) window.setTimeout(() => { if (this.playing) this.go(1); }, 150);
  }

  // While something is dragged, its points stay under the pointer, wherever the answer has them.
  held(chart, view) {
    const own = view.dragged();
    for (const mark of chart.marks) if (mark.drag && own) mark.points = own.points;
    return chart;
  }

  moved(points) {
    this.points = points.map(([x, y], i) => [x, y, this.points[i][2]]);
    if (this.one.steps) this.step = 0;
    this.refresh();
  }
}
