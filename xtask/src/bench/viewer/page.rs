//! Page timings in the browser, by the browser's own clock.
//!
//! Every time is taken inside the page, so that the debugging protocol does not count.

use towline_testkit::Browser;

use super::world::World;
use crate::bench::report::Judgement;
use crate::bench::statistics::sorted;
use crate::server::Server;

const LOADS: usize = 20;
/// A median above this is felt.
const MOST_MS: f64 = 100.0;

/// Typed letter by letter.
const QUESTIONS: [&str; 6] =
    ["low tide", "berth allocator", "mast paint", "pier 42", "decided harbour", "token"];

/// Lets the previous page's leftovers end: users do not load a page while another one is starting.
const REST: &str = "new Promise((done) => setTimeout(done, 250))";

/// The times at which the rows were in the page, and at which the frame with them was drawn. The page records them, since
/// rows may be there before we ask.
const SHOWN: &str = "new Promise((done) => {
    const look = () => {
        const marks = ['rows', 'rows-drawn'].flatMap((name) => performance.getEntriesByName(name));
        return marks.length === 2 ? done(marks.map((mark) => mark.startTime)) : setTimeout(look, 5);
    };
    look();
})";

/// From the input of a letter to the frame after its hits.
const TYPED: &str = "((text) => new Promise((done) => {
    const field = document.querySelector('input[type=search]'), status = document.querySelector('.says[role=status]');
    const begun = performance.now();
    const seen = new MutationObserver(() => {
        if (!status.textContent.includes('found')) return;
        seen.disconnect();
        requestAnimationFrame(() => done(performance.now() - begun));
    });
    seen.observe(status, {childList: true, characterData: true, subtree: true});
    field.value = text;
    field.dispatchEvent(new Event('input'));
}))";

pub fn timings(world: &World, server: &Server) -> Vec<Timing> {
    let browser = Browser::start(&world.env);
    browser.goto(server.url());
    // The browser's own time on this machine.
    let empty = (0..LOADS).filter_map(|_| painted(&browser, "data:text/html,<h1>x</h1>")).collect();
    let [board, ..] = loaded(&browser, server, "board");
    let [memories, rows, drawn] = loaded(&browser, server, "memories");
    let [_, session_rows, sessions_drawn] = loaded(&browser, server, "sessions");
    vec![
        Timing { name: "first paint, an empty page", times: empty },
        Timing { name: "first paint, board", times: board },
        Timing { name: "first paint, memories", times: memories },
        Timing { name: "first rows, memories", times: rows },
        Timing { name: "first rows, sessions", times: session_rows },
        Timing { name: "first rows drawn, memories", times: drawn },
        Timing { name: "first rows drawn, sessions", times: sessions_drawn },
        Timing { name: "search as you type", times: typed(&browser, server) },
    ]
}

fn painted(browser: &Browser, url: &str) -> Option<f64> {
    browser.goto("about:blank");
    browser.eval(REST);
    browser.goto(url);
    browser.wait_for("the first paint", "performance.getEntriesByName('first-contentful-paint').length > 0");
    browser.eval("performance.getEntriesByName('first-contentful-paint')[0].startTime").as_f64()
}

/// First paint, first rows and the frame with them, of `LOADS` fresh loads. A board has no rows.
fn loaded(browser: &Browser, server: &Server, view: &str) -> [Vec<f64>; 3] {
    let (mut paints, mut rows, mut drawn) = (vec![], vec![], vec![]);
    let url = format!("{}/#/{view}", server.base());
    for _ in 0..LOADS {
        paints.extend(painted(browser, &url));
        if view != "board" {
            let shown = browser.eval(SHOWN);
            rows.extend(shown[0].as_f64());
            drawn.extend(shown[1].as_f64());
        }
    }
    [paints, rows, drawn]
}

fn typed(browser: &Browser, server: &Server) -> Vec<f64> {
    // Navigating within the open page would not be a load.
    browser.goto("about:blank");
    browser.goto(&format!("{}/#/memories", server.base()));
    browser.wait_for("the field and what it says", "!!document.querySelector('.says[role=status]')");
    browser.eval(SHOWN);
    let letters = |question: &'static str| (1..=question.len()).map(move |end| &question[..end]);
    let asked = QUESTIONS.into_iter().flat_map(letters).filter(|text| !text.ends_with(' '));
    asked.filter_map(|text| browser.eval(&format!("{TYPED}({})", serde_json::json!(text))).as_f64()).collect()
}

/// One measurement, repeated many times, in milliseconds.
pub struct Timing {
    pub name: &'static str,
    pub times: Vec<f64>,
}

impl Timing {
    fn share(&self, percent: usize) -> f64 {
        let sorted = sorted(self.times.clone());
        let last = sorted.len().saturating_sub(1);
        sorted.get(last * percent / 100).copied().unwrap_or(f64::NAN)
    }

    pub fn row(&self) -> Vec<String> {
        let shares = [50, 95, 100].map(|percent| format!("{:.1}", self.share(percent)));
        std::iter::once(self.name.to_owned()).chain(shares).collect()
    }

    pub fn judgement(&self) -> Judgement {
        let median = self.share(50);
        Judgement {
            holds: median < MOST_MS,
            text: format!("{}: median {median:.1} ms, at most {MOST_MS} ms", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_judged_by_what_a_person_bears() {
        let timing = |times: &[f64]| Timing { name: "it", times: times.to_vec() };
        assert_eq!(timing(&[300.0, 20.0, 10.0]).row(), ["it", "20.0", "20.0", "300.0"]);
        assert!(timing(&[300.0, 20.0, 10.0]).judgement().holds);
        assert!(!timing(&[300.0, 120.0, 10.0]).judgement().holds);
        assert!(!timing(&[]).judgement().holds, "what was not measured does not hold");
    }
}
