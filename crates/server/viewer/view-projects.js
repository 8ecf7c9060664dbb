// Every project that was worked in, and the ways on from each.

import * as api from "./api.js";
import { fill, h } from "./dom.js";
import { plural } from "./format.js";
import { age, empty, head, loaded } from "./parts.js";
import { nameOf } from "./projects.js";
import { to } from "./route.js";

export const TITLE = "Projects";
const NOTHING = "No project is known yet. Every folder that agents worked in is listed here, with its sessions and memories.";

export function show(main, place, { signal }) {
  const body = h("div", {}, h("p", { class: "quiet" }, "Reading…"));
  fill(main, head(TITLE), body);
  loaded(
    body,
    () => api.list("/v1/projects", {}, signal),
    (page) =>
      page.items.length
        ? h("ul", { class: "cards" }, page.items.map(card))
        : empty(NOTHING, "tow data import", " for what your agents have kept so far"),
  );
  const step = (by) => () => {
    const all = [...body.querySelectorAll(".card h2 a")];
    all[Math.min(Math.max(all.indexOf(document.activeElement) + by, 0), all.length - 1)]?.focus();
  };
  return { j: step(1), k: step(-1) };
}

function card(project) {
  const name = nameOf(project);
  const counts = [
    ["session", project.sessions],
    ["memory", project.memories],
    ["turn", project.turns],
  ].filter(([, number]) => typeof number === "number");
  const words = counts.map(([word, number]) =>
    h("span", {}, word === "memory" ? `${number} ${number === 1 ? "memory" : "memories"}` : plural(number, word)),
  );
  return h(
    "li",
    { class: "card" },
    h("h2", {}, h("a", { href: to("memories", null, { project: name }) }, name)),
    h("p", { class: "where" }, words, age(project.last_at)),
    project.root && h("p", { class: "path" }, h("code", {}, project.root.replace(/\/\.git$/, ""))),
    h(
      "p",
      { class: "ways" },
      [
        ["sessions", "Sessions"],
        ["memories", "Memories"],
        ["timeline", "Timeline"],
        ["context", "Context"],
      ].map(([view, text]) => h("a", { href: to(view, null, { project: name }) }, text)),
    ),
  );
}
