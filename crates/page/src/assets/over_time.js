// Bandwidth, and what went on inside one SSD: lanes on one axis of time, all runs in them together or a picture for each.

const LANES = [
  { name: "bandwidth of hosts, MB/s", of: "bandwidth", unit: (value) => `${value < 10 ? digits(value) : brief(value)} MB/s` },
  { name: "channels collecting", of: "channels", unit: (value) => `${digits(value)} channels` },
  { name: "empty blocks", of: "empty", unit: (value) => `${brief(value)} empty`, fromLeast: true },
  { name: "host operations", of: "queue", unit: (value) => `${value < 10 ? digits(value) : brief(value)} waiting or running` },
  { name: "victims erased a second", of: "victims", unit: (value) => `${brief(value)} erased/s` },
];
const LANE_HEIGHT = 92, LANE_ROOM = 26, LANE_TOP = 6;

// A run's series of one SSD, victims as a rate; the last bucket ends with the run.
function seriesOf(run, ssd) {
  const series = run.overTime.ssds[ssd];
  if (!series || series.empty.length === 0) return null;
  const { length } = run.overTime;
  const ends = series.empty.map((_, bucket) => Math.min((bucket + 1) * series.width, length));
  const lengths = ends.map((end, bucket) => Math.max(end - bucket * series.width, 1));
  const victims = series.victims.map((count, bucket) => (count / lengths[bucket]) * 1e9);
  const bandwidth = ends.map((end, bucket) => (bytesBetween(run.overTime, bucket * series.width, end) / lengths[bucket]) * 1e3);
  return { ...series, ends, victims, bandwidth };
}

// What hosts read and wrote between two moments: their buckets need not be those of an SSD, and the last ends with the run.
function bytesBetween({ length, host: { width, bytes } }, start, end) {
  let sum = 0;
  for (let bucket = Math.floor(start / Math.max(width, 1)); bucket < bytes.length && bucket * width < end; bucket += 1) {
    const [from, until] = [bucket * width, Math.min((bucket + 1) * width, length)];
    const shared = Math.min(end, until) - Math.max(start, from);
    sum += (bytes[bucket] * Math.max(shared, 0)) / Math.max(until - from, 1);
  }
  return sum;
}

const valueAt = (series, lane, time) => series[LANES[lane].of][Math.min(Math.floor(time / series.width), series.empty.length - 1)];

// From nothing, or from the least there is, to the most.
function laneScale(lane, all) {
  const values = all.flatMap(({ series }) => series[LANES[lane].of]).filter((value) => value !== undefined);
  const low = LANES[lane].fromLeast ? Math.min(...values) : 0;
  const high = Math.max(...values);
  return high > low ? [low, high] : [low === 0 ? 0 : low - 1, low + 1];
}

// The lanes of some runs; scales and the length of the axis are those of all.
function lanesPicture(shown, { width, length, scales, about }) {
  const left = 56, right = 10, bottom = 34;
  const room = LANE_HEIGHT + LANE_ROOM;
  const height = LANES.length * room + bottom;
  const inner = width - left - right;
  const x = (time) => left + (Math.min(time, length) / length) * inner;
  const picture = svg("svg", { width, height, role: "img", "aria-label": about });
  const { ticks, step } = linearTicks(0, length, Math.max(2, width / 130));
  LANES.forEach(({ name }, lane) => {
    const top = lane * room + LANE_ROOM;
    const [low, high] = scales[lane];
    const y = (value) => top + LANE_TOP + (1 - (value - low) / (high - low)) * (LANE_HEIGHT - LANE_TOP);
    picture.append(svg("text", { class: "strong", x: left, y: top - 6 }, name));
    for (const tick of ticks) picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: top + LANE_HEIGHT }));
    for (const tick of linearTicks(low, high, 3).ticks) {
      picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, Number.isInteger(tick) ? brief(tick) : String(Number(tick.toFixed(2)))));
    }
    for (const { series, index } of shown) {
      const { color, dash, cap } = pen(index);
      let [path, end] = ["", null];
      series[LANES[lane].of].forEach((value, bucket) => {
        if (value === undefined) return;
        const start = x(bucket * series.width).toFixed(1);
        path += end === start ? `V${y(value).toFixed(1)}` : `M${start} ${y(value).toFixed(1)}`;
        end = x(series.ends[bucket]).toFixed(1);
        path += `H${end}`;
      });
      picture.append(svg("path", { d: path, fill: "none", stroke: color, "stroke-width": 1.6, "stroke-dasharray": dash, "stroke-linecap": cap, "data-lane": lane, "data-run": index }));
    }
  });
  for (const tick of ticks) picture.append(svg("text", { x: Math.min(x(tick), width - 22), y: height - bottom + 16, "text-anchor": "middle" }, moment(tick, step)));
  picture.append(svg("text", { x: left + inner / 2, y: height - 3, "text-anchor": "middle" }, "time in the run"));
  const line = svg("line", { class: "axis", y1: LANE_ROOM, y2: height - bottom, visibility: "hidden" });
  picture.append(line);
  return { picture, line, x, timeOf: (pixel) => Math.min(Math.max((pixel - left) / inner, 0), 1) * length };
}

function overTimeChart() {
  const known = data.runs.map((run, index) => ({ run, index })).filter(({ run }) => run.overTime.ssds.some((series) => series.empty.length > 0));
  if (known.length === 0) return;
  const node = byId("over-time-chart");
  const readout = byId("over-time-readout");
  let [ssd, apart, cursor, pictures, length] = [0, false, null, [], 1];

  const point = (time) => {
    cursor = time;
    for (const { line, x } of pictures) {
      line.setAttribute("x1", x(time));
      line.setAttribute("x2", x(time));
      line.setAttribute("visibility", "visible");
    }
    const parts = pictures.flatMap(({ shown }) => shown).filter(({ series }) => time <= series.ends.at(-1)).map(({ run, series }) =>
      `${run.label}: ${LANES.map(({ unit }, lane) => unit(valueAt(series, lane, time))).join(", ")}`);
    readout.textContent = `Around ${duration(time)}: ${parts.slice(0, 4).join(" · ")}${parts.length > 4 ? " · …" : ""}`;
  };

  function draw(width) {
    const all = known.map((one) => ({ ...one, series: seriesOf(one.run, ssd) })).filter(({ series }) => series !== null);
    const shown = all.filter(({ index }) => chosen.has(index));
    length = Math.max(1, ...(shown.length > 0 ? shown : all).map(({ run }) => run.overTime.length));
    const scales = LANES.map((_, lane) => laneScale(lane, shown.length > 0 ? shown : all));
    const about = `bandwidth of hosts, channels collecting, empty blocks, host operations and victims erased over time, SSD ${ssd}`;
    const groups = apart ? shown.map((one) => [one]) : [shown];
    pictures = groups.map((group) => ({ shown: group, ...lanesPicture(group, { width, length, scales, about }) }));
    node.replaceChildren(...pictures.map(({ picture, shown: [first], timeOf }) => {
      picture.addEventListener("pointermove", (event) => point(timeOf(event.clientX - picture.getBoundingClientRect().left)));
      return html("div", { class: "bars" }, apart ? html("h3", {}, swatch(first.index), runName(first.index)) : null, picture);
    }));
    if (cursor !== null) point(cursor);
  }

  node.tabIndex = 0;
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", "Inside an SSD over time; left and right arrow keys read the lanes off");
  const redraw = drawn(node, draw);
  watchers.push(redraw);
  node.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    point(Math.min(Math.max((cursor ?? length / 2) + (step * length) / 60, 0), length));
  });
  const ssds = Math.max(...known.map(({ run }) => run.overTime.ssds.length));
  if (ssds > 1) {
    choice(byId("over-time-ssd"), "over-time-ssd", Array.from({ length: ssds }, (_, n) => `SSD ${n}`), 0, (index) => {
      ssd = index;
      redraw();
    });
  }
  if (known.length > 1) {
    choice(byId("over-time-view"), "over-time-view", ["Runs together", "Each run by itself"], 0, (index) => {
      apart = index === 1;
      redraw();
    });
  }
  const indices = new Set(known.map(({ index }) => index));
  runLegend(byId("over-time-legend"), (index) => indices.has(index));
}
