// Keys of the whole page. A key is nobody's while a person types into a field, and the browser's own keys stay its own.

import { go } from "./route.js";

const VIEWS = {
  b: "board",
  s: "sessions",
  m: "memories",
  t: "timeline",
  c: "context",
  p: "projects",
  u: "usage",
  j: "jobs",
  e: "settings",
};

/** What a person can press, for who asks. */
export const LEGEND = [
  ["/", "search"],
  ["j  k", "next, previous"],
  ["Enter", "open what is chosen"],
  ["Esc", "leave the field, close, go back"],
  ["g, then a letter", "go to a view, as the letters beside their names say"],
  ["e  p  x", "edit, pin, forget the memory that is shown"],
  ["u", "undo the last change"],
  ["t", "light or dark"],
  ["?", "these keys"],
];

/** `act(key)` says whether the key was for it; asked in this order: the view, then the page. */
export function heed(acts) {
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inField = event.target.closest("input, textarea, select");
    if (inField && event.key !== "Escape") return;
    if (document.querySelector("dialog[open]")) return;
    // Enter presses what has the focus, if that can be pressed.
    if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
    const view = isGoing && VIEWS[event.key];
    isGoing = !isGoing && event.key === "g";
    if (view) go(view);
    else if (!isGoing && !acts.some((act) => act(event.key, event))) return;
    event.preventDefault();
  });
}
