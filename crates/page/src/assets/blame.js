// Where the mean response time went: a stacked bar a run, and the same bar for a single request.

// Hatching marks the part that waits for garbage collection, for those who see few colours.
function hatch() {
  document.body.append(svg("svg", { width: 0, height: 0, style: "position:absolute", "aria-hidden": "true" }, svg("defs", {},
    svg("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { width: 7, height: 7, style: `fill: var(--part-${GC_PART})` }),
      svg("line", { x1: 0, x2: 0, y1: 0, y2: 7, style: "stroke: #5a3d00; stroke-width: 3" })))));
}

const partFill = (part) => part === GC_PART ? "url(#hatch)" : `var(--part-${part})`;

function partKey(part) {
  return html("span", {}, svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("rect", { width: 14, height: 14, fill: partFill(part) })), data.parts[part].name);
}

function stackedBar(width, high, values, about) {
  const height = 26;
  const picture = svg("svg", { width, height, role: "img", "aria-label": about });
  let left = 0;
  values.forEach((value, part) => {
    const size = high > 0 ? (value / high) * width : 0;
    if (size <= 0) return;
    picture.append(svg("rect", { x: left, width: size, y: 0, height, fill: partFill(part) },
      svg("title", {}, `${data.parts[part].name}: ${duration(value)} (${data.parts[part].meaning})`)));
    left += size;
  });
  return picture;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

function blameChart() {
  const node = byId("blame-chart");
  const occurring = data.parts.map((_, part) => part).filter((part) => data.runs.some((run) => run.blame[part] > 0));
  byId("blame-legend").replaceChildren(...occurring.map((part) => {
    const key = partKey(part);
    key.append(html("span", { class: "meaning" }, data.parts[part].meaning));
    return key;
  }));
  panels(node, (runs) => {
    const high = Math.max(1, ...runs.map((run) => sum(run.blame)));
    return (run, index, width) => {
      const total = sum(run.blame);
      const shown = occurring.filter((part) => run.blame[part] > 0).map((part) => `${data.parts[part].name} ${percent(run.blame[part] / total)}`);
      return html("div", { class: "bars" },
        html("h3", {}, swatch(index), runName(index), html("span", { class: "value" }, `${duration(total)} on average`)),
        stackedBar(width, high, run.blame, shown.join(", ")),
        html("p", { class: "readout" }, shown.join(" · ")));
    };
  });
}
