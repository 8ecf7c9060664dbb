// The chain of sessions that a session's work came through, as a drawing whose knots are links.

import { h, svg } from "./dom.js";
import { to } from "./route.js";

const [STEP_X, STEP_Y, WIDTH, HEIGHT] = [132, 42, 96, 30];

/** Forebears left, heirs right; the session itself stands out. Edges are `{from, to, how, at}` or name one other session. */
export function chain(id, forebears, heirs) {
  const edges = [...forebears.map((each) => edge(each, id, "from")), ...heirs.map((each) => edge(each, id, "to"))];
  const places = laidOut(id, edges);
  const [wide, high] = ["x", "y"].map((axis) => Math.max(...[...places.values()].map((place) => place[axis])));
  const size = {
    viewBox: `-2 -2 ${wide + WIDTH + 4} ${high + HEIGHT + 4}`,
    width: wide + WIDTH + 4,
    height: high + HEIGHT + 4,
  };
  return h(
    "div",
    { class: "chain", tabindex: "0", role: "group", "aria-label": "inheritance" },
    svg(
      "svg",
      { ...size, class: "graph" },
      edges.map((each) => line(each, places)),
      [...places].map(([name, place]) => knot(name, place, name === id)),
    ),
  );
}

function edge(given, id, side) {
  if (typeof given === "string") return side === "from" ? { from: given, to: id } : { from: id, to: given };
  const other = given.session ?? given.id;
  const ends = side === "from" ? { from: other, to: id } : { from: id, to: other };
  return { ...ends, ...given, from: short(given.from ?? ends.from), to: short(given.to ?? ends.to) };
}

/** `claude:…-1a2b3c4d` as `1a2b3c4d`: as sessions are called everywhere. */
function short(session) {
  return String(session).split(":").pop().slice(-8);
}

/** A column for each step away from the session, a row for each one in it. */
function laidOut(id, edges) {
  const columns = new Map([[id, 0]]);
  for (let round = 0; round < edges.length; round++) {
    for (const { from, to: heir } of edges) {
      if (columns.has(heir) && !columns.has(from)) columns.set(from, columns.get(heir) - 1);
      if (columns.has(from) && !columns.has(heir)) columns.set(heir, columns.get(from) + 1);
    }
  }
  const first = Math.min(...columns.values());
  const rows = new Map();
  return new Map(
    [...columns].map(([name, column]) => {
      const row = rows.get(column) ?? 0;
      rows.set(column, row + 1);
      return [name, { x: (column - first) * STEP_X, y: row * STEP_Y }];
    }),
  );
}

function line({ from, to: heir }, places) {
  const [start, end] = [places.get(from), places.get(heir)];
  if (!start || !end) return null;
  const [x1, y1, x2, y2] = [start.x + WIDTH, start.y + HEIGHT / 2, end.x, end.y + HEIGHT / 2];
  const bend = (x2 - x1) / 2;
  return svg("path", { class: "tie", d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` });
}

function knot(name, { x, y }, isSelf) {
  const box = svg("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 6 });
  const label = svg("text", { x: x + 16, y: y + HEIGHT / 2 + 4 }, name);
  return svg(
    "a",
    {
      href: to("session", name),
      class: isSelf ? "knot self" : "knot",
      "aria-label": isSelf ? `this session, ${name}` : `session ${name}`,
    },
    box,
    label,
  );
}
