// The one place that talks to the server. Never swallows a fault: whatever is not an answer is thrown as a `Refusal`.

/** What the server said no to: the thing, the cause, the next command. */
export class Refusal extends Error {
  constructor(status, { what, because, next }) {
    super(what);
    Object.assign(this, { status, what, because, next });
  }
}

export function get(path, query, signal) {
  return ask("GET", path + questions(query), undefined, signal);
}

export function post(path, body) {
  return ask("POST", path, body ?? {});
}

export function patch(path, body) {
  return ask("PATCH", path, body);
}

export function remove(path) {
  return ask("DELETE", path, {});
}

/** A list as `{items, next}`, by whatever name the verb behind it calls its items. */
export async function list(path, query, signal) {
  const answer = await get(path, query, signal);
  const items = answer.items ?? Object.values(answer).find(Array.isArray) ?? [];
  return { ...answer, items, next: answer.next ?? null };
}

/** From now on everything is asked anew: what was asked early was for the first view. */
export function forgetEarly() {
  window.askedEarly.clear();
  for (const block of document.querySelectorAll("[data-early]")) block.remove();
}

/** An id as one part of a path. */
export function part(id) {
  return encodeURIComponent(id);
}

function questions(query) {
  const given = Object.entries(query ?? {}).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

async function ask(method, path, body, signal) {
  const headers = method === "GET" ? {} : { "Content-Type": "application/json", "X-Towline": "1" };
  const asked = { method, headers, body: body && JSON.stringify(body), signal, credentials: "same-origin" };
  let answer, said;
  try {
    ({ answer, said } = await (early(path) ?? fetch(path, asked).then(read)));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, { what: "the server does not answer", because: error.message, next: "tow open" });
  }
  // What was asked early cannot be called off, but it can come too late.
  signal?.throwIfAborted();
  if (!answer.ok) throw refusal(answer, said);
  return said ? JSON.parse(said) : {};
}

async function read(answer) {
  return { answer, said: await answer.text() };
}

/** What stands in the page, or was asked for before there were modules, given once. */
function early(path) {
  const block = document.querySelector(`[data-early="${CSS.escape(path)}"]`);
  block?.remove();
  if (block) return { answer: { ok: true }, said: block.textContent };
  const answer = window.askedEarly.get(path);
  window.askedEarly.delete(path);
  return answer;
}

function refusal(answer, said) {
  const unknown = { what: `the server answered ${answer.status}`, because: answer.statusText, next: null };
  try {
    const { error } = JSON.parse(said);
    return new Refusal(answer.status, error ?? unknown);
  } catch {
    return new Refusal(answer.status, unknown);
  }
}
