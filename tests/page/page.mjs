// Opens reports in Chromium and uses them as a reader does: node page.mjs CHROMIUM NAME=FILE…
// Prints a line per check; ends with 1 when one failed.
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [, , executablePath, ...files] = process.argv;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
let failed = 0;

function check(what, holds, detail = "") {
  if (!holds) failed += 1;
  console.log(`${holds ? "ok" : "FAILED"} ${what}${holds ? "" : `: ${detail}`}`);
}

async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: false, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith("file:")) wrong.push(`request: ${request.url()}`); });
  await page.goto(`file://${file}`);
  return { page, wrong, close: () => context.close() };
}

/** An address with the name of a section shows it, or the end of the page where that is nearer. */
async function anchors(name, file) {
  for (const id of ["roofline", "panels", "code"]) {
    const { page, close } = await open(`${file}#${id}`);
    await page.waitForSelector("html[data-ready=true]");
    await page.waitForTimeout(200);
    const [top, below] = await page.evaluate((section) => {
      const it = document.getElementById(section);
      return [it ? Math.round(it.getBoundingClientRect().top) : null, document.documentElement.scrollHeight - innerHeight - scrollY];
    }, id);
    check(`${name}: #${id} jumps`, top === null || Math.abs(top) < 120 || below < 2, `${top}, ${below} below`);
    await close();
  }
}

/** Sections and their controls, as far as the recording has them. */
async function use(name, file) {
  const { page, wrong, close } = await open(file);
  await page.waitForSelector("html[data-ready=true]");
  const kernels = await page.evaluate(() => K.short.length);
  // Sorting by name and back again.
  if (kernels > 1) {
    const first = () => page.locator("#kernel-table tbody tr[data-kernel]").first().getAttribute("data-kernel");
    await page.locator("th[data-sort=index] button").click();
    check(`${name}: sorts downwards`, (await first()) === String(kernels - 1) || (await page.locator("th[data-sort=index]").getAttribute("aria-sort")) === "descending" || (await first()) === "0");
    await page.locator("th[data-sort=short] button").click();
    const names = await page.evaluate(() => kernelRows.list.map((k) => K.short[k]));
    check(`${name}: sorted by name`, names.every((it, at) => at === 0 || names[at - 1].localeCompare(it) <= 0), names.slice(0, 3).join());
    await page.locator("th[data-sort=index] button").click();
    // Filtering.
    const last = kernels - 1;
    const part = await page.evaluate((k) => K.short[k].slice(0, 24), last);
    await page.keyboard.press("/");
    await page.locator("#kernel-filter").fill(part);
    const left = await page.evaluate(() => kernelRows.list);
    check(`${name}: the filter finds a kernel`, left.includes(last) && left.length <= kernels, `${left.length}`);
    await page.locator("#kernel-filter").fill("");
    // Choosing with the keyboard changes the numbers below, Escape brings them back.
    const texts = () => page.evaluate(() => places.map((it) => it.textContent).join("|"));
    const whole = await texts();
    const changes = [];
    for (let k = 0; k < Math.min(kernels, 3); k += 1) {
      await page.evaluate((at) => kernelRows.reveal(at), k);
      await page.locator(`tr[data-kernel="${k}"] .pick`).focus();
      await page.keyboard.press("Enter");
      check(`${name}: kernel ${k} is chosen`, (await page.locator("#chosen").isVisible()) && (await page.evaluate(() => chosen)) === k);
      changes.push((await texts()) !== whole);
      await page.keyboard.press("Escape");
    }
    check(`${name}: numbers follow the kernel`, changes.some(Boolean) || (await page.locator("table.swaps").count()) === 0);
    check(`${name}: Escape shows all kernels`, (await texts()) === whole && (await page.evaluate(() => chosen)) === null);
    await page.locator("tr[data-kernel] .pick").first().focus();
    await page.keyboard.press("ArrowDown");
    check(`${name}: arrows move`, (await page.evaluate(() => document.activeElement.closest("tr")?.dataset.kernel)) === "1");
  }
  // Search in the panels, and a definition.
  if (await page.locator("#panel-search").count()) {
    await page.locator("#panel-search").fill("l2 hit rate");
    check(`${name}: the search finds rows`, (await page.locator("#panels .panel:not([hidden]) tbody tr:not([hidden])").count()) > 0);
    await page.locator("#panel-search").fill("nothing is called this");
    check(`${name}: the search finds nothing`, (await page.locator("#panels .panel:visible").count()) === 0);
    await page.locator("#panel-search").fill("");
    const metric = page.locator("#speed .metric[role=button]").first();
    if (await metric.count()) {
      await metric.focus();
      await page.keyboard.press("Enter");
      check(`${name}: a metric has its definition`, (await page.locator("#definition-body").innerText()).length > 20);
      await page.keyboard.press("Escape");
      check(`${name}: the definition closes`, !(await page.locator("#definition").isVisible()));
    }
  }
  // A point of the roofline says its values on focus.
  const spot = page.locator(".roofline .spot").first();
  if (await spot.count()) {
    await spot.focus();
    check(`${name}: the roofline has a tooltip`, /flop\/byte/.test(await page.locator("#tip").innerText()));
  }
  // Code: rows, hottest, arrows.
  if (await page.locator(".code-view").count()) {
    await page.locator(".listing").first().scrollIntoViewIfNeeded();
    await page.waitForSelector(".asm .line");
    const rows = page.locator(".asm .rows").first();
    await rows.focus();
    await page.keyboard.press("h");
    check(`${name}: goes to the hottest instruction`, (await page.locator(".asm .line.cursor").count()) === 1);
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    check(`${name}: moves in the code`, (await page.locator(".asm .line.cursor").count()) === 1);
    const drawn = await page.locator(".asm .line").count();
    check(`${name}: draws only what is seen of the code`, drawn < 120, String(drawn));
    const timed = await page.evaluate(() => views[0].code.wait_share.some((it) => it !== null));
    check(`${name}: says what waves waited for`, !timed || ((await page.locator(".asm .head").first().innerText()).includes("wait %") && (await page.locator(".waits li").count()) > 0));
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    check(`${name}: prints the code`, (await page.locator(".printed").first().textContent()).includes("s_endpgm"));
  }
  if (await page.locator("#timeline").count()) {
    await useTimeline(name, page);
    const other = await page.evaluate(() => { choose(K.short.length - 1); return timeline.pick; });
    check(`${name}: the timeline follows the kernel`, other !== null && other.kind === "name");
    await page.evaluate(() => choose(null));
  }
  if (await page.locator("table.predictions").count()) {
    const ids = (k) => page.evaluate((at) => {
      choose(at);
      return all("table.predictions tbody tr:not([hidden]) td.id").map((it) => it.textContent.split(".")[0]);
    }, k);
    const [own, every] = [await ids(0), await ids(null)];
    check(`${name}: predictions follow the kernel`, own.length > 1 && own.every((it) => it === "0") && every.length >= own.length, own.join());
  }
  if (await page.locator("body.compared").count()) {
    check(`${name}: shows changes`, (await page.locator("#speed td.c").count()) > 0);
    check(`${name}: shows base and new`, (await page.locator(".badge.base").count()) > 0 && (await page.locator(".recording .badge.new").count()) > 0);
  }
  await page.locator("#theme").click();
  check(`${name}: the theme changes`, ["light", "dark"].includes(await page.evaluate(() => document.documentElement.dataset.theme)));
  check(`${name}: no error in the console, no request`, wrong.length === 0, wrong.slice(0, 3).join(" / "));
  await close();
}

/** The timeline: keys, wheel, search, a selection that filters tables. */
async function useTimeline(name, page) {
  const sums = () => page.evaluate(() => timelineSums.list.map((it) => `${it.label} ${it.count} ${it.total}`).join("|"));
  const seen = () => page.evaluate(() => [timeline.from, timeline.to]);
  const canvas = page.locator("#lane-chart");
  // The pointer must not be where the timeline was.
  await page.evaluate(() => { document.documentElement.style.scrollBehavior = "auto"; });
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const at = (part, y = box.height - 12) => [box.x + box.width * part, box.y + y];
  const whole = await sums();
  check(`${name}: sums of the whole timeline`, whole.length > 0 && (await page.locator("#lane-table tbody tr").count()) > 0);
  await page.mouse.move(...at(0.5));
  const before = await seen();
  await page.keyboard.press("w");
  const zoomed = await seen();
  check(`${name}: W zooms`, zoomed[1] - zoomed[0] < (before[1] - before[0]) * 0.9);
  await page.keyboard.press("d");
  check(`${name}: D pans`, (await seen())[0] > zoomed[0]);
  await page.keyboard.press("f");
  check(`${name}: F shows all`, (await seen())[0] === 0);
  const scrolled = await page.evaluate(() => scrollY);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -400);
  await page.keyboard.up("Control");
  check(`${name}: Ctrl and the wheel zoom`, (await seen())[0] > 0 && (await page.evaluate(() => scrollY)) === scrolled);
  await page.keyboard.press("f");
  // A range of time.
  await page.keyboard.down("Shift");
  await page.mouse.move(...at(0.3));
  await page.mouse.down();
  await page.mouse.move(...at(0.31));
  await page.mouse.move(...at(0.45), { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  check(`${name}: a range filters the table`, (await sums()) !== whole && /long/.test(await page.locator("#lane-range").innerText()), await page.locator("#lane-range").innerText());
  const range = await page.evaluate(() => {
    const [a, b] = timeline.range;
    let total = 0;
    for (const lane of timeline.lanes) {
      if (lane.gpu !== (timelineSums.kind === "gpu")) continue;
      for (let i = 0; i < lane.start.length; i += 1) total += Math.max(0, Math.min(lane.start[i] + lane.length[i], b) - Math.max(lane.start[i], a));
    }
    return [total, timelineSums.list.reduce((sum, it) => sum + it.total, 0)];
  });
  check(`${name}: sums of the range are those of its spans`, Math.abs(range[0] - range[1]) <= 1 + range[0] * 1e-9, range.join());
  await page.keyboard.press("Escape");
  check(`${name}: Escape drops the selection`, (await sums()) === whole);
  // One name, by its row; then a word, then Enter.
  await page.locator("#lane-table tbody tr .pick").first().click();
  check(`${name}: a row selects its name`, (await page.evaluate(() => timelineSums.list.length)) === 1);
  await page.locator("#lane-drop").click();
  const word = await page.evaluate(() => timelineSums.list[timelineSums.list.length - 1].label.slice(0, 12));
  await page.locator("#lane-search").fill(word);
  check(`${name}: a word filters the table`, await page.evaluate((it) => timelineSums.list.length > 0 && timelineSums.list.every((row) => row.label.toLowerCase().includes(it.toLowerCase())), word));
  await page.locator("#lane-search").press("Enter");
  check(`${name}: Enter goes to a span`, (await page.locator("#lane-detail").innerText()).includes(" for "));
  await page.locator("#lane-drop").click();
  for (const button of await page.locator("[data-sum]").all()) {
    await button.click();
    check(`${name}: table ${await button.innerText()}`, (await page.locator("#lane-table tbody tr").count()) > 0);
  }
  await page.locator("[data-sum]").first().click();
  check(`${name}: everything is selected again`, (await sums()) === whole);
}

/** The page of traces. */
async function useTrace(name, file) {
  const { page, wrong, close } = await open(file);
  await page.waitForSelector("html[data-ready=true]");
  await useTimeline(name, page);
  if (await page.locator("#panel-search").count()) {
    await page.locator("#panel-search").fill("nothing is called this");
    check(`${name}: the search finds nothing`, (await page.locator("#panels .panel:visible").count()) === 0);
    await page.locator("#panel-search").fill("");
  }
  await page.locator("#theme").click();
  check(`${name}: the theme changes`, ["light", "dark"].includes(await page.evaluate(() => document.documentElement.dataset.theme)));
  check(`${name}: no error in the console, no request`, wrong.length === 0, wrong.slice(0, 3).join(" / "));
  await close();
}

/** How each element looks here, beside how it looked before. */
function look() {
  globalThis.looks ??= new Map();
  for (const element of document.body.querySelectorAll("*")) {
    const { color, backgroundColor, backgroundImage, display, opacity, fontSize, fontWeight, visibility } = getComputedStyle(element);
    const its = [color, backgroundColor, backgroundImage, display, opacity, fontSize, fontWeight, visibility].join();
    looks.set(element, `${looks.get(element) ?? ""}|${its}`);
  }
}

/**
 * Leaves two of the rows, entries and shapes of one form: the same elements, ids but for numbers, classes, looks, attributes and texts, but for
 * what the latter two say. A page has thousands, and axe takes as long for each; what only one of them says, it does not see in the others.
 */
function keepTwoOfEachForm() {
  const forms = new Map();
  const surplus = [];
  const form = (element) => {
    const seen = new Map();
    for (const child of element.children) {
      const its = form(child);
      const times = (seen.get(its) ?? 0) + 1;
      seen.set(its, times);
      if (times > 2 && child.matches("article, tbody, tr, li, div, p, details, svg *")) surplus.push(child);
    }
    const attributes = [...element.attributes].map((it) => it.name + (it.value.trim() === "" ? "" : "=")).join();
    const hasText = [...element.childNodes].some((it) => it.nodeType === Node.TEXT_NODE && it.data.trim() !== "");
    const key = [element.localName, element.id.replace(/\d+/g, ""), element.getAttribute("class"), attributes, hasText, looks.get(element), ...seen.keys()].join("|");
    if (!forms.has(key)) forms.set(key, forms.size);
    return forms.get(key);
  };
  form(document.body);
  for (const it of surplus) it.remove();
}

/** Tables whose last column says what matters end inside the page of a small laptop. */
async function nothingCut(name, page, width) {
  await page.setViewportSize({ width, height: 900 });
  const cut = await page.evaluate(() => [...document.querySelectorAll(":is(#kernels, #roofline, #dispatches) .scroll")]
    .filter((it) => it.scrollWidth > it.clientWidth)
    .map((it) => `${it.closest("section").id} ${it.scrollWidth} of ${it.clientWidth}`));
  check(`${name}: no column is cut off, ${width} pixels`, cut.length === 0, cut.join());
}

/** What fits the page of a desk and of a phone, and what axe finds in them. */
async function accessible(name, file) {
  const { page, close } = await open(file, { bypassCSP: true });
  await page.waitForSelector("html[data-ready=true]");
  await nothingCut(name, page, 1280);
  await nothingCut(name, page, 1440);
  const views = [["light", 1440], ["dark", 390]];
  const show = async ([colorScheme, width]) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
  };
  for (const view of views) {
    await show(view);
    const [, width] = view;
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const widest = await page.evaluate(() => [...document.querySelectorAll("main *")].filter((it) => it.getBoundingClientRect().right > innerWidth && !it.closest(".scroll, .figure")).slice(0, 3).map((it) => it.outerHTML.slice(0, 100)));
    check(`${name}: fits ${width} pixels`, overflow <= 0, `${overflow} pixels too wide: ${widest.join(" ")}`);
    await page.evaluate(look);
  }
  const twice = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((it) => it.id).filter((id, at, all) => all.indexOf(id) < at));
  check(`${name}: no id is there twice`, twice.length === 0, twice.slice(0, 3).join());
  await page.evaluate(keepTwoOfEachForm);
  await page.evaluate(axe);
  for (const view of views) {
    await show(view);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    const bad = violations.filter((it) => ["serious", "critical"].includes(it.impact));
    const words = bad.map((it) => `${it.id} (${it.nodes.length}): ${it.nodes[0].html.slice(0, 160)}`).join("\n  ");
    check(`${name}: axe finds nothing serious, ${view[0]}, ${view[1]} pixels`, bad.length === 0, `\n  ${words}`);
  }
  await close();
}

async function withoutScripts(name, file) {
  const { page, wrong, close } = await open(file, { javaScriptEnabled: false });
  const rows = await page.locator("table.data tbody tr").count();
  check(`${name}: has its tables without scripts`, rows > 10, String(rows));
  check(`${name}: shows no control that needs scripts`, (await page.locator(".tools:visible").count()) === 0);
  check(`${name}: is quiet without scripts`, wrong.length === 0, wrong.join());
  await close();
}

for (const it of files) {
  const [name, file] = [it.slice(0, it.indexOf("=")), it.slice(it.indexOf("=") + 1)];
  const size = statSync(file).size;
  check(`${name}: ${(size / 1e6).toFixed(2)} MB, under 15`, size < 15e6);
  await (name.startsWith("trace") ? useTrace : use)(name, file);
  if (!name.startsWith("trace")) await anchors(name, file);
  await accessible(name, file);
  await withoutScripts(name, file);
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
