// ---- code: disassembly beside its source -------------------------------------------------------------------------

const LINE = 20;
const views = all(".listing").map((section) => ({ section, code: D.code[Number(section.dataset.code)], ready: null }));

/** Builds the view of a listing when it is first needed. */
function viewOf(it) {
  it.ready ??= buildCode(it.section.querySelector(".code-view"), it.code);
  return it.ready;
}

function buildCode(root, code) {
  const count = code.text.length;
  const most = Math.max(0, ...code.share.map((share) => share ?? 0));
  const labels = new Map(code.label.flatMap((label, at) => (label === null ? [] : [[label, at]])));
  const hottest = code.share.reduce((best, share, at) => ((share ?? 0) > (code.share[best] ?? 0) ? at : best), 0);
  let cursor = -1;
  let marked = null;

  const asm = make("div", { class: `pane asm${code.counted ? "" : " bare"}` });
  const titles = code.counted
    ? [["address"], ["count", "executions by waves"], ["share %", "of all instructions issued"], ["lanes", "active lanes, average"], ["lines", "cache lines per access"], ["conflict %", "LDS cycles lost to bank conflicts"], ["live", "live vector registers before it"], ["instruction"], [""]]
    : [["address"], ["live", "live vector registers before it"], ["instruction"], [""]];
  asm.append(make("div", { class: "head" }, ...titles.map(([text, title], at) => make("span", { class: at > 0 && at < titles.length - 2 ? "n" : "", title }, text))));
  const rows = make("div", { class: "rows", tabindex: 0, role: "region", "aria-label": `Disassembly of ${code.kernel.slice(0, 80)}` });
  const inner = make("div", { class: "inner" });
  rows.append(inner);
  asm.append(rows);
  const heat = make("canvas", { class: "heatbar", width: 9, height: 544, "aria-hidden": "true" });
  asm.append(heat);

  const lines = new Lines(rows, inner, LINE, (at) => {
    const classes = ["line"];
    if (code.counted && code.count[at] === null) classes.push("never");
    if (at === cursor) classes.push("cursor");
    if (marked && marked(at)) classes.push("on");
    const row = make("div", { class: classes.join(" "), "data-at": at });
    const cell = (cls, text) => make("span", { class: cls }, text);
    row.append(cell("a", code.lines_are_text ? `line ${code.address[at]}` : code.address[at].toString(16)));
    if (code.counted) {
      const share = cell("n s", code.share[at] === null ? "" : code.share[at].toFixed(2));
      if (most > 0) share.style.setProperty("--p", (100 * (code.share[at] ?? 0)) / most);
      row.append(cell("n", code.count[at] === null ? "" : number(code.count[at])), share);
      for (const column of [code.lanes, code.lines, code.conflicts]) row.append(cell("n", column[at] === null ? "" : number(column[at])));
    }
    const live = code.agprs[at] ? `${code.vgprs[at]}+${code.agprs[at]}` : String(code.vgprs[at]);
    row.append(cell(at === code.peak ? "n peak" : "n", live));
    const text = make("span");
    if (code.label[at] !== null) text.append(make("span", { class: "label" }, `${code.label[at]}: `));
    text.append("  ".repeat(code.depth[at]));
    const target = code.text[at].match(/^(.* )(L\d+)$/);
    if (target && labels.has(target[2])) {
      text.append(target[1], make("span", { class: "to", "data-to": labels.get(target[2]) }, target[2]));
    } else {
      text.append(code.text[at]);
    }
    row.append(text, cell("r", code.findings[at]));
    return row;
  });

  const panes = make("div", { class: "panes" });
  const source = code.sources.some(Boolean) ? buildSource(code, (file, line) => mark(file, line)) : null;
  if (source) panes.append(source.pane);
  panes.append(asm);

  /** Marks the instructions of a source line and goes to the one that runs most. */
  function mark(file, line) {
    marked = (at) => code.file[at] === file && code.line[at] === line;
    let best = -1;
    for (let at = 0; at < count; at += 1) {
      if (marked(at) && (best < 0 || (code.count[at] ?? 0) > (code.count[best] ?? 0))) best = at;
    }
    if (best >= 0) go(best, false);
    else lines.again();
  }

  function go(at, showSource = true) {
    cursor = Math.max(0, Math.min(count - 1, at));
    if (showSource && source) {
      marked = null;
      source.show(code.file[cursor], code.line[cursor]);
    }
    lines.reveal(cursor);
    lines.again();
    const parts = [code.text[cursor], code.count[cursor] === null ? "" : plural(code.count[cursor], "execution"), code.findings[cursor]];
    say(parts.filter(Boolean).join(", "));
  }
  const next = (holds) => {
    for (let step = 1; step <= count; step += 1) {
      const at = (cursor + step) % count;
      if (holds(at)) return go(at);
    }
    return say("nothing found");
  };
  const nextFinding = () => next((at) => code.findings[at] !== "");

  rows.addEventListener("click", (event) => {
    const to = event.target.closest(".to");
    const row = event.target.closest(".line");
    if (to) go(Number(to.dataset.to));
    else if (row && String(getSelection()) === "") go(Number(row.dataset.at));
  });
  rows.addEventListener("keydown", (event) => {
    const target = code.text[cursor]?.match(/ (L\d+)$/);
    const page = Math.floor(rows.clientHeight / LINE) - 2;
    const keys = {
      ArrowDown: () => go(cursor + 1), ArrowUp: () => go(cursor - 1),
      PageDown: () => go(cursor + page), PageUp: () => go(cursor - page),
      Home: () => go(0), End: () => go(count - 1),
      h: () => go(hottest), n: nextFinding,
      Enter: () => { if (target && labels.has(target[1])) go(labels.get(target[1])); },
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  const find = make("input", { type: "search", placeholder: "part of an instruction", spellcheck: "false" });
  find.addEventListener("keydown", (event) => {
    const wanted = find.value.toLowerCase();
    if (event.key === "Enter" && wanted) next((at) => code.text[at].toLowerCase().includes(wanted));
  });
  const tools = make("p", { class: "tools" });
  const button = (text, action) => {
    const it = make("button", { type: "button" }, text);
    it.addEventListener("click", action);
    tools.append(it);
  };
  if (code.counted && most > 0) button("hottest (h)", () => go(hottest));
  if (code.findings.some(Boolean)) button("next finding (n)", nextFinding);
  if (code.peak !== null) button("most live registers", () => go(code.peak));
  tools.append(make("label", {}, "find ", find), make("span", { class: "dim" }, "arrows move, Enter follows a branch"));

  // Short code needs no pane of full height.
  const room = Math.min(544, Math.max(160, count * LINE + 16));
  if (!source) rows.style.height = `${room}px`;
  if (!source) heat.style.height = `${room}px`;
  root.style.minHeight = "";
  root.replaceChildren(tools, panes);
  root.hidden = false;
  lines.set(code.text.map((_, at) => at));

  root.drawHeat = () => {
    const paint = heat.getContext("2d");
    if (!paint) return;
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    paint.clearRect(0, 0, 9, 544);
    const hot = new Float64Array(544);
    for (let at = 0; at < count; at += 1) {
      const y = Math.floor((at * 544) / count);
      hot[y] = Math.max(hot[y], most > 0 ? (code.share[at] ?? 0) / most : 0);
    }
    paint.fillStyle = colour("--heat");
    hot.forEach((part, y) => {
      paint.globalAlpha = part;
      paint.fillRect(0, y, 6, Math.max(1, Math.ceil(544 / count)));
    });
    paint.globalAlpha = 1;
    paint.fillStyle = colour("--severe");
    code.findings.forEach((text, at) => { if (text) paint.fillRect(6, Math.floor((at * 544) / count), 3, 2); });
  };
  root.drawHeat();
  return { go, at: (address) => code.address.indexOf(address) };
}

/** The pane of source files with what each line's instructions did together. */
function buildSource(code, choose) {
  const pane = make("div", { class: "pane src" });
  const rows = make("div", { class: "rows", tabindex: 0, role: "region", "aria-label": "Source" });
  const inner = make("div", { class: "inner" });
  rows.append(inner);
  const total = code.files.map(() => new Map());
  code.file.forEach((file, at) => {
    if (file < 0) return;
    const sum = total[file].get(code.line[at]) ?? { count: 0, share: 0 };
    sum.count += code.count[at] ?? 0;
    sum.share += code.share[at] ?? 0;
    total[file].set(code.line[at], sum);
  });
  const known = code.files.map((_, file) => file).filter((file) => code.sources[file]);
  const weight = (file) => [...total[file].values()].reduce((sum, it) => sum + it.share, 0) || total[file].size;
  let shown = known.reduce((a, b) => (weight(b) > weight(a) ? b : a));
  let line = -1;
  const most = Math.max(0, ...total.flatMap((lines) => [...lines.values()].map((it) => it.share)));
  const lines = new Lines(rows, inner, LINE, (at) => {
    const sum = total[shown].get(at + 1);
    const row = make("div", { class: `line${at + 1 === line ? " cursor" : ""}${sum ? "" : " never"}`, "data-line": at + 1 });
    const share = make("span", { class: "n s" }, sum && code.counted ? sum.share.toFixed(2) : "");
    if (sum && most > 0) share.style.setProperty("--p", (100 * sum.share) / most);
    row.append(make("span", { class: "n a" }, String(at + 1)), make("span", { class: "n" }, sum && code.counted ? number(sum.count) : ""), share, make("span", {}, code.sources[shown][at].replaceAll("\t", "    ")));
    return row;
  });
  const pick = make("select", { "aria-label": "source file" }, ...known.map((file) => make("option", { value: file }, code.files[file])));
  const fill = () => {
    pick.value = shown;
    lines.set(code.sources[shown].map((_, at) => at));
  };
  pick.addEventListener("change", () => {
    shown = Number(pick.value);
    line = -1;
    fill();
  });
  rows.addEventListener("click", (event) => {
    const row = event.target.closest(".line");
    if (!row || String(getSelection()) !== "") return;
    line = Number(row.dataset.line);
    lines.again();
    choose(shown, line);
  });
  pane.append(make("div", { class: "head" }, make("span", {}, "line"), make("span", { class: "n" }, "count"), make("span", { class: "n" }, "share %"), pick), rows);
  const hottest = [...total[shown]].reduce((a, b) => (b[1].share > a[1].share ? b : a), [1, { share: -1 }])[0];
  setTimeout(() => {
    fill();
    lines.reveal(hottest - 1);
  });
  return {
    pane,
    show(file, at) {
      if (file < 0 || !code.sources[file]) return;
      if (file !== shown) {
        shown = file;
        fill();
      }
      line = at;
      lines.reveal(at - 1);
      lines.again();
    },
  };
}

const nearCode = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) viewOf(views.find((it) => it.section === entry.target));
  }
}, { rootMargin: "600px" });
views.forEach((it) => {
  it.section.querySelector(".code-view").hidden = false;
  it.section.querySelector(".code-view").style.minHeight = "37rem";
  nearCode.observe(it.section);
});

function showCodeOf(k) {
  const own = k === null ? [] : views.filter((it) => it.code.kernel === nameOf(k));
  views.forEach((it) => { it.section.hidden = own.length > 0 && !own.includes(it); });
}

function goToAddress(kernel, address) {
  const it = views.find((view) => view.section.querySelector("h3").textContent === kernel);
  if (!it) return;
  const view = viewOf(it);
  const at = view.at(address);
  if (at >= 0) view.go(at);
  it.section.scrollIntoView({ block: "start" });
  it.section.querySelector(".asm .rows").focus({ preventScroll: true });
}
