// What changes while the page is open. Goes on by itself after a lost connection; the browser says where it was.
//
// A browser opens few connections to one server, and a stream holds one for good. So of all pages of the viewer one
// listens and tells the others; when it goes, the next takes its place.

const KINDS = ["seat", "turn", "memory", "job", "fault", "reset"];
const listeners = new Set();
const pages = new BroadcastChannel("towline");
let state = "waiting";
let wait = 500;

/** Calls `heard(kind, change)` for every change until the signal says stop. */
export function listen(heard, signal) {
  listeners.add(heard);
  signal.addEventListener("abort", () => listeners.delete(heard));
}

/** Hears of changes after this place; `said` is told whether the stream stands: `live`, `waiting`. */
export function connect(said, place) {
  const told = (now) => said((state = now));
  let isLeading = false;
  pages.onmessage = ({ data }) => {
    if (data.state && !isLeading) told(data.state);
    if (data.kind) tell(data.kind, data.text);
    if (data.asks && isLeading) pages.postMessage({ state });
  };
  pages.postMessage({ asks: true });
  // Held until the page is gone.
  navigator.locks.request("towline-stream", () => {
    isLeading = true;
    // Who takes over does not know what the one before it heard last.
    if (state === "live") pass("reset", "{}");
    open((now) => (told(now), pages.postMessage({ state: now })), place);
    return new Promise(() => {});
  });
}

function open(said, place) {
  const source = new EventSource(place ? `/v1/stream?after=${encodeURIComponent(place)}` : "/v1/stream");
  source.addEventListener("open", () => {
    wait = 500;
    said("live");
  });
  source.addEventListener("error", () => {
    said("waiting");
    if (source.readyState === EventSource.CLOSED) again(said);
  });
  for (const kind of KINDS) source.addEventListener(kind, (event) => pass(kind, event.data));
  return source;
}

// The browser reconnects by itself after a dropped line, but gives up for good when it is refused.
function again(said) {
  setTimeout(() => {
    // What came in between is not known: everybody loads anew.
    open(said).addEventListener("open", () => pass("reset", "{}"), { once: true });
  }, wait);
  wait = Math.min(wait * 2, 10000);
}

function pass(kind, text) {
  pages.postMessage({ kind, text });
  tell(kind, text);
}

function tell(kind, text) {
  let change = {};
  try {
    change = JSON.parse(text);
  } catch {
    console.warn(`a change that is no JSON: ${kind}`);
  }
  for (const heard of [...listeners]) heard(kind, change);
}
