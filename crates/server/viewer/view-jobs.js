// Work that waits, work that failed, and faults: with what to do about each.

import * as api from "./api.js";
import { change } from "./changes.js";
import { fill, h } from "./dom.js";
import { count } from "./format.js";
import { badge, empty, head, loaded, waiting, when } from "./parts.js";

export const TITLE = "Jobs";

export function show(main, place, { listen, server, signal }) {
  const [jobs, faults] = [waiting(), waiting()];
  fill(main, head(TITLE, "Work for later, and what went wrong"), jobs, h("h2", {}, "Faults"), faults);
  const again = () =>
    loaded(
      jobs,
      () => api.get("/v1/jobs", {}, signal),
      (answer) => jobsOf(answer, server, again),
    );
  const trouble = () =>
    loaded(
      faults,
      () => api.list("/v1/faults", {}, signal),
      (page) => faultsOf(page.items),
    );
  again();
  trouble();
  listen((kind) => (kind === "job" && again()) || (kind === "fault" && trouble()));
}

function jobsOf(answer, server, again) {
  const { counts = {}, today = {}, provider } = answer;
  const jobs = answer.jobs ?? answer.items ?? [];
  const figures = Object.entries(counts).map(([name, number]) =>
    h(
      "div",
      { class: "figure-card", data: { name: number ? name : "" } },
      h("dt", {}, name),
      h("dd", {}, count(number)),
    ),
  );
  const said = [
    provider && `Provider: ${provider}`,
    today.limit && `${count(today.spent ?? 0)} of ${count(today.limit)} tokens spent today`,
  ]
    .filter(Boolean)
    .join(" · ");
  return [
    workOf(answer.work),
    h("dl", { class: "figure-cards" }, figures),
    said && h("p", { class: "quiet" }, said),
    answer.trouble &&
      h(
        "p",
        { class: "warning" },
        typeof answer.trouble === "string" ? answer.trouble : JSON.stringify(answer.trouble),
      ),
    jobs.length
      ? h(
          "ul",
          { class: "plain-list" },
          jobs.map((job) => jobOf(job, server, again)),
        )
      : empty("Nothing waits. What a model is to do later, such as distilling a turn, is listed here.", "tow data jobs", " for the same in a terminal"),
  ];
}

// How far each background job is.
function workOf(work) {
  if (!work) return null;
  const paused = work.cpu?.paused_until;
  const state = work.running ? "at work" : paused ? "paused until " : "idle";
  const text = ({ pending, total, unit, at_least: least }) =>
    pending ? `${least ? "at least " : ""}${count(pending)}${total ? ` of ${count(total)}` : ""} ${unit} to do` : "up to date";
  return [
    h("p", { class: "quiet" }, `Background work: ${state}`, !work.running && paused ? when(paused) : null),
    h(
      "ul",
      { class: "plain-list" },
      work.jobs.map((job) => h("li", {}, badge(job.name, "type"), h("span", {}, text(job)))),
    ),
  ];
}

function jobOf(job, server, again) {
  const act = (verb, text) =>
    h(
      "button",
      {
        type: "button",
        onclick: async () =>
          (await change(null, `${text}: job ${job.number}`, () => api.post(`/v1/jobs/${job.number}/${verb}`))) &&
          again(),
      },
      text,
    );
  return h(
    "li",
    {},
    badge(job.state ?? job.stage, job.state === "dead" ? "bad" : "type"),
    h("span", {}, [job.kind, job.what, job.turn].filter(Boolean).join(" ")),
    when(job.at ?? job.made_at),
    (job.error ?? job.last_error) && h("p", { class: "quiet", dir: "auto" }, job.error ?? job.last_error),
    server.write ? h("span", { class: "buttons" }, act("retry", "Retry"), act("drop", "Drop")) : null,
  );
}

function faultsOf(faults) {
  if (!faults.length) return empty("No fault is noted. What went wrong in hooks and in the background is listed here.", "tow doctor", " to check everything");
  return h(
    "ul",
    { class: "plain-list" },
    faults.map((each) =>
      h(
        "li",
        {},
        when(each.last_at),
        badge(each.kind, "bad"),
        h("span", { dir: "auto" }, each.detail),
        each.count > 1 && h("span", { class: "quiet" }, `${count(each.count)} times since `, when(each.first_at)),
      ),
    ),
  );
}
