//! Times a hook until its text is drawn in the status line of an attached client, beside tmux's own redraw.
//!
//! The same process in the pane starts everything and takes the start time; the benchmark reads the bytes
//! that the client draws. tmux's own time is the lower bound: only the rest is ours.

use std::collections::BTreeMap;
use std::time::Duration;

use towline_agents::Agent;
use towline_testkit::mutate::Dice;

use super::agent::{FakeAgent, Order, Times};
use super::client::Client;
use super::crew::{Crew, State, mixed};
use super::refresh::USUAL_TRANSCRIPT;
use crate::bench::payload::Payload;
use crate::bench::report::Table;
use crate::bench::rounds::{WARM_UP, shuffle};
use crate::bench::setup::Setup;
use crate::bench::statistics::{median, percentile, sorted};
use crate::files;
use crate::outcome::Result;

/// A change that a hook reports: its event and the rows of its figures.
struct Change {
    event: &'static str,
    /// From the start of the hook to its end.
    ended: &'static str,
    /// From the start of the hook to the text on the terminal.
    drawn: &'static str,
    /// The same minus tmux's own time in the same round.
    beyond: &'static str,
}

const PROMPT: Change = Change {
    event: "UserPromptSubmit",
    ended: "UserPromptSubmit: start → end of the hook",
    drawn: "UserPromptSubmit: start → drawn",
    beyond: "UserPromptSubmit: start → drawn, beyond tmux's own",
};
const STOP: Change = Change {
    event: "Stop",
    ended: "Stop: start → end of the hook",
    drawn: "Stop: start → drawn",
    beyond: "Stop: start → drawn, beyond tmux's own",
};

const TRUE: &str = "/bin/true: start → end";
const BY_HAND: &str = "tmux set-option by hand: start → drawn";

/// The rows of the table.
const FIGURES: [&str; 8] =
    [TRUE, BY_HAND, PROMPT.ended, STOP.ended, PROMPT.drawn, STOP.drawn, PROMPT.beyond, STOP.beyond];

/// The measurements with this many seats.
pub struct Redraw {
    seats: usize,
    /// Times in microseconds, one per round.
    series: BTreeMap<&'static str, Vec<f64>>,
}

pub fn measured(setup: &Setup, seats: usize) -> Result<Redraw> {
    let stage = Stage::prepare(setup, seats)?;
    let mut dice = Dice::new(0, 0);
    let mut redraw = Redraw { seats, series: BTreeMap::new() };
    for round in 1..=WARM_UP + setup.rounds {
        let found = stage.round(round, &mut dice)?;
        if round > WARM_UP {
            redraw.add(&found);
        }
    }
    Ok(redraw)
}

impl Redraw {
    fn add(&mut self, found: &[(&'static str, Duration)]) {
        let median_of = |figure: &str| {
            let times = found.iter().filter(|(of, _)| *of == figure);
            median(times.map(|(_, time)| time.as_nanos() as f64 / 1000.0).collect())
        };
        let mut keep = |figure, time| self.series.entry(figure).or_default().push(time);
        for figure in [TRUE, BY_HAND, PROMPT.ended, PROMPT.drawn, STOP.ended, STOP.drawn] {
            keep(figure, median_of(figure));
        }
        for change in [PROMPT, STOP] {
            keep(change.beyond, median_of(change.drawn) - median_of(BY_HAND));
        }
    }

    /// One figure per round as multiples of `/bin/true` in the same round.
    fn ratios(&self, figure: &str) -> Vec<f64> {
        let of = |figure| self.series.get(figure).into_iter().flatten();
        sorted(of(figure).zip(of(TRUE)).map(|(time, of_true)| time / of_true).collect())
    }

    fn row(&self, figure: &str) -> Vec<String> {
        let ratios = self.ratios(figure);
        let times = sorted(self.series.get(figure).cloned().unwrap_or_default());
        let [ratio, ratio_p95] = [50, 95].map(|percent| format!("{:.2}", percentile(&ratios, percent)));
        let [p50, p95] = [50, 95].map(|percent| format!("{:.0}", percentile(&times, percent)));
        vec![format!("{figure}, {}", self.seats_in_words()), ratio, ratio_p95, p50, p95]
    }

    fn seats_in_words(&self) -> String {
        if self.seats == 1 { "1 seat".to_owned() } else { format!("{} seats", self.seats) }
    }

    /// Our share of the time from a hook to the bar.
    pub fn remarks(&self) -> [String; 2] {
        [PROMPT, STOP].map(|Change { event, ended, beyond, .. }| {
            let [beyond, hook] = [beyond, ended].map(|figure| percentile(&self.ratios(figure), 50));
            let seats = self.seats_in_words();
            format!(
                "{event}, {seats}: in the bar {beyond:.2} × /bin/true later than by tmux itself; the hook takes {hook:.2} ×",
            )
        })
    }
}

const COLUMNS: [&str; 5] = ["from → to", "× true", "p95 × true", "p50 µs", "p95 µs"];

pub fn table(redraws: &[Redraw]) -> Table {
    let rows = redraws.iter().flat_map(|redraw| FIGURES.map(|figure| redraw.row(figure)));
    Table::new("From a hook to the status line", &COLUMNS, rows.collect())
}

/// A crew with an attached client, and the payloads of a turn.
struct Stage {
    crew: Crew,
    client: Client,
    /// Each change with its payload, and the text of the bar after it.
    changes: [(Change, Payload, String); 2],
}

/// The processes of a round, in random order. The first hook is a prompt, the second ends its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    True,
    ByHand,
    Hook,
}

const TURNS: [Turn; 7] =
    [Turn::True, Turn::True, Turn::True, Turn::ByHand, Turn::ByHand, Turn::Hook, Turn::Hook];

/// Words that occur nowhere else on the screen.
const WORKING: &str = "at-work";
const COMPLETED: &str = "done";

impl Stage {
    fn prepare(setup: &Setup, seats: usize) -> Result<Stage> {
        let mut states = mixed(seats);
        states[0] = State::Completed;
        let count = |wanted| states.iter().filter(|state| **state == wanted).count();
        let crew = Crew::start(setup, &states, USUAL_TRANSCRIPT)?;
        for (option, value) in [
            ("status-right", "#{@towline-status}"),
            ("status-right-length", "100"),
            ("status-interval", "0"),
            ("@towline-icon-working", WORKING),
            ("@towline-icon-completed", COMPLETED),
        ] {
            crew.tmux.run(&["set-option", "-g", option, value]);
        }
        // A refresh reads the options once a minute: one that ran meanwhile must not have cached them.
        let caches = crew.tmux.env().data_dir().join("bars");
        if caches.exists() {
            files::remove_folder(&caches)?;
        }
        crew.run_tow(&["bar", "--refresh"])?;
        let client = Client::attach(&crew.tmux)?;
        let recorded = |change: Change| setup.recordings.payload(Agent::Claude, change.event).cloned();
        let working = format!("{}{WORKING}", count(State::Working) + 1);
        let completed = format!("{}{COMPLETED}", count(State::Completed));
        let changes = [(PROMPT, recorded(PROMPT)?, working), (STOP, recorded(STOP)?, completed)];
        Ok(Stage { crew, client, changes })
    }

    fn round(&self, round: usize, dice: &mut Dice) -> Result<Vec<(&'static str, Duration)>> {
        let mut turns = TURNS;
        shuffle(&mut turns, dice);
        let mut changes = self.changes.iter();
        let mut found = Vec::new();
        for (place, turn) in turns.into_iter().enumerate() {
            self.client.drain()?;
            match turn {
                Turn::True => found.push((TRUE, length(self.agent().carry_out(&Order::True)?))),
                Turn::ByHand => {
                    let text = format!("by-hand-{round}-{place}.");
                    let (drawn, _) = self.drawn(&Order::Set(&text), &text)?;
                    found.push((BY_HAND, drawn));
                }
                Turn::Hook => {
                    if let Some((change, payload, text)) = changes.next() {
                        let (drawn, times) = self.drawn(&Order::Hook(payload), text)?;
                        found.push((change.drawn, drawn));
                        found.push((change.ended, length(times)));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The time from the start of the ordered process until `text` was drawn.
    fn drawn(&self, order: &Order<'_>, text: &str) -> Result<(Duration, Times)> {
        self.agent().tell(order)?;
        let at = self.client.wait_for(text)?;
        let times = self.agent().answer()?;
        Ok((at.saturating_sub(times.begun), times))
    }

    /// The agent that runs everything, in the window that the client shows.
    fn agent(&self) -> &FakeAgent {
        &self.crew.agents[0]
    }
}

fn length(times: Times) -> Duration {
    times.ended.saturating_sub(times.begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redraw() -> Redraw {
        let mut redraw = Redraw { seats: 50, series: BTreeMap::new() };
        let ms = Duration::from_millis;
        for of_true in [1, 2] {
            redraw.add(&[
                (TRUE, ms(of_true)),
                (BY_HAND, ms(5 * of_true)),
                (PROMPT.drawn, ms(8 * of_true)),
                (PROMPT.ended, ms(3 * of_true)),
                (STOP.drawn, ms(7 * of_true)),
                (STOP.ended, ms(2 * of_true)),
            ]);
        }
        redraw
    }

    #[test]
    fn what_is_beyond_tmux_is_taken_within_the_round() {
        assert_eq!(
            redraw().remarks(),
            [
                "UserPromptSubmit, 50 seats: in the bar 3.00 × /bin/true later than by tmux itself; the hook takes 3.00 ×",
                "Stop, 50 seats: in the bar 2.00 × /bin/true later than by tmux itself; the hook takes 2.00 ×",
            ]
        );
    }

    #[test]
    fn table_has_a_line_per_figure() {
        let lines = table(&[redraw()]).rows;
        assert_eq!(lines.len(), 8);
        assert_eq!(lines[1][1..], ["5.00", "5.00", "5000", "10000"].map(str::to_owned));
    }
}
