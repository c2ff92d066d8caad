// ---- panels: search, and definitions on demand -------------------------------------------------------------------

const panels = all("#panels .panel");
const panelSearch = byId("panel-search");
if (panelSearch) {
  const rows = panels.map((panel) => all("tbody tr", panel).map((row) => ({
    row,
    text: `${row.cells[0].textContent} ${row.querySelector("th").textContent} ${row.querySelector(".metric")?.dataset.metric ?? ""}`.toLowerCase(),
  })));
  const heads = panels.map((panel) => panel.querySelector("summary").textContent.toLowerCase());
  const open = byId("panel-open");
  panelSearch.addEventListener("input", () => {
    const words = panelSearch.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    panels.forEach((panel, at) => {
      const whole = words.every((word) => heads[at].includes(word));
      let mine = 0;
      for (const { row, text } of rows[at]) {
        row.hidden = !(whole || words.every((word) => text.includes(word)));
        if (!row.hidden) mine += 1;
      }
      panel.hidden = mine === 0;
      panel.open = words.length > 0 && mine > 0;
      found += mine;
    });
    for (const title of all(".panel-title")) {
      let next = title.nextElementSibling;
      let any = false;
      while (next && next.classList.contains("panel")) {
        any ||= !next.hidden;
        next = next.nextElementSibling;
      }
      title.hidden = !any;
    }
    byId("panel-count").textContent = words.length ? `${number(found)} rows` : "";
  });
  open.addEventListener("click", () => {
    const shut = panels.some((panel) => !panel.open);
    panels.forEach((panel) => { panel.open = shut; });
    open.textContent = shut ? "close all" : "open all";
  });
}

const definition = byId("definition");
function define(id) {
  const metric = D.metrics[id];
  if (!metric) return;
  byId("definition-title").textContent = id;
  const list = (pairs) => make("dl", {}, ...pairs.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
  byId("definition-body").replaceChildren(
    make("p", {}, `unit: ${metric.unit || "a count"}${metric.rows.length ? ` · rows ${metric.rows.join(", ")}` : ""}`),
    ...metric.formula.map((line) => make("p", {}, make("code", {}, line))),
    metric.names.length ? list(metric.names) : make("span"),
    metric.counters.length ? make("h3", {}, "Counters") : make("span"),
    list(metric.counters.map((name) => [name, `${D.counters[name]?.[1] ?? ""} (${D.counters[name]?.[0] ?? ""})`])),
  );
  definition.showModal();
}
for (const it of all(".metric[data-metric]")) {
  if (!D.metrics[it.dataset.metric]) continue;
  it.setAttribute("role", "button");
  it.tabIndex = 0;
  it.addEventListener("click", () => define(it.dataset.metric));
  it.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      define(it.dataset.metric);
    }
  });
}
definition.addEventListener("click", (event) => { if (event.target === definition) definition.close(); });
