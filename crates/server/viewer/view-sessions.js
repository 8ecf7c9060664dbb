// All sessions, latest first, as long a list as there is.

import * as api from "./api.js";
import { fill, h } from "./dom.js";
import { plural } from "./format.js";
import { VirtualList } from "./list.js";
import { age, badge, choice, empty, fault, head } from "./parts.js";
import { go, note } from "./route.js";
import { projectChoice } from "./projects.js";

export const TITLE = "Sessions";
// As the server writes into the page.
const PAGE = 30;

export function show(main, place, { listen, signal }) {
  const asked = { project: place.query.project ?? "", agent: place.query.agent ?? "" };
  const pages = { next: null, isLoading: false, isFull: false };
  const list = new VirtualList({ label: TITLE, row, open: (item) => go("session", item.id), more: () => load() });
  const state = h("div", { class: "state" });
  const load = async (fresh = false) => {
    if (pages.isLoading || (!fresh && pages.isFull)) return;
    pages.isLoading = true;
    try {
      const query = { ...asked, limit: PAGE, before: fresh ? null : pages.next };
      const page = await api.list("/v1/sessions", query, signal);
      Object.assign(pages, { next: page.next, isFull: page.next === null });
      pages.isLoading = false;
      if (fresh) list.set(page.items, { fresh: asked.isNew });
      else list.add(page.items);
      named(agents, list.items, asked.agent);
      fill(state, list.items.length ? [] : nothing(asked));
    } catch (error) {
      pages.isLoading = false;
      pages.isFull = true;
      if (error.name !== "AbortError")
        fill(
          state,
          fault(error, () => load(true)),
        );
    }
  };
  const change = (name) => (value) => {
    asked[name] = value;
    note("sessions", null, asked);
    load(true);
  };
  const agents = choice("Agent", [["", "All agents"]], asked.agent, change("agent"));
  const tools = [projectChoice(asked.project, change("project")), agents];
  fill(main, head(TITLE, null, tools), state, list.node);
  load(true);
  listen((kind) => kind === "turn" && list.node.scrollTop < 40 && load(true));
  return { j: () => list.move(1), k: () => list.move(-1), Enter: () => list.item && go("session", list.item.id) };
}

function nothing({ project, agent }) {
  if (project || agent) return empty("No session fits these filters.");
  const text = "No session was captured yet. Every conversation with an agent is listed here, to be read turn by turn.";
  return empty(text, "tow data import", " for what your agents have kept so far");
}

/** The agents that were met so far can be chosen. */
function named(node, sessions, value) {
  const known = new Set([...node.options].map((option) => option.value));
  const met = new Set(
    [value, ...sessions.map((session) => session.agent)].filter((agent) => agent && !known.has(agent)),
  );
  node.append(...[...met].map((agent) => h("option", { value: agent, selected: agent === value }, agent)));
}

function row(session) {
  return h(
    "div",
    { class: "row" },
    h(
      "div",
      { class: "text" },
      h("span", { class: "title", dir: "auto" }, session.last_line || session.first_line || "nothing said"),
      h(
        "span",
        { class: "where" },
        [session.project, session.branch, session.agent, session.id].filter(Boolean).map((part) => h("span", {}, part)),
      ),
    ),
    h(
      "div",
      { class: "edge" },
      age(session.last_at),
      h("span", {}, plural(session.turns ?? 0, "turn")),
      session.forked_from && badge("fork"),
    ),
  );
}
