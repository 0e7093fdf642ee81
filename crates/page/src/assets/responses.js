// Cumulative response times, by run, on a logarithmic axis of time.

function responsesChart() {
  const node = byId("responses-chart");
  const readout = byId("responses-readout");
  let slow = false;
  let cursor = null;
  // A trim takes no time, which has no place on this axis: it stands at the left edge.
  const times = data.runs.flatMap((run) => run.cdf.ns).filter((ns) => ns > 0);
  if (times.length === 0) {
    node.append(html("p", {}, "No request took any time."));
    return;
  }
  let low, high;
  const most = Math.max(...data.runs.map((run) => run.requests));

  // Share of a run's requests that were done within a time.
  const within = (run, ns) => {
    const index = firstAtLeast(run.cdf.ns, ns * (1 + 1e-9));
    return index === 0 ? 0 : run.cdf.share[index - 1];
  };

  function draw(width) {
    const shownTimes = shownRuns().flatMap(({ run }) => run.cdf.ns).filter((ns) => ns > 0);
    const inView = shownTimes.length > 0 ? shownTimes : times;
    low = Math.min(...inView);
    high = Math.max(...inView, low * 1.5);
    const left = 52, right = 12, top = 8, bottom = 40;
    const height = Math.max(240, Math.min(360, width * 0.4));
    const inner = { width: width - left - right, height: height - top - bottom };
    const [from, to] = [Math.log10(low) - 0.03, Math.log10(high) + 0.03];
    const x = (ns) => left + ((Math.log10(Math.max(ns, low)) - from) / (to - from)) * inner.width;
    const floor = 1 / most;
    const y = (share) => slow
      ? top + (Math.log10(Math.max(1 - share, floor / 2)) / Math.log10(floor / 2)) * inner.height
      : top + (1 - share) * inner.height;
    const picture = svg("svg", { width, height, role: "img", "aria-label": byId("responses-title").textContent });
    for (const tick of logTicks(10 ** from, 10 ** to, width / 70)) {
      picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: height - bottom }),
        svg("text", { x: x(tick), y: height - bottom + 16, "text-anchor": "middle" }, duration(tick).replace(/\.0+ /, " ")));
    }
    const shares = slow ? [0, ...Array.from({ length: Math.floor(Math.log10(most) + 1e-9) }, (_, n) => 1 - 10 ** -(n + 1))] : [0, 0.25, 0.5, 0.75, 1];
    for (const share of shares) {
      const text = slow ? (share === 0 ? "all" : `1 in ${short(1 / (1 - share))}`) : percent(share);
      picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }),
        svg("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, text));
    }
    picture.append(svg("text", { x: left + inner.width / 2, y: height - 4, "text-anchor": "middle" }, "response time (log axis)"));
    const drawnRuns = shownRuns().filter(({ run }) => run.cdf.ns.length > 0);
    drawnRuns.forEach(({ run, index }, place) => {
      const { color, dash, cap, width: thick } = pen(index);
      let path = `M${x(run.cdf.ns[0]).toFixed(1)} ${y(0).toFixed(1)}`;
      run.cdf.ns.forEach((ns, i) => {
        path += `H${x(ns).toFixed(1)}V${y(run.cdf.share[i]).toFixed(1)}`;
      });
      picture.append(svg("path", { d: path, fill: "none", stroke: color, "stroke-width": thick, "stroke-dasharray": dash, "stroke-linejoin": "round", "stroke-linecap": cap, "data-run": index }));
      // Points at a few shares, of neighbouring runs beside one another.
      const shares = slow ? [0.5, 0.9, 0.99, 0.999] : [0.2, 0.4, 0.6, 0.8].map((share) => share + (place % 6) * 0.03);
      for (const share of shares) {
        const at = firstAtLeast(run.cdf.share, share);
        if (at < run.cdf.ns.length) picture.append(pointAt(index, x(run.cdf.ns[at]), y(share)));
      }
    });
    const line = svg("line", { class: "axis", y1: top, y2: height - bottom, visibility: "hidden" });
    picture.append(line);
    const point = (ns) => {
      cursor = Math.min(Math.max(ns, low), high);
      line.setAttribute("x1", x(cursor));
      line.setAttribute("x2", x(cursor));
      line.setAttribute("visibility", "visible");
      const parts = shownRuns().map(({ run }) => `${run.label} ${percent(within(run, cursor))}`);
      readout.textContent = `Done within ${duration(cursor)}: ${parts.slice(0, 6).join(" · ")}${parts.length > 6 ? " · …" : ""}`;
    };
    picture.addEventListener("pointermove", (event) => {
      const at = (event.clientX - picture.getBoundingClientRect().left - left) / inner.width;
      point(10 ** (from + at * (to - from)));
    });
    node.replaceChildren(picture);
    if (cursor !== null) point(cursor);
    node.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) {
        event.preventDefault();
        point((cursor ?? 10 ** ((from + to) / 2)) * 10 ** ((step * (to - from)) / 60));
      }
    };
  }

  node.tabIndex = 0;
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", "Response times; left and right arrow keys read the lines off");
  const redraw = drawn(node, draw);
  const update = () => {
    byId("responses-alike").textContent = alikeText(within);
    redraw();
  };
  watchers.push(update);
  update();
  choice(byId("responses-view"), "responses-view", ["All requests", "The slow ones"], 0, (index) => {
    slow = index === 1;
    redraw();
  });
  runLegend(byId("responses-legend"));
}

// Which lines lie on top of one another, so that nobody looks for the one that is hidden.
function alikeText(within) {
  const runs = shownRuns().map(({ run }) => run).filter((run) => run.cdf.ns.length > 0);
  // By the width of a line: 2% in time or 1% in share.
  const under = (a, b) => a.cdf.ns.every((ns) => within(a, ns) <= within(b, ns * 1.02) + 0.01);
  const alike = (a, b) => under(a, b) && under(b, a);
  const groups = [];
  for (const run of runs) {
    const group = groups.find((group) => alike(group[0], run));
    group ? group.push(run) : groups.push([run]);
  }
  const names = groups.filter((group) => group.length > 1).map((group) => group.map((run) => run.label).join(", "));
  return names.map((text) => ` These lie on top of one another: ${text}.`).join("");
}

// 10, 1,000, 100 k, 10 M.
const short = (value) => {
  const rounded = Math.round(value);
  return rounded >= 1e6 ? `${rounded / 1e6} M` : rounded >= 1e5 ? `${rounded / 1e3} k` : count(rounded);
};
