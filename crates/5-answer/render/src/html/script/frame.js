// What the scripts of all pages have in common.
// Texts of the recording only ever become text nodes and attribute values, never markup.
"use strict";

const D = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

/** An element with attributes, text and children. */
function make(name, attributes = {}, ...children) {
  const it = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) it.setAttribute(key, value);
  }
  it.append(...children.filter((child) => child !== null && child !== undefined));
  return it;
}

const NUMBER = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const number = (value) => (value === null || value === undefined ? "n/a" : NUMBER.format(value));
/** `1 kernel`, `2 kernels`. */
const plural = (count, one) => `${number(count)} ${one}${count === 1 ? "" : "s"}`;
const say = (text) => { byId("status").textContent = text; };

all(".tools").forEach((it) => { it.hidden = false; });

/** Rows of one height of which only the visible ones are elements. */
class Rows {
  constructor(scroller, inner, height, draw) {
    Object.assign(this, { scroller, inner, height, draw, list: [], from: -1, to: -1 });
    scroller.addEventListener("scroll", () => this.show(), { passive: true });
    new ResizeObserver(() => this.show()).observe(scroller);
  }
  set(list) {
    this.list = list;
    this.from = this.to = -1;
    this.show();
  }
  show() {
    const seen = Math.ceil((this.scroller.clientHeight || 600) / this.height);
    const top = Math.floor(this.scroller.scrollTop / this.height);
    // Some rows beyond both ends, so that scrolling a line needs no work.
    const from = Math.max(0, Math.min(top, this.list.length) - 15);
    const to = Math.min(this.list.length, top + seen + 15);
    if (from === this.from && to === this.to) return;
    this.from = from;
    this.to = to;
    this.place(from, to);
  }
  again() {
    this.from = this.to = -1;
    this.show();
  }
  reveal(at) {
    const top = at * this.height;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop + 3 * this.height || top > scrollTop + clientHeight - 4 * this.height) {
      this.scroller.scrollTop = Math.max(0, top - clientHeight / 3);
    }
    this.show();
  }
}

/** Rows of a table: what is not shown is room above and below. */
class TableRows extends Rows {
  place(from, to) {
    const room = (rows) => {
      const row = make("tr", { "aria-hidden": "true" }, make("td", { colspan: 30 }));
      row.firstChild.style.cssText = `height:${rows * this.height}px;padding:0;border:0`;
      return row;
    };
    const rows = [];
    if (from > 0) rows.push(room(from));
    for (let at = from; at < to; at += 1) {
      const row = this.draw(this.list[at]);
      row.setAttribute("aria-rowindex", at + 2);
      rows.push(row);
    }
    if (to < this.list.length) rows.push(room(this.list.length - to));
    this.inner.replaceChildren(...rows);
  }
}

/** Lines that stand at their places in a box as high as all of them. */
class Lines extends Rows {
  set(list) {
    this.inner.style.height = `${list.length * this.height}px`;
    this.clear();
    super.set(list);
  }
  again() {
    this.clear();
    super.again();
  }
  clear() {
    this.inner.replaceChildren();
    this.drawn = new Map();
  }
  place(from, to) {
    // Lines that stay in sight stay as they are.
    const drawn = this.drawn ?? new Map();
    for (const [at, row] of drawn) {
      if (at >= from && at < to) continue;
      row.remove();
      drawn.delete(at);
    }
    for (let at = from; at < to; at += 1) {
      if (drawn.has(at)) continue;
      const row = this.draw(this.list[at]);
      row.style.top = `${at * this.height}px`;
      drawn.set(at, row);
      this.inner.append(row);
    }
    this.drawn = drawn;
  }
}

// ---- light and dark, and where the reader is ---------------------------------------------------------------------

const theme = byId("theme");
const darkNow = () => {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
const labelTheme = () => { theme.textContent = darkNow() ? "light" : "dark"; };
theme.hidden = false;
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = darkNow() ? "light" : "dark";
  labelTheme();
  document.dispatchEvent(new Event("theme"));
});
labelTheme();

const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    links.forEach((link, id) => (id === entry.target.id ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
  }
}, { rootMargin: "-15% 0px -75% 0px" });
all("main > section").forEach((it) => seen.observe(it));
