// Charts drawn by hand: bars in stacks, a line, one bar of parts. Each says its numbers in a table for who cannot see it.

import { h, svg } from "./dom.js";
import { short } from "./format.js";

const [WIDTH, HEIGHT, LEFT, FOOT] = [640, 180, 52, 22];

/** Columns of stacked parts. `columns` are `{label, parts: {name: value}}`; `say` writes a value. */
export function stackedBars(columns, { names, label, say = short }) {
  const most = scale(Math.max(...columns.map((column) => sum(column.parts)), 0));
  const step = (WIDTH - LEFT) / Math.max(columns.length, 1);
  const bars = columns.map((column, index) => stack(column, { names, most, x: LEFT + index * step + step * 0.16, width: step * 0.68, say }));
  const every = Math.ceil(columns.length / 8);
  const labels = columns.map((column, index) => (index % every ? null : svg("text", { x: LEFT + (index + 0.5) * step, y: HEIGHT + 15, class: "tick", "text-anchor": "middle" }, column.label)));
  return figure(label, names, [grid(most, say), bars, labels], table(columns, names, say));
}

/** One line over time, with its limit as a dashed one. */
export function lineChart(values, { limit, label }) {
  const most = scale(Math.max(limit ?? 0, ...values));
  const x = (index) => LEFT + (index / Math.max(values.length - 1, 1)) * (WIDTH - LEFT - 4);
  const points = values.map((value, index) => `${x(index).toFixed(1)},${height(value, most).toFixed(1)}`);
  const area = `M${LEFT},${HEIGHT}L${points.join("L")}L${x(values.length - 1).toFixed(1)},${HEIGHT}Z`;
  const bound = limit ? svg("path", { class: "bound", d: `M${LEFT},${height(limit, most)}H${WIDTH}` }) : null;
  const columns = values.map((value, index) => ({ label: String(index + 1), parts: { tokens: value } }));
  return figure(label, [], [grid(most, short), bound, svg("path", { class: "area", d: area }), svg("polyline", { class: "curve", points: points.join(" ") })], table(columns, ["tokens"], short));
}

/** One bar of parts, as wide as what holds it. `parts` are `{name, size, kind, title}`. */
export function partsBar(parts, limit, label) {
  const whole = Math.max(limit, parts.reduce((total, part) => total + part.size, 0)) || 1;
  const piece = (part, index) => h("span", { class: "piece", data: { tone: index % 6 }, title: part.title, style: { width: `${(100 * part.size) / whole}%` } });
  return h("div", { class: "parts-bar", role: "img", "aria-label": label }, parts.map(piece));
}

function figure(label, names, content, numbers) {
  const legend = names.length > 1 ? h("ul", { class: "legend-list" }, names.map((name, index) => h("li", { data: { tone: index % 6 } }, h("span", { class: "swatch", "aria-hidden": "true" }), name))) : null;
  return h("figure", { class: "chart" }, svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + FOOT}`, role: "img", "aria-label": label }, content), legend,
    h("details", { class: "numbers" }, h("summary", {}, "Numbers"), numbers));
}

function stack({ label, parts }, { names, most, x, width, say }) {
  let below = 0;
  return names.map((name, index) => {
    const value = parts[name] ?? 0;
    if (!value) return null;
    const [top, bottom] = [height(below + value, most), height(below, most)];
    below += value;
    return svg("rect", { class: "bar", "data-tone": index % 6, x, y: top, width, height: Math.max(bottom - top, 0.5) }, svg("title", {}, `${label}, ${name}: ${say(value)}`));
  });
}

function grid(most, say) {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const y = height(most * share, most);
    return [svg("path", { class: "rule", d: `M${LEFT},${y}H${WIDTH}` }), share % 0.5 ? null : svg("text", { x: LEFT - 8, y: y + 4, class: "tick", "text-anchor": "end" }, say(most * share))];
  });
}

function table(columns, names, say) {
  return h("table", { class: "figures" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "When"), names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, columns.map((column) => h("tr", {}, h("th", { scope: "row" }, column.label), names.map((name) => h("td", {}, say(column.parts[name] ?? 0)))))));
}

function height(value, most) {
  return HEIGHT - (value / most) * (HEIGHT - 10);
}

/** The next round number: scales end where people would end them. */
function scale(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= value);
}

function sum(parts) {
  return Object.values(parts).reduce((total, value) => total + value, 0);
}
