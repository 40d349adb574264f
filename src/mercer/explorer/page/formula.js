// A formula on arrays: what Python does with rows of a table, step by step, in double precision.
"use strict";

class Matrix {
  constructor(rows, columns, data = new Float64Array(rows * columns)) {
    Object.assign(this, { rows, columns, data });
  }
}

// Combine two arrays entry by entry; one row or one column stands for as many as are needed.
function combine(a, b, work) {
  const rows = Math.max(a.rows, b.rows);
  const columns = Math.max(a.columns, b.columns);
  const found = new Matrix(rows, columns);
  const [aRow, aColumn] = [a.rows === 1 ? 0 : a.columns, a.columns === 1 ? 0 : 1];
  const [bRow, bColumn] = [b.rows === 1 ? 0 : b.columns, b.columns === 1 ? 0 : 1];
  for (let i = 0, k = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++, k++) {
      found.data[k] = work(a.data[i * aRow + j * aColumn], b.data[i * bRow + j * bColumn]);
    }
  }
  return found;
}

// For each entry one of two, as the first array says.
function choose(which, yes, no) {
  const parts = [which, yes, no];
  const rows = Math.max(...parts.map((part) => part.rows));
  const columns = Math.max(...parts.map((part) => part.columns));
  const at = (part, i, j) => part.data[(part.rows === 1 ? 0 : i * part.columns)
    + (part.columns === 1 ? 0 : j)];
  const found = new Matrix(rows, columns);
  for (let i = 0, k = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++, k++) found.data[k] = at(at(which, i, j) ? yes : no, i, j);
  }
  return found;
}

function each(a, work) {
  return new Matrix(a.rows, a.columns, a.data.map(work));
}

function product(a, b) {
  const found = new Matrix(a.rows, b.columns);
  for (let i = 0; i < a.rows; i++) {
    for (let k = 0; k < a.columns; k++) {
      const factor = a.data[i * a.columns + k];
      const [from, to] = [k * b.columns, i * b.columns];
      for (let j = 0; j < b.columns; j++) found.data[to + j] += factor * b.data[from + j];
    }
  }
  return found;
}

// One number for each row.
function rowwise(a, work) {
  const found = new Matrix(a.rows, 1);
  for (let i = 0; i < a.rows; i++) found.data[i] = work(a.data.subarray(i * a.columns, (i + 1) * a.columns));
  return found;
}

function beside(parts) {
  const columns = parts.reduce((sum, part) => sum + part.columns, 0);
  const found = new Matrix(parts[0].rows, columns);
  let start = 0;
  for (const part of parts) {
    for (let i = 0; i < part.rows; i++) {
      found.data.set(part.data.subarray(i * part.columns, (i + 1) * part.columns), i * columns + start);
    }
    start += part.columns;
  }
  return found;
}

const BINARY = {
  add: (x, y) => x + y, subtract: (x, y) => x - y, multiply: (x, y) => x * y, divide: (x, y) => x / y,
  power: (x, y) => x ** y, greater: (x, y) => Number(x > y), "greater or equal": (x, y) => Number(x >= y),
  equal: (x, y) => Number(x === y),
  maximum: (x, y) => (Number.isNaN(x) || Number.isNaN(y) ? NaN : Math.max(x, y)),
  minimum: (x, y) => (Number.isNaN(x) || Number.isNaN(y) ? NaN : Math.min(x, y)),
};
const UNARY = {
  exponential: Math.exp, root: Math.sqrt, absolute: Math.abs, "hyperbolic tangent": Math.tanh,
  missing: (x) => Number(Number.isNaN(x)), number: (x) => x,
};
const REDUCED = {
  sum: (row) => row.reduce((total, x) => total + x, 0),
  largest: (row) => row.reduce((top, x) => Math.max(top, x), -Infinity),
  "first largest": (row) => row.reduce((best, x, i) => (x > row[best] ? i : best), 0),
};

class Formula {
  // `constant(reference)` returns a Matrix for where an array is kept.
  constructor(model, constant) {
    this.model = model;
    this.steps = model.steps.map(([operation, inputs, value]) => ({ operation, inputs,
      value: ["constant", "rows"].includes(operation) ? constant(value)
        : operation === "codes" ? { known: new Map(value[0].map((text, i) => [text, value[1][i]])),
          other: value[2], gap: value[3] } : value }));
  }

  // `columns` has, for each name, numbers or texts; null stands for a gap. All outputs are returned.
  run(columns, names, rows) {
    const values = [];
    for (const step of this.steps) values.push(this.step(step, values, columns, names, rows));
    return Object.fromEntries(Object.entries(this.model.outputs).map(([name, at]) => [name, values[at]]));
  }

  step({ operation, inputs, value }, values, columns, names, rows) {
    const [a, b, c] = inputs.map((i) => values[i]);
    if (operation === "input") return this.input(this.model.inputs[value], columns, names, rows);
    if (operation === "constant") return value;
    if (operation === "product") return product(a, b);
    if (operation === "concatenate") return beside(inputs.map((i) => values[i]));
    if (operation === "column") return rowwise(a, (row) => row[value]);
    if (operation === "where") return choose(a, b, c);
    if (operation === "codes") {
      return new Matrix(rows, 1, Float64Array.from(a, (text) => (text === null ? value.gap
        : value.known.get(text) ?? value.other)));
    }
    if (operation === "rows") {
      return beside(Array.from({ length: value.columns }, (_, j) => rowwise(a,
        (row) => value.data[row[0] * value.columns + j])));
    }
    if (operation in BINARY) return combine(a, b, BINARY[operation]);
    if (operation in UNARY) return each(a, UNARY[operation]);
    return rowwise(a, REDUCED[operation]);
  }

  input(given, columns, names, rows) {
    const numbers = (list) => new Matrix(rows, 1, Float64Array.from(list, (x) => (x === null ? NaN : x)));
    if (given.kind === "rows") return beside(names.map((name) => numbers(columns.get(name))));
    return given.kind === "categorical" ? columns.get(given.name) : numbers(columns.get(given.name));
  }
}

// Probabilities of scores, of which the class that is named has the largest, as Python has it.
function chancesOf(scores, how, winner) {
  let shares;
  if (scores.length === 1) {
    const z = how.slope * scores[0] + how.shift;
    shares = [1 / (1 + Math.exp(z)), 1 / (1 + Math.exp(-z))];
  } else {
    const top = Math.max(...scores);
    const powers = Array.from(scores, (score) => Math.exp(how.slope * (score - top)));
    const total = powers.reduce((sum, x) => sum + x, 0);
    shares = powers.map((x) => x / total);
  }
  const first = REDUCED["first largest"](shares);
  if (!how.agree || first === winner) return shares;
  const mean = (pool) => pool.reduce((sum, c) => sum + shares[c], 0) / pool.length;
  const above = shares.map((_, c) => c).filter((c) => c !== winner && shares[c] >= shares[winner])
    .sort((c, d) => shares[d] - shares[c]);
  const pool = [winner];
  for (const c of above) if (shares[c] >= mean(pool)) pool.push(c);
  const level = mean(pool);
  for (const c of pool) shares[c] = level;
  shares[winner] += 1e-12;
  const total = shares.reduce((sum, x) => sum + x, 0);
  return shares.map((x) => x / total);
}
