//! The cost of refreshing the bar: when nothing has changed, and with a full probe.
//!
//! A refresh that took the other path than the measured one must not count as a sample.

use std::cell::Cell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use super::crew::{Crew, State, mixed};
use crate::bench::costs;
use crate::bench::host::settle;
use crate::bench::report::{Judgement, Table};
use crate::bench::rounds::Case;
use crate::bench::setup::Setup;
use crate::outcome::Result;

/// The number of seats that the bound is for.
pub const MANY: usize = 50;

/// Maximum cost of a refresh when nothing has changed, as a multiple of `/bin/true`.
const QUIET_AT_MOST: f64 = 4.0;

/// A transcript of about an hour.
pub const USUAL_TRANSCRIPT: u64 = 256 * 1024;

/// How many agents of the crew wait for a permission.
const BLOCKED: usize = 5;

/// Measures all refreshes, and judges those that used the status cache.
pub fn measured(setup: &Setup) -> Result<(Table, Vec<Judgement>)> {
    let mut blocked = mixed(MANY);
    blocked[..BLOCKED].fill(State::Blocked);
    let start = |states: &[State]| Crew::start(setup, states, USUAL_TRANSCRIPT);
    let (many, blocked) = (start(&mixed(MANY))?, start(&blocked)?);
    let (one, nobody) = (start(&[State::Working])?, start(&[])?);
    let (done, working) = (many.pane(1), many.pane(2));
    let cases = [
        Refresh::new(Way::Quiet, "quiet, 50 seats", &many, None),
        Refresh::new(Way::Quiet, "quiet, 50 seats, a pane before a client", &many, Some(&working)),
        Refresh::new(Way::Quiet, "quiet, 50 seats, 5 blocked", &blocked, None),
        Refresh::new(Way::Quiet, "quiet, 1 seat", &one, None),
        Refresh::new(Way::Quiet, "quiet, nothing ever recorded", &nobody, None),
        Refresh::new(Way::Full, "full, 50 seats", &many, None),
        Refresh::new(Way::Full, "full, 50 seats, a finished pane before nobody", &many, Some(&done)),
        Refresh::new(Way::Full, "full, 50 seats, 5 blocked", &blocked, None),
        Refresh::new(Way::Full, "full, 1 seat", &one, None),
        Refresh::new(Way::Full, "full, nothing ever recorded", &nobody, None),
    ];
    settle()?;
    let costs = costs::measured(&cases, setup.rounds)?;
    let quiet = cases.iter().zip(&costs.cases).filter(|(case, _)| case.way == Way::Quiet);
    let judgements = quiet.map(|(case, row)| {
        let ratio = row.summary.ratio;
        let text = format!("refresh, {}: {ratio:.2} × /bin/true (at most {QUIET_AT_MOST})", case.name);
        Judgement { holds: ratio <= QUIET_AT_MOST, text }
    });
    Ok((costs.table("Refreshes of the bar"), judgements.collect()))
}

/// The path that a refresh takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The status cache is valid.
    Quiet,
    /// A full probe, which finds no change.
    Full,
}

/// `tow bar --refresh` in one crew, perhaps with a pane before a client.
struct Refresh<'a> {
    way: Way,
    name: &'static str,
    crew: &'a Crew,
    pane: Option<&'a str>,
    /// The status cache before the refresh.
    before: Cell<Option<Version>>,
}

impl<'a> Refresh<'a> {
    fn new(way: Way, name: &'static str, crew: &'a Crew, pane: Option<&'a String>) -> Refresh<'a> {
        Refresh { way, name, crew, pane: pane.map(String::as_str), before: Cell::new(None) }
    }
}

/// Inode and time of a file: every full refresh rewrites the status cache.
type Version = (u64, i64, i64);

fn version(file: &Path) -> Option<Version> {
    let found = std::fs::metadata(file).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}

impl Case for Refresh<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn process(&self, _round: usize) -> Result<(Command, Vec<u8>)> {
        if self.way == Way::Full {
            self.crew.drop_status_cache()?;
        }
        self.before.set(version(&self.crew.status_cache()));
        let mut command = self.crew.tow(&["bar", "--refresh"]);
        command.args(self.pane.into_iter().flat_map(|pane| ["--looking-at", pane]));
        Ok((command, Vec::new()))
    }

    /// The status cache expires after seconds; the next refresh then writes a new one.
    fn finish(&self) -> Result<bool> {
        let is_same = version(&self.crew.status_cache()) == self.before.get();
        Ok(is_same == (self.way == Way::Quiet))
    }
}
