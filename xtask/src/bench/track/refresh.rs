//! The cost of refreshing the bar: when nothing has changed, and with a full probe.
//!
//! A refresh that took the other path than the measured one must not count as a sample.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::crew::{Crew, State, mixed};
use crate::bench::costs::Costs;
use crate::bench::instructions;
use crate::bench::measure::{Cost, cost_of};
use crate::bench::report::Judgement;
use crate::bench::rounds::Case;
use crate::bench::setup::Setup;
use crate::outcome::Failure;

/// The number of seats that the bound is for.
pub const MANY: usize = 50;

/// Maximum cost of a refresh when nothing has changed, as a multiple of `/bin/true`.
const QUIET_AT_MOST: f64 = 4.0;

/// A transcript of about an hour.
pub const USUAL_TRANSCRIPT: u64 = 256 * 1024;

/// How many agents of the crew wait for a permission.
const BLOCKED: usize = 5;

/// Crews measured in the same rounds.
pub struct Crews {
    many: Crew,
    blocked: Crew,
    one: Crew,
    nobody: Crew,
}

impl Crews {
    pub fn seated(setup: &Setup) -> Result<Crews, Failure> {
        let mut blocked = mixed(MANY);
        blocked[..BLOCKED].fill(State::Blocked);
        let seated = |states: &[State]| Crew::seated(setup, states, USUAL_TRANSCRIPT);
        Ok(Crews {
            many: seated(&mixed(MANY))?,
            blocked: seated(&blocked)?,
            one: seated(&[State::Working])?,
            nobody: seated(&[])?,
        })
    }

    pub fn cases(&self) -> Vec<Refresh<'_>> {
        let (done, working) = (self.many.pane(1), self.many.pane(2));
        let quiet = |name: &str, crew| Refresh::new(name, crew, Way::Quiet);
        let full = |name: &str, crew| Refresh::new(name, crew, Way::Full);
        vec![
            quiet("quiet, 50 seats", &self.many),
            quiet("quiet, 50 seats, a pane before a client", &self.many).looking_at(&working),
            quiet("quiet, 50 seats, 5 blocked", &self.blocked),
            quiet("quiet, 1 seat", &self.one),
            quiet("quiet, nothing ever recorded", &self.nobody),
            full("full, 50 seats", &self.many),
            full("full, 50 seats, a finished pane before nobody", &self.many).looking_at(&done),
            full("full, 50 seats, 5 blocked", &self.blocked),
            full("full, 1 seat", &self.one),
            full("full, nothing ever recorded", &self.nobody),
        ]
    }
}

/// The path that a refresh takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The status cache is valid.
    Quiet,
    /// A full probe, which finds no change.
    Full,
}

/// `tow bar --refresh` in one crew.
pub struct Refresh<'a> {
    name: String,
    crew: &'a Crew,
    way: Way,
    arguments: Vec<String>,
}

/// The status cache expires after seconds; the next refresh then writes a new one.
const TRIES: usize = 3;

impl<'a> Refresh<'a> {
    fn new(name: &str, crew: &'a Crew, way: Way) -> Refresh<'a> {
        let arguments = vec!["bar".to_owned(), "--refresh".to_owned()];
        Refresh { name: name.to_owned(), crew, way, arguments }
    }

    fn looking_at(mut self, pane: &str) -> Refresh<'a> {
        self.arguments.extend(["--looking-at".to_owned(), pane.to_owned()]);
        self
    }

    fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// Repeats `measure` until its refresh took the intended path.
    fn in_its_way<T>(&self, measure: impl Fn() -> Result<T, Failure>) -> Result<T, Failure> {
        let file = self.crew.quiet_file();
        for _ in 0..TRIES {
            if self.way == Way::Full && file.exists() {
                std::fs::remove_file(&file).map_err(Failure::write(&file))?;
            }
            let before = stamp(&file);
            let measured = measure()?;
            let taken = if stamp(&file) == before { Way::Quiet } else { Way::Full };
            if taken == self.way {
                return Ok(measured);
            }
        }
        Err(Failure::malformed(&self.name, "the refresh never took this way"))
    }
}

/// Identifies the file's version: every full refresh rewrites it.
fn stamp(file: &Path) -> Option<(u64, i64, i64)> {
    let found = std::fs::metadata(file).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}

impl Case for Refresh<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&self, _round: usize) -> Result<Cost, Failure> {
        self.in_its_way(|| cost_of(&mut self.crew.tow(&self.arguments()), b""))
    }

    fn instructions(&self, _round: usize) -> Result<u64, Failure> {
        self.in_its_way(|| instructions::of(&self.crew.tow(&self.arguments()), b""))
    }
}

/// Judges the refreshes that used the status cache.
pub fn judge(cases: &[Refresh<'_>], costs: &Costs) -> Vec<Judgement> {
    let quiet = cases.iter().zip(&costs.cases).filter(|(case, _)| case.way == Way::Quiet);
    let judgement = |(case, row): (&Refresh<'_>, &crate::bench::costs::Row)| {
        let ratio = row.summary.ratio;
        let text = format!("refresh, {}: {ratio:.2} × /bin/true (at most {QUIET_AT_MOST})", case.name);
        Judgement { holds: ratio <= QUIET_AT_MOST, text }
    };
    quiet.map(judgement).collect()
}
