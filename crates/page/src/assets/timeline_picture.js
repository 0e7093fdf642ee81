// Draws response times over time with each device's collections below: bands of percentiles from afar, requests near by.

const DOTS_MOST = 400;
const SLICE_PIXELS = 5, SLICE_REQUESTS = 100, SLICES_FEWEST = 40;

class TimelinePicture {
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
    this.scale();
    this.paintNow();
  }

  // One scale for all runs that are shown, and the one that is looked at.
  scale() {
    const runs = [...shownRuns().map(({ run }) => run), data.runs[this.run]];
    const slowest = Math.max(...runs.map((run) => run.max), 1e3);
    // Requests that took no time, as trims do, stand at the lower edge.
    const fastest = Math.min(...runs.flatMap((run) => run.cdf.ns).filter((ns) => ns > 0), slowest / 10);
    [this.low, this.high] = [Math.log10(Math.max(fastest, 1)) - 0.08, Math.log10(slowest) + 0.08];
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
    const pens = { ink: color("--ink"), soft: color("--soft"), line: color("--line"), gc: color("--gc"), plain: color("--plain"), band: color("--band"), beyond: color("--beyond"), paper: color("--paper"), raised: color("--raised"), rebuild: color(`--part-${REBUILD_PART}`) };
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
    this.paintAiling(context, pens);
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

  // The slices of time to draw: wide enough to be seen, with enough requests for a percentile where that leaves a curve.
  slices() {
    const { levels } = this.recording;
    const span = this.to - this.from;
    const wide = levels.filter(({ width }) => (width / span) * this.plotWidth >= SLICE_PIXELS);
    const many = wide.filter(({ width }) => span / width >= SLICES_FEWEST);
    const dense = ({ width }) => (this.recording.requests.length === 0 ? 0 : data.runs[this.run].requests) * (width / this.length) >= SLICE_REQUESTS;
    return many.find(dense) ?? many.at(-1) ?? wide[0] ?? levels.at(-1);
  }

  // Median, 99th percentile and maximum of all requests, slice by slice.
  paintCurves(context, pens) {
    const level = this.slices();
    const perPixel = (this.to - this.from) / this.plotWidth;
    if (level.width / perPixel > this.plotWidth / 6 || this.recording.requests.length === 0) return;
    const first = Math.max(Math.floor(this.from / level.width), 0);
    const last = Math.min(Math.ceil(this.to / level.width), level.counts.length);
    const y = (cells, i) => this.y(cellTime(cells[i], this.recording));
    const band = (upper, lower, fill) => {
      context.fillStyle = fill;
      for (let i = first; i < last; i++) {
        if (level.counts[i] === 0) continue;
        const [left, right, top] = [this.x(i * level.width), this.x((i + 1) * level.width), y(upper, i)];
        context.fillRect(left, top, right - left + 0.5, Math.max(y(lower, i) - top, 1));
      }
    };
    band(level.max, level.p99, pens.beyond);
    band(level.p99, level.p50, pens.band);
    context.lineWidth = 1.5;
    context.strokeStyle = pens.ink;
    context.beginPath();
    let reached = null;
    for (let i = first; i < last; i++) {
      if (level.counts[i] === 0) continue;
      const [left, right] = [this.x(i * level.width), this.x((i + 1) * level.width)];
      if (reached === i) context.lineTo(left, y(level.p50, i));
      else context.moveTo(left, y(level.p50, i));
      context.lineTo(right, y(level.p50, i));
      reached = i + 1;
    }
    context.stroke();
    context.lineWidth = 1;
  }

  // Requests in view, with their length in time; of many only the slowest of each slice.
  paintRequests(context, pens) {
    const { requests } = this.recording;
    const perTime = this.plotWidth / (this.to - this.from);
    const longest = 10 ** this.high;
    const first = firstAtLeast(requests.arrival, this.from - Math.min(longest, this.length));
    const last = firstAtLeast(requests.arrival, this.to);
    const all = last - firstAtLeast(requests.arrival, this.from) <= DOTS_MOST;
    this.drawnRequests = [];
    if (all) {
      for (let i = first; i < last; i++) if (requests.arrival[i] + requests.response[i] >= this.from) this.drawnRequests.push(i);
    } else {
      this.drawnRequests = this.slowestOfSlices(firstAtLeast(requests.arrival, this.from), last);
    }
    this.canvas.dataset.dots = String(this.drawnRequests.length);
    const size = this.drawnRequests.length > 200 ? 2.2 : 3.2;
    for (const i of this.drawnRequests) {
      const waited = isGcAffected(requests, i);
      const [x, y, length] = [this.x(requests.arrival[i]), this.y(requests.response[i]), requests.response[i] * perTime];
      context.fillStyle = context.strokeStyle = waited ? pens.gc : pens.plain;
      if (all && length > 5) context.fillRect(x, y - 0.75, length, 1.5);
      mark(context, x, y, waited ? size * 1.25 : size, waited);
    }
    if (this.selected !== null) this.paintSelected(context, pens, perTime);
  }

  slowestOfSlices(first, last) {
    const { arrival, response } = this.recording.requests;
    const { width } = this.slices();
    const slowest = [];
    let slice = -1;
    for (let i = first; i < last; i++) {
      const own = Math.floor(arrival[i] / width);
      if (own !== slice) slowest.push(i);
      else if (response[i] > response[slowest.at(-1)]) slowest[slowest.length - 1] = i;
      slice = own;
    }
    return slowest;
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

  // What was wrong with devices: hatched where one was missing, a line below where one was rebuilt, above where one was copied, dashes where one was slow.
  paintAiling(context, pens) {
    const drawn = this.recording.ailing.filter(({ from, to }) => to > this.from && from < this.to);
    const height = Math.max(this.lane - 2, 2);
    for (const { member, what, from, to } of drawn) {
      const [left, right] = [Math.max(this.x(from), this.left), Math.min(this.x(to), this.left + this.plotWidth)];
      const [top, width] = [this.laneTop + member * this.lane + 1, Math.max(right - left, 2)];
      context.save();
      context.beginPath();
      context.rect(left, top, width, height);
      context.clip();
      if (what === "failed") {
        context.fillStyle = pens.paper;
        context.fillRect(left, top, width, height);
        context.strokeStyle = pens.ink;
        for (let x = left - height; x < left + width; x += 5) line(context, x, top + height, x + height, top);
      } else {
        const thick = Math.max(Math.round(height / 3), 1);
        context.fillStyle = what === "slow" ? pens.ink : pens.rebuild;
        const step = what === "slow" ? 8 : width;
        const y = what === "copying" ? top : top + height - thick;
        for (let x = left; x < left + width; x += step) context.fillRect(x, y, what === "slow" ? 4 : width, thick);
      }
      context.restore();
    }
    this.canvas.dataset.ailing = drawn.map(({ member, what }) => `${what} ${member}`).join(", ");
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

// A triangle for a request that waited for garbage collection, a disc for one that did not.
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
