// What happened around a moment: turns, memories, summaries, bookmarks, in the order of time.

import * as api from "./api.js";
import { fill, h } from "./dom.js";
import { day, ms, moment } from "./format.js";
import { badge, empty, fault } from "./parts.js";
import { projectChoice } from "./projects.js";
import { note, placeOf } from "./route.js";

export const TITLE = "Timeline";
const STEP = 20;

export function show(main, place, { listen, signal }) {
  const view = { asked: { anchor: "", project: "", ...place.query }, before: STEP, after: STEP, signal };
  view.body = h("div", { class: "timeline" }, h("p", { class: "quiet" }, "Reading…"));
  const field = h("input", {
    type: "search",
    "aria-label": "Around what: an id, a time, or words",
    placeholder: "m12, 14:00, words…",
    value: view.asked.anchor,
    autocomplete: "off",
  });
  field.addEventListener("change", () => around(view, field.value.trim()));
  const project = projectChoice(
    view.asked.project,
    (value) => ((view.asked.project = value), around(view, view.asked.anchor)),
  );
  fill(
    main,
    h("header", { class: "head" }, h("div", {}, h("h1", {}, TITLE)), h("div", { class: "filters" }, field, project)),
    view.body,
  );
  load(view);
  listen((kind) => ["turn", "memory"].includes(kind) && !view.asked.anchor && load(view));
  const step = (by) => () => focusEntry(view.body, by);
  return { j: step(1), k: step(-1), "/": () => field.focus() };
}

function around(view, anchor) {
  Object.assign(view, { before: STEP, after: STEP });
  view.asked.anchor = anchor;
  note("timeline", null, view.asked);
  load(view);
}

async function load(view) {
  try {
    const { anchor, project } = view.asked;
    const query = {
      anchor: isId(anchor) ? anchor : null,
      q: isId(anchor) ? null : anchor,
      project,
      before: view.before,
      after: view.after,
    };
    const answer = await api.list("/v1/timeline", query, view.signal);
    const entries = answer.entries ?? answer.items;
    fill(view.body, entries.length ? drawn(view, entries) : nothing(view.asked));
    view.body.querySelector("[data-anchor=true]")?.scrollIntoView({ block: "center" });
  } catch (error) {
    if (error.name !== "AbortError")
      fill(
        view.body,
        fault(error, () => load(view)),
      );
  }
}

function nothing({ anchor, project }) {
  if (anchor || project) return empty("Nothing is known around this.");
  const text = "Nothing happened yet. Turns, memories, summaries and bookmarks are shown here in the order of time.";
  return empty(text, "tow data import", " for what your agents have kept so far");
}

function isId(anchor) {
  return /^(m\d+|[0-9a-f]{8}(#[\d.]+)?|[\d:T.Z -]+)$/i.test(anchor);
}

function drawn(view, entries) {
  const more = (side, text) =>
    h(
      "button",
      { type: "button", class: "earlier", onclick: () => ((view[side] = Math.min(view[side] + 40, 100)), load(view)) },
      text,
    );
  const days = Map.groupBy ? Map.groupBy(entries, (entry) => day(entry.at)) : grouped(entries);
  const at = entries.findIndex((entry) => entry.is_anchor);
  const [before, after] = at < 0 ? [entries.length, 0] : [at, entries.length - at - 1];
  const first = before >= view.before ? more("before", "Earlier") : null;
  const last = after >= view.after ? more("after", "Later") : null;
  return [
    first,
    [...days].map(([name, all]) =>
      h("section", {}, h("h2", {}, name), h("ol", { class: "entries" }, all.map(entryOf))),
    ),
    last,
  ];
}

function grouped(entries) {
  const days = new Map();
  for (const entry of entries) days.set(day(entry.at), [...(days.get(day(entry.at)) ?? []), entry]);
  return days;
}

function entryOf(entry) {
  const at = ms(entry.at);
  return h(
    "li",
    { data: { kind: entry.kind, anchor: Boolean(entry.is_anchor) } },
    h("time", { class: "when" }, at === null ? "" : moment(at).split(" ").pop()),
    h("span", { class: "bead", "aria-hidden": "true" }),
    h("a", { href: placeOf(entry.kind, entry.id), dir: "auto" }, entry.title || entry.id),
    h("span", { class: "where" }, badge(entry.kind, "type"), h("span", {}, entry.project), h("span", {}, entry.id)),
  );
}

function focusEntry(body, by) {
  const all = [...body.querySelectorAll(".entries a")];
  const next = all[Math.min(Math.max(all.indexOf(document.activeElement) + by, 0), all.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
