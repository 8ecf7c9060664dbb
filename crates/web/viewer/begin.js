// The first script, which stands in the page itself: asks for what the view of the address begins with, and brings the
// modules in behind the first frame, so that nobody waits for them to see something. Shows nothing, decides nothing.
"use strict";
{
  // Before the first frame: a dark room stays dark.
  const theme = localStorage.getItem("towline-theme");
  if (theme) document.documentElement.dataset.theme = theme;

  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const [view] = path.split("/");
  // As the views ask when nothing is filtered. What is asked otherwise is asked by the view, a little later.
  const first = {
    "": ["/v1/seats"],
    board: ["/v1/seats"],
    memories: ["/v1/memories?limit=50"],
    sessions: ["/v1/sessions?limit=50"],
  };
  const wanted = ["/v1/health", ...((!search && first[view]) || [])];
  window.askedEarly = new Map(wanted.map((each) => [each, fetch(each, { credentials: "same-origin" })]));
  // Who takes an answer hears of its fault; one that nobody takes is nobody's.
  for (const answer of window.askedEarly.values()) answer.catch(() => {});

  let isBegun = false;
  const begin = () => {
    if (isBegun) return;
    isBegun = true;
    const modules = document.createElement("script");
    Object.assign(modules, { type: "module", src: "/assets/viewer.js" });
    document.head.append(modules);
  };
  requestAnimationFrame(() => setTimeout(begin));
  // A page that nobody looks at has no frames.
  setTimeout(begin, 150);
}
