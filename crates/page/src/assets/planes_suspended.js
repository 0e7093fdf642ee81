// Programs of the host that are suspended, on pages that have any.

WORKS.push({ name: "program of the host suspended", label: "suspended", fill: "url(#suspended)", share: 1 });
document.body.append(svg("svg", { width: 0, height: 0, style: "position:absolute", "aria-hidden": "true" }, svg("defs", {},
  svg("pattern", { id: "suspended", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    svg("line", { x1: 1.5, x2: 1.5, y1: 0, y2: 6, style: "stroke: var(--plain); stroke-width: 1.5" })))));
