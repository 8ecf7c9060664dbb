// The page: one view at a time, by the address. The shell is in the document, so that something is there before any answer.

import { fill } from "./dom.js";
import * as api from "./api.js";
import { undo } from "./changes.js";
import * as dialogs from "./dialogs.js";
import { heed } from "./keys.js";
import { connect, listen } from "./live.js";
import { fault } from "./parts.js";
import { here } from "./route.js";
import * as theme from "./theme.js";
import * as board from "./view-board.js";
import * as context from "./view-context.js";
import * as jobs from "./view-jobs.js";
import * as memories from "./view-memories.js";
import * as projects from "./view-projects.js";
import * as session from "./view-session.js";
import * as sessions from "./view-sessions.js";
import * as settings from "./view-settings.js";
import * as timeline from "./view-timeline.js";
import * as usage from "./view-usage.js";

const VIEWS = { board, context, jobs, memories, projects, session, sessions, settings, timeline, usage };
const main = document.getElementById("main");
const menu = document.getElementById("menu");
const server = { write: false };
let shown = { stop: new AbortController(), keys: {} };

/** Leaves the view that is shown and opens the one of the address. */
function open() {
  const place = here();
  const view = VIEWS[place.view];
  shown.stop.abort();
  const stop = new AbortController();
  shown = { stop, keys: {}, view: place.view };
  mark(place.view);
  if (!view)
    return void fill(main, fault({ message: `there is no view called “${place.view}”`, next: "press g, then b" }));
  document.title = `${view.TITLE} · Towline`;
  main.dataset.view = place.view;
  main.scrollTop = 0;
  if (document.activeElement !== document.body) main.focus({ preventScroll: true });
  const tools = { server, signal: stop.signal, listen: (heard) => listen(heard, stop.signal) };
  shown.keys = view.show(main, place, tools) ?? {};
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
  } catch (error) {
    dialogs.trouble(error);
  }
}

window.addEventListener("hashchange", open);
window.addEventListener("unhandledrejection", (event) => dialogs.trouble(event.reason));
menu.addEventListener("click", () => unfold(menu.getAttribute("aria-expanded") !== "true"));
document.getElementById("theme").addEventListener("click", theme.turn);
document.getElementById("help").addEventListener("click", dialogs.keysShown);
document.querySelector(".skip").addEventListener("click", (event) => (event.preventDefault(), main.focus()));
theme.restore();
heed([(key, event) => shown.keys[key]?.(event) !== undefined || key in shown.keys, pageKey]);
listen((kind) => kind === "reset" && open(), new AbortController().signal);
open();
greet();
connect(line);
