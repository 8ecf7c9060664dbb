// What the configuration says, and where from. Only shows: the file is the place to change it.

import * as api from "./api.js";
import { fill, h } from "./dom.js";
import { badge, empty, head, loaded } from "./parts.js";

export const TITLE = "Settings";

export function show(main, place, { signal, server }) {
  const field = h("input", {
    type: "search",
    "aria-label": "Filter keys",
    placeholder: "Filter keys",
    oninput: () => filter(body, field.value),
  });
  const body = h("div", {}, h("p", { class: "quiet" }, "Reading…"));
  fill(
    main,
    h(
      "header",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, TITLE),
        h("p", { class: "says" }, "Read-only. Change a value with ", h("code", {}, "tow config set KEY VALUE")),
      ),
      h("div", { class: "filters" }, field),
    ),
    body,
  );
  loaded(
    body,
    () => api.get("/v1/config", {}, signal),
    (answer) => told(answer, server),
  );
  return { "/": () => field.focus() };
}

function told(answer, server) {
  const keys = Array.isArray(answer.values)
    ? answer.values
    : Object.entries(answer.values ?? {}).map(([key, value]) =>
        value && typeof value === "object" && "value" in value ? { key, ...value } : { key, value },
      );
  if (!keys.length) return empty("The configuration is empty.", "tow config default");
  const groups = new Map();
  for (const each of keys) groups.set(each.key.split(".")[0], [...(groups.get(each.key.split(".")[0]) ?? []), each]);
  const mistakes = answer.mistakes ?? [];
  return [
    h(
      "p",
      { class: "where wide" },
      h("code", {}, answer.file ?? ""),
      server.version && h("span", {}, `tow ${server.version}`),
    ),
    mistakes.length
      ? h(
          "ul",
          { class: "warning" },
          mistakes.map((mistake) => h("li", {}, typeof mistake === "string" ? mistake : JSON.stringify(mistake))),
        )
      : null,
    [...groups].map(([name, all]) =>
      h(
        "section",
        { class: "settings" },
        h("h2", {}, name),
        h(
          "dl",
          {},
          all.map((each) =>
            h(
              "div",
              { data: { key: each.key } },
              h("dt", {}, h("code", {}, each.key)),
              h(
                "dd",
                {},
                h("code", {}, JSON.stringify(each.value)),
                each.source && each.source !== "default" ? badge(each.source, "mark") : null,
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}

function filter(body, text) {
  for (const row of body.querySelectorAll("[data-key]"))
    row.hidden = !row.dataset.key.includes(text.trim().toLowerCase());
  for (const group of body.querySelectorAll(".settings"))
    group.hidden = !group.querySelector("[data-key]:not([hidden])");
}
