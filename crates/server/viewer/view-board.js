// The live board: every seat by what it needs, longest wait first. Shows what the server judged, judges nothing.

import * as api from "./api.js";
import { fill, h } from "./dom.js";
import { notice, trouble } from "./dialogs.js";
import { ms, plural } from "./format.js";
import { contextBar, empty, fault, head, since, tick } from "./parts.js";
import { go, to } from "./route.js";

export const TITLE = "Board";

const NOBODY = "No agent is running. Each appears here with its state, its context and how long it has waited for you.";
// The names of the bar, the monitor and `tow status`, the most urgent first.
const STATES = ["blocked", "limited", "interrupted", "completed", "working", "idle"];

export function show(main, place, { listen, server, signal }) {
  const body = h("div", { class: "board" });
  const says = h("p", { class: "says", role: "status" }, "Looking at every seat…");
  const work = h("p", { class: "quiet", hidden: true });
  fill(main, h("header", { class: "head" }, h("div", {}, h("h1", {}, TITLE), says, work)), body);
  const board = { body, says, work, server, chosen: 0 };
  const load = () => refresh(board, signal);
  load();
  listen((kind) => ["seat", "turn"].includes(kind) && load());
  const clock = setInterval(() => tick(body), 1000);
  signal.addEventListener("abort", () => clearInterval(clock));
  const step = (by) => () => focusSeat(body, by);
  return { j: step(1), k: step(-1) };
}

async function refresh(board, signal) {
  try {
    const { seats } = await api.get("/v1/seats", {}, signal);
    paint(board, seats);
    await showWork(board.work, signal);
  } catch (error) {
    fill(
      board.body,
      fault(error, () => refresh(board, signal)),
    );
  }
}

// Long background work, such as distilling after an import.
async function showWork(node, signal) {
  const { work } = await api.get("/v1/jobs", { limit: 1 }, signal).catch(() => ({}));
  node.hidden = !work?.line;
  node.textContent = work?.line ? `Background work: ${work.line}` : "";
}

function paint({ body, says, server }, seats) {
  const focused = document.activeElement?.closest?.("[data-seat]")?.dataset.seat;
  const groups = STATES.map((state) => [state, seats.filter((seat) => shownState(seat) === state)]);
  const waiting = seats.filter((seat) => seat.state === "blocked").length;
  document.title = `${waiting ? `(${waiting}) ` : ""}${TITLE} · Towline`;
  says.textContent = inShort(groups);
  if (!seats.length)
    return void fill(body, empty(NOBODY, "tow setup", ", then start an agent in a terminal"));
  fill(
    body,
    groups.filter(([, all]) => all.length).map((group) => section(group, server)),
  );
  if (focused) body.querySelector(`[data-seat="${CSS.escape(focused)}"]`)?.focus();
}

// A turn that the user has looked at counts as idle, as in the bar.
function shownState({ state, seen }) {
  return seen && ["completed", "interrupted", "limited"].includes(state) ? "idle" : state;
}

function inShort(groups) {
  const parts = groups.filter(([, all]) => all.length).map(([state, all]) => `${all.length} ${state}`);
  return parts.join(" · ") || "No agent is running";
}

function section([state, seats], server) {
  const sorted = [...seats].sort((one, other) => (ms(one.since) ?? 0) - (ms(other.since) ?? 0));
  return h(
    "section",
    { class: "group", data: { state } },
    h(
      "h2",
      {},
      h("span", { class: "dot", "aria-hidden": "true" }),
      state[0].toUpperCase() + state.slice(1),
      h("span", { class: "many" }, String(seats.length)),
    ),
    h(
      "ul",
      { class: "seats" },
      sorted.map((seat) => row(seat, server)),
    ),
  );
}

function row(seat, server) {
  const session = seat.session?.split(":").pop();
  const open = () => session && go("session", session);
  const node = h(
    "li",
    { class: "seat", data: { seat: seat.seat ?? seat.session, state: seat.state } },
    since(seat.since),
    h(
      "div",
      { class: "what" },
      session
        ? h("a", { class: "prompt", href: to("session", session), dir: "auto" }, seat.prompt || "no prompt yet")
        : h("span", { class: "prompt" }, seat.prompt || "no prompt yet"),
      h(
        "span",
        { class: "where" },
        [seat.project, seat.branch, seat.model ?? seat.agent, why(seat), company(seat)]
          .filter(Boolean)
          .map((part) => h("span", {}, part)),
      ),
    ),
    contextBar(seat.context_percent),
    seat.pane
      ? h(
          "button",
          { type: "button", class: "goto", onclick: () => goto(seat) },
          "Go to",
          h("span", { class: "hidden" }, ` ${seat.prompt ?? seat.project ?? "seat"}`),
        )
      : h("span", { class: "goto" }, seat.pane ?? ""),
  );
  node.addEventListener("keydown", (event) => event.key === "Enter" && event.target === node && open());
  node.tabIndex = -1;
  return node;
}

function why(seat) {
  if (seat.state !== "blocked") return null;
  return seat.tool ? `wants ${seat.tool}` : seat.reason;
}

function company({ helpers, tasks }) {
  return [helpers && plural(helpers, "subagent"), tasks && plural(tasks, "task")].filter(Boolean).join(", ") || null;
}

async function goto(seat) {
  try {
    await api.post(`/v1/seats/${api.part(seat.session)}/goto`);
    notice(`Your terminal shows ${seat.project ?? "the seat"} now.`);
  } catch (error) {
    trouble(error);
  }
}

function focusSeat(body, by) {
  const all = [...body.querySelectorAll(".seat")];
  const at = all.indexOf(document.activeElement);
  const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
