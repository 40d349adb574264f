// What if: a field for every column, with the prediction and the effect curve beside it.
"use strict";

const SHOWN_FIELDS = 12;

class WhatIfPanel {
  constructor(host, opening, ask, app) {
    Object.assign(this, { host, opening, ask, app });
    this.columns = opening.columns.filter((column) => column.typed);
    this.column = this.columns.length ? this.columns[0].name : null;
    this.inputs = new Map();
    this.card = el("div", { class: "card", id: "what-if-answer", "aria-live": "polite" });
    this.chartHost = el("div", { class: "chart-host" });
    this.filter = el("input", { type: "search", id: "field-filter",
      oninput: () => this.list(this.filter.value) });
    this.fields = el("div", { class: "fields", id: "fields" });
    this.chart = null;
    this.predict = latest((row, cells) => ask("predict", { row, cells }), (said) => {
      complain("");
      fill(this.card, el("h3", {}, "Prediction"), picture(said.picture, 96),
        answerCard(this.opening, said));
    });
    this.effect = latest((row, cells, column) => ask("effect", { row, cells, column }),
      (found) => this.draw(found));
    const wide = this.columns.length > SHOWN_FIELDS;
    fill(host, this.card, this.chartHost,
      el("div", { class: "line" },
        wide ? el("label", { for: "field-filter" }, "Find a column") : null, wide ? this.filter : null,
        el("button", { type: "button", id: "as-it-was", onclick: () => app.choose(app.row) },
          "As it was")),
      this.columns.length ? null : el("p", {}, "The entries of this model's rows cannot be typed."),
      this.fields);
    this.order = this.columns;
  }

  // Show the fields of the row; columns that counted most come first.
  update(row, cells, entries, shares = null) {
    this.row = row;
    this.cells = cells;
    this.entries = entries;
    if (shares && shares.length) {
      const place = new Map(shares.map((one, i) => [one.name, i]));
      this.order = [...this.columns].sort((a, b) => (place.get(a.name) ?? 1e9) - (place.get(b.name) ?? 1e9));
      if (!this.picked) this.column = this.order[0].name;
    }
    this.list(this.filter.value);
    this.answer();
  }

  answer() {
    this.predict(this.row, this.cells);
    if (this.column && this.kind() !== "letters") this.effect(this.row, this.cells, this.column);
  }

  kind() {
    const column = this.columns.find((one) => one.name === this.column);
    return column && ["numeric", "date", "categorical"].includes(column.kind) ? column.kind : "letters";
  }

  list(wanted = "") {
    const found = this.order.filter((column) => column.name.toLowerCase().includes(wanted.toLowerCase()));
    const some = found.slice(0, SHOWN_FIELDS);
    this.inputs.clear();
    fill(this.fields, some.map((column, k) => this.field(column, k)),
      found.length > some.length ? el("p", { class: "dim" },
        `and ${found.length - some.length} more columns; find one by its name`) : null);
  }

  field(column, k) {
    const id = `field-${k}`;
    const entry = column.name in this.cells ? this.cells[column.name] : this.entries.get(column.name);
    const set = (value) => this.set(column.name, value);
    const focus = () => this.focus(column.name);
    let inputs;
    if (column.kind === "numeric") {
      const { low, high } = column;
      const number = el("input", { type: "number", id, step: "any", value: entry ?? "", onfocus: focus });
      const range = el("input", { type: "range", min: low, max: high,
        step: column.whole ? 1 : (high - low) / 200 || 1, value: entry ?? low, onfocus: focus,
        "aria-label": `${column.name}, slider` });
      number.addEventListener("input", () => {
        range.value = number.value;
        set(number.value === "" ? null : Number(number.value));
      });
      range.addEventListener("input", () => {
        number.value = Number(Number(range.value).toPrecision(8));
        set(Number(number.value));
      });
      inputs = [range, number];
    } else if (column.levels) {
      inputs = [el("select", { id, onfocus: focus,
        onchange: (event) => set(event.target.value === "\u0000" ? null : event.target.value) },
      [null, ...column.levels].map((level) => el("option", { value: level ?? "\u0000",
        selected: level === (entry ?? null) }, level === null ? "(missing)" : shortened(level, 60))))];
    } else if (column.kind === "date") {
      inputs = [el("input", { type: "text", id, value: entry ?? "", onfocus: focus, placeholder: "2024-02-28",
        onchange: (event) => set(event.target.value || null) })];
    } else {
      inputs = [el("textarea", { id, rows: 3, spellcheck: false, onfocus: focus, value: entry ?? "",
        oninput: (event) => { if (event.target.value) set(event.target.value); } })];
    }
    this.inputs.set(column.name, inputs);
    return el("div", { class: "field" + (column.name === this.column ? " varied" : "") },
      el("label", { for: id }, shortened(column.name, 40)), inputs);
  }

  focus(name) {
    if (name === this.column) return;
    this.pick(name);
    for (const node of this.fields.querySelectorAll(".field")) {
      node.classList.toggle("varied", node.querySelector("label").textContent === shortened(name, 40));
    }
    if (this.kind() === "letters") fill(this.chartHost);
    else this.effect(this.row, this.cells, name);
  }

  // From now on this column is varied, and no longer the one that counts most.
  pick(name) {
    this.column = name;
    this.picked = true;
  }

  set(name, value) {
    this.pick(name);
    this.cells = { ...this.cells, [name]: value };
    this.app.typed(this.cells);
    this.answer();
  }

  draw(found) {
    if (found.column !== this.column) return;
    if (!this.chart || !this.chartHost.contains(this.chart.svg)) {
      fill(this.chartHost);
      this.chart = new ChartView(this.chartHost);
    }
    this.chart.draw(effectChart(found, this.opening));
  }
}

// The answers along a column as a chart; levels of a category stand beside each other.
function effectChart(found, opening) {
  const levels = typeof found.values[0] === "string";
  const places = found.values.map((value, i) => (levels ? i : value));
  const all = found.lines.map((line) => line.values).flat().concat((found.band || []).flat());
  const chances = found.unit !== "number";
  let [low, high] = chances ? [0, 1.02] : [Math.min(...all), Math.max(...all)];
  if (!chances) [low, high] = low === high ? [low - 1, high + 1] : [low - 0.05 * (high - low), high + 0.05 * (high - low)];
  const ends = levels ? [-0.5, Math.max(0.5, places.length - 0.5)] : [places[0], places[places.length - 1]];
  const marks = [];
  if (found.band && !levels) {
    const upper = places.map((x, i) => [x, found.band[i][1]]);
    marks.push({ kind: "area", color: 0, points: [...upper,
      ...places.map((x, i) => [x, found.band[i][0]]).reverse()] });
  }
  const here = levels ? found.values.indexOf(found.here) : found.here;
  if (typeof here === "number" && here >= ends[0] && here <= ends[1]) marks.push({ kind: "rule", x: here });
  for (const line of found.lines) {
    const points = places.map((x, i) => [x, line.values[i]]);
    if (levels) marks.push({ kind: "dots", points, codes: points.map(() => line.code), size: 5 });
    else marks.push({ kind: "line", points, color: line.code, width: 2.2, name: line.name,
      dash: line.code >= LIGHT.length });
  }
  if (levels) {
    found.values.slice(0, 12).forEach((level, i) => marks.push({ kind: "text", x: i,
      y: low + 0.02 * (high - low), text: shortened(level, 10) }));
  }
  const what = found.unit === "number" ? opening.target
    : found.unit === "label" ? "answer" : "probability";
  return { title: `${what} along ${shortened(found.column, 40)}, all else as it is`, x: ends, y: [low, high],
    xlabel: found.column, ylabel: what, marks };
}
