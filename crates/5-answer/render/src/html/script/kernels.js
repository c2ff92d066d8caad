// ---- the table of kernels: sorted, filtered, and only as many rows as are seen -----------------------------------

const kernelBody = document.querySelector("#kernel-table tbody");
const kernelHead = document.querySelector("#kernel-table thead");
const FINDINGS = ["severe", "warning", "info"];

function kernelRow(k) {
  const cell = (cls, text, bar) => {
    const it = make("td", { class: cls }, text);
    if (bar !== undefined && bar !== null) it.style.setProperty("--p", Math.max(0, Math.min(100, bar)));
    return it;
  };
  const percent = (value, sign) => cell("p", value === null ? "n/a" : sign + value.toFixed(1), value);
  const pick = make("button", { type: "button", class: "link pick" }, make("bdi", {}, K.short[k]));
  const bound = cell("t", K.known[k] ? K.bound[k] : "n/a");
  bound.title = K.verdict[k] || K.bound[k];
  const row = make("tr", { "data-kernel": k, "aria-current": chosen === k ? "true" : null },
    cell("id", String(k)),
    make("th", { scope: "row", title: nameOf(k) }, pick),
    cell("n", number(K.dispatches[k])),
    cell("n", K.time_text[k]),
    D.compared ? cell("n", K.base_text[k]) : null,
    cell("n", K.mean_text[k]),
    D.compared ? cell(K.beyond[k] ? "c strong" : "c", K.change[k] === null ? "" : `${K.change[k] > 0 ? "+" : ""}${K.change[k].toFixed(1)} %`) : null,
    percent(K.percent[k], K.percent_sign[k]), percent(K.occupancy[k], K.occupancy_sign[k]), bound,
    percent(K.roof[k], K.roof_sign[k]));
  const found = make("td", { class: "f" });
  for (const word of FINDINGS) {
    if (K[word][k] > 0) found.append(make("span", { class: `badge ${word}` }, `${K[word][k]} ${word}`));
  }
  row.append(found);
  return row;
}

const kernelScroll = byId("kernel-scroll");
const kernelRows = new TableRows(kernelScroll, kernelBody, kernelBody.rows[0]?.offsetHeight || 28, kernelRow);
const haystack = K.short.map((_, k) => `${nameOf(k)} ${K.known[k] ? K.bound[k] : ""} ${FINDINGS.filter((word) => K[word][k] > 0).join(" ")}`.toLowerCase());
const sorting = { key: "index", down: false };

function sortValue(key, k) {
  if (key === "index") return k;
  if (key === "findings") return K.severe[k] * 1e6 + K.warning[k] * 1e3 + K.info[k];
  return K[key][k];
}

function listKernels() {
  const words = byId("kernel-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const list = [];
  for (let k = 0; k < haystack.length; k += 1) {
    if (words.every((word) => haystack[k].includes(word))) list.push(k);
  }
  const { key, down } = sorting;
  list.sort((a, b) => {
    const [x, y] = [sortValue(key, a), sortValue(key, b)];
    // What is not known comes last in either order.
    if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
    const order = typeof x === "string" ? x.localeCompare(y) : x - y;
    return (down ? -order : order) || a - b;
  });
  kernelScroll.scrollTop = 0;
  kernelRows.set(list);
  byId("kernel-table").setAttribute("aria-rowcount", list.length + 1);
  byId("kernel-count").textContent = `${list.length === haystack.length ? "" : `${number(list.length)} of `}${plural(haystack.length, "kernel")}`;
}

for (const th of all("th[data-sort]", kernelHead)) {
  const button = make("button", { type: "button" }, ...th.childNodes);
  th.replaceChildren(button);
  button.addEventListener("click", () => {
    const numeric = th.classList.contains("n") || th.dataset.sort === "findings";
    sorting.down = sorting.key === th.dataset.sort ? !sorting.down : numeric;
    sorting.key = th.dataset.sort;
    all("th[data-sort]", kernelHead).forEach((it) => it.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
    listKernels();
  });
}
byId("kernel-filter").addEventListener("input", listKernels);

kernelBody.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-kernel]");
  if (!row || String(getSelection()) !== "") return;
  const k = Number(row.dataset.kernel);
  const focused = Boolean(event.target.closest(".pick"));
  choose(chosen === k ? null : k);
  if (focused) focusKernel(k);
});
function focusKernel(k) {
  kernelBody.querySelector(`tr[data-kernel="${k}"] .pick`)?.focus();
}
kernelBody.addEventListener("keydown", (event) => {
  const row = event.target.closest("tr[data-kernel]");
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
  if (!row || !step) return;
  event.preventDefault();
  const at = kernelRows.list.indexOf(Number(row.dataset.kernel));
  const to = Math.max(0, Math.min(kernelRows.list.length - 1, at + step));
  kernelRows.reveal(to);
  focusKernel(kernelRows.list[to]);
});

// ---- dispatches --------------------------------------------------------------------------------------------------

const dispatchScroll = byId("dispatch-scroll");
let dispatchRows = null;
if (dispatchScroll && D.dispatches) {
  const list = D.dispatches;
  const body = dispatchScroll.querySelector("tbody");
  dispatchRows = new TableRows(dispatchScroll, body, body.rows[0]?.offsetHeight || 28, (at) => {
    const row = make("tr", {}, make("td", { class: "id" }, list.id[at]), make("th", { scope: "row" }, make("bdi", {}, list.names[list.kernel[at]])));
    for (const column of list.columns) row.append(make("td", { class: "n" }, number(column[at])));
    return row;
  });
}
function showDispatchesOf(k) {
  if (!dispatchRows) return;
  const { kernel, names } = D.dispatches;
  const at = k === null ? -1 : names.indexOf(K.short[k]);
  const list = [];
  for (let row = 0; row < kernel.length; row += 1) {
    if (at < 0 || kernel[row] === at) list.push(row);
  }
  dispatchScroll.scrollTop = 0;
  dispatchRows.set(list);
}

// ---- occupancy over time: a figure per kernel of most time -------------------------------------------------------

function showWavesOf(k) {
  const figures = all("#waves .wave");
  figures.forEach((it) => { it.hidden = k !== null && it.dataset.kernel !== String(k); });
  const none = byId("waves-none");
  if (none) none.hidden = figures.some((it) => !it.hidden);
}

// ---- what limits are worth: a row per kernel, `2`, and below it what it would take, `2.1` ------------------------

function showPredictionsOf(k) {
  const rows = all("table.predictions tbody tr");
  const mine = (row) => k === null || Number(row.cells[0].textContent.split(".")[0]) === k;
  rows.forEach((row) => { row.hidden = !mine(row); });
  const none = byId("predictions-none");
  if (none) none.hidden = rows.some(mine);
}
