// Which runs the charts show: one choice for all of them, made in any legend or in the table.

const FEW_RUNS = 8;
const chosen = new Set(data.runs.map((_, index) => index).filter((index) => data.runs[index].shown));
// What legends list: the runs shown at first, and whatever was added since.
const listed = new Set(chosen);
const watchers = [];

const shownRuns = () => data.runs.map((run, index) => ({ run, index })).filter(({ index }) => chosen.has(index));

function choose(index, on) {
  if (on) {
    chosen.add(index);
    listed.add(index);
  } else {
    chosen.delete(index);
  }
  watchers.forEach((watch) => watch());
}

// Buttons that show and hide runs, and a list of the others to add; `has` says which runs the chart knows.
function runLegend(node, has = () => true) {
  const buttons = new Map();
  const others = html("select", { "aria-label": "Add a run" });
  others.addEventListener("change", () => choose(Number(others.value), true));
  const update = () => {
    const known = data.runs.map((_, index) => index).filter(has);
    for (const index of known.filter((index) => listed.has(index) && !buttons.has(index))) {
      const button = html("button", { type: "button", "data-run": index, title: "Show or hide this run" }, swatch(index), runName(index));
      button.addEventListener("click", () => choose(index, !chosen.has(index)));
      buttons.set(index, button);
      node.insertBefore(button, others.parentNode === node ? others : null);
    }
    for (const [index, button] of buttons) button.setAttribute("aria-pressed", String(chosen.has(index)));
    const rest = known.filter((index) => !listed.has(index));
    others.replaceChildren(html("option", { value: "" }, `Add one of ${rest.length} more runs`), ...rest.map((index) => html("option", { value: index }, data.runs[index].label)));
    others.hidden = rest.length === 0;
  };
  node.replaceChildren(others);
  watchers.push(update);
  update();
}

// A picture for each run that is shown, drawn again whenever that changes; `scaled` makes of the runs what draws one.
function panels(node, scaled) {
  const redraw = drawn(node, (width) => {
    const draw = scaled(shownRuns().map(({ run }) => run));
    const pictures = shownRuns().map(({ run, index }) => draw(run, index, width));
    node.replaceChildren(...(pictures.length > 0 ? pictures : [html("p", {}, "No run is chosen.")]));
  });
  watchers.push(redraw);
}

// In a table of many runs a box stands before each name.
function tableBoxes() {
  if (data.runs.length <= FEW_RUNS) return;
  const boxes = data.runs.map((run, index) => {
    const box = html("input", { type: "checkbox", "aria-label": `Draw ${run.label} in the charts` });
    box.addEventListener("change", () => choose(index, box.checked));
    document.querySelector(`#table tr[data-run="${index}"] .run`).prepend(box);
    return box;
  });
  const update = () => boxes.forEach((box, index) => { box.checked = chosen.has(index); });
  watchers.push(update);
  update();
  byId("table-choose").hidden = false;
  byId("table-choose").textContent = "The charts below show the runs that are ticked: at first those that headline and titles name.";
}
