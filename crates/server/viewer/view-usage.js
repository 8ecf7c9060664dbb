// Tokens and cost by day, model and project; how long agents waited for a person. Adds up nothing that the server counted.

import * as api from "./api.js";
import { stackedBars } from "./charts.js";
import { fill, h } from "./dom.js";
import { cost, count, length, short, shortDay } from "./format.js";
import { choice, empty, head, loaded, waiting } from "./parts.js";
import { note } from "./route.js";

export const TITLE = "Usage";
const KINDS = [
  ["input", "Input"],
  ["output", "Output"],
  ["cache_write", "Cache writes"],
  ["cache_read", "Cache reads"],
];

export function show(main, place, { signal }) {
  const view = { asked: { days: "14", ...place.query }, signal };
  const places = {
    tokens: waiting(),
    money: waiting(),
    model: waiting(),
    project: waiting(),
    blocked: waiting(),
  };
  const days = choice(
    "Days",
    [
      ["7", "7 days"],
      ["14", "14 days"],
      ["30", "30 days"],
      ["90", "90 days"],
    ],
    view.asked.days,
    (value) => ((view.asked.days = value), note("usage", null, view.asked), load(view, places)),
  );
  const panel = (title, node) => h("section", { class: "panel" }, h("h2", {}, title), node);
  fill(
    main,
    head(TITLE, "Tokens, cost and waiting, as they were counted", days),
    h(
      "div",
      { class: "panels" },
      panel("Tokens by day", places.tokens),
      panel("Cost by day", places.money),
      panel("By model", places.model),
      panel("By project", places.project),
      panel("Time that agents waited for you", places.blocked),
    ),
  );
  load(view, places);
}

function load({ asked, signal }, places) {
  const from = new Date(Date.now() - (Number(asked.days) - 1) * 86400000).toISOString().slice(0, 10);
  const by = (what) => api.list("/v1/usage", { by: what, from }, signal);
  const byDay = by("day");
  loaded(
    places.tokens,
    () => byDay,
    (page) => tokensByDay(page.items),
  );
  loaded(
    places.money,
    () => byDay,
    (page) => costByDay(page.items),
  );
  loaded(
    places.model,
    () => by("model"),
    (page) => tableOf("Model", page.items),
  );
  loaded(
    places.project,
    () => by("project"),
    (page) => tableOf("Project", page.items),
  );
  loaded(places.blocked, () => api.get("/v1/report", { days: asked.days }, signal), blocked);
}

function nothing() {
  return empty("No tokens were counted in this time. Those of every response are added up here.", "tow data import", " for what your agents have kept so far");
}

function tokensByDay(rows) {
  if (!rows.length) return nothing();
  const columns = rows.map((row) => ({
    label: shortDay(keyOf(row)),
    parts: Object.fromEntries(KINDS.map(([key, name]) => [name, tokensOf(row)[key] ?? 0])),
  }));
  return stackedBars(columns, { names: KINDS.map(([, name]) => name), label: "tokens by day" });
}

function costByDay(rows) {
  if (!rows.some((row) => costOf(row))) return empty("No cost is known for this time. It is what the tokens cost by the list of prices.", "tow usage", " for the same in a terminal");
  return stackedBars(
    rows.map((row) => ({ label: shortDay(keyOf(row)), parts: { Cost: costOf(row) } })),
    { names: ["Cost"], label: "cost by day", say: cost },
  );
}

function tableOf(title, rows) {
  if (!rows.length) return nothing();
  const most = Math.max(...rows.map(total), 1);
  const row = (each) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        keyOf(each),
        h(
          "span",
          { class: "track", "aria-hidden": "true" },
          h("span", { class: "full", style: { width: `${(100 * total(each)) / most}%` } }),
        ),
      ),
      KINDS.map(([key, name]) => h("td", { data: { name } }, short(tokensOf(each)[key]))),
      h("td", { data: { name: "Cost" } }, costOf(each) ? `${each.cost_is_whole === false ? "≥ " : ""}${cost(costOf(each))}` : "–"),
    );
  return h(
    "table",
    { class: "figures" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        [title, ...KINDS.map(([, name]) => name), "Cost"].map((name) => h("th", { scope: "col" }, name)),
      ),
    ),
    h("tbody", {}, rows.map(row)),
  );
}

function blocked(report) {
  const days = report.days ?? [];
  if (!days.some((each) => each.waited_ms)) return empty("No agent waited for you in this time. The time is counted here by day.", "tow next", " to go to one that waits");
  const columns = days.map((each) => ({ label: shortDay(each.day), parts: { Waited: each.waited_ms } }));
  const worst = report.longest_ms
    ? `Longest: ${length(report.longest_ms)}${report.longest_in ? ` in ${report.longest_in}` : ""}. `
    : "";
  return [
    stackedBars(columns, {
      names: ["Waited"],
      label: "time waited by day",
      say: (value) => (value ? length(value) : "0"),
    }),
    h("p", { class: "quiet" }, `${worst}${count(report.times)} times, ${length(report.waited_ms ?? 0)} in all.`),
  ];
}

function tokensOf(row) {
  return row.tokens && typeof row.tokens === "object" ? row.tokens : row;
}

function total(row) {
  return KINDS.reduce((sum, [key]) => sum + (tokensOf(row)[key] ?? 0), 0);
}

function costOf(row) {
  return Number(row.cost_usd ?? 0);
}

function keyOf(row) {
  return row.day ?? row.model ?? row.project ?? row.session ?? "none";
}
