// Words as agents and people write them: code in backticks, bold, headings, lists and fenced code get their look. Makes
// elements only, of a few kinds; whatever it does not know stays the text it is. No links: a page of ours leads nowhere else.

import { h } from "./dom.js";

/** One line's worth: code and bold. */
export function inline(text) {
  return String(text ?? "")
    .split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/)
    .map((piece, index) => {
      if (index % 2 === 0) return piece;
      return piece[0] === "`" ? h("code", {}, piece.slice(1, -1)) : h("strong", {}, piece.slice(2, -2));
    });
}

/** Whole answers: fenced code apart, the rest line by line. */
export function prose(text) {
  const pieces = String(text ?? "").split(/^```[^\n]*\n?/m);
  return pieces.map((piece, index) =>
    index % 2 ? h("pre", { tabindex: "0", "aria-label": "code" }, piece.replace(/\n$/, "")) : paragraphs(piece),
  );
}

function paragraphs(text) {
  return text
    .split(/\n{2,}/)
    .filter((part) => part.trim())
    .map((part) => h("p", { dir: "auto" }, lines(part.replace(/^\n+|\n+$/g, ""))));
}

function lines(text) {
  return text.split("\n").flatMap((line, index) => {
    const heading = line.match(/^#{1,6} (.*)$/);
    return [index ? "\n" : null, heading ? h("strong", {}, inline(heading[1])) : inline(line)];
  });
}
