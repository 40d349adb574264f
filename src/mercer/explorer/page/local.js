// An exported page answers its own questions, with the model that it holds.
"use strict";

const GRID = 41;
const KNOWN_TOLD = 12;
const MAX_LINES = 8;
const MAX_SWAPPED = 600;

// The compressed arrays as numbers; the browser itself unpacks them.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Float64Array(await new Response(stream).arrayBuffer());
}

class LocalModel {
  constructor(data, numbers) {
    Object.assign(this, { opening: data.opening, model: data.model });
    const constant = ({ at, rows, columns }) => new Matrix(rows, columns,
      numbers.subarray(at, at + rows * columns));
    this.formula = new Formula(data.model, constant);
    this.weights = constant(data.model.weights);
    this.columns = data.opening.columns;
    this.names = this.columns.map((column) => column.name);
    this.cells = data.model.cells.map(({ numbers: place, levels }) => {
      const values = Array.from(constant(place).data);
      return values.map((x) => (Number.isNaN(x) ? null : levels ? levels[x] : x));
    });
  }

  // The entries of a row, some exchanged; dates may be typed as days.
  entries(row, cells = {}) {
    if (!Number.isInteger(row) || row < 0 || row >= this.opening.x.length) {
      throw new Error(`there is no row ${row}; rows are numbered 0 to ${this.opening.x.length - 1}`);
    }
    return this.names.map((name, k) => (name in cells ? this.entry(k, cells[name]) : this.cells[k][row]));
  }

  entry(k, value) {
    const { kind, name } = this.columns[k];
    if (value === null || value === "") return null;
    if (kind === "categorical") return String(value);
    const found = kind === "date" && typeof value === "string" && value.slice(1).includes("-")
      ? Date.parse(value.length > 10 ? `${value}Z` : value) / 86400000 : Number(value);
    if (!Number.isFinite(found)) throw new Error(`${name} must be a number`);
    return found;
  }

  shown(k, value) {
    return this.columns[k].kind === "date" && value !== null
      ? new Date(value * 86400000).toISOString().replace(/T00:00:00.000Z$/, "").replace(".000Z", "") : value;
  }

  // All outputs for rows, each a list of entries.
  run(rows) {
    const columns = new Map(this.names.map((name, k) => [name, rows.map((row) => row[k])]));
    const found = this.formula.run(columns, this.names, rows.length);
    if (found.scores.data.some((x) => !Number.isFinite(x))) {
      throw new Error("there is no answer: is an entry missing, or too large?");
    }
    return found;
  }

  scores(found, i) {
    const { columns, data } = found.scores;
    return data.subarray(i * columns, (i + 1) * columns);
  }

  told(found, i) {
    const scores = this.scores(found, i);
    if (!this.opening.classes) {
      const ends = this.model.interval;
      return { number: scores[0], label: null, chances: null, level: this.opening.level,
        interval: ends ? ends.map((end) => scores[0] + end) : null };
    }
    const code = found.code.data[i];
    const chances = this.model.chances ? chancesOf(scores, this.model.chances, code) : null;
    return { label: this.opening.classes[code], code, chances, number: null, interval: null };
  }

  picture(entries) {
    const { pixels, ends } = this.model;
    if (!pixels.length) return null;
    const [low, high] = ends;
    const values = pixels.map(([k, fallback]) => ((k < 0 ? fallback : entries[k] ?? low) - low)
      / ((high - low) || 1));
    return { kind: "pixels", side: Math.round(Math.sqrt(pixels.length)), values };
  }

  row({ row }) {
    const entries = this.entries(row);
    return { row, cells: entries.map((value, k) => this.shown(k, value)), picture: this.picture(entries) };
  }

  predict({ row, cells }) {
    const entries = this.entries(row, cells);
    return { ...this.told(this.run([entries]), 0), careful: [], picture: this.picture(entries) };
  }

  // The weight of each known row in the score of a class, or of the number.
  pulls(found, code) {
    const direction = this.model.directions[code];
    return Array.from({ length: this.weights.rows }, (_, i) => found.similarities.data[i]
      * direction.reduce((sum, share, k) => sum + share * this.weights.data[i * this.weights.columns + k], 0));
  }

  toward(found, i, code) {
    const scores = this.scores(found, i);
    return this.model.directions[code].reduce((sum, share, k) => sum + share * scores[k], 0);
  }

  why({ row, cells }) {
    const entries = this.entries(row, cells);
    const found = this.run([entries]);
    const code = this.opening.classes ? found.code.data[0] : 0;
    const pulls = this.pulls(found, code);
    const total = pulls.reduce((sum, x) => sum + Math.abs(x), 0) || 1;
    const { exemplars } = this.model;
    const order = pulls.map((_, i) => i).filter((i) => pulls[i] !== 0)
      .sort((i, j) => Math.abs(pulls[j]) - Math.abs(pulls[i])).slice(0, KNOWN_TOLD);
    const known = order.map((i) => ({ place: exemplars.place[i] < 0 ? null : exemplars.place[i],
      row: exemplars.row[i], x: exemplars.x[i], y: exemplars.y[i], target: exemplars.target[i],
      similarity: found.similarities.data[i], pull: pulls[i], share: Math.abs(pulls[i]) / total }));
    return { score: this.toward(found, 0, code), toward: this.opening.classes ? this.opening.classes[code]
      : null, offset: this.model.offsets[code], note: "", known, x: null, y: null, parts: [],
    features: [], units: [], columns: this.shares(entries, code), columns_how: this.names.length > 1
      ? "swaps" : "" };
  }

  // By how much the score would change on average, had the row another row's entry in a column.
  shares(entries, code) {
    if (this.names.length < 2) return [];
    const total = this.opening.x.length;
    const count = Math.min(total, Math.max(2, Math.min(16, Math.floor(MAX_SWAPPED / this.names.length))));
    const others = Array.from({ length: count }, (_, i) => (count === total ? i
      : roundHalfEven(i * ((total - 1) / (count - 1)))));
    const rows = this.names.map((_, k) => others.map((other) => entries.with(k, this.cells[k][other]))).flat();
    const found = this.run([entries, ...rows]);
    const own = this.toward(found, 0, code);
    return this.names.map((name, k) => {
      const sum = others.reduce((part, _, i) => part + this.toward(found, 1 + k * count + i, code), 0);
      return { name, share: own - sum / count, entry: this.shown(k, entries[k]) };
    }).sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
  }

  effect({ row, cells, column }) {
    const entries = this.entries(row, cells);
    const k = this.names.indexOf(column);
    const values = this.grid(entries, k);
    const found = this.run(values.map((value) => entries.with(k, value)));
    const said = values.map((_, i) => this.told(found, i));
    const { classes } = this.opening;
    let [lines, unit] = [[{ code: 0, name: this.opening.target, values: said.map((one) => one.number) }], "number"];
    if (classes) {
      unit = this.model.chances ? "probability" : "label";
      lines = classes.map((name, code) => ({ code, name, values: said.map((one) => (one.chances
        ? one.chances[code] : Number(one.code === code))) }));
      lines = lines.sort((a, b) => Math.max(...b.values) - Math.max(...a.values)).slice(0, MAX_LINES)
        .sort((a, b) => a.code - b.code);
    }
    return { column, kind: this.columns[k].kind, values, lines, unit, here: entries[k],
      band: said[0].interval ? said.map((one) => one.interval) : null };
  }

  grid(entries, k) {
    const column = this.columns[k];
    if (column.kind === "categorical") {
      const levels = [...(column.levels || [])];
      if (entries[k] !== null && !levels.includes(entries[k])) levels.push(entries[k]);
      return levels;
    }
    let [low, high] = [column.low, column.high];
    if (entries[k] !== null) [low, high] = [Math.min(low, entries[k]), Math.max(high, entries[k])];
    if (low === high) [low, high] = [low - 0.5, high + 0.5];
    const step = (high - low) / (GRID - 1);
    return Array.from({ length: GRID }, (_, i) => (i === GRID - 1 ? high : low + i * step));
  }

  find({ text }) {
    const wanted = text.trim().toLowerCase();
    const rows = this.model.lines.map((line, i) => (line.includes(wanted) ? i : -1)).filter((i) => i >= 0);
    return { rows: wanted ? rows : [], all: rows.length };
  }

  group({ rows }) {
    const { colors, classes } = this.opening;
    const told = [];
    this.columns.forEach((column, k) => {
      if (!["numeric", "date"].includes(column.kind)) return;
      const mean = (list) => {
        const there = list.filter((x) => x !== null);
        return there.length ? there.reduce((sum, x) => sum + x, 0) / there.length : null;
      };
      const [here, all] = [mean(rows.map((row) => this.cells[k][row])), mean(this.cells[k])];
      if (here !== null) told.push({ column: column.name, here, all, apart: (here - all) / column.spread });
    });
    told.sort((a, b) => Math.abs(b.apart) - Math.abs(a.apart));
    const counts = {};
    if (classes) {
      for (const row of rows) {
        const name = classes[(colors.truth || colors.predicted)[row]];
        counts[name] = (counts[name] || 0) + 1;
      }
    }
    return { count: rows.length, classes: counts, columns: told.slice(0, 8) };
  }
}

// Halves go to the even neighbor, as in Python.
function roundHalfEven(value) {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

async function localAsk(data) {
  const model = new LocalModel(data, await unpacked(data.arrays));
  const known = new Set(["row", "predict", "why", "effect", "find", "group"]);
  async function ask(name, parts) {
    if (!known.has(name)) throw new Error(`this page cannot answer ${name}`);
    return model[name](parts);
  }
  ask.knows = (name) => known.has(name);
  return ask;
}
