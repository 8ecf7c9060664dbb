// Light or dark: what the system says, until a person says otherwise. Kept in this browser only, and put on by the first
// script (begin.js), before anything is seen.

const KEPT = "towline-theme";
const root = document.documentElement;
const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Names the button, and goes with the system. */
export function follow() {
  DARK.addEventListener("change", name);
  name();
}

export function turn() {
  root.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem(KEPT, root.dataset.theme);
  name();
}

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : DARK.matches;
}

/** The button says what it would do. */
function name() {
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
}
