// Small things that several views show the same way: headings, empty places, faults, bars, marks in a text.

import { h, fill } from "./dom.js";
import { ago, moment, ms, timer } from "./format.js";

/** The head of a view: its name, what it says in short, and what can be done. */
export function head(title, says, ...tools) {
  return h(
    "header",
    { class: "head" },
    h("div", {}, h("h1", {}, title), says && h("p", { class: "says" }, says)),
    h("div", { class: "tools" }, tools),
  );
}

/** The place of an answer that is not there yet. */
export function waiting() {
  return h("div", {}, h("p", { class: "quiet" }, "Reading…"));
}

/** Nothing is there: says so, what will be, and what to run for it. */
export function empty(text, command, purpose = "") {
  const run = command && h("p", {}, "Run ", h("code", {}, command), `${purpose}.`);
  return h("div", { class: "empty" }, h("p", {}, text), run);
}

/** What went wrong, in the place of what was asked for. */
export function fault(error, again) {
  if (error.name === "AbortError") return h("span", {});
  return h(
    "div",
    { class: "fault", role: "alert" },
    h("p", {}, h("strong", {}, error.what ?? error.message)),
    error.because && h("p", {}, error.because),
    error.next && h("p", {}, "Next: ", h("code", {}, error.next)),
    again && h("button", { type: "button", onclick: again }, "Try again"),
  );
}

/** Shows a place as waiting, then as what `load` gives, or as its fault. */
export async function loaded(node, load, show) {
  try {
    fill(node, show(await load()));
  } catch (error) {
    if (error.name !== "AbortError")
      fill(
        node,
        fault(error, () => loaded(node, load, show)),
      );
  }
}

/** How full a context is, with the thresholds as ticks. */
export function contextBar(percent) {
  if (percent === null || percent === undefined) return h("span", { class: "meter none" }, "–");
  const level = percent >= 70 ? "high" : percent >= 50 ? "mid" : "low";
  const bar = h(
    "span",
    { class: "track" },
    h("span", { class: "full", style: { width: `${Math.min(percent, 100)}%` } }),
  );
  return h(
    "span",
    {
      class: `meter ${level}`,
      role: "meter",
      "aria-label": "context",
      "aria-valuenow": Math.round(percent),
      "aria-valuemin": 0,
      "aria-valuemax": 100,
    },
    bar,
    h("span", { class: "figure" }, `${Math.round(percent)} %`),
  );
}

/** A timer that goes on by itself (`tick`). */
export function since(time) {
  const at = ms(time);
  return at === null
    ? h("span", {})
    : h("time", { class: "timer", data: { since: at }, title: moment(at) }, timer(Date.now() - at));
}

/** Moves every timer below a node on by a second. */
export function tick(node) {
  for (const each of node.querySelectorAll("[data-since]")) {
    const text = timer(Date.now() - Number(each.dataset.since));
    if (each.textContent !== text) each.textContent = text;
  }
}

export function when(time) {
  const at = ms(time);
  return at === null
    ? null
    : h(
        "time",
        { class: "when", datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString("en-GB") },
        moment(at),
      );
}

export function age(time) {
  const at = ms(time);
  return at === null
    ? null
    : h("time", { class: "when", datetime: new Date(at).toISOString(), title: moment(at) }, ago(at));
}

export function badge(text, kind) {
  return text ? h("span", { class: "badge", data: { kind: kind ?? text } }, text) : null;
}

/** The text with the words that were found in it marked. */
export function marked(text, words) {
  const known = (words ?? [])
    .filter((word) => word.length > 1)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!known.length) return [text];
  const pieces = text.split(new RegExp(`(${known.join("|")})`, "giu"));
  return pieces.map((piece, index) => (index % 2 ? h("mark", {}, piece) : piece));
}

/** A choice among options, by a label that is read aloud. */
export function choice(label, options, value, chosen) {
  const node = h(
    "select",
    { "aria-label": label, onchange: () => chosen(node.value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return node;
}
