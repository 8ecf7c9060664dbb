//! Times a hook until its text is drawn in the status line of an attached client, beside tmux's own redraw.
//!
//! The same process in the pane starts everything and takes the start time; the benchmark reads the bytes
//! that the client draws. tmux's own time is the lower bound: only the rest is ours.

use std::collections::BTreeMap;
use std::time::Duration;

use super::client::Client;
use super::crew::{Crew, State, mixed};
use super::refresh::USUAL_TRANSCRIPT;
use super::sitter::{Order, Times};
use crate::bench::payload::{Agent, Payload};
use crate::bench::report::Table;
use crate::bench::rounds::Dice;
use crate::bench::setup::Setup;
use crate::bench::statistics::{median, percentile, sorted};
use crate::outcome::Failure;

/// The measurements with this many seats.
pub struct Redraw {
    seats: usize,
    /// Times in microseconds, one per round.
    series: BTreeMap<Figure, Vec<f64>>,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Figure {
    /// `/bin/true`, from its start to its end.
    True,
    /// From the start of `tmux set-option` to the text on the terminal.
    ByHand,
    /// From the start of a hook to its end.
    Ended(Change),
    /// From the start of a hook to the text on the terminal.
    Drawn(Change),
    /// The same minus tmux's own time in the same round.
    Beyond(Change),
}

/// The change that the hook reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Prompt,
    Stop,
}

const CHANGES: [Change; 2] = [Change::Prompt, Change::Stop];

impl Change {
    fn event(self) -> &'static str {
        match self {
            Change::Prompt => "UserPromptSubmit",
            Change::Stop => "Stop",
        }
    }
}

impl Figure {
    fn name(self) -> String {
        match self {
            Figure::True => "/bin/true: start → end".to_owned(),
            Figure::ByHand => "tmux set-option by hand: start → drawn".to_owned(),
            Figure::Ended(change) => format!("{}: start → end of the hook", change.event()),
            Figure::Drawn(change) => format!("{}: start → drawn", change.event()),
            Figure::Beyond(change) => format!("{}: start → drawn, beyond tmux's own", change.event()),
        }
    }
}

/// Rounds whose figures are discarded.
const WARM_UP: usize = 3;

/// Measures with this many seats.
pub fn measured(setup: &Setup, seats: usize) -> Result<Redraw, Failure> {
    let stage = Stage::set(setup, seats)?;
    let mut dice = Dice::new();
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
    fn add(&mut self, found: &[(Figure, Duration)]) {
        let median_of = |figure: Figure| {
            let times = found.iter().filter(|(of, _)| *of == figure);
            median(times.map(|(_, time)| time.as_nanos() as f64 / 1000.0).collect())
        };
        let by_hand = median_of(Figure::ByHand);
        let mut keep = |figure, time| self.series.entry(figure).or_default().push(time);
        keep(Figure::True, median_of(Figure::True));
        keep(Figure::ByHand, by_hand);
        for change in CHANGES {
            let drawn = median_of(Figure::Drawn(change));
            keep(Figure::Ended(change), median_of(Figure::Ended(change)));
            keep(Figure::Drawn(change), drawn);
            keep(Figure::Beyond(change), drawn - by_hand);
        }
    }

    /// One figure per round as multiples of `/bin/true` in the same round.
    fn ratios(&self, figure: Figure) -> Vec<f64> {
        let of = |figure| self.series.get(&figure).into_iter().flatten();
        sorted(of(figure).zip(of(Figure::True)).map(|(time, of_true)| time / of_true).collect())
    }

    fn row(&self, figure: Figure) -> Vec<String> {
        let ratios = self.ratios(figure);
        let times = sorted(self.series.get(&figure).cloned().unwrap_or_default());
        let name = format!("{}, {}", figure.name(), self.seats_in_words());
        let [ratio, ratio_p95] = [50, 95].map(|percent| format!("{:.2}", percentile(&ratios, percent)));
        let [p50, p95] = [50, 95].map(|percent| format!("{:.0}", percentile(&times, percent)));
        vec![name, ratio, ratio_p95, p50, p95]
    }

    fn seats_in_words(&self) -> String {
        if self.seats == 1 { "1 seat".to_owned() } else { format!("{} seats", self.seats) }
    }

    /// Our share of the time from a hook to the bar.
    pub fn remarks(&self) -> Vec<String> {
        let remark = |change: Change| {
            let [beyond, hook] = [Figure::Beyond(change), Figure::Ended(change)]
                .map(|figure| percentile(&self.ratios(figure), 50));
            format!(
                "{}, {}: in the bar {beyond:.2} × /bin/true later than by tmux itself; the hook takes {hook:.2} ×",
                change.event(),
                self.seats_in_words(),
            )
        };
        CHANGES.map(remark).to_vec()
    }
}

const COLUMNS: [&str; 5] = ["from → to", "× true", "p95 × true", "p50 µs", "p95 µs"];

pub fn table(redraws: &[Redraw]) -> Table {
    let rows = redraws.iter().flat_map(|redraw| redraw.series.keys().map(|figure| redraw.row(*figure)));
    Table::new("From a hook to the status line", &COLUMNS, rows.collect())
}

/// A crew with an attached client, and the payloads of a turn.
struct Stage {
    crew: Crew,
    client: Client,
    prompt: Payload,
    stop: Payload,
    /// The text of the bar while the first agent works, and afterwards.
    working: String,
    completed: String,
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
    fn set(setup: &Setup, seats: usize) -> Result<Stage, Failure> {
        let mut states = mixed(seats);
        states[0] = State::Completed;
        let count = |wanted| states.iter().filter(|state| **state == wanted).count();
        let crew = Crew::seated(setup, &states, USUAL_TRANSCRIPT)?;
        for (option, value) in [
            ("status-right", "#{@towline-status}"),
            ("status-right-length", "100"),
            ("status-interval", "0"),
            ("@towline-icon-working", WORKING),
            ("@towline-icon-completed", COMPLETED),
        ] {
            crew.tmux.run(&["set-option", "-g", option, value]);
        }
        // Reads the options, as a refresh does once a minute.
        crew.run_tow(&["bar", "--refresh"])?;
        let client = Client::attach(&crew.tmux)?;
        let recorded = |change: Change| setup.recordings.payload(Agent::Claude, change.event()).cloned();
        Ok(Stage {
            working: format!("{}{WORKING}", count(State::Working) + 1),
            completed: format!("{}{COMPLETED}", count(State::Completed)),
            prompt: recorded(Change::Prompt)?,
            stop: recorded(Change::Stop)?,
            crew,
            client,
        })
    }

    fn round(&self, round: usize, dice: &mut Dice) -> Result<Vec<(Figure, Duration)>, Failure> {
        let mut turns = TURNS;
        dice.shuffle(&mut turns);
        let mut changes = CHANGES.into_iter();
        let mut found = Vec::new();
        for (place, turn) in turns.into_iter().enumerate() {
            self.client.drain()?;
            match turn {
                Turn::True => found.push((Figure::True, length(self.sitter().carry_out(&Order::True)?))),
                Turn::ByHand => {
                    let text = format!("by-hand-{round}-{place}.");
                    let (drawn, _) = self.drawn(&Order::Set(&text), &text)?;
                    found.push((Figure::ByHand, drawn));
                }
                Turn::Hook => found.extend(
                    changes.next().map(|change| self.change(change)).transpose()?.into_iter().flatten(),
                ),
            }
        }
        Ok(found)
    }

    fn change(&self, change: Change) -> Result<[(Figure, Duration); 2], Failure> {
        let (payload, text) = match change {
            Change::Prompt => (&self.prompt, &self.working),
            Change::Stop => (&self.stop, &self.completed),
        };
        let (drawn, times) = self.drawn(&Order::Hook(payload), text)?;
        Ok([(Figure::Drawn(change), drawn), (Figure::Ended(change), length(times))])
    }

    /// The time from the start of the ordered process until `text` was drawn.
    fn drawn(&self, order: &Order<'_>, text: &str) -> Result<(Duration, Times), Failure> {
        self.sitter().tell(order)?;
        let at = self.client.wait_for(text)?;
        let times = self.sitter().answer()?;
        Ok((at.saturating_sub(times.begun), times))
    }

    /// The agent that runs everything, in the window that the client shows.
    fn sitter(&self) -> &super::sitter::Sitter {
        &self.crew.sitters[0]
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
                (Figure::True, ms(of_true)),
                (Figure::ByHand, ms(5 * of_true)),
                (Figure::Drawn(Change::Prompt), ms(8 * of_true)),
                (Figure::Ended(Change::Prompt), ms(3 * of_true)),
                (Figure::Drawn(Change::Stop), ms(7 * of_true)),
                (Figure::Ended(Change::Stop), ms(2 * of_true)),
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
