// What the next session would be given: how its budget is used, what was left out and why, and a veto on each memory.

import * as api from "./api.js";
import { change } from "./changes.js";
import { partsBar } from "./charts.js";
import { fill, h } from "./dom.js";
import { count, plural } from "./format.js";
import { badge, empty, fault } from "./parts.js";
import { nameOf, projectChoice, projects } from "./projects.js";
import { note, to } from "./route.js";

export const TITLE = "Context";
const NOTHING = "No project is known yet. What the next session of a project is given is shown here, part by part.";

export function show(main, place, { server, signal, listen }) {
  const view = { asked: { project: "", ...place.query }, server, signal };
  view.body = h("div", { class: "context" }, h("p", { class: "quiet" }, "Composing…"));
  view.choice = projectChoice(
    view.asked.project,
    (value) => ((view.asked.project = value), note("context", null, view.asked), load(view)),
  );
  fill(
    main,
    h(
      "header",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, TITLE),
        h("p", { class: "says" }, "What the next session of a project is given, and why"),
      ),
      h("div", { class: "tools" }, view.choice),
    ),
    view.body,
  );
  load(view);
  listen((kind) => kind === "memory" && load(view));
}

async function load(view) {
  try {
    const project = view.asked.project || nameOf((await projects())[0]);
    view.choice.value = project;
    view.choice.querySelector("option[value='']")?.remove();
    view.choice.hidden = !project;
    if (!project) return void fill(view.body, empty(NOTHING, "tow data import", " for what your agents have kept so far"));
    const answer = await api.get("/v1/context", { project }, view.signal);
    fill(view.body, told(view, answer, project));
  } catch (error) {
    if (error.name !== "AbortError")
      fill(
        view.body,
        fault(error, () => load(view)),
      );
  }
}

function told(view, answer, project) {
  const all = answer.parts ?? answer.blocks ?? [];
  const given = all.filter((part) => part.size > 0 && !isLeftOut(part));
  const left = [...all.filter(isLeftOut), ...(answer.left_out ?? [])];
  const bar = given.map((part) => ({ ...part, title: `${part.what}: ${count(part.size)} characters` }));
  const used = answer.size ?? given.reduce((total, part) => total + part.size, 0);
  return [
    h(
      "section",
      { class: "panel budget" },
      h("h2", {}, project),
      partsBar(bar, answer.limit ?? used, `${count(used)} of ${count(answer.limit ?? used)} characters used`),
      h(
        "p",
        { class: "where wide" },
        h("span", {}, `${count(used)} of ${count(answer.limit ?? used)} characters`),
        answer.tokens && h("span", {}, plural(answer.tokens, "token")),
        answer.remembered && h("span", {}, `${answer.remembered.items} remembered`),
        answer.remembered?.learnt?.tokens
          ? h("span", {}, `learnt at ${count(answer.remembered.learnt.tokens)} tokens`)
          : null,
      ),
    ),
    h("ol", { class: "blocks" }, given.map(block)),
    left.length
      ? h(
          "section",
          { class: "panel" },
          h("h2", {}, "Left out"),
          h(
            "ul",
            { class: "left" },
            left.map((part) => h("li", {}, h("strong", {}, part.what ?? part.id), " ", part.why ?? "")),
          ),
        )
      : null,
    h(
      "section",
      { class: "panel" },
      h("h2", {}, "As it is given"),
      h(
        "div",
        { class: "given", tabindex: "0", role: "group", "aria-label": "the text that is given" },
        (answer.text ?? "").split("\n").map((line) => lineOf(line, view)),
      ),
    ),
  ];
}

function isLeftOut(part) {
  return ["dropped", "left out", "left_out", "cut", "nothing"].includes(part.state);
}

function block(part, index) {
  return h(
    "li",
    { data: { tone: index % 6 } },
    h("span", { class: "swatch", "aria-hidden": "true" }),
    h("strong", {}, part.what),
    h("span", { class: "why" }, part.why),
    part.state && part.state !== "whole" && badge(part.state, "plain"),
    h("span", { class: "figure" }, count(part.size)),
  );
}

/** A line that names a memory can be vetoed. */
function lineOf(line, view) {
  const id = line.match(/^(?:- |\[)?(m\d+)\b/)?.[1];
  if (!id) return h("p", { dir: "auto" }, line || "\u00a0");
  const veto =
    view.server.write &&
    h(
      "button",
      { type: "button", class: "plain veto", data: { veto: id }, onclick: () => hold(id, view) },
      "Veto",
      h("span", { class: "hidden" }, ` ${id}`),
    );
  const [before, after] = [line.slice(0, line.indexOf(id)), line.slice(line.indexOf(id) + id.length)];
  return h(
    "p",
    { class: "named", dir: "auto" },
    h("span", {}, before, h("a", { href: to("memories", id) }, id), after),
    veto,
  );
}

async function hold(id, view) {
  if (await change(id, `${id} is held back from every model`, () => api.post(`/v1/memories/${api.part(id)}/hold`)))
    load(view);
}
