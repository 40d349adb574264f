// Why: the answer to a row, the known rows that pulled, columns, letters, and what would turn it.
"use strict";

// The answer itself: a label with probabilities, or a number with its interval.
function answerCard(opening, said) {
  const careful = (said.careful || []).map((text) => el("p", { class: "careful" }, `Careful: ${text}`));
  if (said.number !== null) {
    const interval = said.interval ? el("p", { class: "dim" },
      `${Math.round(100 * said.level)}% interval: ${amount(said.interval[0])} to `
      + amount(said.interval[1])) : null;
    return [el("p", { class: "answer" }, `${opening.target}: `, el("strong", {}, amount(said.number))),
      interval, careful];
  }
  const chances = said.chances === null ? [] : said.chances
    .map((share, code) => ({ share, code })).sort((a, b) => b.share - a.share).slice(0, 4);
  return [
    el("p", { class: "answer" }, `${opening.target}: `, el("strong", {}, said.label)),
    el("ul", { class: "chances" }, chances.map(({ share, code }) => el("li", {},
      el("span", {}, shortened(opening.classes[code], 30)),
      el("progress", { max: 1, value: share, "aria-label": `probability of ${opening.classes[code]}` }),
      el("span", { class: "n" }, percent(share))))),
    careful,
  ];
}

// A list of names with bars; `act` makes a name a button.
function shareTable(caption, rows, headers, act = null) {
  if (!rows.length) return null;
  const largest = Math.max(...rows.map((row) => Math.abs(row.share)));
  return el("table", { class: "shares" }, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, headers.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {},
      el("td", {}, act ? el("button", { type: "button", class: "link", onclick: () => act(row) },
        shortened(row.name, 40)) : shortened(row.name, 48)),
      row.entry === undefined ? null : el("td", { class: "dim" }, shortened(entryText(row.entry), 24)),
      el("td", {}, bar(row.share, largest)),
      el("td", { class: "n" }, signed(row.share))))));
}

function knownTable(opening, known, choose) {
  if (!known.length) return null;
  const largest = Math.max(...known.map((one) => Math.abs(one.pull ?? one.similarity)));
  const pulled = known[0].pull !== null;
  return el("table", { class: "shares" },
    el("caption", {}, pulled ? "Known rows that pulled for (+) and against (−); lines on the map"
      : "The known rows that are most alike; lines on the map"),
    el("thead", {}, el("tr", {}, ["row", opening.target, "similarity", "pull", ""]
      .map((name) => el("th", { scope: "col", class: name === "similarity" ? "n" : null },
        shortened(name, 16))))),
    el("tbody", {}, known.map((one) => el("tr", {},
      el("td", {}, one.place === null ? String(one.row ?? "?") : el("button",
        { type: "button", class: "link", onclick: () => choose(one.place) }, String(one.row))),
      el("td", {}, typeof one.target === "number" ? amount(one.target)
        : shortened(one.target ?? "unknown", 18)),
      el("td", { class: "n" }, amount(one.similarity, 3)),
      el("td", {}, bar(one.pull ?? one.similarity, largest)),
      el("td", { class: "n" }, one.pull === null ? "" : signed(one.pull))))));
}

// Letters or words, colored by what each contributed.
function unitText(units) {
  if (!units.length) return null;
  const largest = Math.max(...units.map((unit) => Math.abs(unit.share))) || 1;
  const letters = units.every((unit) => unit.name.length === 1);
  return el("div", {}, el("h4", {}, letters ? "Letters" : "Pieces in their order"),
    el("p", { class: "letters" }, units.slice(0, 600).map((unit) => {
      const node = el("span", { class: "unit", title: `${unit.name}: ${signed(unit.share)}` }, unit.name);
      const strength = Math.abs(unit.share) / largest;
      node.style.backgroundColor = `color-mix(in srgb, ${classColor(unit.share >= 0 ? 0 : 1)} `
        + `${Math.round(70 * strength)}%, transparent)`;
      return letters ? node : [node, " "];
    }).flat()));
}

const HOW = {
  shapley: "Exact Shapley values: with the part for any row they add up to the score.",
  swaps: "By how much the score would change on average, had the row another row's entry there.",
  "": "",
};

class WhyPanel {
  constructor(host, opening, ask, app) {
    Object.assign(this, { host, opening, ask, app });
    this.refresh = latest((row, cells) => Promise.all([
      ask("predict", { row, cells }), ask("why", { row, cells })]), (found) => this.show(...found));
    this.turn = latest((row, cells) => ask("changes", { row, cells }), (found) => this.showTurn(found));
    this.number = el("input", { type: "number", id: "row-number", min: 0,
      max: opening.x.length - 1, step: 1, value: 0 });
    this.card = el("div", { class: "card", id: "answer", "aria-live": "polite" });
    this.reasons = el("div", { id: "reasons" });
    this.turning = el("div", { id: "changes" });
    fill(host,
      el("form", { class: "line", onsubmit: (event) => {
        event.preventDefault();
        app.choose(Number(this.number.value));
      } }, el("label", { for: "row-number" }, "Row on the map (0 to " + (opening.x.length - 1) + ")"),
      this.number, el("button", { type: "submit", id: "ask-row" }, "Why?"),
      el("button", { type: "button", id: "new-row", onclick: () => app.open("whatif") },
        "Type a new row")),
      this.card, this.reasons, this.turning);
  }

  update(row, cells) {
    this.number.value = row;
    const changed = Object.keys(cells).length;
    this.head = changed ? `Row ${this.opening.numbers[row]} with ${changed} changed`
      + (changed === 1 ? " entry" : " entries") : `Row ${this.opening.numbers[row]}`;
    this.refresh(row, cells);
    if (this.ask.knows("changes")) this.turn(row, cells);
  }

  show(said, why) {
    complain("");
    fill(this.card, el("h3", {}, this.head), picture(said.picture, 96), answerCard(this.opening, said));
    announce(`${this.head}: ${said.label ?? amount(said.number)}`);
    const about = why.toward === null ? "" : ` in favor of ${why.toward}`;
    fill(this.reasons,
      why.note ? el("p", { class: "dim" }, why.note) : el("p", { class: "dim" },
        `Score ${amount(why.score)}${about}, of which ${amount(why.offset)} for any row.`),
      knownTable(this.opening, why.known, (row) => this.app.choose(row)),
      shareTable("Columns", why.columns.slice(0, 10), ["column", "entry", "", "share"],
        (row) => this.app.vary(row.name)),
      why.columns.length ? el("p", { class: "dim" }, HOW[why.columns_how]) : null,
      shareTable("Parts of the kernel", why.parts, ["part", "", "share"]),
      shareTable("Features", why.features.slice(0, 10), ["feature", "", "share"]),
      unitText(why.units));
    this.app.linked(why);
  }

  showTurn(found) {
    const size = (one) => one.kind === "categorical" ? "another level"
      : one.told || (one.size === null ? "filled in" : `${amount(one.size, 2)} spreads`);
    const rows = found.changes.map((one) => el("tr", {},
      el("td", {}, shortened(one.column, 30)),
      el("td", {}, one.told || `${shortened(entryText(one.from), 18)} → ${shortened(entryText(one.to), 18)}`),
      el("td", { class: "dim" }, size(one)),
      el("td", {}, typeof one.answer === "number" ? amount(one.answer) : shortened(one.answer, 18)),
      el("td", {}, el("button", { type: "button", class: "link",
        onclick: () => this.app.change({ [one.column]: one.to }) }, "try"))));
    const near = found.nearest;
    fill(this.turning, el("h4", {}, "What would have to change"),
      rows.length ? el("table", { class: "shares" },
        el("caption", {}, "The smallest change of one entry that leads to another answer"),
        el("thead", {}, el("tr", {}, ["column", "change", "size", "answer", ""]
          .map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows))
        : el("p", {}, found.asked ? `None of ${found.asked} changes of one entry leads to another answer.`
          : "There is no entry that one could change here."),
      near ? el("p", {}, "The row most like it with another answer: ",
        el("button", { type: "button", class: "link", onclick: () => this.app.choose(near.place) },
          `row ${near.row}`), ` (${typeof near.answer === "number" ? amount(near.answer)
          : shortened(near.answer, 30)}, similarity ${amount(near.similarity, 3)}).`) : null);
  }
}
