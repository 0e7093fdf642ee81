// Response times over time with each device's collections below: moving through it, from the whole run to one request.

const SMALLEST_SPAN = 2_000;

// The part of the address that names a request of a run, and how it is set.
const fragmentOf = (run, id) => `#run-${run}-request-${id}`;
const address = (fragment) => history.replaceState(null, "", location.href.split("#")[0] + fragment);

class Timeline extends TimelinePicture {
  constructor() {
    super();
    this.canvas = byId("timeline-canvas");
    this.map = byId("timeline-map");
    this.readout = byId("timeline-readout");
    this.selected = null;
    const isShown = (index) => Number(chosen.has(index));
    const recorded = data.runs.map((_, index) => index).filter((index) => data.runs[index].recording).sort((a, b) => isShown(b) - isShown(a) || a - b);
    this.recorded = recorded;
    this.selectRun(recorded[0]);
    choice(byId("timeline-runs"), "timeline-runs", recorded.map((index) => data.runs[index].label), 0, (index) => this.selectRun(recorded[index], true));
    this.listen();
    addEventListener("hashchange", () => this.follow());
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
      this.scale();
      this.show(this.from, this.to);
    } else {
      [this.from, this.to] = [0, this.length];
    }
    const { windows } = this.recording;
    const at = (reason) => windows.find((window) => window.reason === reason);
    document.querySelector('[data-do="usual"]').hidden = !at("usual");
    byId("timeline-share").textContent = this.shareText();
    byId("timeline-title").textContent = data.runs[run].momentTitle;
    this.listSlowest();
  }

  // A link to each of the ten slowest requests. Recordings keep all of them.
  listSlowest() {
    const { id, response } = this.recording.requests;
    const slowest = Array.from(response.keys()).sort((a, b) => response[b] - response[a] || a - b).slice(0, 10);
    const link = (index) => html("a", { href: fragmentOf(this.run, id[index]), title: `Request ${count(id[index])}` }, duration(response[index]));
    byId("timeline-slowest").replaceChildren(html("span", {}, "The slowest requests:"), ...slowest.map(link));
  }

  // Shows the request that the address names.
  follow() {
    const named = location.hash.match(/^#run-(\d+)-request-(\d+)$/);
    if (!named) return;
    const [run, id] = named.slice(1).map(Number);
    const place = this.recorded.indexOf(run);
    if (place < 0) return;
    if (run !== this.run) {
      this.selectRun(run, true);
      pick(byId("timeline-runs"), place);
    }
    const index = requestOf(this.recording, id);
    if (index < 0) {
      this.readout.textContent = `Request ${count(id)} is not kept on this page.`;
      return;
    }
    this.goTo(index);
    this.say();
    byId("request").scrollIntoView({ block: "nearest" });
  }

  shareText() {
    const { requests, requestsKept = this.recording.requests.length, stride, windows, gap } = { ...this.recording, requests: data.runs[this.run].requests };
    const gcText = gap > 0 ? ` Pauses of up to ${duration(gap)} between collections are drawn as pale colour outside those windows.` : "";
    if (stride === 1) return `Every one of the ${count(requests)} requests can be clicked.${gcText}`;
    return `Median, p99 and maximum count all ${count(requests)} requests. ${count(requestsKept)} of them (${percent(requestsKept / requests)}) can be clicked: one in ${count(stride)}, `
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
    address(fragmentOf(this.run, this.chosenId));
  }

  unselect() {
    this.selected = null;
    byId("request").hidden = true;
    if (location.hash.startsWith("#run-")) address("");
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
      + (isGcAffected(this.recording.requests, index) ? ", waited for garbage collection" : metGc(flags[index]) ? ", met garbage collection and did not wait for it" : "");
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
}

function timelineLegend() {
  const picture = (...shapes) => svg("svg", { width: 26, height: 14, "aria-hidden": "true" }, ...shapes);
  const entry = (text, ...shapes) => html("span", {}, picture(...shapes), text);
  byId("timeline-legend").replaceChildren(
    entry("median", svg("line", { x1: 0, x2: 26, y1: 7, y2: 7, stroke: "var(--ink)", "stroke-width": 2 })),
    entry("up to p99", svg("rect", { width: 26, height: 14, fill: "var(--band)" })),
    entry("up to the maximum", svg("rect", { width: 26, height: 14, fill: "var(--beyond)" })),
    entry("a request", svg("circle", { cx: 13, cy: 7, r: 4, fill: "var(--plain)" })),
    entry("a request that waited for garbage collection", svg("path", { d: "M13 2L18 12H8Z", fill: "var(--gc)" })),
    entry("SSD collecting", svg("rect", { y: 2, width: 26, height: 10, fill: "var(--gc)" })),
    ...ailmentKeys(entry));
}

// What was wrong with SSDs, as far as it occurs.
function ailmentKeys(entry) {
  const occurs = (what) => data.runs.some((run) => run.recording?.ailing.some((span) => span.what === what));
  const keys = [
    ["failed", "SSD missing", svg("path", { d: "M0 12L10 2M6 12L16 2M12 12L22 2", stroke: "var(--ink)" })],
    ["copying", "SSD being copied to a spare", svg("rect", { y: 0, width: 26, height: 4, fill: `var(--part-${REBUILD_PART})` })],
    ["rebuilding", "SSD being rebuilt", svg("rect", { y: 8, width: 26, height: 4, fill: `var(--part-${REBUILD_PART})` })],
    ["slow", "slow SSD", svg("path", { d: "M0 10H26", stroke: "var(--ink)", "stroke-width": 4, "stroke-dasharray": "4 4" })],
  ];
  return keys.filter(([what]) => occurs(what)).map(([, text, shape]) => entry(text, shape));
}

function timelineChart() {
  timelineLegend();
  if (data.runs.some((run) => run.recording && run.requests > 0)) return new Timeline();
  for (const id of ["timeline-canvas", "timeline-map", "timeline-keys"]) byId(id).hidden = true;
  byId("timeline-share").textContent = "Nothing was recorded.";
  return null;
}
