// What an edit changed, line by line. Understands the inputs of editing tools and patches; anything else is none of its business.

import { h } from "./dom.js";

// Comparing all with all is fine for an edit, not for a file.
const MOST_LINES = 800;

/** The change that a tool's input asks for, coloured; `null` if it is no change. */
export function diff(text) {
  const lines = linesOf(text);
  if (!lines?.length) return null;
  return h(
    "pre",
    { class: "diff", tabindex: "0", "aria-label": "change" },
    lines.map(([sign, line]) => h("span", { data: { sign } }, `${sign} ${line}\n`)),
  );
}

function linesOf(text) {
  if (!text) return null;
  if (text.includes("*** Begin Patch")) return patch(text);
  let input;
  try {
    input = JSON.parse(text);
  } catch {
    return null;
  }
  const path = input.file_path ?? input.path;
  const edits = input.edits ?? (input.old_string !== undefined ? [input] : null);
  if (edits)
    return [["@", path ?? ""], ...edits.flatMap((edit) => compared(edit.old_string ?? "", edit.new_string ?? ""))];
  if (path && typeof input.content === "string")
    return [["@", path], ...input.content.split("\n").map((line) => ["+", line])];
  return typeof input.input === "string" && input.input.includes("*** Begin Patch") ? patch(input.input) : null;
}

function patch(text) {
  const from = text.indexOf("*** Begin Patch");
  return text
    .slice(from)
    .replaceAll("\\n", "\n")
    .split("\n")
    .map((line) => {
      if (line.startsWith("***")) return ["@", line];
      return ["+", "-", " "].includes(line[0]) ? [line[0], line.slice(1)] : [" ", line];
    });
}

/** The shortest way from one text to the other, by the longest lines in common. */
function compared(before, after) {
  const [old, now] = [before, after].map((text) => text.replace(/\n$/, "").split("\n"));
  if (old.length + now.length > MOST_LINES)
    return [...old.map((line) => ["-", line]), ...now.map((line) => ["+", line])];
  const common = table(old, now);
  const lines = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) lines.push([" ", old[i++], j++]);
    else if (i < old.length && (j >= now.length || common[i + 1][j] >= common[i][j + 1])) lines.push(["-", old[i++]]);
    else lines.push(["+", now[j++]]);
  }
  return lines;
}

function table(old, now) {
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i][j] = old[i] === now[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  return common;
}
