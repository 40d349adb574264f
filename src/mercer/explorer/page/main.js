// The page: tabs, the map beside them, and one row that all panels are about.
"use strict";

class Explorer {
  constructor(opening, ask) {
    Object.assign(this, { opening, ask, row: 0, cells: {}, entries: new Map() });
    const live = ask.knows("knobs");
    this.describe(live);
    this.map = new MapView(byId("map"), opening, ask, (row) => this.choose(row),
      (rows) => this.grouped(rows));
    this.why = new WhyPanel(byId("panel-why"), opening, ask, this);
    this.whatif = new WhatIfPanel(byId("panel-whatif"), opening, ask, this);
    this.knobs = live ? new KnobsPanel(byId("panel-knobs"), opening, ask) : null;
    byId("tab-knobs").hidden = !live;
    this.tabs();
    this.tools();
    this.choose(0);
  }

  describe(live) {
    const { opening } = this;
    byId("title").textContent = opening.title;
    byId("about").textContent = `${opening.machine} predicts ${opening.target} from `
      + `${opening.columns.length === 1 ? "one column" : `${opening.columns.length} columns`}; `
      + `${opening.x.length} rows. Kernel: ${opening.kernel}`;
    fill(byId("notes"), opening.notes.map((note) => el("li", {}, note)),
      live ? null : el("li", {}, "This page holds the model: it works without a network."));
  }

  tabs() {
    const tabs = ["why", "whatif", "knobs"].map((name) => byId(`tab-${name}`)).filter((tab) => !tab.hidden);
    tabs.forEach((tab, i) => {
      tab.addEventListener("click", () => this.open(tab.id.slice(4)));
      tab.addEventListener("keydown", (event) => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const next = tabs[(to + tabs.length) % tabs.length];
        next.focus();
        this.open(next.id.slice(4));
      });
    });
  }

  open(name) {
    for (const tab of document.querySelectorAll("[role=tab]")) {
      const chosen = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      byId(tab.id.replace("tab", "panel")).hidden = !chosen;
    }
    if (name === "knobs") this.knobs.begin().catch((error) => complain(error.message));
    if (name === "whatif") this.whatif.update(this.row, this.cells, this.entries, this.shares);
    if (name === "why") this.why.update(this.row, this.cells);
  }

  get tab() {
    return document.querySelector("[role=tab][aria-selected=true]").id.slice(4);
  }

  tools() {
    const names = { truth: this.opening.classes ? "class" : "target", predicted: "prediction",
      error: "error", uncertainty: "uncertainty" };
    fill(byId("color"), Object.keys(names).filter((key) => key in this.opening.colors)
      .map((key) => el("option", { value: key, selected: key === this.map.color }, names[key])));
    byId("color").addEventListener("change", (event) => {
      this.map.color = event.target.value;
      this.map.draw();
      this.legend();
    });
    byId("closer").addEventListener("click", () => this.map.zoom(0.7));
    byId("farther").addEventListener("click", () => this.map.zoom(1.4));
    byId("whole").addEventListener("click", () => this.map.home());
    byId("lasso").addEventListener("click", (event) => {
      this.map.lassoing = !this.map.lassoing;
      event.currentTarget.setAttribute("aria-pressed", String(this.map.lassoing));
    });
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(byId("wanted").value);
    });
    darkness.addEventListener("change", () => this.legend());
    this.legend();
  }

  legend() {
    const { colors, classes } = this.opening;
    const { color } = this.map;
    if (classes && ["truth", "predicted"].includes(color)) {
      fill(byId("legend"), classes.slice(0, 24).map((name, code) => el("span", { class: "key" },
        el("svg", { viewBox: "-8 -8 16 16", class: "swatch", "aria-hidden": "true" }, el("path", {
          d: shapePath(classShape(code), 0, 0, 6), fill: classColor(code) })), shortened(name, 24))));
      return;
    }
    if (classes && color === "error") {
      const wrong = colors.error.filter(Boolean).length;
      fill(byId("legend"), `${wrong} of ${colors.error.length} rows are answered wrongly; they are `
        + "orange. Rows that the model has learned from are easier than new ones.");
      return;
    }
    const values = colors[color].filter((value) => value !== null);
    const scale = el("span", { class: "scale", "aria-hidden": "true" });
    scale.style.background = `linear-gradient(to right, ${[0, .25, .5, .75, 1].map(scaleColor).join(",")})`;
    fill(byId("legend"), amount(Math.min(...values), 3), scale, amount(Math.max(...values), 3));
  }

  async find(text) {
    complain("");
    if (!text) {
      this.map.select([]);
      return;
    }
    try {
      const found = await this.ask("find", { text });
      this.map.select(found.rows);
      announce(found.rows.length ? `${found.all ?? found.rows.length} rows have “${text}”`
        : `no row has “${text}”`);
      byId("found").textContent = byId("status").textContent;
    } catch (error) {
      complain(error.message);
    }
  }

  async grouped(rows) {
    const place = byId("group");
    place.hidden = !rows.length;
    if (!rows.length) {
      byId("found").textContent = "";
      return;
    }
    try {
      const found = await this.ask("group", { rows });
      fill(place, el("h3", {}, `${found.count} rows are chosen`),
        el("p", {}, Object.entries(found.classes).sort((a, b) => b[1] - a[1]).slice(0, 8)
          .map(([name, count]) => `${shortened(name, 30)}: ${count}`).join(", ")),
        found.columns.length ? el("table", { class: "shares" },
          el("caption", {}, "Columns that set them apart"),
          el("tbody", {}, found.columns.slice(0, 5).map((one) => el("tr", {},
            el("td", {}, shortened(one.column, 30)), el("td", { class: "n" }, amount(one.here)),
            el("td", { class: "dim" }, `all: ${amount(one.all)}`))))) : null,
        el("button", { type: "button", onclick: () => this.map.select([]) }, "Let them go"));
    } catch (error) {
      complain(error.message);
    }
  }

  // A row of the map becomes what all panels are about.
  async choose(row) {
    if (!Number.isInteger(row) || row < 0 || row >= this.opening.x.length) {
      complain(`Rows are numbered 0 to ${this.opening.x.length - 1}.`);
      return;
    }
    complain("");
    this.row = this.map.current = row;
    this.cells = {};
    this.map.show({ ghost: null, links: [] });
    try {
      const found = await this.ask("row", { row });
      if (this.row !== row) return;
      this.entries = new Map(this.opening.columns.map((column, k) => [column.name, found.cells[k]]));
      this.update();
    } catch (error) {
      complain(error.message);
    }
  }

  update() {
    if (this.tab === "whatif") this.whatif.update(this.row, this.cells, this.entries, this.shares);
    if (this.tab !== "knobs") this.why.update(this.row, this.cells);
  }

  // Something was typed: reasons follow, too, so that the map shows where the new row lies.
  typed(cells) {
    this.cells = cells;
    window.clearTimeout(this.later);
    this.later = window.setTimeout(() => this.why.update(this.row, this.cells), 250);
  }

  change(cells) {
    this.cells = { ...this.cells, ...cells };
    this.whatif.pick(Object.keys(cells)[0]);
    this.open("whatif");
    this.why.update(this.row, this.cells);
  }

  vary(column) {
    if (!this.opening.columns.some((one) => one.name === column && one.typed)) return;
    this.whatif.pick(column);
    this.open("whatif");
  }

  linked(why) {
    this.shares = why.columns;
    const changed = Object.keys(this.cells).length && why.x !== null;
    this.map.show({ links: why.known, ghost: changed ? [why.x, why.y] : null });
  }
}

async function begin() {
  const data = JSON.parse(byId("data").textContent);
  if (data.trouble) {
    complain(data.trouble);
    byId("explorer").hidden = true;
    return;
  }
  const ask = data.exported ? await localAsk(data) : remoteAsk(data.base);
  if (data.demonstrations) {
    byId("explorer").hidden = true;
    byId("textbook").hidden = false;
    byId("title").textContent = "The textbooks, to touch";
    byId("about").textContent = "Turn the knobs and drag the points.";
    window.mercer = { view: new TextbookView(byId("textbook"), data.demonstrations, ask), ask };
  } else {
    window.mercer = { view: new Explorer(data.opening, ask), ask };
  }
  document.documentElement.dataset.ready = "true";
}

begin().catch((error) => complain(error.message));
