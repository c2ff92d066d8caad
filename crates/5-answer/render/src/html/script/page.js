// ---- the page of a recording: what happens when a kernel is chosen -----------------------------------------------

const K = D.kernels;
const nameOf = (k) => K.name[k] || K.short[k];
document.addEventListener("theme", () => all(".code-view").forEach((it) => it.drawHeat?.()));

// ---- tooltips of the charts --------------------------------------------------------------------------------------

const tip = byId("tip");
function showTip(target) {
  tip.textContent = target.getAttribute("aria-label");
  tip.hidden = false;
  const box = target.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left + box.width / 2 - own.width / 2, innerWidth - own.width - 8));
  const above = box.top - own.height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : box.bottom + 8}px`;
}
const hideTip = () => { tip.hidden = true; };

for (const spot of all(".roofline .spot")) {
  // The tooltip says the same sooner and on focus too.
  spot.querySelector("title")?.remove();
  const group = spot.closest(".kernel");
  const drawn = K.drawn[Number(group.dataset.recording)] ?? [];
  const kernel = drawn.indexOf(Number(group.dataset.kernel));
  spot.addEventListener("pointerenter", () => showTip(spot));
  spot.addEventListener("focus", () => showTip(spot));
  spot.addEventListener("pointerleave", hideTip);
  spot.addEventListener("blur", hideTip);
  if (kernel >= 0) {
    spot.addEventListener("click", () => choose(kernel));
    spot.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(kernel); });
  }
}

// ---- choosing a kernel -------------------------------------------------------------------------------------------

let chosen = null;

/** Places of numbers in the order of the page, with the texts of the whole run. */
const places = all("table.swaps").flatMap((table) => all("tbody td:not(.t):not(.id):not(.u)", table));
const wholeTexts = places.map((it) => (it.classList.contains("strong") ? "!" : "") + it.textContent);

function putCells(texts) {
  places.forEach((it, at) => {
    let text = texts[at] ?? "";
    const strong = text.startsWith("!");
    if (strong) text = text.slice(1);
    if (it.textContent !== text) it.textContent = text;
    if (it.classList.contains("c")) it.classList.toggle("strong", strong);
    if (it.classList.contains("p")) {
      const value = parseFloat(text.replace(/[,<>]/g, ""));
      it.style.setProperty("--p", Number.isFinite(value) ? Math.max(0, Math.min(100, value)) : 0);
    }
  });
}

let memoryOf = 0;
const memoryTexts = all(".memory .slot");
const memoryBars = all(".memory .slot-share, .memory .slot-flow");
function putMemory() {
  const own = chosen !== null && D.details[chosen] ? D.details[chosen].memory : D.memory;
  const slots = own[memoryOf] ?? own[0];
  if (!slots) return;
  const trust = D.memory[memoryOf]?.trust ?? [];
  memoryTexts.forEach((it, at) => {
    it.textContent = slots.texts[at] ?? "";
    if (!trust[at] || it.textContent.endsWith("n/a")) return;
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = trust[at];
    it.append(title);
  });
  memoryBars.forEach((it, at) => {
    const share = slots.shares[at];
    if (it.dataset.room) {
      it.setAttribute("width", (Number(it.dataset.room) * Math.max(0, Math.min(100, share ?? 0))) / 100);
      return;
    }
    const step = share === null || share === undefined ? 0 : [20, 50, 80].filter((least) => share >= least).length;
    it.setAttribute("class", `flow slot-flow${step ? ` flow-${step}` : ""}`);
    it.setAttribute("stroke-width", 2 + step);
    let head = it.nextElementSibling;
    while (head && head.classList.contains("slot-head")) {
      head.setAttribute("class", `head slot-head${step ? ` head-${step}` : ""}`);
      head = head.nextElementSibling;
    }
  });
}
for (const button of all("[data-memory]")) {
  button.addEventListener("click", () => {
    memoryOf = Number(button.dataset.memory);
    all("[data-memory]").forEach((it) => it.setAttribute("aria-pressed", it === button));
    putMemory();
  });
}

/** Names the rate that comes nearest to its peak, of arithmetic and of memory. */
function putNearest() {
  const out = byId("nearest");
  if (!out) return;
  const best = { compute: null, memory: null };
  for (const row of all("#speed tr[data-rate]")) {
    const cell = all("td.p", row).at(-1);
    cell?.classList.remove("near");
    const value = parseFloat((cell?.textContent ?? "").replace(/[,<>]/g, ""));
    if (!Number.isFinite(value)) continue;
    const kind = row.querySelector("td.u")?.textContent === "GB/s" ? "memory" : "compute";
    if (!best[kind] || value > best[kind].value) best[kind] = { value, cell, name: row.querySelector("th").textContent };
  }
  const found = [["Arithmetic", best.compute], ["Memory", best.memory]].filter(([, it]) => it);
  const top = found.reduce((a, b) => (!a || b[1].value > a[1].value ? b : a), null);
  top?.[1].cell.classList.add("near");
  out.replaceChildren(...found.map(([what, it]) => make("span", {}, `${what}: ${it.name} `, make("strong", {}, `${it.value} % of its peak`), it === top[1] ? make("span", { class: "dim" }, ", the nearest") : null)));
  out.hidden = found.length === 0;
}

const findings = all("#finding-list > .finding");
const SHOWN = 12;
let showAllFindings = false;
function putFindings() {
  const isOf = (it) => chosen === null || (it.dataset.kernels ?? "").split(" ").includes(String(chosen));
  const mine = findings.filter(isOf);
  for (const row of all("#finding-list .also > li")) {
    row.hidden = chosen !== null && row.dataset.kernel !== String(chosen);
  }
  const shown = new Set(showAllFindings ? mine : mine.slice(0, SHOWN));
  findings.forEach((it) => { it.hidden = !shown.has(it); });
  const none = byId("findings-none");
  none.hidden = chosen === null || mine.length > 0;
  const more = byId("findings-more");
  more.hidden = mine.length <= SHOWN || showAllFindings;
  more.textContent = `show ${plural(mine.length - shown.size, "more finding")}`;
}
byId("findings-more").addEventListener("click", () => {
  showAllFindings = true;
  putFindings();
});

function putRoofline() {
  const svg = document.querySelector(".roofline");
  if (!svg) return;
  const last = K.drawn.length - 1;
  const at = (recording) => (chosen === null ? undefined : K.drawn[recording]?.[chosen]);
  const known = chosen !== null && K.drawn.some((_, recording) => Number.isInteger(at(recording)));
  svg.classList.toggle("narrowed", known);
  for (const it of all(".kernel, .moved", svg)) {
    const recording = it.dataset.recording === undefined ? last : Number(it.dataset.recording);
    it.classList.toggle("on", known && Number(it.dataset.kernel) === at(recording));
  }
  for (const rows of all(".roofs tbody")) rows.hidden = known && Number(rows.dataset.drawn) !== at(last);
}

/** Shows one kernel, or all with `null`. */
function choose(k, quiet = false) {
  chosen = k;
  const detail = k === null ? null : D.details[k];
  byId("chosen").hidden = k === null;
  byId("chosen-name").textContent = k === null ? "" : K.short[k];
  byId("no-detail").hidden = k === null || Boolean(detail) || K.short.length === 1;
  const of = k === null || K.short.length === 1 ? "" : detail ? `only ${K.short[k]}` : "whole run";
  all(".of-kernel").forEach((it) => { it.textContent = of; });
  putFindings();
  putRoofline();
  putCells(detail ? detail.cells.split("|") : wholeTexts);
  putMemory();
  putNearest();
  kernelRows.again();
  showCodeOf(k);
  showDispatchesOf(k);
  showPredictionsOf(k);
  showWavesOf(k);
  timeline?.choose(k);
  if (!quiet) {
    say(k === null ? "all kernels" : `only ${K.short[k]}`);
    try {
      history.replaceState(null, "", k === null ? location.pathname + location.search : `#kernel=${k}`);
    } catch {
      // A page in a sandbox has no history.
    }
  }
}

byId("choose-none").addEventListener("click", () => choose(null));
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-choose]");
  if (button) choose(Number(button.dataset.choose));
  const address = event.target.closest("[data-address]");
  if (address) goToAddress(address.dataset.of, Number(address.dataset.address));
});
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
    hideTip();
    if (chosen !== null && !typing) choose(null);
  }
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    byId("kernel-filter").focus();
  }
});
