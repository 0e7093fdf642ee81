// What every chart needs: elements, numbers as people read them, ticks, and how runs are drawn.

const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// A duration in the unit that suits it, with about three digits.
function duration(ns) {
  const [value, unit] = ns < 1e3 ? [ns, "ns"] : ns < 1e6 ? [ns / 1e3, "µs"] : ns < 1e9 ? [ns / 1e6, "ms"] : [ns / 1e9, "s"];
  return `${digits(value)} ${unit}`;
}

function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1000 ? count(Math.round(value)) : size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

const count = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");

function percent(share) {
  const size = share * 100;
  if (size === 0) return "0%";
  if (size < 0.05) return "<0.1%";
  return size < 9.95 ? `${size.toFixed(1)}%` : size > 99.5 && size < 100 ? ">99%" : `${size.toFixed(0)}%`;
}

// 1, 2 and 5 times the powers of ten between two durations; the powers alone if that is too many.
function logTicks(low, high, room) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1e-9; power++) {
    for (const digit of [1, 2, 5]) ticks.push(digit * 10 ** power);
  }
  const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  if (inside.length <= room) return inside;
  const powers = inside.filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9);
  const step = Math.ceil(powers.length / room);
  return powers.filter((_, index) => index % step === 0);
}

// Round steps from a low to a high value, about as many as there is room for.
function linearTicks(low, high, room) {
  const raw = (high - low) / Math.max(room, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((digit) => digit * power).find((size) => size >= raw * 0.9999);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) ticks.push(n * step);
  return { ticks, step };
}

// A moment of a run on an axis whose ticks lie so far apart.
function moment(ns, step) {
  const [unit, size] = step >= 1e9 ? ["s", 1e9] : step >= 1e6 ? ["ms", 1e6] : step >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const decimals = step / size >= 1 && Number.isInteger(step / size) ? 0 : 1;
  const text = (ns / size).toFixed(decimals).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return `${text} ${unit}`;
}

// How a run is drawn: as marks.rs decided.
function pen(index) {
  const { color, dash, shape, bound } = data.runs[index].mark;
  return { color, dash, shape, cap: bound ? "round" : null, width: 2.5 };
}

// The same piece of line, and the same name, as in the table.
const ofTable = (index, what) => document.querySelector(`#table tr[data-run="${index}"] ${what}`).cloneNode(true);
const swatch = (index) => ofTable(index, ".swatch");
const runName = (index) => ofTable(index, ".name");

// The mark of a run at a point of a picture.
const pointAt = (index, x, y) => svg("path", { class: "point", d: pen(index).shape, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, style: `fill: ${pen(index).color}` });

// A radio button for each option, or a list if there are many; calls back with the index chosen.
function choice(node, name, options, chosen, onChange) {
  if (options.length > 6) {
    const list = html("select", { "aria-label": node.getAttribute("aria-label") }, ...options.map((option, index) => html("option", { value: index }, option)));
    list.addEventListener("change", () => onChange(Number(list.value)));
    node.removeAttribute("role");
    node.replaceChildren(list);
    return;
  }
  node.replaceChildren(...options.map((option, index) => {
    const input = html("input", { type: "radio", name, value: index });
    input.checked = index === chosen;
    input.addEventListener("change", () => onChange(index));
    return html("label", {}, input, html("span", {}, option));
  }));
}

// Has a choice show that the option at an index was chosen.
function pick(node, index) {
  const list = node.querySelector("select");
  if (list) list.value = index;
  else node.querySelectorAll("input")[index].checked = true;
}

// Draws now and whenever the width changes; returns what draws again.
function drawn(node, draw) {
  let width = 0;
  const update = () => {
    const now = Math.floor(node.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      draw(width);
    }
  };
  new ResizeObserver(update).observe(node);
  update();
  return () => width > 0 && draw(width);
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
