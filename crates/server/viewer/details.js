// What a turn did: its tools' inputs and outputs, folded, and fetched when somebody unfolds them.

import * as api from "./api.js";
import { diff } from "./diff.js";
import { fill, h } from "./dom.js";
import { bytes, plural } from "./format.js";
import { badge, fault } from "./parts.js";

/** One fold over all details of a turn. */
export function details(turn, signal) {
  const many = turn.headings?.length ?? turn.details ?? 0;
  if (!many) return null;
  const body = h("div", { class: "calls" });
  const failures = turn.failures ? badge(`${turn.failures} failed`, "bad") : null;
  const fold = h(
    "details",
    { class: "fold" },
    h("summary", {}, plural(turn.tools || many, turn.tools ? "tool call" : "tool output"), failures),
    body,
  );
  fold.addEventListener("toggle", () => fold.open && !body.children.length && unfolded(body, turn, signal));
  return fold;
}

// Asked for whole, although the headings are known: a command says more than the name of its tool.
async function unfolded(body, turn, signal) {
  try {
    const answer = await api.get(`/v1/turns/${api.part(turn.id)}`, {}, signal);
    fill(
      body,
      calls(answer.turn.details).map((call) => callOf(call, signal)),
    );
  } catch (error) {
    fill(
      body,
      fault(error, () => unfolded(body, turn, signal)),
    );
  }
}

/** Inputs with their outputs, in order; what has no partner stands alone. */
function calls(all) {
  const outputs = new Map(all.filter((each) => each.kind === "output").map((each) => [each.number, each]));
  const taken = new Set(all.filter((each) => each.kind === "input" && outputs.has(each.pair)).map((each) => each.pair));
  const alone = (each) => !(each.kind === "output" && taken.has(each.number));
  return all
    .filter(alone)
    .map((each) => (each.kind === "input" && taken.has(each.pair) ? [each, outputs.get(each.pair)] : [each]));
}

function callOf(pair, signal) {
  const [first, last] = [pair[0], pair.at(-1)];
  const body = h("div", { class: "io" });
  const size = pair.reduce((sum, each) => sum + (each.bytes ?? each.size ?? 0), 0);
  const fold = h(
    "details",
    { class: "call" },
    h(
      "summary",
      {},
      h("span", { class: "tool" }, first.tool ?? first.kind),
      h("span", { class: "gist", dir: "auto" }, gist(first.text)),
      last.outcome === "failed" && badge("failed", "bad"),
      h("span", { class: "size" }, bytes(size)),
    ),
    body,
  );
  fold.addEventListener("toggle", () => fold.open && !body.children.length && fetched(body, pair, signal));
  return fold;
}

async function fetched(body, pair, signal) {
  try {
    const isCut = (each) => each.text === undefined || each.left_out_bytes > 0;
    const wholeOf = (each) =>
      isCut(each) ? api.get(`/v1/details/${api.part(each.id)}`, {}, signal).then((answer) => answer.detail) : each;
    const whole = await Promise.all(pair.map(wholeOf));
    fill(body, whole.map(shown));
  } catch (error) {
    fill(
      body,
      fault(error, () => fetched(body, pair, signal)),
    );
  }
}

function shown(detail) {
  const change = detail.kind === "input" ? diff(detail.text) : null;
  const left = (detail.left_out_bytes ?? 0) + (detail.cut_bytes ?? 0);
  return h(
    "div",
    { class: "detail", data: { kind: detail.kind } },
    change ??
      h(
        "pre",
        { dir: "auto", tabindex: "0", "aria-label": `${detail.tool ?? ""} ${detail.kind}` },
        pretty(detail.text) || "nothing",
      ),
    left ? h("p", { class: "quiet" }, `${bytes(left)} left out; tow session detail ${detail.id} shows all that is kept`) : null,
  );
}

/** The one value that says most, for the line of a folded call. */
function gist(text) {
  const input = parsed(text);
  const known =
    input &&
    (input.command ??
      input.cmd ??
      input.file_path ??
      input.path ??
      input.pattern ??
      input.url ??
      input.description ??
      input.query);
  return String(known ?? text ?? "")
    .split("\n")[0]
    .slice(0, 200);
}

function pretty(text) {
  const input = parsed(text);
  if (!input) return text ?? "";
  const lines = Object.entries(input).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`,
  );
  return lines.join("\n");
}

function parsed(text) {
  if (!text?.startsWith("{")) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
