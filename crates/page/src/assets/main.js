// Draws everything; says so in the console's place, for whoever measures.

function themeButton(redraw) {
  const root = document.documentElement;
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

hatch();
tableBoxes();
responsesChart();
frontierChart();
const timeline = timelineChart();
overTimeChart();
planesChart();
overlapChart();
blameChart();
wearChart();
if (timeline) timeline.follow();
themeButton(() => timeline && timeline.paint());
document.documentElement.dataset.ready = String(Math.round(performance.now()));
