// The feed of memories, and search as one types: two lists of one shape, with the chosen memory beside them.

import * as api from "./api.js";
import { drawn, fill, h } from "./dom.js";
import { moment, short } from "./format.js";
import { VirtualList } from "./list.js";
import { memoryIn, TYPES } from "./memory.js";
import { age, badge, choice, empty, fault, marked } from "./parts.js";
import { inline } from "./prose.js";
import { projectChoice } from "./projects.js";
import { note, placeOf } from "./route.js";

export const TITLE = "Memories";
// As the server writes into the page.
const PAGE = 30;
// Changes that teammates propose, each with a line of its own.
const WISHES = 8;
const KINDS = [
  ["", "Everything"],
  ["memory", "Memories"],
  ["summary", "Summaries"],
  ["body", "Messages"],
  ["detail", "Tool output"],
  ["bookmark", "Bookmarks"],
];
// Kinds of hits that a person calls otherwise.
const SPOKEN = { body: "message", detail: "tool output" };
// Most of what tools print is not in the index: it is read from the archive, which takes longer.
const DEPTHS = [
  ["", "By the index"],
  ["true", "In all tool output"],
];
const SHOWN = [
  ["", "In force"],
  ["pinned", "Pinned"],
  ["held", "Held back"],
  ["proposed", "Proposed"],
];

export function show(main, place, tools) {
  const view = {
    ...tools,
    asked: { q: "", kind: "", deep: "", type: "", project: "", shown: "", ...place.query },
    id: place.id,
    next: null,
    keys: {},
    isFull: false,
    isLoading: false,
    asking: null,
  };
  delete view.asked.find;
  build(main, view);
  // What is beside the rows is asked for after them: the server counts for a while.
  load(view, true)
    .then(drawn)
    .then(() => proposed(view));
  if (view.id) open(view, view.id);
  if (place.query.find || (!view.id && place.query.q)) view.field.focus();
  tools.listen((kind, change) => kind === "memory" && heard(view, change));
  const undone = () => refresh(view);
  document.addEventListener("undone", undone);
  tools.signal.addEventListener("abort", () => document.removeEventListener("undone", undone));
  const act = (key) => () => view.keys[key]?.();
  return {
    "/": () => focusField(view),
    j: () => move(view, 1),
    k: () => move(view, -1),
    Enter: () => view.list.item && openItem(view, view.list.item),
    Escape: () => leave(view),
    e: act("e"),
    p: act("p"),
    x: act("x"),
    s: act("s"),
    h: act("h"),
  };
}

function build(main, view) {
  view.field = h("input", {
    type: "search",
    "aria-label": "Search all that is remembered",
    placeholder: "Search memories and messages",
    value: view.asked.q,
    autocomplete: "off",
    spellcheck: "false",
  });
  view.field.addEventListener("input", () => typed(view));
  view.field.addEventListener("keydown", (event) => fieldKey(view, event));
  view.count = h("p", { class: "says", role: "status" }, "");
  view.state = h("div", { class: "state" });
  view.proposals = h("div", { class: "state" });
  view.list = new VirtualList({
    label: TITLE,
    row: (item) => row(item),
    open: (item) => openItem(view, item),
    more: () => load(view),
  });
  view.pane = h("section", { class: "pane", "aria-label": "Memory" });
  const set = (name) => (value) => ((view.asked[name] = value), noted(view), load(view, true));
  view.kinds = choice("Kind", KINDS, view.asked.kind, set("kind"));
  view.depths = choice("Depth", DEPTHS, view.asked.deep, set("deep"));
  view.depths.hidden = !view.asked.q;
  view.shown = choice("Shown", SHOWN, view.asked.shown, set("shown"));
  const filters = h(
    "div",
    { class: "filters" },
    view.field,
    view.kinds,
    view.depths,
    choice("Type", [["", "All types"], ...TYPES.map((type) => [type, type])], view.asked.type, set("type")),
    projectChoice(view.asked.project, set("project")),
    view.shown,
  );
  fill(
    main,
    h("header", { class: "head" }, h("div", {}, h("h1", {}, TITLE), view.count), filters),
    h(
      "div",
      { class: "split", data: { open: view.id ? "yes" : "" } },
      h("div", { class: "half" }, view.proposals, view.state, view.list.node),
      view.pane,
    ),
  );
}

/** One question at a time: the first letter is asked at once, and what was typed meanwhile when its answer is there. */
async function typed(view) {
  if (view.isTyping) return;
  view.isTyping = true;
  while (view.asked.q !== view.field.value.trim() && !view.signal.aborted) {
    view.asked.q = view.field.value.trim();
    noted(view);
    await load(view, true);
  }
  view.isTyping = false;
}

function fieldKey(view, event) {
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in steps) view.list.move(steps[event.key]);
  else if (event.key === "Enter" && view.list.items.length) openItem(view, view.list.item ?? view.list.items[0]);
  else return;
  event.preventDefault();
}

function focusField(view) {
  view.field.focus();
  view.field.select();
}

function noted(view) {
  note("memories", view.id, view.asked);
}

/** Takes in the first page anew, or the one after the last. A question that is overtaken by the next is dropped. */
async function load(view, fresh = false) {
  if (!fresh && (view.isFull || view.isLoading)) return;
  view.asking?.abort();
  const asking = (view.asking = new AbortController());
  view.signal.addEventListener("abort", () => asking.abort(), { once: true });
  view.isLoading = true;
  try {
    const page = await (view.asked.q ? found(view, asking.signal) : fed(view, fresh, asking.signal));
    Object.assign(view, { next: page.next, isFull: page.next === null, isLoading: false, pending: page.pending ?? 0, reached: page.reached });
    if (fresh) view.list.set(page.items, { fresh: view.before !== view.asked.q });
    else view.list.add(page.items);
    view.before = view.asked.q;
    counted(view);
  } catch (error) {
    if (error.name === "AbortError") return;
    Object.assign(view, { isFull: true, isLoading: false });
    view.list.set([]);
    fill(
      view.state,
      fault(error, () => load(view, true)),
    );
  }
}

/** Says how many proposals wait for the person, and leads to them. */
async function proposed(view) {
  const open = await api.get("/v1/proposals", {}, view.signal).catch(() => null);
  const many = open?.proposals.length ?? 0;
  const all = () => ((view.shown.value = view.asked.shown = "proposed"), noted(view), load(view, true));
  const says = `${many === 1 ? "1 proposal" : `${many} proposals`} of agents to pin`;
  const button = (text, act) => h("button", { type: "button", class: "plain", onclick: act }, text);
  const team = open?.team ?? [];
  const wish = ({ by, change, memory }) =>
    button(`${by} proposes to ${change ?? "change"} ${memory.id}`, () => openItem(view, memory));
  const more = team.length > WISHES && h("p", { class: "quiet" }, `and ${team.length - WISHES} more: tow memory proposals`);
  fill(view.proposals, many ? button(says, all) : [], team.slice(0, WISHES).map(wish), more);
}

function fed({ asked, next }, fresh, signal) {
  const only = asked.shown ? { [asked.shown]: true } : {};
  return api.list(
    "/v1/memories",
    { type: asked.type, project: asked.project, ...only, limit: PAGE, before: fresh ? null : next },
    signal,
  );
}

async function found({ asked }, signal) {
  const { q, kind, deep, type, project } = asked;
  const answer = await api.list("/v1/search", { q, kind, deep, type, project, limit: 50 }, signal);
  return { ...answer, next: null };
}

function counted(view) {
  // One is for what is searched, the other for the feed: who sees a filter may believe it.
  view.kinds.disabled = view.depths.hidden = !view.asked.q;
  view.shown.hidden = Boolean(view.asked.q);
  const many = view.list.items.length;
  view.count.textContent = view.asked.q
    ? `${many} found${view.pending ? `, ${short(view.pending)} turns still being indexed` : ""}${
        view.reached ? `, tool output before ${moment(view.reached)} was not read` : ""
      }`
    : many
      ? `${short(many)}${view.isFull ? "" : "+"}, newest first`
      : "";
  fill(view.state, many ? [] : nothing(view.asked));
}

function nothing({ q, type, project, shown }) {
  if (q) return empty(`Nothing was found for “${q}”.`, "tow search --help", " for what can be asked");
  if (type || project || shown) return empty("No memory fits these filters.");
  const text = "Nothing is remembered yet. Decisions, fixes and preferences of your sessions are listed and searched here.";
  return empty(text, "tow data import", ", or write one yourself: tow remember 'what is worth knowing'");
}

function row(item) {
  const isHit = item.kind !== undefined;
  const text = isHit ? item.snippet : item.narrative || item.facts?.[0] || item.subtitle;
  const title = item.title || item.snippet || "";
  return h(
    "div",
    { class: "row", data: { superseded: Boolean(item.superseded) || "" } },
    h(
      "div",
      { class: "text" },
      h("span", { class: "title", dir: "auto" }, item.words ? marked(title, item.words) : inline(title)),
      h("span", { class: "more", dir: "auto" }, marked(text ?? "", item.words)),
      h(
        "span",
        { class: "where" },
        badge(item.type ?? SPOKEN[item.kind] ?? item.kind, "type"),
        item.pinned_at && badge("pinned", "mark"),
        item.proposed_at && badge("proposed", "mark"),
        item.held_back && badge("held back", "bad"),
        h("span", {}, item.project),
        h("span", {}, item.id),
        isHit && h("span", { class: "reasons" }, `by ${(item.reasons ?? []).join(", ")}`),
      ),
    ),
    h("div", { class: "edge" }, age(item.at ?? item.made_at), !isHit && h("span", {}, `${short(item.tokens ?? 0)} tok`)),
  );
}

function openItem(view, item) {
  if (item.kind === undefined || item.kind === "memory") open(view, item.id);
  else location.hash = placeOf(item.kind, item.id);
}

function open(view, id) {
  view.id = id;
  noted(view);
  view.pane.parentElement.dataset.open = "yes";
  const body = h("div", { class: "body" }, h("p", { class: "quiet" }, "Reading…"));
  fill(view.pane, h("button", { type: "button", class: "plain back", onclick: () => leave(view) }, "Close"), body);
  view.pane.scrollTop = 0;
  view.keys = memoryIn(body, id, {
    server: view.server,
    signal: view.signal,
    done: (how) => (how === "forgotten" ? (leave(view), load(view, true)) : refresh(view)),
  });
}

function leave(view) {
  view.field.blur();
  view.id = null;
  view.keys = {};
  noted(view);
  view.pane.parentElement.dataset.open = "";
  fill(view.pane);
}

function move(view, by) {
  view.list.move(by);
  const wide = matchMedia("(min-width: 60rem)").matches;
  const { item } = view.list;
  if (wide && item && (item.kind === undefined || item.kind === "memory")) open(view, item.id);
}

function refresh(view) {
  view.keys.reload?.();
  proposed(view);
  load(view, true);
}

/** The list is taken in anew only where nobody is reading further down. */
function heard(view, change) {
  if (view.id && (change.id === view.id || (change.ids ?? []).includes(view.id))) view.keys.reload?.();
  if (view.list.node.scrollTop < 40) load(view, true);
  proposed(view);
}
