// What changes while the page is open. Goes on by itself after a lost connection; the browser says where it was.

const KINDS = ["seat", "turn", "memory", "job", "fault", "reset"];
const listeners = new Set();
let source = null;
let wait = 500;

/** Calls `heard(kind, change)` for every change until the signal says stop. */
export function listen(heard, signal) {
  listeners.add(heard);
  signal.addEventListener("abort", () => listeners.delete(heard));
}

/** Opens the stream; `said` is told whether it stands: `live`, `waiting`. */
export function connect(said) {
  source = new EventSource("/v1/stream");
  source.addEventListener("open", () => {
    wait = 500;
    said("live");
  });
  source.addEventListener("error", () => again(said));
  for (const kind of KINDS) source.addEventListener(kind, (event) => tell(kind, event.data));
}

// The browser reconnects by itself after a dropped line, but gives up for good when it is refused.
function again(said) {
  said("waiting");
  if (source.readyState !== EventSource.CLOSED) return;
  setTimeout(() => {
    connect(said);
    // What came in between is not known: everybody loads anew.
    source.addEventListener("open", () => tell("reset", "{}"), { once: true });
  }, wait);
  wait = Math.min(wait * 2, 10000);
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
