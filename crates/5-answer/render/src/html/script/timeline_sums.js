// ---- tables of what is selected on the timeline ------------------------------------------------------------------

/** Columns of a table: title, key, whether it is a number, text. */
const NAME_COLUMNS = [
  ["name", "label"], ["class", "kind"], ["count", "count", number], ["total", "total", timeText], ["% of all", "percent", (it) => it.toFixed(2)],
  ["mean", "mean", timeText], ["shortest", "least", timeText], ["longest", "most", timeText],
];
const SUMS = {
  gpu: NAME_COLUMNS,
  host: NAME_COLUMNS,
  class: NAME_COLUMNS.filter(([, key]) => key !== "kind").concat([["on the", "kind"]]),
  lane: [["lane", "label"], ["spans", "count", number], ["busy", "total", timeText], ["% of the time", "percent", (it) => it.toFixed(2)], ["longest gap", "most", timeText]],
};

class Sums {
  constructor(lanes) {
    Object.assign(this, { lanes, kind: byId("timeline").querySelector("[data-sum]").dataset.sum, sorting: { key: "total", down: true } });
    const table = byId("lane-table");
    [this.head, this.body] = [table.tHead, table.tBodies[0]];
    byId("lane-sums").hidden = false;
    this.rows = new TableRows(byId("lane-scroll"), this.body, 28, (it) => this.row(it));
    for (const button of all("[data-sum]")) {
      button.addEventListener("click", () => {
        all("[data-sum]").forEach((it) => it.setAttribute("aria-pressed", it === button));
        this.kind = button.dataset.sum;
        this.show();
      });
    }
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-at]");
      if (!row || String(getSelection()) !== "") return;
      const it = this.list[Number(row.dataset.at)];
      lanes.only({ kind: { gpu: "name", host: "name" }[this.kind] ?? this.kind, at: it.at, label: it.label });
    });
    lanes.changed = () => this.show();
    this.show();
  }

  /** Sums by name or class of the spans that are selected. */
  byName(gpu, group) {
    const { data, lanes, admitted, lane: one } = this.lanes;
    const [a, b] = this.lanes.range ?? [-Infinity, Infinity];
    const found = new Map();
    for (const lane of lanes) {
      if ((gpu !== null && lane.gpu !== gpu) || (one && lane !== one)) continue;
      for (let i = 0; i < lane.start.length; i += 1) {
        const start = lane.start[i];
        if (start >= b) break;
        const end = start + lane.length[i];
        const name = lane.names[i];
        if (end < a || (end === a && end > start) || (admitted && !admitted[name])) continue;
        const key = group(name, lane.gpu);
        let sum = found.get(key);
        if (!sum) found.set(key, (sum = { at: name, gpu: lane.gpu, count: 0, total: 0, whole: 0, least: Infinity, most: 0 }));
        sum.count += 1;
        sum.total += Math.min(end, b) - Math.max(start, a);
        // Mean, shortest and longest are of whole spans, also of those that reach beyond the range.
        sum.whole += lane.length[i];
        sum.least = Math.min(sum.least, lane.length[i]);
        sum.most = Math.max(sum.most, lane.length[i]);
      }
    }
    const list = [...found.values()];
    const whole = list.reduce((sum, it) => sum + it.total, 0);
    for (const it of list) {
      it.mean = it.whole / it.count;
      it.percent = whole > 0 ? (100 * it.total) / whole : 0;
      const cls = data.class_of[it.at];
      it.label = this.kind === "class" ? data.classes[cls] : data.names[it.at];
      it.kind = this.kind === "class" ? (it.gpu ? "GPU" : "host") : data.classes[cls];
      if (this.kind === "class") it.at = cls;
    }
    return list;
  }

  /** Time in which something runs, and the longest in which nothing does, of each lane. */
  byLane() {
    const { data, lanes, admitted, lane: one } = this.lanes;
    const [a, b] = this.lanes.range ?? [0, data.length];
    const list = [];
    lanes.forEach((lane, at) => {
      if (one && lane !== one) return;
      const sum = { at, label: lane.name, count: 0, total: 0, most: 0 };
      let last = null;
      for (let i = 0; i < lane.start.length; i += 1) {
        const start = Math.max(lane.start[i], a);
        const end = Math.min(lane.start[i] + lane.length[i], b);
        if (end < start || (admitted && !admitted[lane.names[i]])) continue;
        sum.count += 1;
        if (last !== null && start > last) sum.most = Math.max(sum.most, start - last);
        sum.total += Math.max(end - Math.max(start, last ?? start), 0);
        last = Math.max(last ?? end, end);
      }
      sum.percent = b > a ? (100 * sum.total) / (b - a) : 0;
      if (sum.count) list.push(sum);
    });
    return list;
  }

  row(it) {
    const row = make("tr", { "data-at": it.place });
    SUMS[this.kind].forEach(([, key, text], at) => {
      if (at === 0) row.append(make("th", { scope: "row", title: it.label }, make("button", { type: "button", class: "link pick" }, make("bdi", {}, it.label))));
      else row.append(make("td", { class: text ? "n" : "t" }, text ? text(it[key]) : it[key]));
    });
    return row;
  }

  sort() {
    const { key, down } = this.sorting;
    this.list.sort((a, b) => {
      const order = typeof a[key] === "string" ? a[key].localeCompare(b[key]) : a[key] - b[key];
      return (down ? -order : order) || b.total - a.total;
    });
    this.list.forEach((it, at) => { it.place = at; });
  }

  heads() {
    const line = make("tr", {});
    for (const [title, key, text] of SUMS[this.kind]) {
      const button = make("button", { type: "button" }, title);
      const mine = this.sorting.key === key;
      line.append(make("th", { scope: "col", class: text ? "n" : null, "data-sort": key, "aria-sort": mine ? (this.sorting.down ? "descending" : "ascending") : null }, button));
      button.addEventListener("click", () => {
        this.sorting = { key, down: mine ? !this.sorting.down : Boolean(text) };
        this.show();
      });
    }
    this.head.replaceChildren(line);
  }

  /** Names what is selected, and sums it. */
  show() {
    const { lanes } = this;
    const { range, word, pick, data } = lanes;
    const gpu = { gpu: true, host: false }[this.kind] ?? null;
    this.list = this.kind === "lane" ? this.byLane()
      : this.byName(gpu, this.kind === "class" ? (name, on) => data.class_of[name] * 2 + Number(on) : (name) => name);
    if (!SUMS[this.kind].some(([, key]) => key === this.sorting.key)) this.sorting = { key: "total", down: true };
    this.sort();
    this.heads();
    byId("lane-scroll").scrollTop = 0;
    if (this.list.length && !this.measured) {
      this.body.replaceChildren(this.row(this.list[0]));
      this.rows.height = this.body.rows[0].offsetHeight || 28;
      this.measured = true;
    }
    this.rows.set(this.list);
    const said = [
      range ? `${timeText(range[0])} to ${timeText(range[1])}, ${timeText(range[1] - range[0])} long` : "the whole time",
      word ? `names with “${word}”` : "",
      pick ? `only ${pick.label.slice(0, 120)}` : "",
    ].filter(Boolean);
    byId("lane-range").textContent = `Selected: ${said.join(" · ")}`;
    byId("lane-drop").hidden = said.length === 1 && !range;
    byId("lane-count").textContent = plural(this.list.length, "row");
    byId("lane-found").textContent = word ? `${number(lanes.found().length)}${lanes.found().length === HITS ? " or more" : ""} spans, Enter goes to the next` : "";
  }
}

const timeline = D.timeline && byId("timeline") ? new Timeline(D.timeline) : null;
const timelineSums = timeline ? new Sums(timeline) : null;
