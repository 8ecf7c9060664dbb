// Where the page is, in the part of its address behind `#`. Holds no view.

/** `#/session/1a2b?turn=3` as `{view: "session", id: "1a2b", query: {turn: "3"}}`. */
export function here() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, id] = path.split("/");
  return {
    view: view || "board",
    id: id ? decodeURIComponent(id) : null,
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** The address of a view. */
export function to(view, id, query) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value);
  const search = given.length ? `?${new URLSearchParams(given)}` : "";
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${search}`;
}

export function go(view, id, query) {
  location.hash = to(view, id, query);
}

/** Notes what was asked for without leaving the view. */
export function note(view, id, query) {
  history.replaceState(null, "", to(view, id, query));
}

/** The session and turn that ids such as `1a2b3c4d#12.3` belong to. */
export function turnOf(id) {
  const [session, rest] = id.split("#");
  return to("session", session, rest ? { turn: rest.split(".")[0] } : {});
}

/** Where a thing is shown, by its kind. */
export function placeOf(kind, id) {
  if (kind === "memory") return to("memories", id);
  return kind === "session" || kind === "summary" ? to("session", id) : turnOf(id);
}
