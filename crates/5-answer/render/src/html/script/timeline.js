// ---- the timeline: lanes of spans on a canvas --------------------------------------------------------------------

const ROW = 15;
const LANE_HEAD = 18;
const AXIS = 22;
/** Rows of a lane that is not opened. */
const SHORT = 3;
const HITS = 100_000;
/** Colours of classes: kernels by what they do, then what is no kernel; a class without one takes a spare. */
const CLASS_COLOURS = {
  gemm: "#4c78a8", communication: "#e45756", copy: "#f58518", attention: "#72b7b2", convolution: "#54a24b", norm: "#b279a2",
  "element-wise": "#9d755d", reduction: "#eeca3b", softmax: "#ff9da6", layout: "#d67195", embedding: "#88d27a", moe: "#439894",
  operator: "#79a0c8", "runtime call": "#8c8c94", python: "#bab0ac", range: "#d4a6c8", other: "#9aa3b0",
};
const SPARE_COLOURS = ["#5b8fb9", "#b79a20", "#8a6fc0", "#499894", "#c7795f", "#a0cbe8", "#6f9e5a"];
/** Letters are dark on light colours. */
const inkOn = (colour) => {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? "#16161a" : "#ffffff";
};
const timeText = (ns) => {
  const [scale, unit, digits] = ns >= 1e9 ? [1e9, "s", 4] : ns >= 1e6 ? [1e6, "ms", 3] : ns >= 1e3 ? [1e3, "us", 2] : [1, "ns", 0];
  return `${(ns / scale).toFixed(digits)} ${unit}`;
};

/** Spans of a lane as columns, and the rows of equal depth as lists of indices in the order of time. */
function decodeLane(lane) {
  const text = atob(lane.spans);
  const count = lane.count;
  const start = new Float64Array(count);
  const length = new Float64Array(count);
  const names = new Uint32Array(count);
  const depth = new Uint16Array(count);
  let at = 0;
  let last = 0;
  const next = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = text.charCodeAt(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const counts = new Uint32Array(lane.rows);
  for (let i = 0; i < count; i += 1) {
    last += next();
    start[i] = last;
    length[i] = next();
    names[i] = next();
    depth[i] = next();
    counts[depth[i]] += 1;
  }
  const rows = Array.from(counts, (n) => new Uint32Array(n));
  counts.fill(0);
  for (let i = 0; i < count; i += 1) {
    rows[depth[i]][counts[depth[i]]] = i;
    counts[depth[i]] += 1;
  }
  return { name: lane.name, gpu: lane.gpu, start, length, names, rows, open: lane.gpu || lane.rows <= 6 };
}

/** The first place in a row whose span ends after a time: spans of one row do not overlap. */
function firstAfter(lane, row, time) {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.start[row[middle]] + lane.length[row[middle]] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The row that holds a span: a row is a list of indices that grow. */
function rowOf(lane, i) {
  return lane.rows.findIndex((row) => {
    let low = 0;
    let high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[middle] < i) low = middle + 1;
      else high = middle;
    }
    return row[low] === i;
  });
}

class Timeline {
  constructor(data) {
    const spare = (at) => at % SPARE_COLOURS.length;
    const ofClasses = data.classes.map((name, at) => CLASS_COLOURS[name] ?? SPARE_COLOURS[spare(at)]);
    const colours = ofClasses.concat(SPARE_COLOURS);
    // Kernels of no known class are told apart by their names.
    const colourOf = Uint16Array.from(data.class_of, (cls, name) => (data.classes[cls] === "other" ? ofClasses.length + spare(name) : cls));
    Object.assign(this, {
      data, colours, colourOf, inks: colours.map(inkOn), lanes: data.lanes.map(decodeLane), canvas: byId("lane-chart"),
      from: 0, to: Math.max(data.length, 1), scroll: 0, width: 0, height: 0, asked: false, held: null,
      selected: null, range: null, word: "", pick: null, admitted: null, lane: null, hits: null, hit: -1, changed: () => {},
    });
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.spans = this.lanes.reduce((n, lane) => n + lane.start.length, 0);
    const box = byId("lanes");
    box.hidden = false;
    box.style.height = `${Math.round(Math.min(Math.max(this.total() + 4, 90), innerHeight * 0.6))}px`;
    this.themed();
    this.size();
    this.listen();
  }

  // What is shown.

  themed() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    this.paint = { ground: of("--surface"), text: of("--text"), dim: of("--dim"), line: of("--rule"), lane: of("--raised"), accent: of("--accent") };
  }
  shownRows(lane) { return lane.open ? lane.rows.length : Math.min(lane.rows.length, SHORT); }
  heightOf(lane) { return LANE_HEAD + this.shownRows(lane) * ROW + 4; }
  total() { return this.lanes.reduce((sum, lane) => sum + this.heightOf(lane), AXIS); }
  x(time) { return ((time - this.from) / (this.to - this.from)) * this.width; }
  timeAt(px) { return this.from + (px / this.width) * (this.to - this.from); }

  drawAxis() {
    const { context: c, paint, from, to, width } = this;
    const step = 10 ** Math.floor(Math.log10((to - from) / 6));
    const by = [1, 2, 5, 10].map((k) => k * step).find((s) => (to - from) / s <= Math.max(width / 130, 2)) ?? step * 20;
    c.fillStyle = paint.ground;
    c.fillRect(0, 0, width, AXIS);
    c.fillStyle = paint.dim;
    for (let t = Math.max(Math.ceil(from / by), 0) * by; t <= to; t += by) {
      c.fillRect(Math.round(this.x(t)), 0, 1, AXIS);
      c.fillText(timeText(t), this.x(t) + 4, 14);
    }
  }

  drawRow(lane, row, y) {
    const { context: c, data, from, to, width, admitted } = this;
    const perPixel = (to - from) / width;
    const faded = this.lane !== null && this.lane !== lane;
    let at = firstAfter(lane, row, from);
    // Spans thinner than a pixel that touch and look alike are drawn at once.
    let left = 0;
    let right = -1;
    let look = -1;
    const flush = () => {
      if (right < 0) return;
      c.globalAlpha = look % 2 ? 0.16 : 1;
      c.fillStyle = this.colours[look >> 1];
      c.fillRect(left, y, Math.max(right - left, 0.8), ROW - 2);
      right = -1;
    };
    while (at < row.length) {
      const i = row[at];
      const start = lane.start[i];
      if (start >= to) break;
      const begin = Math.max(this.x(start), 0);
      const end = Math.min(this.x(start + lane.length[i]), width);
      const name = lane.names[i];
      const dim = faded || (admitted && !admitted[name]) ? 1 : 0;
      const mine = this.colourOf[name] * 2 + dim;
      if (end - begin < 1 && right >= 0 && mine === look && begin - right < 1) {
        right = Math.max(end, begin + 0.8);
      } else {
        flush();
        [left, right, look] = [begin, Math.max(end, begin + 0.8), mine];
        if (end - begin > 34) {
          flush();
          c.save();
          c.beginPath();
          c.rect(begin, y, end - begin, ROW - 2);
          c.clip();
          c.fillStyle = this.inks[this.colourOf[name]];
          c.globalAlpha = dim ? 0.4 : 1;
          c.fillText(data.names[name].slice(0, 120), begin + 3, y + 10);
          c.restore();
        }
      }
      // What begins on the same pixel cannot be told apart: go on with the next pixel's.
      at = end - begin >= 1 ? at + 1 : Math.max(at + 1, firstAfter(lane, row, start + perPixel));
    }
    flush();
    c.globalAlpha = 1;
    const { selected } = this;
    if (selected?.lane === lane && selected.row === row && lane.start[selected.at] < to) {
      const begin = this.x(lane.start[selected.at]);
      c.strokeStyle = this.paint.text;
      c.lineWidth = 2;
      c.strokeRect(begin, y, Math.max(this.x(lane.start[selected.at] + lane.length[selected.at]) - begin, 2), ROW - 2);
    }
  }

  draw() {
    const { context: c, paint, width, height } = this;
    this.asked = false;
    c.fillStyle = paint.ground;
    c.fillRect(0, 0, width, height);
    c.font = "11px system-ui, sans-serif";
    let y = AXIS - this.scroll;
    for (const lane of this.lanes) {
      const tall = this.heightOf(lane);
      if (y + tall > AXIS && y < height) {
        c.fillStyle = paint.lane;
        c.fillRect(0, y, width, LANE_HEAD - 2);
        for (let r = 0; r < this.shownRows(lane); r += 1) {
          const top = y + LANE_HEAD + r * ROW;
          if (top + ROW > AXIS && top < height) this.drawRow(lane, lane.rows[r], top);
        }
        const more = lane.rows.length - this.shownRows(lane);
        c.fillStyle = this.lane === lane ? paint.accent : paint.text;
        c.fillText(`${lane.rows.length > SHORT ? (lane.open ? "▾ " : "▸ ") : ""}${lane.name}${more > 0 ? `  ${more} more rows` : ""}`, 6, y + 12);
      }
      y += tall;
    }
    if (this.range) {
      const [a, b] = this.range.map((t) => this.x(t));
      c.globalAlpha = 0.14;
      c.fillStyle = paint.accent;
      c.fillRect(a, AXIS, b - a, height);
      c.globalAlpha = 1;
      c.fillRect(a, AXIS, 1, height);
      c.fillRect(b, AXIS, 1, height);
    }
    this.drawAxis();
    const all = this.total();
    if (all > height) {
      c.fillStyle = paint.dim;
      const room = height - AXIS;
      c.fillRect(width - 4, AXIS + (this.scroll / all) * room, 3, Math.max((room / all) * room, 12));
    }
  }
  redraw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.draw());
  }

  // Where a reader looks.

  clamp() {
    const { length } = this.data;
    const span = Math.min(Math.max(this.to - this.from, 20), length * 1.04 + 20);
    this.from = Math.min(Math.max(this.from, -0.02 * length), Math.max(length * 1.02 - span, -0.02 * length));
    this.to = this.from + span;
    this.scroll = Math.min(Math.max(this.scroll, 0), Math.max(this.total() - this.height, 0));
    this.redraw();
  }
  zoom(by, px = this.width / 2) {
    const t = this.timeAt(px);
    this.from = t - (t - this.from) * by;
    this.to = t + (this.to - t) * by;
    this.clamp();
  }
  pan(px) {
    const t = (px / this.width) * (this.to - this.from);
    this.from += t;
    this.to += t;
    this.clamp();
  }
  showAll() {
    [this.from, this.to] = [0, Math.max(this.data.length, 1)];
    this.clamp();
  }
  size() {
    const box = this.canvas.getBoundingClientRect();
    const scale = devicePixelRatio || 1;
    [this.width, this.height] = [Math.max(box.width, 1), Math.max(box.height, 1)];
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.clamp();
    // A canvas of another size is blank until it is drawn.
    this.draw();
  }
  laneAt(py) {
    let y = AXIS - this.scroll;
    for (const lane of this.lanes) {
      const tall = this.heightOf(lane);
      if (py >= y && py < y + tall) return { lane, head: py < y + LANE_HEAD, row: Math.floor((py - y - LANE_HEAD) / ROW) };
      y += tall;
    }
    return null;
  }

  // What a reader selects: a range of time, a word, and one name, class or lane.

  admit() {
    const { data, word, pick } = this;
    const exact = pick && pick.kind !== "lane" ? pick : null;
    this.lane = pick?.kind === "lane" ? this.lanes[pick.at] : null;
    this.admitted = word || exact
      ? Uint8Array.from(data.names, (name, at) => Number(
        (!word || name.toLowerCase().includes(word)) && (!exact || (exact.kind === "class" ? data.class_of[at] === exact.at : name === exact.label))))
      : null;
    this.hits = null;
    this.hit = -1;
    this.changed();
    this.redraw();
  }
  choose(k) {
    const at = k === null ? -1 : this.data.kernel_of.indexOf(k);
    const pick = at < 0 ? null : { kind: "name", at, label: this.data.names[at] };
    if (pick === null && this.pick === null) return;
    this.pick = pick;
    this.admit();
  }
  drop() {
    [this.range, this.pick, this.word, this.selected] = [null, null, "", null];
    byId("lane-search").value = "";
    byId("lane-detail").replaceChildren();
    this.admit();
  }
  found() {
    if (this.hits || !this.admitted) return this.hits ?? [];
    this.hits = [];
    for (const lane of this.lanes) {
      for (let i = 0; i < lane.names.length && this.hits.length < HITS; i += 1) {
        if (this.admitted[lane.names[i]]) this.hits.push([lane, i]);
      }
    }
    return this.hits;
  }
  next(step) {
    const hits = this.found();
    if (!hits.length) return;
    this.hit = (this.hit + step + hits.length) % hits.length;
    const [lane, i] = hits[this.hit];
    const wide = Math.max(lane.length[i] * 12, 1000);
    this.from = lane.start[i] + lane.length[i] / 2 - wide / 2;
    this.to = this.from + wide;
    // Its row comes into sight.
    const row = rowOf(lane, i);
    if (row >= SHORT) lane.open = true;
    let y = AXIS;
    for (const it of this.lanes) {
      if (it === lane) break;
      y += this.heightOf(it);
    }
    y += LANE_HEAD + Math.max(row, 0) * ROW;
    if (y < this.scroll + AXIS + LANE_HEAD || y > this.scroll + this.height - ROW) this.scroll = y - this.height / 2;
    this.select(lane, i);
    this.clamp();
  }
  select(lane, i) {
    const { data } = this;
    this.selected = { lane, at: i, row: lane.rows[rowOf(lane, i)] };
    const name = lane.names[i];
    const only = make("button", { type: "button", class: "link" }, "only this name");
    only.addEventListener("click", () => this.only({ kind: "name", at: name, label: data.names[name] }));
    byId("lane-detail").replaceChildren(
      make("bdi", { class: "name" }, data.names[name]),
      ` · ${data.classes[data.class_of[name]]} · ${lane.name} · at ${timeText(lane.start[i])} for ${timeText(lane.length[i])} `, only);
    this.redraw();
  }
  /** Shows one name, class or lane alone; on the page of a recording a kernel is chosen with it. */
  only(pick) {
    const same = this.pick && this.pick.kind === pick.kind && this.pick.label === pick.label;
    const kernel = pick.kind === "name" ? this.data.kernel_of[pick.at] : null;
    if (kernel !== null && kernel !== undefined) {
      choose(same ? null : kernel);
      return;
    }
    this.pick = same ? null : pick;
    this.admit();
  }

  // Hands.

  listen() {
    const { canvas } = this;
    const section = byId("timeline");
    let above = false;
    section.addEventListener("pointerenter", () => { above = true; });
    section.addEventListener("pointerleave", () => { above = false; });
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      this.held = { x: e.offsetX, y: e.offsetY, moved: false, selects: e.shiftKey, time: this.timeAt(e.offsetX) };
    });
    canvas.addEventListener("pointermove", (e) => this.moved(e));
    canvas.addEventListener("pointerup", (e) => this.released(e));
    canvas.addEventListener("wheel", (e) => {
      const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY);
      // Without a key the wheel moves the page, until the timeline was clicked.
      const mine = e.ctrlKey || e.metaKey || sideways || document.activeElement === canvas;
      if (!mine) return;
      e.preventDefault();
      if (sideways) this.pan(e.deltaX);
      else if (e.shiftKey) {
        this.scroll += e.deltaY;
        this.clamp();
      } else this.zoom(Math.exp(e.deltaY * 0.0015), e.offsetX);
    }, { passive: false });
    const keys = {
      w: () => this.zoom(0.75), s: () => this.zoom(1.33), a: () => this.pan(-this.width / 8), d: () => this.pan(this.width / 8), f: () => this.showAll(),
      "+": () => this.zoom(0.75), "-": () => this.zoom(1.33), escape: () => this.drop(),
    };
    const arrows = {
      arrowleft: () => this.pan(-this.width / 8), arrowright: () => this.pan(this.width / 8),
      arrowup: () => { this.scroll -= 60; this.clamp(); }, arrowdown: () => { this.scroll += 60; this.clamp(); },
    };
    document.addEventListener("keydown", (e) => {
      const focused = document.activeElement === canvas;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey || !(above || focused)) return;
      const act = keys[e.key.toLowerCase()] ?? (focused ? arrows[e.key.toLowerCase()] : undefined);
      if (!act) return;
      e.preventDefault();
      act();
    });
    const search = byId("lane-search");
    search.addEventListener("input", () => {
      this.word = search.value.toLowerCase();
      this.admit();
    });
    search.addEventListener("keydown", (e) => { if (e.key === "Enter") this.next(e.shiftKey ? -1 : 1); });
    byId("lane-all").addEventListener("click", () => this.showAll());
    byId("lane-drop").addEventListener("click", () => this.drop());
    const again = () => { this.themed(); this.redraw(); };
    document.addEventListener("theme", again);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new ResizeObserver(() => this.size()).observe(canvas);
  }
  moved(e) {
    const { held } = this;
    if (!held) return;
    const [dx, dy] = [e.offsetX - held.x, e.offsetY - held.y];
    held.moved ||= Math.abs(dx) + Math.abs(dy) > 3;
    if (held.selects) {
      const t = this.timeAt(e.offsetX);
      this.range = [Math.max(Math.min(t, held.time), 0), Math.min(Math.max(t, held.time, 0), this.data.length)];
      this.redraw();
    } else if (held.moved) {
      [held.x, held.y] = [e.offsetX, e.offsetY];
      this.scroll -= dy;
      this.pan(-dx);
    }
  }
  released(e) {
    const { held } = this;
    this.held = null;
    if (!held) return;
    if (held.selects) {
      if (!held.moved) this.range = null;
      this.changed();
      this.redraw();
      return;
    }
    const hit = held.moved ? null : this.laneAt(e.offsetY);
    if (!hit) return;
    if (hit.head) {
      hit.lane.open = !hit.lane.open;
      this.clamp();
      return;
    }
    const row = hit.lane.rows[hit.row];
    if (!row) return;
    const at = firstAfter(hit.lane, row, this.timeAt(e.offsetX - 1));
    if (at < row.length && hit.lane.start[row[at]] <= this.timeAt(e.offsetX + 1)) this.select(hit.lane, row[at]);
  }
}
