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
  // Where time goes is known where waits are; else where most is executed stands for it.
  const timed = code.wait_share.some((share) => share !== null);
  const heats = code.traced ? code.stall_share : code.sampled ? code.sample_share : timed ? code.wait_share : code.share;
  const most = heats.reduce((best, it) => Math.max(best, it ?? 0), 0);
  const labels = new Map(code.label.flatMap((label, at) => (label === null ? [] : [[label, at]])));
  const hottest = heats.reduce((best, it, at) => ((it ?? 0) > (heats[best] ?? 0) ? at : best), 0);
  let cursor = -1;
  let marked = null;

  const known = (column) => column.some((it) => it !== null);
  const shown = (column, digits) => (at) => (column[at] === null ? "" : digits === undefined ? number(column[at]) : column[at].toFixed(digits));
  const live = (at) => (code.agprs[at] ? `${code.vgprs[at]}+${code.agprs[at]}` : String(code.vgprs[at]));
  // Title, what it is, class, text; columns that say nothing of this kernel are left out.
  const columns = [
    ["address", "", "a", (at) => (code.lines_are_text ? `line ${code.address[at]}` : code.address[at].toString(16))],
    code.counted && ["count", "executions by waves", "n", shown(code.count)],
    code.counted && ["share %", "of all instructions issued", timed || code.sampled ? "n" : "n s", shown(code.share, 2)],
    timed && ["wait %", "of all cycles that waves of the kernel waited, those before this instruction", code.sampled ? "n" : "n s", shown(code.wait_share, 2)],
    timed && ["each", "cycles a wave waited before it, average", "n", (at) => (code.waited[at] === null ? "" : number(Math.round(code.waited[at])))],
    timed && ["for", "what most of them waited for", "why", (at) => code.why[at]],
    code.counted && ["lanes", "active lanes, average", "n", shown(code.lanes)],
    code.sampled && ["samples", "samples of the program counter at this instruction", "n", shown(code.samples)],
    code.sampled && ["samples %", "of the kernel's samples", "n s", shown(code.sample_share, 1)],
    known(code.issued) && ["issued %", "of these samples, the wave issued the instruction", "n", shown(code.issued, 0)],
    known(code.stalled) && ["stalled for", "why most of the others did not", "why", (at) => (code.stalled[at] === null ? "" : `${code.why[at]} ${code.stalled[at].toFixed(0)} %`)],
    code.traced && ["hits", "executions by the waves of the thread trace", "n", shown(code.hits)],
    code.traced && ["latency", "cycles of these, stalls counted in", "n", shown(code.latency)],
    code.traced && ["stall", "of these, cycles in which it could not issue", "n", shown(code.stall)],
    code.traced && ["stall %", "of the kernel's stalled cycles", "n s", shown(code.stall_share, 1)],
    code.traced && ["idle", "cycles between the instruction before and this one", "n", shown(code.idle)],
    known(code.cause) && ["waits for", "the memory instruction that must end", "why", (at) => (code.cause[at] === null ? "" : code.cause[at].toString(16))],
    known(code.lines) && ["lines", "cache lines per access", "n", shown(code.lines)],
    known(code.conflicts) && ["conflict %", "LDS cycles lost to bank conflicts", "n", shown(code.conflicts)],
    code.live_known && ["live", "live vector registers before it; + accumulation registers", "n live", live],
  ].filter(Boolean);
  const asm = make("div", { class: "pane asm" });
  const numbers = padded(asm, columns, count);
  const longest = code.text.reduce((most, text, at) => Math.max(most, text.length + 2 * code.depth[at] + (code.label[at]?.length ?? -2) + 2), 0);
  asm.append(make("div", { class: "head" }, ...numbers.head, "instruction"));
  const rows = make("div", { class: "rows", tabindex: 0, role: "region", "aria-label": `Disassembly of ${code.kernel.slice(0, 80)}` });
  const inner = make("div", { class: "inner" });
  inner.style.minWidth = `calc(${numbers.width + longest + 4 + code.findings.reduce((most, text) => Math.max(most, text.length), 0)}ch + 2rem)`;
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
    if (most > 0 && heats[at]) row.style.setProperty("--p", (100 * heats[at]) / most);
    const indent = "  ".repeat(code.depth[at]);
    const label = code.label[at] === null ? "" : `${code.label[at]}: `;
    row.append(...numbers.of(at, at === code.peak));
    if (label) row.append(make("span", { class: "label" }, label));
    const target = code.text[at].match(/^(.* )(L\d+)$/);
    if (target && labels.has(target[2])) {
      row.append(indent, target[1], make("span", { class: "to", "data-to": labels.get(target[2]) }, target[2]));
    } else {
      row.append(indent, code.text[at]);
    }
    if (code.findings[at]) row.append(make("span", { class: "r" }, `  ◀ ${code.findings[at]}`));
    return row;
  });

  const panes = make("div", { class: "panes" });
  const source = code.sources.some(Boolean) ? buildSource(code, heats, timed, (file, line) => mark(file, line)) : null;
  if (source) panes.append(source.pane);
  panes.append(asm);

  /** Marks the instructions of a source line and goes to the hottest. */
  function mark(file, line) {
    marked = (at) => code.file[at] === file && code.line[at] === line;
    let best = -1;
    for (let at = 0; at < count; at += 1) {
      if (marked(at) && (best < 0 || (heats[at] ?? 0) > (heats[best] ?? 0))) best = at;
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
    const parts = [code.text[cursor], code.count[cursor] === null ? "" : plural(code.count[cursor], "execution"), code.wait_share[cursor] === null ? "" : `${code.wait_share[cursor]} % of the waits, for ${code.why[cursor]}`, code.samples[cursor] === null ? "" : plural(code.samples[cursor], "sample"), code.stall[cursor] === null ? "" : `${number(code.stall[cursor])} of ${number(code.latency[cursor])} cycles stalled`, code.findings[cursor]];
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
  if (most > 0) button("hottest (h)", () => go(hottest));
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
      hot[y] = Math.max(hot[y], most > 0 ? (heats[at] ?? 0) / most : 0);
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

/**
 * Columns as one text per line, padded: a line of few elements is drawn while the wheel turns. A column is its title, what
 * it is, its class and the text of a line; the one of class `s` has the heat behind it, `live` is marked at the peak.
 */
function padded(pane, columns, count) {
  const left = (cls) => cls === "a" || cls === "why";
  const all = columns.map(([title, hint, cls, text]) => {
    let width = title.length;
    for (let at = 0; at < count; at += 1) width = Math.max(width, text(at).length);
    return { title, hint, cls, text, pad: (it) => `${left(cls) ? it.padEnd(width) : it.padStart(width)}  `, width: width + 2 };
  });
  let from = 0;
  for (const column of all) {
    if (column.cls.endsWith(" s")) {
      pane.style.setProperty("--from", from);
      pane.style.setProperty("--wide", column.width - 1);
    }
    from += column.width;
  }
  return {
    width: from,
    head: all.map((column) => make("span", { title: column.hint }, column.pad(column.title))),
    of(at, peak) {
      if (!peak) return [all.map((column) => column.pad(column.text(at))).join("")];
      const texts = all.map((column) => column.pad(column.text(at)));
      const live = texts.pop();
      return [texts.join(""), make("span", { class: "peak" }, live)];
    },
  };
}

/** The pane of source files with what each line's instructions did together. */
function buildSource(code, heats, timed, choose) {
  const pane = make("div", { class: "pane src" });
  const rows = make("div", { class: "rows", tabindex: 0, role: "region", "aria-label": "Source" });
  const inner = make("div", { class: "inner" });
  rows.append(inner);
  const total = code.files.map(() => new Map());
  code.file.forEach((file, at) => {
    if (file < 0) return;
    const sum = total[file].get(code.line[at]) ?? { count: 0, share: 0 };
    sum.count += (code.traced ? code.stall[at] : code.sampled ? code.samples[at] : code.count[at]) ?? 0;
    sum.share += heats[at] ?? 0;
    total[file].set(code.line[at], sum);
  });
  const known = code.files.map((_, file) => file).filter((file) => code.sources[file]);
  const weight = (file) => [...total[file].values()].reduce((sum, it) => sum + it.share, 0) || total[file].size;
  let shown = known.reduce((a, b) => (weight(b) > weight(a) ? b : a));
  let line = -1;
  const most = Math.max(0, ...total.flatMap((lines) => [...lines.values()].map((it) => it.share)));
  const sumOf = (at) => (code.counted || code.sampled || code.traced ? total[shown].get(at + 1) : undefined);
  const columns = [
    ["line", "", "n", (at) => String(at + 1)],
    code.traced && ["stall", "cycles in which its instructions could not issue, by the thread trace", "n", (at) => (sumOf(at)?.count ? number(sumOf(at).count) : "")],
    code.traced && ["stall %", "of the kernel's stalled cycles", "n s", (at) => (sumOf(at)?.share ? sumOf(at).share.toFixed(1) : "")],
    code.sampled && !code.traced && ["samples", "samples of the program counter", "n", (at) => (sumOf(at)?.count ? number(sumOf(at).count) : "")],
    code.sampled && !code.traced && ["samples %", "of the kernel's samples", "n s", (at) => (sumOf(at)?.share ? sumOf(at).share.toFixed(1) : "")],
    code.counted && !code.sampled && !code.traced && ["count", "executions by waves", "n", (at) => (sumOf(at) ? number(sumOf(at).count) : "")],
    code.counted && !code.sampled && !code.traced && [timed ? "wait %" : "share %", timed ? "of all cycles that waves of the kernel waited" : "of all instructions issued", "n s", (at) => { const sum = sumOf(at); return sum && (sum.share > 0 || !timed) ? sum.share.toFixed(2) : ""; }],
  ].filter(Boolean);
  let numbers = padded(pane, columns, code.sources[shown].length);
  const lines = new Lines(rows, inner, LINE, (at) => {
    const sum = total[shown].get(at + 1);
    const row = make("div", { class: `line${at + 1 === line ? " cursor" : ""}${sum ? "" : " never"}`, "data-line": at + 1 });
    if (sum && most > 0) row.style.setProperty("--p", (100 * sum.share) / most);
    row.append(...numbers.of(at, false), code.sources[shown][at].replaceAll("\t", "    "));
    return row;
  });
  // The end of a path tells files apart.
  const ends = code.files.map((path) => path.split("/").pop());
  const name = (file) => (ends.filter((it) => it === ends[file]).length > 1 ? code.files[file] : ends[file]);
  const titles = make("span");
  const pick = make("select", { "aria-label": "source file" }, ...known.map((file) => make("option", { value: file, title: code.files[file] }, name(file))));
  const fill = () => {
    pick.value = shown;
    pick.title = code.files[shown];
    const letters = code.sources[shown].reduce((most, text) => Math.max(most, text.replaceAll("\t", "    ").length), 0);
    numbers = padded(pane, columns, code.sources[shown].length);
    inner.style.minWidth = `calc(${numbers.width + letters}ch + 2rem)`;
    titles.replaceChildren(...numbers.head);
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
  pane.append(make("div", { class: "head" }, titles, pick), rows);
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

/** Lines of a listing that are printed. */
const PRINTED = 600;
// Paper does not scroll: it gets the listing as text.
addEventListener("beforeprint", () => {
  for (const { section } of views) {
    if (section.querySelector(".printed")) continue;
    const plain = new DOMParser().parseFromString(section.querySelector("noscript").textContent, "text/html").querySelector("pre");
    const lines = plain.textContent.split("\n");
    const cut = lines.length > PRINTED ? [`… ${plural(lines.length - PRINTED, "more line")} in the page`] : [];
    section.append(make("pre", { class: "plain-code printed" }, [...lines.slice(0, PRINTED), ...cut].join("\n")));
  }
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
