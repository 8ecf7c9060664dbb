// The page: one view at a time, by the address. The shell is in the document, so that something is there before any answer.

import { drawn, fill } from "./dom.js";
import * as api from "./api.js";
import { undo } from "./changes.js";
import * as dialogs from "./dialogs.js";
import { heed } from "./keys.js";
import { connect, listen } from "./live.js";
import { fault } from "./parts.js";
import { here } from "./route.js";
import { inline } from "./prose.js";
import * as theme from "./theme.js";

// Each is run when it is wanted: what nobody looks at delays nobody.
const VIEWS = {
  board: () => import("./view-board.js"),
  context: () => import("./view-context.js"),
  jobs: () => import("./view-jobs.js"),
  memories: () => import("./view-memories.js"),
  projects: () => import("./view-projects.js"),
  session: () => import("./view-session.js"),
  sessions: () => import("./view-sessions.js"),
  settings: () => import("./view-settings.js"),
  timeline: () => import("./view-timeline.js"),
  usage: () => import("./view-usage.js"),
};
const main = document.getElementById("main");
const menu = document.getElementById("menu");
const server = { write: false };
let shown = { stop: new AbortController(), keys: {} };

/** Leaves the view that is shown and opens the one of the address. */
async function open() {
  const [place, asked, isFirst] = [here(), location.hash, !shown.view];
  shown.stop.abort();
  const stop = new AbortController();
  shown = { stop, keys: {}, view: place.view };
  mark(place.view);
  if (!(place.view in VIEWS)) {
    fill(main, fault({ message: `there is no view called “${place.view}”`, next: "press g, then b" }));
    return;
  }
  const view = await fetched(place.view);
  if (!view || stop.signal.aborted) return;
  document.title = `${view.TITLE} · Towline`;
  main.dataset.view = place.view;
  // Whoever asks a page for its layout before it is drawn has it made twice.
  if (!isFirst) main.scrollTop = 0;
  if (document.activeElement !== document.body) main.focus({ preventScroll: true });
  const tools = { server, signal: stop.signal, listen: (heard) => listen(heard, stop.signal) };
  shown.keys = view.show(main, place, tools) ?? {};
  main.dataset.place = asked;
}

/** A view, once it is known, too, whether anything may be changed: views show no button that would be refused. */
async function fetched(name) {
  try {
    return (await Promise.all([VIEWS[name](), greeting]))[0];
  } catch (error) {
    const what = { what: "the server does not answer", because: error.message, next: "tow open" };
    fill(main, fault(what, open));
    return null;
  }
}

/** Says in the list of views which one this is. A session is one of the sessions. */
function mark(name) {
  const listed = name === "session" ? "sessions" : name;
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.view === listed) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  unfold(false);
}

function unfold(isOpen) {
  menu.setAttribute("aria-expanded", isOpen);
}

function pageKey(key) {
  if (key === "?") dialogs.keysShown();
  else if (key === "t") theme.turn();
  else if (key === "/") location.hash = "#/memories?find=1";
  else if (key === "u") undo();
  else if (key === "Escape") document.activeElement?.blur?.();
  else return false;
  return true;
}

function line(state) {
  const node = document.getElementById("line");
  node.dataset.state = state;
  node.textContent = state === "live" ? (server.write ? "live, may write" : "live, read-only") : "connecting";
}

async function greet() {
  try {
    Object.assign(server, await api.get("/v1/health"));
    const state = document.getElementById("line").dataset.state;
    line(state);
    document.documentElement.dataset.write = server.write;
    const warning = document.getElementById("warning");
    warning.hidden = !server.warning;
    fill(warning, server.warning ? inline(server.warning) : []);
  } catch (error) {
    dialogs.trouble(error);
  }
}

window.addEventListener("hashchange", open);
// A configuration that is mended by now needs no warning.
window.addEventListener("hashchange", () => server.warning && greet());
window.addEventListener("unhandledrejection", (event) => dialogs.trouble(event.reason));
menu.addEventListener("click", () => unfold(menu.getAttribute("aria-expanded") !== "true"));
document.getElementById("theme").addEventListener("click", theme.turn);
document.getElementById("help").addEventListener("click", dialogs.keysShown);
document.querySelector(".skip").addEventListener("click", (event) => (event.preventDefault(), main.focus()));
theme.follow();
heed([(key, event) => shown.keys[key]?.(event) !== undefined || key in shown.keys, pageKey]);
listen((kind) => kind === "reset" && open(), new AbortController().signal);
const greeting = greet();
open()
  .then(api.forgetEarly)
  .then(drawn)
  .then(() => connect(line, server.place));
