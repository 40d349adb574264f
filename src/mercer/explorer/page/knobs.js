// Knobs: kernel, bandwidth and penalty, with held-out errors, map, boundary and proof.
"use strict";

class KnobsPanel {
  constructor(host, opening, ask) {
    Object.assign(this, { host, opening, ask, ready: false });
    this.turn = latest((parts) => ask("knobs", parts), (found) => this.show(found),
      (words) => { this.note.textContent = words; });
  }

  async begin() {
    if (this.ready) return;
    this.ready = true;
    const start = await this.ask("start", {});
    this.start = start;
    this.expression = el("textarea", { id: "expression", rows: 3, spellcheck: false,
      value: start.expression, oninput: () => this.changed() });
    this.penalty = el("input", { type: "range", id: "penalty", min: -6, max: 3, step: 0.05,
      value: Math.log10(start.penalty), oninput: () => this.changed() });
    this.width = el("input", { type: "range", id: "width", min: -2, max: 2, step: 0.05, value: 0,
      oninput: () => this.changed() });
    const choice = (id, first) => el("select", { id, onchange: () => this.changed() },
      el("option", { value: "" }, first), start.numbers.map((name) => el("option", { value: name },
        shortened(name, 40))));
    this.first = choice("first-column", "all columns");
    this.second = choice("second-column", "all columns");
    this.penaltyText = el("output", { for: "penalty" });
    this.widthText = el("output", { for: "width" });
    this.note = el("p", { class: "careful", id: "knob-note", role: "status" });
    this.told = el("p", { id: "knob-errors" });
    this.hosts = [0, 1, 2].map(() => el("div", { class: "chart-host" }));
    this.charts = this.hosts.map((node) => new ChartView(node));
    this.proof = el("div", { id: "proof" });
    const two = start.numbers.length > 1;
    fill(this.host,
      el("p", { class: "dim" }, `Ridge regression with an intercept learns from ${start.rows} rows, `
        + "chosen evenly, and predicts each from all the others."),
      el("div", { class: "field" }, el("label", { for: "expression" }, "Kernel"), this.expression),
      el("div", { class: "field" }, el("label", { for: "penalty" }, "Penalty"), this.penalty, this.penaltyText),
      el("div", { class: "field" }, el("label", { for: "width" }, "Bandwidth, times"), this.width, this.widthText),
      two ? el("div", { class: "field" }, el("label", { for: "first-column" }, "Only columns"), this.first,
        el("label", { for: "second-column", class: "inner" }, "and"), this.second) : null,
      this.note, this.told, this.hosts, el("h4", {}, "Is it a valid kernel?"), this.proof);
    this.changed();
  }

  changed() {
    const [a, b] = [this.first.value, this.second.value];
    const parts = { expression: this.expression.value, penalty: 10 ** Number(this.penalty.value),
      width: 10 ** Number(this.width.value) };
    if (a && b && a !== b) parts.columns = [a, b];
    this.penaltyText.textContent = amount(parts.penalty, 2);
    this.widthText.textContent = amount(parts.width, 2);
    complain("");
    this.turn(parts);
  }

  show(found) {
    this.note.textContent = found.note;
    fill(this.proof, proofList(found.proof));
    for (const host of this.hosts) host.hidden = found.held === null;
    if (found.held === null) {
      this.told.textContent = "";
      return;
    }
    const shown = (value) => value === null ? "unknown" : found.measure.startsWith("share")
      ? percent(value) : amount(value, 3);
    this.told.textContent = `Held-out error ${shown(found.here.held)}, error on the rows learned from `
      + `${shown(found.here.own)} (${found.measure}). Best penalty here: ${amount(found.best, 2)}.`;
    const errors = [...found.held, ...found.own].filter((value) => value !== null);
    const curve = (values) => found.penalties.map((p, i) => [p, values[i]]).filter((pair) => pair[1] !== null);
    this.charts[0].draw({
      title: "Errors along the penalty", log: true, x: [1e-6, 1e3], y: [0, 1.05 * Math.max(...errors) || 1],
      xlabel: "penalty", ylabel: found.measure, marks: [
        { kind: "rule", x: found.here.penalty },
        { kind: "line", points: curve(found.held), color: 1, width: 2.5, name: "held out" },
        { kind: "line", points: curve(found.own), color: 0, width: 2, dash: true, name: "learned from" },
      ] });
    this.drawMap(found);
    this.drawBoundary(found);
  }

  codes(count) {
    const { colors, classes } = this.opening;
    const values = colors.truth || colors.predicted;
    const step = (values.length - 1) / Math.max(count - 1, 1);
    const some = Array.from({ length: count }, (_, i) => values[count === values.length ? i
      : Math.round(i * step)]);
    if (classes) return { codes: some.map((code) => code ?? 0), colors: null };
    const [low, high] = [Math.min(...some), Math.max(...some)];
    return { codes: some.map(() => 0), colors: some.map((v) => scaleColor((v - low) / ((high - low) || 1))) };
  }

  drawMap(found) {
    const ends = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const margin = 0.06 * ((high - low) || 1);
      return [low - margin, high + margin];
    };
    const points = found.x.map((x, i) => [x, found.y[i]]);
    this.charts[1].draw({ title: "The map under this kernel; rings: wrong when held out",
      x: ends(found.x), y: ends(found.y), xlabel: "first component", ylabel: "second",
      marks: [{ kind: "dots", points, ...this.codes(points.length), size: 3.5, rings: found.wrong }] });
  }

  drawBoundary(found) {
    this.hosts[2].hidden = !found.boundary;
    if (!found.boundary) return;
    const { boundary } = found;
    let { field } = boundary;
    if (boundary.kind === "numbers") {
      const all = field.flat();
      const [low, high] = [Math.min(...all), Math.max(...all)];
      field = field.map((row) => row.map((value) => (value - low) / ((high - low) || 1)));
    } else if (boundary.kind === "score") {
      field = field.map((row) => row.map((value) => Math.max(-1, Math.min(1, value))));
    }
    const how = { numbers: "scale", codes: "codes", score: undefined }[boundary.kind];
    this.charts[2].draw({ title: "What is answered where", x: boundary.x, y: boundary.y,
      xlabel: boundary.columns[0], ylabel: boundary.columns[1], equal: false, marks: [
        { kind: "field", field, how, x: boundary.x, y: boundary.y },
        { kind: "dots", points: boundary.points, ...this.codes(boundary.points.length), size: 3.5,
          rings: found.wrong }] });
  }
}

// A proof as nested lists: a claim, its rule, and the proofs of its parts.
function proofList(proof) {
  const words = { proved: "proved", refuted: "refuted", unknown: "not known" };
  const item = (node) => el("li", {},
    el("span", { class: `verdict ${node.verdict}` }, words[node.verdict]), " ",
    el("code", {}, shortened(node.formula, 120)), el("div", { class: "dim" }, node.rule),
    node.witness ? el("div", { class: "careful" }, `witness: ${node.witness.points} has the eigenvalue `
      + amount(node.witness.eigenvalue, 3)) : null,
    node.premises.length ? el("ul", {}, node.premises.map(item)) : null);
  return el("ul", { class: "proof" }, item(proof));
}
