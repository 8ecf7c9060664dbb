// What lies over the page: questions, forms, short notices. Each gives the focus back to where it was.

import { h } from "./dom.js";
import { LEGEND } from "./keys.js";

/** Asks for fields; gives what was written, or `null` if the person thought better of it. */
export function form({ title, text, fields, action, danger }) {
  const inputs = fields.map((field) => [field, input(field)]);
  const labels = inputs.map(([field, node]) => h("label", {}, h("span", {}, field.label), node));
  const submit = h("button", { type: "submit", class: danger ? "danger" : "main" }, action);
  return opened(title, [text && h("p", {}, text), labels], submit, () =>
    Object.fromEntries(inputs.map(([field, node]) => [field.name, node.value])),
  );
}

/** Asks yes or no. */
export async function sure(title, text, action) {
  return (await form({ title, text, fields: [], action, danger: true })) !== null;
}

export function keysShown() {
  const rows = LEGEND.map(([key, says]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, says)]);
  return opened("Keys", [h("dl", { class: "legend" }, rows)], null, () => null);
}

/** A short word at the edge, with at most one thing to do about it. */
export function notice(text, { act, label, bad } = {}) {
  const close = () => node.remove();
  const button = act && h("button", { type: "button", class: "plain", onclick: () => (close(), act()) }, label);
  const node = h("div", { class: bad ? "notice bad" : "notice" }, h("span", {}, text), button);
  document.getElementById("notices").replaceChildren(node);
  setTimeout(close, 8000);
}

/** A refusal, in full: nothing that went wrong is kept from the person. */
export function trouble(error) {
  if (error.name === "AbortError") return;
  const parts = [error.what ?? error.message, error.because, error.next && `Next: ${error.next}`];
  notice(parts.filter(Boolean).join(". "), { bad: true });
}

function input({ name, value, lines, options }) {
  const given = { name, value: value ?? "", rows: lines, autocomplete: "off" };
  if (!options) return h(lines ? "textarea" : "input", given);
  return h(
    "select",
    { name, value },
    options.map((option) => h("option", { value: option, selected: option === value }, option)),
  );
}

function opened(title, content, submit, result) {
  return new Promise((done) => {
    const cancel = h("button", { type: "button", onclick: () => dialog.close() }, submit ? "Cancel" : "Close");
    const heading = h("h2", { id: "dialog-title" }, title);
    const body = h("form", { method: "dialog" }, heading, content, h("div", { class: "buttons" }, cancel, submit));
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, body);
    let given = null;
    body.addEventListener("submit", () => (given = result()));
    dialog.addEventListener("close", () => (dialog.remove(), done(given)));
    document.body.append(dialog);
    dialog.showModal();
  });
}
