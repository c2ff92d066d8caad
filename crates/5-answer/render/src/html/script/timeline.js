'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const canvas = document.getElementById('chart'), ctx = canvas.getContext('2d');
  const ROW = 15, HEAD = 18, AXIS = 22, SHORT = 3;
  // Spans of a lane as columns, and the rows of equal depth as lists of indices in the order of time.
  const decode = lane => {
    const text = atob(lane.spans), n = lane.count;
    const start = new Float64Array(n), length = new Float64Array(n), name = new Uint32Array(n), depth = new Uint16Array(n);
    let at = 0, last = 0;
    const next = () => {
      let value = 0, scale = 1;
      for (;;) {
        const b = text.charCodeAt(at++);
        value += (b & 127) * scale;
        if (b < 128) return value;
        scale *= 128;
      }
    };
    const counts = new Uint32Array(lane.rows);
    for (let i = 0; i < n; i++) {
      last += next();
      start[i] = last;
      length[i] = next();
      name[i] = next();
      depth[i] = next();
      counts[depth[i]]++;
    }
    const rows = Array.from(counts, count => new Uint32Array(count));
    counts.fill(0);
    for (let i = 0; i < n; i++) rows[depth[i]][counts[depth[i]]++] = i;
    return { name: lane.name, gpu: lane.gpu, start, length, names: name, depth, rows, open: lane.rows <= 6 || lane.gpu };
  };
  const lanes = data.lanes.map(decode);
  const hues = ['#4c78a8', '#e45756', '#f58518', '#72b7b2', '#54a24b', '#b279a2', '#9d755d', '#eeca3b', '#ff9da6', '#79a0c8', '#8c8c94', '#bab0ac'];
  // Letters are dark on light colours.
  const inks = hues.map(hue => {
    const [r, g, b] = [1, 3, 5].map(at => parseInt(hue.slice(at, at + 2), 16));
    return 0.3 * r + 0.59 * g + 0.11 * b > 150 ? '#16161a' : '#fff';
  });
  const colour = name => hues[data.classOf[name] % hues.length];
  let from = 0, to = Math.max(data.length, 1), scroll = 0, width = 0, height = 0, selected = null, range = null, matches = null, hits = [];
  let asked = false;
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let paint = {};
  const themed = () => { paint = { bg: style('--bg'), fg: style('--fg'), dim: style('--dim'), line: style('--line'), lane: style('--lane') }; };
  const shownRows = lane => lane.open ? lane.rows.length : Math.min(lane.rows.length, SHORT);
  const heightOf = lane => HEAD + shownRows(lane) * ROW + 4;
  const total = () => lanes.reduce((all, lane) => all + heightOf(lane), AXIS);
  const time = ns => ns >= 1e9 ? (ns / 1e9).toFixed(4) + ' s' : ns >= 1e6 ? (ns / 1e6).toFixed(3) + ' ms' : ns >= 1e3 ? (ns / 1e3).toFixed(2) + ' us' : ns.toFixed(0) + ' ns';
  const x = t => (t - from) / (to - from) * width;
  const timeAt = px => from + px / width * (to - from);
  // First index in a row whose span ends after a time: spans of one row do not overlap.
  const first = (lane, row, t) => {
    let a = 0, b = row.length;
    while (a < b) {
      const m = (a + b) >> 1, i = row[m];
      if (lane.start[i] + lane.length[i] <= t) a = m + 1; else b = m;
    }
    return a;
  };
  const axis = () => {
    const step = Math.pow(10, Math.floor(Math.log10((to - from) / 6)));
    const by = [1, 2, 5, 10].map(k => k * step).find(s => (to - from) / s <= 9) || step * 10;
    ctx.fillStyle = paint.bg;
    ctx.fillRect(0, 0, width, AXIS);
    ctx.fillStyle = paint.dim;
    ctx.strokeStyle = paint.line;
    for (let t = Math.ceil(from / by) * by; t <= to; t += by) {
      ctx.beginPath();
      ctx.moveTo(x(t), 0);
      ctx.lineTo(x(t), AXIS);
      ctx.stroke();
      ctx.fillText(time(t), x(t) + 3, 14);
    }
  };
  const drawRow = (lane, row, y) => {
    const perPixel = (to - from) / width;
    let k = first(lane, row, from);
    while (k < row.length) {
      const i = row[k], s = lane.start[i];
      if (s >= to) break;
      const left = Math.max(x(s), 0), right = Math.min(x(s + lane.length[i]), width), wide = right - left;
      const name = lane.names[i];
      ctx.globalAlpha = matches && !matches[name] ? 0.18 : 1;
      ctx.fillStyle = colour(name);
      ctx.fillRect(left, y, Math.max(wide, 0.8), ROW - 2);
      if (wide > 34) {
        ctx.save();
        ctx.beginPath();
        ctx.rect(left, y, wide, ROW - 2);
        ctx.clip();
        ctx.fillStyle = inks[data.classOf[name] % inks.length];
        ctx.fillText(data.names[name].slice(0, 120), left + 3, y + 10);
        ctx.restore();
      }
      if (selected && selected.lane === lane && selected.at === i) {
        ctx.globalAlpha = 1;
        ctx.strokeStyle = paint.fg;
        ctx.strokeRect(left + 0.5, y + 0.5, Math.max(wide - 1, 1), ROW - 3);
      }
      // What begins on the same pixel cannot be told apart: go on with the next pixel's.
      k = wide >= 1 ? k + 1 : Math.max(k + 1, first(lane, row, s + perPixel));
    }
    ctx.globalAlpha = 1;
  };
  const draw = () => {
    asked = false;
    ctx.fillStyle = paint.bg;
    ctx.fillRect(0, 0, width, height);
    ctx.font = '11px system-ui, sans-serif';
    let y = AXIS - scroll;
    for (const lane of lanes) {
      const tall = heightOf(lane);
      if (y + tall > AXIS && y < height) {
        ctx.fillStyle = paint.lane;
        ctx.fillRect(0, y, width, HEAD - 2);
        for (let r = 0; r < shownRows(lane); r++) {
          const top = y + HEAD + r * ROW;
          if (top + ROW > AXIS && top < height) drawRow(lane, lane.rows[r], top);
        }
        const more = lane.rows.length - shownRows(lane);
        ctx.fillStyle = paint.fg;
        ctx.fillText((lane.rows.length > SHORT ? (lane.open ? '▾ ' : '▸ ') : '') + lane.name + (more > 0 ? `  ${more} more rows` : ''), 6, y + 12);
      }
      y += tall;
    }
    if (range) {
      ctx.globalAlpha = 0.15;
      ctx.fillStyle = paint.fg;
      ctx.fillRect(x(range[0]), AXIS, x(range[1]) - x(range[0]), height);
      ctx.globalAlpha = 1;
    }
    axis();
  };
  const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };
  const clamp = () => {
    const span = Math.min(Math.max(to - from, 20), data.length * 1.05 + 20);
    from = Math.min(Math.max(from, -0.02 * data.length), Math.max(data.length * 1.02 - span, 0));
    to = from + span;
    scroll = Math.min(Math.max(scroll, 0), Math.max(total() - height, 0));
    redraw();
  };
  const zoom = (by, px) => {
    const t = timeAt(px);
    from = t - (t - from) * by;
    to = t + (to - t) * by;
    clamp();
  };
  const pan = px => { const t = px / width * (to - from); from += t; to += t; clamp(); };
  const size = () => {
    const box = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1;
    width = box.width;
    height = box.height;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    clamp();
  };
  const laneAt = py => {
    let y = AXIS - scroll;
    for (const lane of lanes) {
      const tall = heightOf(lane);
      if (py >= y && py < y + tall) return { lane, head: py < y + HEAD, row: Math.floor((py - y - HEAD) / ROW) };
      y += tall;
    }
    return null;
  };
  const detail = document.getElementById('detail');
  const show = (lane, i) => {
    selected = { lane, at: i };
    const name = lane.names[i];
    detail.textContent = `${data.names[name]} · ${data.classes[data.classOf[name]]} · ${lane.name} · at ${time(lane.start[i])} for ${time(lane.length[i])}`;
    redraw();
  };
  // Sums of what lies in the range, or of everything: GPU spans where there are any.
  const sums = () => {
    const [a, b] = range || [0, data.length], gpu = lanes.some(lane => lane.gpu), all = new Map();
    for (const lane of lanes) {
      if (lane.gpu !== gpu) continue;
      for (let i = 0; i < lane.start.length; i++) {
        const s = Math.max(lane.start[i], a), e = Math.min(lane.start[i] + lane.length[i], b), name = lane.names[i];
        if (e < s || (matches && !matches[name])) continue;
        const sum = all.get(name) || [0, 0, 0];
        sum[0]++;
        sum[1] += e - s;
        sum[2] = Math.max(sum[2], lane.length[i]);
        all.set(name, sum);
      }
    }
    const rows = [...all].sort((p, q) => q[1][1] - p[1][1]).slice(0, 25), table = document.getElementById('sums');
    table.replaceChildren();
    const line = (cells, tag) => {
      const tr = document.createElement('tr');
      for (const text of cells) {
        const cell = document.createElement(tag);
        cell.textContent = text;
        cell.title = text;
        tr.append(cell);
      }
      table.append(tr);
    };
    line([(gpu ? 'on the GPU' : 'on the host') + (range ? `, ${time(a)} to ${time(b)}` : ''), 'class', 'count', 'total', 'mean', 'longest'], 'th');
    for (const [name, [n, sum, most]] of rows) line([data.names[name], data.classes[data.classOf[name]], n, time(sum), time(sum / n), time(most)], 'td');
  };
  let held = null;
  canvas.addEventListener('pointerdown', e => {
    canvas.setPointerCapture(e.pointerId);
    held = { x: e.offsetX, y: e.offsetY, moved: false, select: e.shiftKey, t: timeAt(e.offsetX) };
    canvas.focus();
  });
  canvas.addEventListener('pointermove', e => {
    if (!held) return;
    const dx = e.offsetX - held.x, dy = e.offsetY - held.y;
    if (Math.abs(dx) + Math.abs(dy) > 3) held.moved = true;
    if (held.select) {
      const t = timeAt(e.offsetX);
      range = [Math.max(Math.min(t, held.t), 0), Math.max(t, held.t)];
      redraw();
    } else if (held.moved) {
      pan(-dx);
      scroll -= dy;
      held.x = e.offsetX;
      held.y = e.offsetY;
      clamp();
    }
  });
  canvas.addEventListener('pointerup', e => {
    const was = held;
    held = null;
    if (!was) return;
    if (was.select) { if (!was.moved) range = null; sums(); redraw(); return; }
    if (was.moved) return;
    const hit = laneAt(e.offsetY);
    if (!hit) return;
    if (hit.head) { hit.lane.open = !hit.lane.open; clamp(); return; }
    const row = hit.lane.rows[hit.row];
    if (!row) return;
    const k = first(hit.lane, row, timeAt(e.offsetX - 1));
    if (k < row.length && hit.lane.start[row[k]] <= timeAt(e.offsetX + 1)) show(hit.lane, row[k]);
  });
  canvas.addEventListener('wheel', e => {
    e.preventDefault();
    if (e.ctrlKey || e.metaKey || !e.shiftKey && Math.abs(e.deltaY) > Math.abs(e.deltaX)) zoom(Math.exp(e.deltaY * 0.0015), e.offsetX);
    else if (e.shiftKey) { scroll += e.deltaY; clamp(); } else pan(e.deltaX);
  }, { passive: false });
  const keys = {
    w: () => zoom(0.75, width / 2), s: () => zoom(1.33, width / 2), a: () => pan(-width / 8), d: () => pan(width / 8),
    '+': () => zoom(0.75, width / 2), '-': () => zoom(1.33, width / 2), ArrowLeft: () => pan(-width / 8), ArrowRight: () => pan(width / 8),
    ArrowUp: () => { scroll -= 60; clamp(); }, ArrowDown: () => { scroll += 60; clamp(); },
    f: () => { from = 0; to = data.length; clamp(); }, Escape: () => { range = null; selected = null; sums(); redraw(); },
  };
  addEventListener('keydown', e => {
    if (e.target.tagName === 'INPUT' || e.ctrlKey || e.metaKey || e.altKey) return;
    const act = keys[e.key] || keys[e.key.toLowerCase()];
    if (act) { e.preventDefault(); act(); }
  });
  const search = document.getElementById('search'), found = document.getElementById('found');
  let at = -1;
  search.addEventListener('input', () => {
    const word = search.value.toLowerCase();
    matches = word ? data.names.map(name => name.toLowerCase().includes(word)) : null;
    hits = [];
    at = -1;
    if (matches) for (const lane of lanes) for (let i = 0; i < lane.names.length && hits.length < 100000; i++) if (matches[lane.names[i]]) hits.push([lane, i]);
    found.textContent = matches ? `${hits.length} spans, Enter goes to the next` : '';
    sums();
    redraw();
  });
  search.addEventListener('keydown', e => {
    if (e.key !== 'Enter' || !hits.length) return;
    at = (at + (e.shiftKey ? hits.length - 1 : 1)) % hits.length;
    const [lane, i] = hits[at], wide = Math.max(lane.length[i] * 12, 1000);
    from = lane.start[i] + lane.length[i] / 2 - wide / 2;
    to = from + wide;
    show(lane, i);
    clamp();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { themed(); redraw(); });
  new ResizeObserver(size).observe(canvas);
  themed();
  size();
  sums();
  // For measurements: frames while zooming and panning.
  window.rockhoundTimeline = { zoom, pan, draw, spans: lanes.reduce((n, lane) => n + lane.start.length, 0) };
})();
