// Tail of reads against write amplification: a mark a run with its intervals, and a line through those that no other beats.

function frontierChart() {
  if (!data.frontier) return;
  const node = byId("frontier-chart");
  const readout = byId("frontier-readout");
  const { what, points } = data.frontier;

  function draw(width) {
    const height = Math.min(400, Math.max(280, width * 0.4));
    const left = 62, right = 18, top = 14, bottom = 44;
    const inner = { width: width - left - right, height: height - top - bottom };
    const seen = points.filter(({ run }) => chosen.has(run));
    if (seen.length === 0) {
      node.replaceChildren(html("p", {}, "No run is chosen."));
      return;
    }
    const xs = seen.flatMap(({ x, dx }) => [x - (dx || 0), x + (dx || 0)]);
    // An interval may reach below zero, which a logarithmic axis has no place for.
    const ys = seen.flatMap(({ y, dy }) => [Math.max(y - (dy || 0), y / 10), y + (dy || 0)]);
    const room = Math.max((Math.max(...xs) - Math.min(...xs)) * 0.06, Math.max(...xs) * 0.01);
    const [low, high] = [Math.min(...xs) - room, Math.max(...xs) + room];
    const [from, to] = [Math.log10(Math.min(...ys)) - 0.06, Math.log10(Math.max(...ys)) + 0.06];
    const x = (value) => left + ((value - low) / (high - low)) * inner.width;
    const y = (ns) => top + (1 - (Math.log10(ns) - from) / (to - from)) * inner.height;
    const picture = svg("svg", { width, height, role: "img", "aria-label": byId("frontier-title").textContent });
    const { ticks, step } = linearTicks(low, high, width / 110);
    for (const tick of ticks) {
      picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: height - bottom }),
        svg("text", { x: x(tick), y: height - bottom + 16, "text-anchor": "middle" }, tick.toFixed(step < 0.1 ? 2 : step < 1 ? 1 : 0)));
    }
    for (const tick of tailTicks(10 ** from, 10 ** to, inner.height / 34)) {
      picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, duration(tick).replace(/\.0+ /, " ")));
    }
    picture.append(svg("text", { x: left + inner.width / 2, y: height - 6, "text-anchor": "middle" }, "write amplification"),
      svg("text", { x: 12, y: top + inner.height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${top + inner.height / 2})` }, `${what} (log axis)`));
    const best = seen.filter(({ on }) => on).sort((a, b) => a.x - b.x || b.y - a.y);
    if (best.length > 1) {
      const path = best.map((point, at) => (at === 0 ? `M${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}` : `H${x(point.x).toFixed(1)}V${y(point.y).toFixed(1)}`)).join("");
      picture.append(svg("path", { class: "frontier", d: path, fill: "none" }));
    }
    for (const point of seen) {
      const { color } = pen(point.run);
      const bar = (x1, y1, x2, y2) => svg("line", { x1, y1, x2, y2, stroke: color, "stroke-width": 1.5 });
      const group = svg("g", { "data-run": point.run, "data-on": String(point.on) }, svg("title", {}, said(point)));
      if (point.dx) group.append(bar(x(point.x - point.dx), y(point.y), x(point.x + point.dx), y(point.y)));
      if (point.dy) group.append(bar(x(point.x), y(Math.max(point.y - point.dy, 10 ** from)), x(point.x), y(point.y + point.dy)));
      const mark = pointAt(point.run, x(point.x), y(point.y));
      mark.setAttribute("transform", `${mark.getAttribute("transform")} scale(1.5)`);
      group.append(mark);
      group.addEventListener("pointerenter", () => { readout.textContent = said(point); });
      picture.append(group);
    }
    picture.append(...names(best, x, y, width));
    node.replaceChildren(picture);
  }

  // The runs on the frontier have their names beside their marks, as far as these do not meet one another.
  function names(best, x, y, width) {
    const taken = [];
    return best.flatMap((point) => {
      const text = data.runs[point.run].label;
      const long = text.length * 6.5;
      const isRight = x(point.x) + 12 + long < width;
      const begin = isRight ? x(point.x) + 12 : x(point.x) - 12 - long;
      const box = { from: begin, to: begin + long, y: y(point.y) - 8 };
      if (taken.some((other) => box.from < other.to && other.from < box.to && Math.abs(box.y - other.y) < 13)) return [];
      taken.push(box);
      return [svg("text", { class: "beside-mark", x: isRight ? box.from : box.to, y: box.y, "text-anchor": isRight ? "start" : "end" }, text)];
    });
  }

  function said({ run, x, dx, y, dy, on }) {
    const half = (value, show) => (value ? ` ± ${show(value)}` : "");
    return `${data.runs[run].label}: ${what} ${duration(y)}${half(dy, duration)}, write amplification ${x.toFixed(2)}${half(dx, (value) => value.toFixed(2))}${on ? ", on the frontier" : ""}`;
  }

  const redraw = drawn(node, draw);
  watchers.push(redraw);
  runLegend(byId("frontier-legend"), (index) => points.some(({ run }) => run === index));
}

// Ticks of a logarithmic axis; steps of equal size where it spans too little for powers of ten.
function tailTicks(low, high, room) {
  const ticks = logTicks(low, high, room);
  return ticks.length > 1 ? ticks : linearTicks(low, high, room / 2).ticks;
}
