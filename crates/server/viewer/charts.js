// Charts drawn by hand: bars in stacks, a line, one bar of parts. Each says its numbers in a table for who cannot see it.

import { fill, h, svg } from "./dom.js";
import { short } from "./format.js";

const [HEIGHT, LEFT, FOOT] = [150, 56, 22];

/** Columns of stacked parts. `columns` are `{label, parts: {name: value}}`; `say` writes a value. */
export function stackedBars(columns, { names, label, say = short }) {
  const most = scale(Math.max(...columns.map((column) => sum(column.parts)), 0));
  const draw = (width) => {
    const step = (width - LEFT) / Math.max(columns.length, 1);
    const every = Math.ceil(48 / step);
    const bars = columns.map((column, index) =>
      stack(column, { names, most, x: LEFT + index * step + step * 0.16, width: step * 0.68, say }),
    );
    const labels = columns.map((column, index) =>
      index % every
        ? null
        : svg(
            "text",
            { x: LEFT + (index + 0.5) * step, y: HEIGHT + 16, class: "tick", "text-anchor": "middle" },
            column.label,
          ),
    );
    return [grid(most, width, say), bars, labels];
  };
  return figure(label, names, draw, table(columns, names, say));
}

/** One line over time, with its limit as a dashed one. */
export function lineChart(values, { limit, label }) {
  const most = scale(Math.max(limit ?? 0, ...values));
  const draw = (width) => {
    const x = (index) => LEFT + (index / Math.max(values.length - 1, 1)) * (width - LEFT - 4);
    const points = values.map((value, index) => `${x(index).toFixed(1)},${height(value, most).toFixed(1)}`);
    const area = `M${LEFT},${HEIGHT}L${points.join("L")}L${x(values.length - 1).toFixed(1)},${HEIGHT}Z`;
    const bound = limit ? svg("path", { class: "bound", d: `M${LEFT},${height(limit, most)}H${width}` }) : null;
    return [
      grid(most, width, short),
      bound,
      svg("path", { class: "area", d: area }),
      svg("polyline", { class: "curve", points: points.join(" ") }),
    ];
  };
  const columns = values.map((value, index) => ({ label: String(index + 1), parts: { tokens: value } }));
  return figure(label, [], draw, table(columns, ["tokens"], short));
}

/** One bar of parts, as wide as what holds it. `parts` are `{name, size, kind, title}`. */
export function partsBar(parts, limit, label) {
  const whole =
    Math.max(
      limit,
      parts.reduce((total, part) => total + part.size, 0),
    ) || 1;
  const piece = (part, index) =>
    h("span", {
      class: "piece",
      data: { tone: index % 6 },
      title: part.title,
      style: { width: `${(100 * part.size) / whole}%` },
    });
  return h("div", { class: "parts-bar", role: "img", "aria-label": label }, parts.map(piece));
}

/** Drawn anew for every width, so that letters keep their size. */
function figure(label, names, draw, numbers) {
  const drawing = svg("svg", { height: HEIGHT + FOOT, role: "img", "aria-label": label });
  new ResizeObserver(([{ contentRect }]) => contentRect.width && fill(drawing, draw(contentRect.width))).observe(
    drawing,
  );
  const legend =
    names.length > 1
      ? h(
          "ul",
          { class: "legend-list" },
          names.map((name, index) =>
            h("li", { data: { tone: index % 6 } }, h("span", { class: "swatch", "aria-hidden": "true" }), name),
          ),
        )
      : null;
  return h(
    "figure",
    { class: "chart" },
    drawing,
    legend,
    h("details", { class: "numbers" }, h("summary", {}, "Numbers"), numbers),
  );
}

function stack({ label, parts }, { names, most, x, width, say }) {
  let below = 0;
  return names.map((name, index) => {
    const value = parts[name] ?? 0;
    if (!value) return null;
    const [top, bottom] = [height(below + value, most), height(below, most)];
    below += value;
    return svg(
      "rect",
      { class: "bar", "data-tone": index % 6, x, y: top, width, height: Math.max(bottom - top, 0.5) },
      svg("title", {}, `${label}, ${name}: ${say(value)}`),
    );
  });
}

function grid(most, width, say) {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const y = height(most * share, most);
    return [
      svg("path", { class: "rule", d: `M${LEFT},${y}H${width}` }),
      share % 0.5
        ? null
        : svg("text", { x: LEFT - 8, y: y + 4, class: "tick", "text-anchor": "end" }, say(most * share)),
    ];
  });
}

function table(columns, names, say) {
  return h(
    "table",
    { class: "figures" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "When"),
        names.map((name) => h("th", { scope: "col" }, name)),
      ),
    ),
    h(
      "tbody",
      {},
      columns.map((column) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, column.label),
          names.map((name) => h("td", { data: { name } }, say(column.parts[name] ?? 0))),
        ),
      ),
    ),
  );
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
