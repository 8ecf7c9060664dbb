// The first script, which stands in the page itself. Behind the first paint it asks for what the view of the address
// begins with, and for the modules, both at once. Does nothing before that paint which could wait: on two cores
// everything that goes on beside it delays it, a request of our own above all.
"use strict";
{
  // A dark room stays dark.
  const theme = localStorage.getItem("towline-theme");
  if (theme) document.documentElement.dataset.theme = theme;

  // As the views ask when nothing is filtered. What is asked otherwise is asked by the view, a little later.
  const first = {
    "": ["/v1/seats"],
    board: ["/v1/seats"],
    memories: ["/v1/memories?limit=50"],
    sessions: ["/v1/sessions?limit=50"],
  };

  const ask = () => {
    const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
    const wanted = ["/v1/health", ...((!search && first[path.split("/")[0]]) || [])];
    window.askedEarly = new Map(wanted.map((each) => [each, fetch(each, { credentials: "same-origin" })]));
    // Who takes an answer hears of its fault; one that nobody takes is nobody's.
    for (const answer of window.askedEarly.values()) answer.catch(() => {});
  };

  let isBegun = false;
  const begin = () => {
    if (isBegun) return;
    isBegun = true;
    const modules = document.createElement("script");
    Object.assign(modules, { type: "module", src: "/assets/viewer.js" });
    document.head.append(modules);
    ask();
  };
  if (document.hidden) begin();
  else new PerformanceObserver(begin).observe({ type: "paint", buffered: true });
  // Where no paint is told of.
  setTimeout(begin, 1000);
}
