// The first script, at the head of the page. Asks at once for what the view of the address begins with: the answer comes
// while the rest of the page is read, and its rows are in the first frame or the next.
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

  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const wanted = ["/v1/health", ...((!search && first[path.split("/")[0]]) || [])];
  // Read to its end here: whoever takes an answer later would wait for another turn of the browser.
  const read = async (answer) => ({ answer, said: await answer.text() });
  window.askedEarly = new Map(wanted.map((each) => [each, fetch(each, { credentials: "same-origin" }).then(read)]));
  // Who takes an answer hears of its fault; one that nobody takes is nobody's.
  for (const answer of window.askedEarly.values()) answer.catch(() => {});
}
