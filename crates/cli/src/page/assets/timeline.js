// Response times over time with each device's collections below: from the whole run down to one request.

const SMALLEST_SPAN = 2_000;
const DOTS_MOST = 6_000;

class Timeline {
  constructor() {
    this.canvas = byId("timeline-canvas");
    this.map = byId("timeline-map");
    this.readout = byId("timeline-readout");
    this.run = data.runs.findIndex((run) => run.recording);
    this.selected = null;
    this.selectRun(this.run);
    const recorded = data.runs.map((run, index) => (run.recording ? index : -1)).filter((index) => index >= 0);
    choice(byId("timeline-runs"), "timeline-runs", recorded.map((index) => data.runs[index].label), 0, (index) => this.selectRun(recorded[index], true));
    this.listen();
    this.say();
    this.redraw = drawn(this.canvas.parentElement, (width) => this.resize(width));
  }

  // Shows another run at the same moment.
  selectRun(run, keep) {
    this.run = run;
    this.recording = recordingOf(run);
    this.length = Math.max(this.recording.length, 1);
    const chosen = this.selected === null ? null : this.chosenId;
    this.selected = null;
    if (keep) {
      const again = chosen === null ? -1 : requestOf(this.recording, chosen);
      if (again >= 0) this.select(again);
      else this.unselect();
      this.show(this.from, this.to);
    } else {
      [this.from, this.to] = [0, this.length];
    }
    const { windows } = this.recording;
    const at = (reason) => windows.find((window) => window.reason === reason);
    document.querySelector('[data-do="usual"]').hidden = !at("usual");
    byId("timeline-share").textContent = this.shareText();
    byId("timeline-title").textContent = data.runs[run].momentTitle;
  }

  shareText() {
    const { requests, requestsKept = this.recording.requests.length, stride, windows, gap } = { ...this.recording, requests: data.runs[this.run].requests };
    const gcText = gap > 0 ? ` Pauses of up to ${duration(gap)} between collections are drawn as pale colour outside those windows.` : "";
    if (stride === 1) return `Every one of the ${count(requests)} requests can be clicked.${gcText}`;
    return `The curves count all ${count(requests)} requests. ${count(requestsKept)} of them (${percent(requestsKept / requests)}) can be clicked: one in ${count(stride)}, `
      + `the slowest of each slice of time, and every one in the ${windows.length === 1 ? "tinted window" : `${windows.length} tinted windows`}.${gcText}`;
  }

  listen() {
    const { canvas } = this;
    for (const button of document.querySelectorAll("#timeline [data-do]")) button.addEventListener("click", () => this.act(button.dataset.do));
    const keys = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const action = { "+": "in", "=": "in", "-": "out", "_": "out", ArrowLeft: "left", ArrowRight: "right", Escape: "reset", Home: "reset", n: "next", p: "previous", s: "slowest here" }[event.key];
      if (action) {
        event.preventDefault();
        this.act(action);
      }
    };
    // The buttons too: whoever has just pressed one goes on with the keys.
    for (const node of [canvas, document.querySelector("#timeline .buttons")]) node.addEventListener("keydown", keys);
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event.offsetX));
    }, { passive: false });
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.offsetX, from: this.from, to: this.to, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return this.hover(event.offsetX, event.offsetY);
      const moved = event.offsetX - drag.x;
      drag.moved ||= Math.abs(moved) > 4;
      const shift = (-moved / this.plotWidth) * (drag.to - drag.from);
      if (drag.moved) this.show(drag.from + shift, drag.to + shift);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) {
        const nearest = this.nearest(event.offsetX, event.offsetY);
        if (nearest >= 0) this.select(nearest);
        else this.unselect();
        this.paint();
      }
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("dblclick", (event) => this.zoom(0.2, this.timeAt(event.offsetX)));
    const jump = (event) => {
      if (event.buttons !== 1) return;
      const middle = ((event.offsetX - this.left) / this.plotWidth) * this.length;
      const half = (this.to - this.from) / 2;
      this.show(middle - half, middle + half);
    };
    this.map.addEventListener("pointerdown", jump);
    this.map.addEventListener("pointermove", jump);
  }

  act(action) {
    const span = this.to - this.from;
    const actions = {
      in: () => this.zoom(0.5),
      out: () => this.zoom(2),
      left: () => this.show(this.from - span / 5, this.to - span / 5),
      right: () => this.show(this.from + span / 5, this.to + span / 5),
      reset: () => { this.unselect(); this.show(0, this.length); },
      slowest: () => this.goTo(this.slowest(0, Infinity)),
      "slowest here": () => this.step(this.slowest(this.from, this.to)),
      usual: () => {
        const window = this.recording.windows.find(({ reason }) => reason === "usual");
        this.show(window.from, window.to);
      },
      next: () => this.step(this.neighbour(1)),
      previous: () => this.step(this.neighbour(-1)),
    };
    actions[action]();
    this.say();
  }

  say() {
    this.readout.textContent = `${moment(this.from, (this.to - this.from) / 10)} to ${moment(this.to, (this.to - this.from) / 10)} of ${duration(this.length)}, ${duration(this.to - this.from)} in view`;
  }

  // Keeps the moment in the middle, or the chosen request, where it is.
  zoom(factor, around) {
    const { requests } = this.recording;
    const inView = this.selected !== null && requests.arrival[this.selected] >= this.from && requests.arrival[this.selected] <= this.to;
    const fixed = around ?? (inView ? requests.arrival[this.selected] + requests.response[this.selected] / 2 : (this.from + this.to) / 2);
    this.show(fixed - (fixed - this.from) * factor, fixed + (this.to - fixed) * factor);
  }

  show(from, to) {
    const span = Math.min(Math.max(to - from, SMALLEST_SPAN), this.length * 1.02);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, 0), Math.max(this.length * 1.02 - span, 0));
    this.to = this.from + span;
    if (span >= this.length) [this.from, this.to] = [0, this.length];
    this.paint();
  }

  slowest(from, to) {
    const { arrival, response } = this.recording.requests;
    let best = -1;
    for (let i = firstAtLeast(arrival, from); i < arrival.length && arrival[i] <= to; i++) if (best < 0 || response[i] > response[best]) best = i;
    return best;
  }

  neighbour(direction) {
    const { arrival } = this.recording.requests;
    if (this.selected !== null) return Math.min(Math.max(this.selected + direction, 0), arrival.length - 1);
    return Math.min(firstAtLeast(arrival, this.from), arrival.length - 1);
  }

  // Selects a request and brings it into view.
  step(index) {
    if (index < 0) return;
    this.select(index);
    const at = this.recording.requests.arrival[index];
    if (at < this.from || at > this.to) {
      const half = (this.to - this.from) / 2;
      this.show(at - half, at + half);
    } else {
      this.paint();
    }
  }

  // Selects a request and zooms in on it.
  goTo(index) {
    if (index < 0) return;
    this.select(index);
    const { arrival, response } = this.recording.requests;
    const around = Math.max(response[index] * 2, SMALLEST_SPAN);
    this.show(arrival[index] - around, arrival[index] + response[index] + around);
  }

  select(index) {
    this.selected = index;
    this.chosenId = this.recording.requests.id[index];
    showRequest(this.run, index);
  }

  unselect() {
    this.selected = null;
    byId("request").hidden = true;
  }

  timeAt(x) {
    return this.from + ((x - this.left) / this.plotWidth) * (this.to - this.from);
  }

  hover(x, y) {
    const index = this.nearest(x, y);
    if (index < 0) {
      this.say();
      return;
    }
    const { id, arrival, response, flags } = this.recording.requests;
    this.readout.textContent = `Request ${count(id[index])}: ${operationOf(flags[index])}, arrived at ${moment(arrival[index], this.to - this.from > 1e9 ? 1e7 : 1e3)}, took ${duration(response[index])}`
      + (metGc(flags[index]) ? ", met garbage collection" : "");
  }

  // The request drawn nearest to a point, within reach of a finger.
  nearest(x, y) {
    const { arrival, response } = this.recording.requests;
    const perTime = this.plotWidth / (this.to - this.from);
    let best = -1;
    let distance = 18 ** 2;
    for (const i of this.drawnRequests) {
      const left = this.x(arrival[i]);
      const across = Math.max(left - x, 0, x - (left + response[i] * perTime));
      const square = across ** 2 + (this.y(response[i]) - y) ** 2;
      if (square < distance) [best, distance] = [i, square];
    }
    return best;
  }

  resize(width) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const { members } = this.recording;
    this.width = width;
    this.left = 58;
    this.plotWidth = width - this.left - 6;
    this.top = 14;
    this.plotHeight = width < 500 ? 200 : 260;
    this.laneTop = this.top + this.plotHeight + 10;
    this.lane = Math.max(3, Math.min(16, Math.floor(200 / members)));
    this.height = this.laneTop + members * this.lane + 34;
    for (const [canvas, height] of [[this.canvas, this.height], [this.map, 34]]) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      canvas.style.height = `${height}px`;
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    const slowest = Math.max(...data.runs.map((run) => run.max), 1e3);
    // Requests that took no time, as trims do, stand at the lower edge.
    const fastest = Math.min(...data.runs.flatMap((run) => run.cdf.ns).filter((ns) => ns > 0), slowest / 10);
    [this.low, this.high] = [Math.log10(Math.max(fastest, 1)) - 0.08, Math.log10(slowest) + 0.08];
    this.paintNow();
  }

  x(time) {
    return this.left + ((time - this.from) / (this.to - this.from)) * this.plotWidth;
  }

  y(response) {
    return this.top + (1 - (Math.log10(Math.max(response, 10 ** this.low)) - this.low) / (this.high - this.low)) * this.plotHeight;
  }

  paint() {
    if (this.pending || !this.width) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paintNow();
    });
  }

  paintNow() {
    const pens = { ink: color("--ink"), soft: color("--soft"), line: color("--line"), gc: color("--gc"), plain: color("--plain"), band: color("--band"), paper: color("--paper"), raised: color("--raised") };
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, this.width, this.height);
    context.font = "12px system-ui, sans-serif";
    this.paintAxes(context, pens);
    context.save();
    context.beginPath();
    context.rect(this.left, 0, this.plotWidth, this.height);
    context.clip();
    this.paintCurves(context, pens);
    this.paintRequests(context, pens);
    context.restore();
    this.paintLanes(context, pens);
    this.paintMap(pens);
    this.canvas.dataset.span = String(this.to - this.from);
    this.canvas.dataset.from = String(this.from);
  }

  paintAxes(context, pens) {
    const bottom = this.laneTop + this.recording.members * this.lane;
    context.fillStyle = pens.raised;
    for (const { from, to } of this.recording.windows) {
      const [left, right] = [Math.max(this.x(from), this.left), Math.min(this.x(to), this.left + this.plotWidth)];
      if (right > left) context.fillRect(left, 0, Math.max(right - left, 2), bottom);
    }
    context.strokeStyle = pens.line;
    context.fillStyle = pens.soft;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const decades = this.high - this.low;
    for (const tick of logTicks(10 ** this.low, 10 ** this.high, decades > 2.5 ? 5 : 9)) {
      line(context, this.left, this.y(tick), this.left + this.plotWidth, this.y(tick));
      context.fillText(duration(tick).replace(/\.0+ /, " "), this.left - 6, this.y(tick));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    const { ticks, step } = linearTicks(this.from, this.to, Math.max(2, this.plotWidth / 110));
    for (const tick of ticks) {
      const x = this.x(tick);
      line(context, x, this.top, x, bottom + 4);
      const text = moment(tick, step);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x, half), this.width - half), bottom + 7);
    }
  }

  // Median and 99th percentile of all requests by slice of time, as fine as pixels allow.
  paintCurves(context, pens) {
    const perPixel = (this.to - this.from) / this.plotWidth;
    const level = this.recording.levels.find(({ width }) => width / perPixel >= 4) ?? this.recording.levels.at(-1);
    const first = Math.max(Math.floor(this.from / level.width), 0);
    const last = Math.min(Math.ceil(this.to / level.width), level.counts.length);
    this.inView = 0;
    for (let i = first; i < last; i++) this.inView += level.counts[i];
    if (level.width / perPixel > this.plotWidth / 6 || this.recording.requests.length === 0) return;
    const steps = (cells, draw) => {
      for (let i = first; i < last; i++) {
        if (level.counts[i] > 0) draw(this.x(i * level.width), this.x((i + 1) * level.width), this.y(cellTime(cells[i], this.recording)), i);
      }
    };
    context.fillStyle = pens.band;
    steps(level.p99, (left, right, y, i) => {
      const median = this.y(cellTime(level.p50[i], this.recording));
      context.fillRect(left, y, right - left + 0.5, Math.max(median - y, 1));
    });
    context.lineWidth = 1.5;
    context.strokeStyle = pens.ink;
    context.beginPath();
    let reached = null;
    steps(level.p50, (left, right, y) => {
      if (reached === left) context.lineTo(left, y);
      else context.moveTo(left, y);
      context.lineTo(right, y);
      reached = right;
    });
    context.stroke();
    context.lineWidth = 1;
  }

  // Requests in view; from afar only the slowest of each slice, near by with their length in time.
  paintRequests(context, pens) {
    const { requests } = this.recording;
    const perTime = this.plotWidth / (this.to - this.from);
    const longest = 10 ** this.high;
    const first = firstAtLeast(requests.arrival, this.from - Math.min(longest, this.length));
    const last = firstAtLeast(requests.arrival, this.to);
    const all = last - firstAtLeast(requests.arrival, this.from) <= DOTS_MOST;
    this.drawnRequests = [];
    for (let i = first; i < last; i++) {
      if (requests.arrival[i] + requests.response[i] >= this.from && (all || isSlowest(requests.flags[i]))) this.drawnRequests.push(i);
    }
    const size = this.drawnRequests.length > 2500 ? 1.6 : this.drawnRequests.length > 400 ? 2.2 : 3.2;
    for (const i of this.drawnRequests) {
      const met = metGc(requests.flags[i]);
      const [x, y, length] = [this.x(requests.arrival[i]), this.y(requests.response[i]), requests.response[i] * perTime];
      context.fillStyle = context.strokeStyle = met ? pens.gc : pens.plain;
      if (length > 5 && this.drawnRequests.length <= 600) context.fillRect(x, y - 0.75, length, 1.5);
      mark(context, x, y, met ? size * 1.25 : size, met);
    }
    if (this.selected !== null) this.paintSelected(context, pens, perTime);
  }

  // The chosen request: its length in time, in the colours of what it did and waited for.
  paintSelected(context, pens, perTime) {
    const { requests } = this.recording;
    const i = this.selected;
    const [x, y] = [this.x(requests.arrival[i]), this.y(requests.response[i])];
    const length = requests.response[i] * perTime;
    context.globalAlpha = 0.12;
    context.fillStyle = pens.ink;
    context.fillRect(x, this.top, Math.max(length, 1.5), this.height);
    context.globalAlpha = 1;
    let left = x;
    for (let part = 0; part < PARTS; part++) {
      const size = requests.blame[i * PARTS + part] * perTime;
      context.fillStyle = color(`--part-${part}`);
      context.fillRect(left, y - 5, size, 10);
      left += size;
    }
    context.strokeStyle = pens.ink;
    context.lineWidth = 2;
    if (length > 12) context.strokeRect(x, y - 5, length, 10);
    else {
      context.beginPath();
      context.arc(x, y, 8, 0, 7);
      context.stroke();
    }
    context.lineWidth = 1;
  }

  // Each device's collections: opacity is the share of the pixel's time spent in them.
  paintLanes(context, pens) {
    const { members, gc, windows } = this.recording;
    const exact = windows.filter((window) => window.gc);
    const every = Math.ceil(13 / this.lane);
    for (let member = 0; member < members; member++) {
      const top = this.laneTop + member * this.lane;
      context.fillStyle = pens.line;
      context.globalAlpha = 0.35;
      context.fillRect(this.left, top + 1, this.plotWidth, this.lane - 2);
      context.globalAlpha = 1;
      const cover = new Float32Array(Math.ceil(this.plotWidth) + 1);
      const add = (spans, from, to) => this.cover(cover, spans, Math.max(from, this.from), Math.min(to, this.to));
      let reached = this.from;
      for (const window of [...exact].sort((a, b) => a.from - b.from)) {
        add(gc[member], reached, window.from);
        add(window.gc[member], Math.max(window.from, reached), window.to);
        reached = Math.max(reached, window.to);
      }
      add(gc[member], reached, this.to);
      context.fillStyle = pens.gc;
      for (let pixel = 0, next; pixel < cover.length; pixel = next) {
        for (next = pixel + 1; next < cover.length && cover[next] === cover[pixel]; next++);
        if (cover[pixel] <= 0.002) continue;
        context.globalAlpha = 0.15 + 0.85 * Math.min(cover[pixel], 1);
        context.fillRect(this.left + pixel, top + 1, Math.min(next, this.plotWidth) - pixel, Math.max(this.lane - 2, 2));
      }
      context.globalAlpha = 1;
      if (member % every === 0) {
        context.fillStyle = pens.soft;
        context.textAlign = "right";
        context.textBaseline = "middle";
        context.fillText(`SSD ${member}`, this.left - 6, top + this.lane / 2);
      }
    }
  }

  // Adds to each pixel the share of its time that spans cover between two moments.
  cover(pixels, spans, from, to) {
    if (to <= from) return;
    const perPixel = (this.to - this.from) / this.plotWidth;
    for (let i = firstAtLeast(spans.end, from); i < spans.length && spans.start[i] < to; i++) {
      const begin = (Math.max(spans.start[i], from) - this.from) / perPixel;
      const end = (Math.min(spans.end[i], to) - this.from) / perPixel;
      const firstPixel = Math.floor(begin);
      const lastPixel = Math.min(Math.floor(end), pixels.length - 1);
      for (let pixel = firstPixel; pixel <= lastPixel; pixel++) {
        pixels[pixel] += (Math.min(end, pixel + 1) - Math.max(begin, pixel)) * spans.busy[i];
      }
    }
  }

  paintMap(pens) {
    const context = this.map.getContext("2d");
    const level = this.recording.levels.find(({ width }) => (width / this.length) * this.plotWidth >= 1) ?? this.recording.levels.at(-1);
    const x = (time) => this.left + (time / this.length) * this.plotWidth;
    context.clearRect(0, 0, this.width, 34);
    context.fillStyle = pens.raised;
    context.fillRect(this.left, 0, this.plotWidth, 34);
    context.fillStyle = pens.plain;
    level.counts.forEach((number, i) => {
      if (number === 0) return;
      const share = (Math.log10(cellTime(level.max[i], this.recording)) - this.low) / (this.high - this.low);
      context.fillRect(x(i * level.width), 32 - 30 * share, Math.max(x((i + 1) * level.width) - x(i * level.width), 1), 1.5);
    });
    context.fillStyle = pens.gc;
    for (const window of this.recording.windows) context.fillRect(x(window.from), 0, Math.max(x(window.to) - x(window.from), 3), 3);
    context.strokeStyle = pens.ink;
    context.lineWidth = 2;
    context.strokeRect(x(this.from), 1, Math.max(x(this.to) - x(this.from), 3), 32);
    context.fillStyle = pens.soft;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText("whole run", this.left - 4, 17, this.left - 8);
  }
}

function line(context, fromX, fromY, toX, toY) {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}

// A triangle for a request that met garbage collection, a disc for one that did not.
function mark(context, x, y, size, triangle) {
  context.beginPath();
  if (triangle) {
    context.moveTo(x, y - size * 1.2);
    context.lineTo(x + size * 1.1, y + size);
    context.lineTo(x - size * 1.1, y + size);
  } else {
    context.arc(x, y, size, 0, 7);
  }
  context.fill();
}

function timelineLegend() {
  const picture = (...shapes) => svg("svg", { width: 26, height: 14, "aria-hidden": "true" }, ...shapes);
  const entry = (text, ...shapes) => html("span", {}, picture(...shapes), text);
  byId("timeline-legend").replaceChildren(
    entry("median of the moment", svg("line", { x1: 0, x2: 26, y1: 7, y2: 7, stroke: "var(--ink)", "stroke-width": 2 })),
    entry("up to the 99th percentile", svg("rect", { width: 26, height: 14, fill: "var(--band)" })),
    entry("a request", svg("circle", { cx: 13, cy: 7, r: 4, fill: "var(--plain)" })),
    entry("a request that met garbage collection", svg("path", { d: "M13 2L18 12H8Z", fill: "var(--gc)" })),
    entry("SSD collecting", svg("rect", { y: 2, width: 26, height: 10, fill: "var(--gc)" })));
}

function timelineChart() {
  timelineLegend();
  if (data.runs.some((run) => run.recording && run.requests > 0)) return new Timeline();
  for (const id of ["timeline-canvas", "timeline-map", "timeline-keys"]) byId(id).hidden = true;
  byId("timeline-share").textContent = "Nothing was recorded.";
  return null;
}
