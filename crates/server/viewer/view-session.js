// One session, to be read: what it was about, where it came from, its turns with what was said and done.

import * as api from "./api.js";
import { lineChart } from "./charts.js";
import { details } from "./details.js";
import { fill, h } from "./dom.js";
import { cost, count, plural, short } from "./format.js";
import { chain } from "./graph.js";
import { badge, empty, fault, head, loaded, when } from "./parts.js";
import { prose } from "./prose.js";
import { to } from "./route.js";

export const TITLE = "Session";
const PAGE = 50;

export function show(main, place, { listen, signal }) {
  if (!place.id) return void fill(main, head(TITLE), empty("No session was named.", "tow session list"));
  const about = h("div", { class: "about" }, h("p", { class: "quiet" }, "Reading…"));
  const turns = h("div", { class: "turns" });
  const top = h("div", {}, head(TITLE, place.id));
  const reader = { id: place.id, turns, signal, earlier: null, wanted: place.query.turn };
  const facts = h("aside", { class: "facts-aside", "aria-label": "Facts of this session" });
  reader.facts = facts;
  fill(main, h("div", { class: "reader" }, h("div", { class: "lead" }, top, about), facts, turns));
  const load = () =>
    loaded(
      about,
      () => api.get(`/v1/sessions/${api.part(place.id)}`, {}, signal),
      (answer) => aboutOf(answer, top, reader),
    );
  load().then(() => read(reader));
  listen((kind, change) => kind === "turn" && concerns(change, place.id) && read(reader));
  return { j: () => step(turns, 1), k: () => step(turns, -1), Enter: () => unfold() };
}

function concerns(change, id) {
  const about = change.session ?? change.id ?? "";
  return !about || about.includes(id) || id.includes(about);
}

function aboutOf(answer, top, reader) {
  const session = answer.session ?? answer;
  reader.bookmarks = answer.bookmarks ?? [];
  const facts = [session.branch, session.agent, session.model, plural(session.turns ?? 0, "turn")];
  fill(
    top,
    head(
      session.project ?? "Session",
      null,
      h("a", { class: "button", href: to("timeline", null, { anchor: session.id }) }, "On the timeline"),
    ),
    h(
      "p",
      { class: "where wide" },
      when(session.first_at),
      facts.filter(Boolean).map((fact) => h("span", {}, fact)),
      h("code", {}, session.id),
    ),
  );
  document.title = `${session.project ?? "Session"} ${session.id} · Towline`;
  fill(reader.facts, inheritance(answer, session), growth(answer), figures(answer));
  return summary(answer.summary);
}

function summary(told) {
  if (!told) return null;
  const parts = [
    ["Asked", told.request],
    ["Looked into", told.investigated],
    ["Learnt", told.learned],
    ["Done", told.completed],
    ["Next", told.next_steps],
    ["Notes", told.notes],
  ];
  const known = parts.filter(([, text]) => text);
  return known.length
    ? h(
        "dl",
        { class: "summary" },
        known.map(([name, text]) => [h("dt", {}, name), h("dd", { dir: "auto" }, text)]),
      )
    : null;
}

function inheritance(answer, session) {
  const { from = [], to: heirs = [] } = answer.inheritance ?? {};
  if (!from.length && !heirs.length) return null;
  return h("section", { class: "panel" }, h("h2", {}, "Inheritance"), chain(session.id, from, heirs));
}

function figures({ figures: known, spent }) {
  const all = known?.usage ?? [];
  const files = known?.files ?? [];
  if (!all.length && !files.length) return null;
  const kinds = [
    ["input", "Input"],
    ["output", "Output"],
    ["cache_read", "Cache read"],
    ["cache_write", "Cache write"],
  ];
  const rows = (each) => [
    h("dt", { class: "model" }, each.model),
    h("dd", {}, ""),
    kinds.map(([key, name]) => [h("dt", {}, name), h("dd", {}, short(each[key]))]),
  ];
  const path = (file) => (typeof file === "string" ? file : file.path);
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Tokens"),
    h(
      "dl",
      { class: "tokens" },
      all.map(rows),
      typeof spent?.cost_usd === "number" && [
        h("dt", { class: "model" }, "Cost"),
        h("dd", {}, `${spent.cost_is_whole ? "" : "at least "}${cost(spent.cost_usd)}`),
      ],
    ),
    files.length
      ? h(
          "details",
          {},
          h("summary", {}, plural(files.length, "file")),
          h(
            "ul",
            { class: "files" },
            files.map((file) => h("li", {}, h("code", {}, path(file)))),
          ),
        )
      : null,
  );
}

function growth(answer) {
  const points = answer.context ?? [];
  if (points.length < 2) return null;
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Context"),
    lineChart(
      points.map((point) => point.tokens ?? 0),
      { limit: points.at(-1).window, label: "tokens in the context" },
    ),
  );
}

/** Takes in the last turns, or those before the first that is shown. */
async function read(reader, before) {
  try {
    const path = `/v1/sessions/${api.part(reader.id)}/turns`;
    const page = await api.list(path, { limit: PAGE, before }, reader.signal);
    const inOrder = [...page.items].sort((one, other) => one.ordinal - other.ordinal);
    const articles = inOrder.map((turn) => article(turn, reader));
    reader.earlier = page.next ?? (page.earlier_turns ? inOrder[0]?.id : null);
    reader.turns.querySelector(".earlier")?.remove();
    if (before) reader.turns.prepend(...articles);
    else keepOpen(reader.turns, articles);
    if (reader.earlier)
      reader.turns.prepend(
        h("button", { type: "button", class: "earlier", onclick: () => read(reader, reader.earlier) }, "Earlier turns"),
      );
    if (!reader.turns.children.length) fill(reader.turns, empty("Nothing was captured of this session yet."));
    arrive(reader);
  } catch (error) {
    if (error.name !== "AbortError")
      fill(
        reader.turns,
        fault(error, () => read(reader, before)),
      );
  }
}

/** A turn that did not change stays the element it is: what was unfolded stays so. */
function keepOpen(node, articles) {
  const known = new Map([...node.querySelectorAll(".turn")].map((each) => [each.dataset.print, each]));
  fill(
    node,
    articles.map((each) => known.get(each.dataset.print) ?? each),
  );
}

function arrive(reader) {
  if (!reader.wanted) return;
  const node = reader.turns.querySelector(`[data-ordinal="${CSS.escape(reader.wanted)}"]`);
  if (!node) return;
  reader.wanted = null;
  node.scrollIntoView({ block: "start" });
  node.focus();
}

function article(turn, reader) {
  const marks = (reader.bookmarks ?? []).filter((mark) => mark.turn === turn.id || mark.turn === turn.ordinal);
  const all = turn.words ?? [];
  const said = all.map((body, index) =>
    h(
      "div",
      { class: "said", data: { speaker: body.speaker } },
      h(
        "span",
        { class: "speaker" },
        body.speaker === all[index - 1]?.speaker ? "" : body.speaker === "person" ? "You" : "Agent",
      ),
      h("div", { class: "words" }, prose(body.text)),
      body.left_out_bytes ? h("p", { class: "quiet" }, `${count(body.left_out_bytes)} bytes left out`) : null,
    ),
  );
  return h(
    "article",
    {
      class: "turn",
      tabindex: "-1",
      data: {
        ordinal: turn.ordinal,
        reverted: turn.reverted || "",
        print: JSON.stringify([turn.id, turn.until, turn.details, said.length, turn.reverted]),
      },
    },
    h(
      "header",
      {},
      h("h3", {}, `Turn ${turn.ordinal}`),
      when(turn.at),
      turn.origin !== "human" && badge(turn.origin),
      turn.reverted && badge("taken back", "bad"),
      turn.stopped && badge(turn.stopped, "bad"),
      marks.map((mark) => badge(`bookmark: ${mark.label || mark.id}`, "mark")),
    ),
    said.length ? said : h("p", { class: "quiet", dir: "auto" }, turn.line),
    details(turn, reader.signal),
  );
}

function step(node, by) {
  const all = [...node.querySelectorAll(".turn")];
  const at = all.indexOf(document.activeElement?.closest(".turn"));
  const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "start" });
}

function unfold() {
  const fold = document.activeElement?.matches(".turn") && document.activeElement.querySelector("details");
  if (fold) fold.open = !fold.open;
}
