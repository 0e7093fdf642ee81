// What the planes of one die did from its first collection on: a panel a run, all on the same die and on one scale.

// In the order of encode.rs. A short bar is a read; what is wide enough says what it is.
const WORKS = [
  { name: "host read", label: "read", fill: "var(--plain)", share: 0.5 },
  { name: "host program", label: "program", fill: "var(--plain)", share: 1 },
  { name: "collection reads a page", label: "read", fill: "var(--gc)", share: 0.5 },
  { name: "collection programs a page", label: "program", fill: "var(--gc)", share: 1 },
  { name: "collection moves a page, read and program in one command", label: "move", fill: "var(--gc)", share: 1 },
  { name: "erase", label: "erase", fill: "url(#erase)", share: 1 },
  { name: "a whole collection as one command", label: "collection", fill: "url(#hatch)", share: 1 },
  { name: "collection suspended", label: "suspended", fill: "none", share: 1 },
  { name: "summary pages", label: "summary", fill: "var(--soft)", share: 0.5 },
];
const [, HOST_PROGRAM, GC_READ, GC_PROGRAM, , ERASE, COLLECTION, SUSPENDED, SUMMARY] = WORKS.keys();
const LANE = 22, LANE_GAP = 4, WAITING = 30;

function erasePattern() {
  document.body.append(svg("svg", { width: 0, height: 0, style: "position:absolute", "aria-hidden": "true" }, svg("defs", {},
    svg("pattern", { id: "erase", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(-45)" },
      svg("rect", { width: 6, height: 6, style: "fill: var(--gc)" }),
      svg("line", { x1: 0, x2: 0, y1: 0, y2: 6, style: "stroke: #3a1500; stroke-width: 5" })))));
}

function decodePlanes(header, base64) {
  const reader = new Reader(base64);
  let start = 0;
  const spans = Array.from({ length: reader.integer() }, () => {
    const what = reader.integer();
    start += reader.integer();
    return { work: what & 15, plane: (what >> 4) - 1, start, end: start + reader.integer() };
  });
  let time = 0;
  const waiting = Array.from({ length: reader.integer() }, () => ({ time: time += reader.integer(), operations: reader.integer() }));
  return { ...header, spans, waiting, end: Math.max(...spans.map((span) => span.end)) };
}

// A bar of one span, in a picture whose x tells times.
function workBar({ work, plane, start, end }, planes, x) {
  const { name, fill, share } = WORKS[work];
  const label = work === COLLECTION && plane < 0 ? "collection, one plane at a time" : WORKS[work].label;
  const all = planes * (LANE + LANE_GAP) - LANE_GAP;
  const [room, top] = plane < 0 ? [all, WAITING] : [LANE, WAITING + plane * (LANE + LANE_GAP)];
  const [left, width] = [x(start), Math.max(x(end) - x(start), 0.7)];
  const height = room * share;
  const gap = width > 4 ? 0.5 : 0;
  const bar = svg("g", { "data-work": work }, svg("title", {}, `${plane >= 0 ? `plane ${plane}` : work === COLLECTION ? "planes in turn" : "one of the planes"}: ${name}, ${duration(end - start)}, from ${duration(start)} on`),
    svg("rect", { x: left.toFixed(2), width: (width - gap).toFixed(2), y: top + room - height, height, fill, "fill-opacity": plane < 0 ? 0.6 : null,
      stroke: work === SUSPENDED ? "var(--gc)" : null, "stroke-dasharray": work === SUSPENDED ? "3 2" : null }));
  if (width > label.length * 6.6 + 4 && height > 10) {
    const ink = work === SUSPENDED ? "var(--soft)" : work === SUMMARY ? "var(--paper)" : "#000";
    const [middle, foot] = [left + width / 2, top + room - height / 2 + 4];
    // On a pattern letters need a ground of their own.
    const ground = label.length * 6.6 + 6;
    if (fill.startsWith("url")) bar.append(svg("rect", { class: "ground", x: middle - ground / 2, width: ground, y: foot - 11, height: 14, rx: 3, fill: "#fff3dd" }));
    bar.append(svg("text", { x: middle, y: foot, "text-anchor": "middle", style: `font-size: 11px; pointer-events: none; fill: ${ink}` }, label));
  }
  return bar;
}

function planesPicture(die, width, from, to) {
  const left = 62, right = 8, bottom = 24;
  const lanes = die.planes * (LANE + LANE_GAP) - LANE_GAP;
  const height = WAITING + lanes + bottom;
  const x = (time) => left + ((Math.min(Math.max(time, from), to) - from) / (to - from)) * (width - left - right);
  const picture = svg("svg", { width, height, role: "img", "aria-label": `what ${die.planes} planes of a die did` });
  const { ticks, step } = linearTicks(from, to, Math.max(2, width / 130));
  for (const tick of ticks) {
    picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: WAITING - 4, y2: WAITING + lanes + 4 }),
      svg("text", { x: Math.min(x(tick), width - 22), y: height - 8, "text-anchor": "middle" }, moment(tick, step)));
  }
  for (let plane = 0; plane < die.planes; plane++) {
    const top = WAITING + plane * (LANE + LANE_GAP);
    picture.append(svg("rect", { x: left, width: width - left - right, y: top, height: LANE, fill: "var(--line)", "fill-opacity": 0.35 }),
      svg("text", { x: left - 6, y: top + LANE / 2 + 4, "text-anchor": "end" }, `plane ${plane}`));
  }
  const inView = die.spans.filter(({ start, end }) => end > from && start < to);
  picture.append(...inView.map((span) => workBar(span, die.planes, x)));
  picture.append(...waitingLine(die, x, left, from, to));
  if (die.end < to) picture.append(svg("text", { x: Math.min(x(die.end) + 4, width - 90), y: WAITING + lanes + 20 - bottom, "font-style": "italic" }, "end of record"));
  return picture;
}

// Host operations waiting, as steps above the lanes.
function waitingLine({ waiting, end }, x, left, from, to) {
  const seen = waiting.filter(({ time }, i) => time <= to && (waiting[i + 1]?.time ?? end) >= from);
  const most = Math.max(1, ...seen.map(({ operations }) => operations));
  const y = (operations) => WAITING - 7 - (operations / most) * (WAITING - 11);
  let path = "";
  seen.forEach(({ time, operations }) => {
    path += path ? `H${x(time).toFixed(1)}V${y(operations).toFixed(1)}` : `M${x(time).toFixed(1)} ${y(operations).toFixed(1)}`;
  });
  if (path) path += `H${x(end).toFixed(1)}`;
  return [svg("text", { x: left - 6, y: 11, "text-anchor": "end" }, "waiting"),
    svg("text", { x: left - 6, y: 24, "text-anchor": "end" }, `up to ${brief(most)}`),
    svg("path", { d: path, fill: "none", stroke: "var(--ink)", "stroke-width": 1.4 }, svg("title", {}, "host operations waiting at this die"))];
}

function planesLegend(dies) {
  const seen = new Set(dies.flatMap(({ die }) => die.spans.map(({ work }) => work)));
  byId("planes-legend").replaceChildren(...WORKS.map(({ name, fill, share }, work) => seen.has(work) ? html("span", {},
    svg("svg", { width: 22, height: 14, "aria-hidden": "true" }, svg("rect", { x: 0.5, width: 21, y: 13.5 - 13 * share, height: 13 * share, fill,
      stroke: work === SUSPENDED ? "var(--gc)" : null, "stroke-dasharray": work === SUSPENDED ? "3 2" : null })), name) : null).filter(Boolean));
}

// The first host operation that went along in a command of garbage collection.
function firstAlong({ spans }) {
  const collecting = new Set(spans.filter(({ work }) => work === GC_READ || work === GC_PROGRAM).map(({ start }) => start));
  return spans.find(({ work, start }) => work <= HOST_PROGRAM && collecting.has(start));
}

function planesChart() {
  const dies = data.runs.map((run, index) => run.planes && { run, index, die: decodePlanes(run.planes, byId(`planes-${index}`).textContent) }).filter(Boolean);
  if (dies.length === 0) return;
  erasePattern();
  planesLegend(dies);
  const whole = Math.max(...dies.map(({ die }) => die.end));
  const firstEnd = ({ die }) => die.spans.find(({ work }) => work === ERASE || work === COLLECTION)?.end ?? die.end;
  const firstCollection = Math.min(whole, Math.max(...dies.map(firstEnd)) * 1.1);
  let [from, to] = [0, firstCollection];
  const along = dies.map(({ die }) => firstAlong(die)).find((span) => span !== undefined);
  document.querySelector("[data-planes=along]").hidden = along === undefined;
  const node = byId("planes-chart");
  const draw = (width) => {
    node.replaceChildren(...dies.filter(({ index }) => chosen.has(index)).map(({ run, index, die }) => html("div", { class: "bars" },
      html("h3", {}, swatch(index), runName(index), html("span", { class: "value" },
        `from ${duration(die.start)} of the run on${run.planesBusy === null ? "" : `; planes busy ${percent(run.planesBusy)} in all collections of all dies`}`)),
      planesPicture(die, width, from, to))));
    node.dataset.from = String(from);
    node.dataset.to = String(to);
  };
  const redraw = drawn(node, draw);
  watchers.push(redraw);
  const show = (start, length) => {
    const size = Math.min(Math.max(length, 1e4), whole);
    from = Math.min(Math.max(start, 0), whole - size);
    to = from + size;
    redraw();
  };
  const size = () => to - from;
  const middle = () => (from + to) / 2;
  const actions = {
    out: () => show(middle() - size(), size() * 2), in: () => show(middle() - size() / 4, size() / 2),
    back: () => show(from - size() / 2, size()), on: () => show(from + size() / 2, size()),
    first: () => show(0, firstCollection), along: () => show(along.start - (along.end - along.start) * 6, (along.end - along.start) * 15), all: () => show(0, whole),
  };
  for (const button of byId("planes").querySelectorAll("button[data-planes]")) button.addEventListener("click", actions[button.dataset.planes]);
}
