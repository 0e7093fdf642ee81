// Small charts side by side, one a run, on one scale: devices in collection at once, and erases and wear by device.

function panel(index, note, picture) {
  return html("div", { "data-run": index }, html("h3", {}, swatch(index), runName(index)), html("p", {}, note), picture);
}

function columns(width, height, { values, labels, high, ticks, show, color, about, axis }) {
  const left = 46, right = 4, top = 16, bottom = 34;
  const inner = { width: width - left - right, height: height - top - bottom };
  const y = (value) => top + (1 - value / high) * inner.height;
  const picture = svg("svg", { width, height, role: "img", "aria-label": about });
  for (const tick of ticks) {
    picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, show(tick)));
  }
  const room = inner.width / values.length;
  const every = Math.ceil(18 / room);
  values.forEach((value, index) => {
    const middle = left + (index + 0.5) * room;
    const size = value > 0 ? Math.max(y(0) - y(value), 1) : 0;
    picture.append(svg("rect", { x: middle - room * 0.36, width: room * 0.72, y: y(0) - size, height: size, fill: color },
      svg("title", {}, `${labels[index]}: ${show(value)}`)));
    if (index % every === 0) picture.append(svg("text", { x: middle, y: y(0) + 15, "text-anchor": "middle" }, labels[index]));
    if (value > high / 500 && show(value).length * 7 <= room) picture.append(svg("text", { class: "strong", x: middle, y: y(0) - size - 4, "text-anchor": "middle" }, show(value)));
  });
  picture.append(svg("line", { class: "axis", x1: left, x2: width - right, y1: y(0), y2: y(0) }),
    svg("text", { x: left + inner.width / 2, y: height - 4, "text-anchor": "middle" }, axis));
  return picture;
}

// How wide each of several charts side by side is: as the style sheet lays them out.
const panelWidth = (width) => {
  const [smallest, gap] = [240, 26];
  const across = Math.max(1, Math.floor((width + gap) / (smallest + gap)));
  return Math.floor((width - gap * (across - 1)) / across);
};

function overlapChart() {
  const node = byId("overlap-chart");
  panels(node, (runs) => {
    const high = Math.max(0.001, ...runs.flatMap((run) => run.collecting.slice(1)));
    const { ticks } = linearTicks(0, high, 4);
    return (run, index, width) => {
      const none = run.collecting[0] ?? 1;
      const note = none >= 1 ? "at no time did any SSD collect" : `no SSD collecting ${percent(none)} of the time; otherwise:`;
      return panel(index, note, columns(panelWidth(width), 170, {
        values: run.collecting.slice(1), labels: run.collecting.slice(1).map((_, k) => String(k + 1)), high, ticks,
        show: percent, color: "var(--gc)", axis: "SSDs collecting at once",
        about: run.collecting.map((share, k) => `${k}: ${percent(share)}`).join(", "),
      }));
    };
  });
}

function wearChart() {
  const node = byId("wear-chart");
  panels(node, (runs) => {
    const high = Math.max(1, ...runs.flatMap((run) => run.devices.map((device) => device.erases)));
    const { ticks } = linearTicks(0, high, 4);
    const most = Math.max(1, ...runs.flatMap((run) => run.devices.map((device) => device.wear[2])));
    return (run, index, width) => {
      const { color } = pen(index);
      const each = panelWidth(width);
      const note = `${count(run.erases)} blocks erased${index > 0 && data.runs[0].erases > 0 ? `, ${against(run.erases, data.runs[0].erases)}` : ""}`;
      const bars = columns(each, 160, {
        values: run.devices.map((device) => device.erases), labels: run.devices.map((_, device) => String(device)), high, ticks,
        show: brief, color, axis: "erases in the run, by SSD", about: run.devices.map((device, n) => `SSD ${n}: ${count(device.erases)} erases`).join(", "),
      });
      return panel(index, note, html("div", {}, bars, wearRanges(each, run, color, most)));
    };
  });
}

function wearRanges(width, run, color, most) {
  const left = 46, right = 4, top = 14, height = 92, bottom = 22;
  const room = (width - left - right) / run.devices.length;
  const y = (value) => top + (1 - value / most) * (height - top - bottom);
  const picture = svg("svg", { width, height, role: "img", "aria-label": "erases of a block, least, mean and most, by SSD" });
  for (const tick of [0, most]) {
    picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, brief(tick)));
  }
  run.devices.forEach(({ wear: [least, mean, worst] }, device) => {
    const x = left + (device + 0.5) * room;
    picture.append(svg("g", {}, svg("title", {}, `SSD ${device}: a block was erased ${least} to ${worst} times, ${digits(mean)} on average`),
      svg("line", { x1: x, x2: x, y1: y(least), y2: y(worst), stroke: color, "stroke-width": 2 }),
      svg("circle", { cx: x, cy: y(mean), r: Math.min(4, room / 3), fill: color })));
  });
  picture.append(svg("text", { x: left + (width - left - right) / 2, y: height - 4, "text-anchor": "middle" }, "erases of a block in its life, by SSD"));
  return picture;
}

const brief = (value) => value >= 1e6 ? `${digits(value / 1e6)} M` : value >= 1e4 ? `${digits(value / 1e3)} k` : count(value);

function against(value, base) {
  const change = value / base - 1;
  if (Math.abs(change) < 0.0005) return "as many as the baseline";
  return `${change > 0 ? "+" : "−"}${percent(Math.abs(change))} against the baseline`;
}
