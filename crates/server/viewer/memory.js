// One memory, whole: what it says, where it came from, what became of it, and what can be done with it.

import * as api from "./api.js";
import { change } from "./changes.js";
import { form, sure } from "./dialogs.js";
import { fill, h } from "./dom.js";
import { plural } from "./format.js";
import { badge, fault, when } from "./parts.js";
import { inline, prose } from "./prose.js";
import { to, turnOf } from "./route.js";

/** The types that have a name of their own; a person may use any other word. */
export const TYPES = [
  "decision",
  "preference",
  "gotcha",
  "discovery",
  "bugfix",
  "feature",
  "refactor",
  "change",
  "security",
];

/** The parts of a text that a teammate may propose to change, in the order in which they are shown. */
const FIELDS = ["type", "title", "subtitle", "narrative", "facts", "concepts", "files"];

/** Shows a memory in a place; `done` is called after it was changed. Gives the keys that act on it. */
export function memoryIn(node, id, { server, signal, done }) {
  const pane = { node, id, server, signal, done, memory: null };
  read(pane);
  const key = (act) => () => pane.memory && server.write && act(pane);
  return { e: key(edit), p: key(pin), x: key(forget), s: key(supersede), h: key(hold), reload: () => read(pane) };
}

async function read(pane) {
  if (pane.isGoing) return;
  try {
    const [answer, proposed] = await Promise.all([
      api.get(`/v1/memories/${api.part(pane.id)}`, {}, pane.signal),
      api.get("/v1/proposals", {}, pane.signal),
    ]);
    const memory = answer.memory ?? answer;
    const wishes = proposed.team.filter((wish) => wish.memory?.id === memory.id);
    // What is the same stays as it is: a button must not go away under a finger.
    const print = JSON.stringify([answer, wishes]);
    if (print === pane.print) return;
    Object.assign(pane, { print, memory, wishes });
    fill(pane.node, told(pane, answer));
  } catch (error) {
    if (error.name !== "AbortError")
      fill(
        pane.node,
        fault(error, () => read(pane)),
      );
  }
}

function told(pane, answer) {
  const memory = pane.memory;
  return h(
    "article",
    { class: "memory" },
    h(
      "header",
      {},
      h(
        "p",
        { class: "where" },
        badge(memory.type, "type"),
        memory.pinned_at && badge("pinned", "mark"),
        memory.proposed_at && badge("proposed", "mark"),
        memory.held_back && badge("held back", "bad"),
        memory.superseded && badge("superseded", "bad"),
        h("span", {}, memory.project),
        h("code", {}, memory.id),
      ),
      h("h2", { dir: "auto" }, inline(memory.title)),
      memory.subtitle && h("p", { class: "quiet", dir: "auto" }, memory.subtitle),
    ),
    pane.server.write ? tools(pane) : null,
    memory.held_back && h("p", { class: "warning" }, `Held back from every model: ${memory.held_back}`),
    memory.narrative && h("div", { class: "words" }, prose(memory.narrative)),
    memory.facts?.length
      ? h(
          "ul",
          { class: "facts" },
          memory.facts.map((fact) => h("li", { dir: "auto" }, inline(fact))),
        )
      : null,
    memory.proposed_at ? proposal(pane) : null,
    pane.wishes.map((wish) => wished(pane, wish)),
    origin(memory),
    replaced(memory, answer.chain),
    trace(answer.trace),
  );
}

function tools(pane) {
  const button = (text, key, act, kind) =>
    h(
      "button",
      {
        type: "button",
        class: kind,
        data: { act: text.toLowerCase() },
        "aria-keyshortcuts": key,
        onclick: () => act(pane),
      },
      text,
    );
  const { memory } = pane;
  return h(
    "div",
    { class: "buttons" },
    button("Edit", "e", edit),
    button(memory.pinned_at ? "Unpin" : "Pin", "p", pin),
    button("Supersede", "s", supersede),
    button(memory.held_back ? "Release" : "Hold", "h", hold),
    button("Undo", "u", undo),
    button("Forget", "x", forget, "danger"),
  );
}

/** An agent proposes to pin it: the whole text is above the answer. */
function proposal(pane) {
  const { memory, id } = pane;
  const answer = (verb, says) => () => act(pane, says, () => api.post(`/v1/memories/${api.part(id)}/${verb}`));
  const button = (text, says) =>
    h("button", { type: "button", data: { act: text.toLowerCase() }, onclick: answer(text.toLowerCase(), says) }, text);
  return h(
    "section",
    { class: "proposal", "aria-label": "Proposal" },
    h("h3", {}, "An agent proposes to pin this"),
    h("p", { class: "quiet" }, "Accepted, it is given to every session as your own words. Rejected, it stays a note."),
    memory.held_back && h("p", { class: "warning" }, "It is held back: release it before you accept it."),
    pane.server.write &&
      h(
        "div",
        { class: "buttons" },
        button("Accept", `${id} is pinned`),
        button("Reject", `${id} stays an agent's note`),
      ),
  );
}

/** A teammate proposes a change of it: all of the change is above the answer. */
function wished(pane, wish) {
  const button = (text, verb) =>
    h(
      "button",
      { type: "button", data: { act: `${verb}-change` }, onclick: () => answered(pane, wish, verb) },
      text,
    );
  return h(
    "section",
    { class: "proposal", "aria-label": `Proposal ${wish.id}` },
    h("h3", {}, `${wish.by} proposes to ${wish.change ?? "change"} this`),
    changesOf(pane.memory, wish),
    wish.suspicion &&
      h("p", { class: "warning" }, `Dangerous: ${wish.suspicion}. Accepted, it is held back from every model.`),
    h("p", { class: "quiet" }, "Accepted, the text counts as a teammate's. Rejected, your memory stays as it is."),
    pane.server.write &&
      h("div", { class: "buttons" }, button("Accept", "accept"), button("Reject", "reject")),
  );
}

async function answered(pane, wish, verb) {
  const isEnd = wish.change === "forget" && verb === "accept";
  pane.isGoing = isEnd;
  const undoable = verb === "accept" && !isEnd ? pane.id : null;
  const isDone = await change(undoable, `${wish.id} of ${wish.by} is ${verb}ed`, () =>
    api.post(`/v1/proposals/${api.part(wish.id)}/${verb}`),
  );
  pane.isGoing = isEnd && isDone;
  if (isDone) pane.done(isEnd ? "forgotten" : "changed");
}

/** The fields that differ, before and after; or why it would no longer hold. */
function changesOf(memory, wish) {
  if (wish.change === "forget") return h("p", {}, "It would be erased for good, on every machine.");
  if (wish.change === "supersede")
    return h("p", { dir: "auto" }, wish.instead && `${wish.instead.id} holds instead: ${wish.instead.title}. `, wish.why);
  const lines = (value) => (Array.isArray(value) ? value.map((item) => item.path ?? item).join("\n") : (value ?? ""));
  const rows = (wish.text ? FIELDS : [])
    .map((name) => [name, lines(memory[name]), lines(wish.text[name])])
    .filter(([, before, after]) => before !== after);
  return h(
    "dl",
    { class: "origin" },
    rows.map(([name, before, after]) => [
      h("dt", {}, name),
      h("dd", { dir: "auto", style: { "white-space": "pre-line" } }, before && h("del", {}, before), before && " ", h("ins", {}, after)),
    ]),
  );
}

function origin(memory) {
  const files = (memory.files ?? []).map((file) => (typeof file === "string" ? file : file.path));
  const rows = [
    [
      "From",
      memory.turn
        ? h("a", { href: turnOf(memory.turn) }, memory.turn)
        : memory.maker === "person"
          ? "told by a person"
          : null,
    ],
    ["Made", [when(memory.made_at), memory.maker && ` by ${memory.maker}`, memory.branch && ` on ${memory.branch}`]],
    ["Trust", [memory.level ?? memory.trust, memory.confidence !== undefined && `, ${memory.confidence} %`].filter(Boolean)],
    ["About", memory.concepts?.length ? memory.concepts.map((concept) => [badge(concept, "plain"), " "]) : null],
    [
      "Files",
      files.length
        ? h(
            "ul",
            { class: "files" },
            files.map((file) => h("li", {}, h("code", {}, file))),
          )
        : null,
    ],
    [
      "Size",
      `${plural(memory.tokens ?? 0, "token")}${memory.cost ? `, found at the cost of ${memory.cost.toLocaleString("en-GB")}` : ""}`,
    ],
    ["Around it", h("a", { href: to("timeline", null, { anchor: memory.id }) }, "timeline")],
  ];
  return h(
    "dl",
    { class: "origin" },
    rows
      .filter(([, value]) => value && value.length !== 0)
      .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

function replaced(memory, chain) {
  if (!chain || chain.length < 2) return null;
  return h(
    "section",
    {},
    h("h3", {}, "Supersession"),
    h(
      "ol",
      { class: "steps" },
      chain.map((id) => h("li", {}, id === memory.id ? h("strong", {}, id) : h("a", { href: to("memories", id) }, id))),
    ),
  );
}

function trace(steps) {
  if (!steps?.length) return null;
  return h(
    "section",
    {},
    h("h3", {}, "History"),
    h(
      "ul",
      { class: "trace" },
      steps.map((step) =>
        h(
          "li",
          {},
          when(step.at),
          h(
            "span",
            {},
            [step.what, step.why && step.what !== step.why && ` (${step.why})`, step.undone_at && ", undone"]
              .filter(Boolean)
              .join(""),
          ),
        ),
      ),
    ),
  );
}

async function edit({ memory, id, done, ...pane }) {
  const given = await form({
    title: `Edit ${id}`,
    action: "Save",
    fields: [
      { name: "title", label: "Title", value: memory.title },
      { name: "subtitle", label: "Subtitle", value: memory.subtitle },
      { name: "narrative", label: "Narrative", value: memory.narrative, lines: 5 },
      { name: "facts", label: "Facts, one a line", value: (memory.facts ?? []).join("\n"), lines: 4 },
      { name: "type", label: "Type", value: memory.type, options: [...new Set([memory.type, ...TYPES])] },
    ],
  });
  if (!given) return;
  const facts = given.facts
    .split("\n")
    .map((fact) => fact.trim())
    .filter(Boolean);
  const now = { ...given, facts };
  const changed = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(memory[name] ?? (name === "facts" ? [] : "")),
  );
  if (changed.length)
    await act({ ...pane, id, done }, `Edited ${id}`, () =>
      api.patch(`/v1/memories/${api.part(id)}`, Object.fromEntries(changed)),
    );
}

function pin(pane) {
  const verb = pane.memory.pinned_at ? "unpin" : "pin";
  return act(pane, `${verb === "pin" ? "Pinned" : "Unpinned"} ${pane.id}`, () =>
    api.post(`/v1/memories/${api.part(pane.id)}/${verb}`),
  );
}

function hold(pane) {
  const verb = pane.memory.held_back ? "release" : "hold";
  return act(pane, verb === "hold" ? `${pane.id} is held back from every model` : `${pane.id} may be given again`, () =>
    api.post(`/v1/memories/${api.part(pane.id)}/${verb}`),
  );
}

async function supersede(pane) {
  const fields = [
    { name: "by", label: "The memory that holds instead, such as m12 (may be empty)" },
    { name: "because", label: "Why" },
  ];
  const given = await form({ title: `Supersede ${pane.id}`, action: "Supersede", fields });
  if (!given) return;
  const body = Object.fromEntries(Object.entries(given).filter(([, text]) => text.trim()));
  await act(pane, `${pane.id} holds no more`, () => api.post(`/v1/memories/${api.part(pane.id)}/supersede`, body));
}

function undo(pane) {
  return act(pane, `Undone: the last change of ${pane.id}`, () => api.post("/v1/undo", { id: pane.id }));
}

async function forget(pane) {
  const text = "It is erased here, in the index and in every copy of ours. This cannot be undone.";
  if (!(await sure(`Forget ${pane.id}?`, text, "Forget"))) return;
  // The stream may say that it changed before the answer is here: nobody asks for what is going.
  pane.isGoing = true;
  pane.isGoing = await change(null, `Forgot ${pane.id}`, () => api.remove(`/v1/memories/${api.part(pane.id)}`));
  if (pane.isGoing) pane.done("forgotten");
}

async function act(pane, says, ask) {
  if (await change(pane.id, says, ask)) pane.done("changed");
}
