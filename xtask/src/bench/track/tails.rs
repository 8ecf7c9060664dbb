//! The cost of reading the end of a transcript, for transcripts of different sizes.
//!
//! Compares sessions that differ only in the size of their transcript, in the same rounds, and counts the
//! bytes read of the file by system calls.

use std::process::Command;

use super::crew::{Crew, State};
use super::strace;
use crate::bench::costs::Costs;
use crate::bench::measure::{Cost, cost_of};
use crate::bench::report::{Judgement, Table};
use crate::bench::rounds::Case;
use crate::bench::setup::Setup;
use crate::bench::{instructions, statistics};
use crate::outcome::Failure;

const KB: u64 = 1024;
const MB: u64 = 1024 * KB;

/// From a transcript that is read almost whole to one of weeks.
const SIZES: [u64; 3] = [100 * KB, 128 * MB, 2048 * MB];

/// Maximum difference in cost between the smallest transcript and the others.
const MOVES_LESS_THAN_PERCENT: f64 = 15.0;

/// Maximum number of bytes read of a transcript, for all that is shown of it.
const READS_AT_MOST: u64 = 1280 * KB;

/// One working agent per size.
pub struct Crews(Vec<(u64, Crew)>);

impl Crews {
    pub fn seated(setup: &Setup) -> Result<Crews, Failure> {
        let seat = |bytes| Ok((bytes, Crew::seated(setup, &[State::Working], bytes)?));
        Ok(Crews(SIZES.into_iter().map(seat).collect::<Result<_, Failure>>()?))
    }

    pub fn cases(&self) -> Vec<Look<'_>> {
        let look = |what| self.0.iter().map(move |(bytes, crew)| Look { what, bytes: *bytes, crew });
        [What::Status, What::Refresh].into_iter().flat_map(look).collect()
    }
}

/// The command that reads the end of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// `tow status --json`: a full probe while the user waits.
    Status,
    /// `tow bar --refresh`, when something may have changed.
    Refresh,
}

pub struct Look<'a> {
    what: What,
    bytes: u64,
    crew: &'a Crew,
}

impl Look<'_> {
    fn command(&self) -> Result<Command, Failure> {
        match self.what {
            What::Status => Ok(self.crew.tow(&["status", "--json"])),
            What::Refresh => {
                let file = self.crew.quiet_file();
                if file.exists() {
                    std::fs::remove_file(&file).map_err(Failure::write(&file))?;
                }
                Ok(self.crew.tow(&["bar", "--refresh"]))
            }
        }
    }

    fn bytes_read(&self) -> Result<u64, Failure> {
        let transcript = self.crew.sitters.first().map(|sitter| sitter.transcript.clone());
        strace::bytes_read(&self.command()?, &transcript.unwrap_or_default())
    }
}

impl Case for Look<'_> {
    fn name(&self) -> String {
        let what = match self.what {
            What::Status => "tow status --json",
            What::Refresh => "full refresh",
        };
        format!(
            "{what}, transcript of {}",
            statistics::bytes(usize::try_from(self.bytes).unwrap_or(usize::MAX))
        )
    }

    fn run(&self, _round: usize) -> Result<Cost, Failure> {
        cost_of(&mut self.command()?, b"")
    }

    fn instructions(&self, _round: usize) -> Result<u64, Failure> {
        instructions::of(&self.command()?, b"")
    }
}

/// The number of bytes that each case reads of the transcript.
pub fn bytes_read(cases: &[Look<'_>]) -> Result<Vec<u64>, Failure> {
    cases.iter().map(Look::bytes_read).collect()
}

pub fn table(cases: &[Look<'_>], read: &[u64]) -> Table {
    let row = |(case, read): (&Look<'_>, &u64)| vec![case.name(), case.bytes.to_string(), read.to_string()];
    let rows = cases.iter().zip(read).map(row).collect();
    Table::new("Bytes read of a transcript", &["case", "bytes", "bytes read"], rows)
}

/// Judges time and bytes of each size against the smallest.
pub fn judge(cases: &[Look<'_>], costs: &Costs, read: &[u64]) -> Vec<Judgement> {
    let ratio = |number: usize| costs.cases[number].summary.ratio;
    let smallest = |what| cases.iter().position(|case| case.what == what).unwrap_or_default();
    let moved = cases.iter().enumerate().filter(|(number, case)| *number != smallest(case.what));
    let movements = moved.map(|(number, case)| {
        let percent = (ratio(number) / ratio(smallest(case.what)) - 1.0) * 100.0;
        let text = format!(
            "{}: {percent:+.1} % against {} (less than {MOVES_LESS_THAN_PERCENT} %)",
            case.name(),
            statistics::bytes(SIZES[0] as usize),
        );
        Judgement { holds: percent.abs() < MOVES_LESS_THAN_PERCENT, text }
    });
    let bytes = cases.iter().zip(read).map(|(case, read)| {
        let text = format!("{}: {read} bytes read (more than 0, at most {READS_AT_MOST})", case.name());
        Judgement { holds: (1..=READS_AT_MOST).contains(read), text }
    });
    movements.chain(bytes).collect()
}
