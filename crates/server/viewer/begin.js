// The first script, in the page itself. Asks at once for what the board begins with; what lists begin with stands in the
// page already, and anything else is asked for by its view.
"use strict";
{
  // A dark room stays dark.
  const theme = localStorage.getItem("towline-theme");
  if (theme) document.documentElement.dataset.theme = theme;

  window.askedEarly = new Map();
  if (/^(#\/?(board)?)?$/.test(location.hash)) {
    // Read to its end here: whoever takes it later would wait for another turn of the browser.
    const seats = fetch("/v1/seats").then(async (answer) => ({ answer, said: await answer.text() }));
    // Who takes the answer hears of its fault; one that nobody takes is nobody's.
    seats.catch(() => {});
    window.askedEarly.set("/v1/seats", seats);
  }
}
