// The projects that are known, asked for once and shared by the views.

import * as api from "./api.js";
import { drawn, h } from "./dom.js";
import { choice } from "./parts.js";

let known = null;

export function projects() {
  // After what is shown now: it is only a filter.
  known ??= drawn()
    .then(() => api.list("/v1/projects"))
    .then((page) => page.items);
  known.catch(() => (known = null));
  return known;
}

/** What a project is called in a question. */
export function nameOf(project) {
  return project?.name ?? project?.project ?? "";
}

/** A choice among all projects, filled when they are known. */
export function projectChoice(value, chosen) {
  const node = choice("Project", [["", "All projects"]], value, chosen);
  projects().then(
    (all) => {
      const names = [...new Set(all.map(nameOf))].sort();
      node.append(...names.map((name) => h("option", { value: name, selected: name === value }, name)));
    },
    // The view that asks for the list itself shows the fault; here it is only a filter that stays empty.
    () => (node.disabled = true),
  );
  return node;
}
