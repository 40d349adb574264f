// What all parts of the page use: elements, numbers as text, colors, and asking one thing at a time.
"use strict";

// Make an element. Text is always set as text, so that nothing from the data becomes markup.
function el(tag, attributes = {}, ...children) {
  const svg = SVG_TAGS.has(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.setAttribute("class", value);
    else if (name in node && !svg && name !== "list") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const SVG_TAGS = new Set(["svg", "g", "path", "circle", "line", "rect", "image", "polyline",
  "polygon", "text"]);
const byId = (id) => document.getElementById(id);
const fill = (node, ...children) => node.replaceChildren(
  ...children.flat().filter((child) => child !== null && child !== undefined));

// A number with a few digits, as the reports write it.
function amount(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "−infinite";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-4 || size >= 1e9)
    ? value.toExponential(digits - 1).replace(/\.?0+e/, "e")
    : String(Number(value.toPrecision(size >= 1e4 ? Math.max(digits, 9) : digits)));
  return text.replace(/^-/, "−");
}
const percent = (share) => `${(100 * share).toFixed(Math.abs(share) < 0.01 ? 2 : 1)}%`;
const signed = (value) => (value >= 0 ? "+" : "") + amount(value, 3);
const shortened = (text, most = 60) => {
  const whole = String(text);
  return whole.length > most ? whole.slice(0, most - 1) + "…" : whole;
};
const entryText = (entry) => entry === null || entry === undefined ? "missing"
  : typeof entry === "number" ? amount(entry, 6) : String(entry);

// Colors of Okabe and Ito (2008), which stay distinct for color-blind readers; classes differ in
// their shapes too. In the dark, blue is lighter.
const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8a7d00"];
const DARK = ["#4aa8e0", "#ff8a3d", "#2fcf9f", "#e3a1c5", "#f2b632", "#8fd0f5", "#f0e442"];
const SHAPES = ["circle", "cross", "square", "triangle", "diamond", "down", "plus"];
// Viridis, in nine steps: dark to light, and in order for everybody.
const SCALE = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141],
  [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const classColor = (code) => (darkness.matches ? DARK : LIGHT)[code % LIGHT.length];
const classShape = (code) => SHAPES[(code + Math.floor(code / SHAPES.length)) % SHAPES.length];
const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function markColor(color) {
  if (typeof color === "number") return classColor(color);
  return color === "muted" ? styled("--muted") : styled("--ink");
}

// The color of a share from 0 to 1 on the scale of numbers.
function scaleColor(share) {
  const at = Math.max(0, Math.min(1, share)) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  const mixed = SCALE[low].map((c, k) => Math.round(c + (at - low) * (SCALE[low + 1][k] - c)));
  return `rgb(${mixed.join(",")})`;
}

// Say something to those who listen to the page, and to those who look at it.
function announce(words) {
  byId("status").textContent = words;
}

function complain(words) {
  const place = byId("trouble");
  place.textContent = words;
  place.hidden = !words;
}

// Ask about the newest state only: while one question is under way, later ones wait, and of those
// that wait the last one is asked.
function latest(work, done, failed = complain) {
  let running = false;
  let waiting = null;
  return async function ask(...given) {
    if (running) {
      waiting = given;
      return;
    }
    running = true;
    try {
      const found = await work(...given);
      if (found !== undefined) done(found, ...given);
    } catch (error) {
      failed(error.message);
    } finally {
      running = false;
      if (waiting) {
        const next = waiting;
        waiting = null;
        ask(...next);
      }
    }
  };
}

// A bar from the middle, blue to the right for what speaks for it, orange to the left against it.
function bar(share, largest) {
  const width = largest > 0 ? 50 * Math.min(1, Math.abs(share) / largest) : 0;
  const part = el("rect", {
    x: share >= 0 ? 50 : 50 - width, y: 1, width, height: 10, class: share >= 0 ? "for" : "against",
  });
  return el("svg", { class: "bar", viewBox: "0 0 100 12", preserveAspectRatio: "none",
    "aria-hidden": "true" }, el("line", { x1: 50, x2: 50, y1: 0, y2: 12, class: "axis" }), part);
}

// A picture of a row: pixels are drawn here, everything else is an image.
function picture(found, size = 72, words = "") {
  if (!found) return null;
  if (found.kind === "image") {
    return el("img", { src: found.source, alt: words || "a drawing of this row", class: "drawing" });
  }
  const canvas = el("canvas", { width: found.side, height: found.side, class: "pixels",
    role: "img", "aria-label": words || "a picture of this row's pixels" });
  canvas.style.width = canvas.style.height = `${size}px`;
  const image = canvas.getContext("2d").createImageData(found.side, found.side);
  found.values.forEach((shade, i) => {
    const gray = Math.round(255 * (1 - shade));
    image.data.set([gray, gray, gray, 255], 4 * i);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
