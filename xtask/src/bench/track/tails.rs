//! The cost of reading the end of a transcript, for transcripts of different sizes.
//!
//! Compares sessions that differ only in the size of their transcript, in the same rounds, and counts the
//! bytes read of the file by system calls.

use std::process::Command;

use super::crew::{Crew, State};
use super::strace;
use crate::bench::costs;
use crate::bench::host::settle;
use crate::bench::report::{Judgement, Table};
use crate::bench::rounds::Case;
use crate::bench::setup::Setup;
use crate::bench::statistics;
use crate::outcome::Result;

const KB: u64 = 1024;
const MB: u64 = 1024 * KB;

/// From a transcript that is read almost whole to one of weeks.
const SIZES: [u64; 3] = [100 * KB, 128 * MB, 2048 * MB];

/// Maximum difference in cost between the smallest transcript and the others.
const MOVES_LESS_THAN_PERCENT: f64 = 15.0;

/// Maximum number of bytes read of a transcript, for all that is shown of it.
const READS_AT_MOST: u64 = 1280 * KB;

/// Measures the time of each case and the bytes that it reads of the transcript, and judges both.
pub fn measured(setup: &Setup) -> Result<([Table; 2], Vec<Judgement>)> {
    let mut crews = Vec::new();
    for bytes in SIZES {
        crews.push((bytes, Crew::start(setup, &[State::Working], bytes)?));
    }
    let look = |what| crews.iter().map(move |(bytes, crew)| Look { what, bytes: *bytes, crew });
    let cases: Vec<Look<'_>> = [What::Status, What::Refresh].into_iter().flat_map(look).collect();
    settle()?;
    let costs = costs::measured(&cases, setup.rounds)?;
    let read: Vec<u64> = cases.iter().map(Look::bytes_read).collect::<Result<_, _>>()?;
    let row = |(case, read): (&Look<'_>, &u64)| vec![case.name(), case.bytes.to_string(), read.to_string()];
    let rows = cases.iter().zip(&read).map(row).collect();
    let table = Table::new("Bytes read of a transcript", &["case", "bytes", "bytes read"], rows);
    let ratios: Vec<f64> = costs.cases.iter().map(|row| row.summary.ratio).collect();
    Ok(([costs.table("Ends of transcripts"), table], judged(&cases, &ratios, &read)))
}

/// The command that reads the end of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// `tow status --json`: a full probe while the user waits.
    Status,
    /// `tow bar --refresh`, when something may have changed.
    Refresh,
}

/// One working agent with a transcript of this size, and a command that reads its end.
struct Look<'a> {
    what: What,
    bytes: u64,
    crew: &'a Crew,
}

impl Look<'_> {
    fn bytes_read(&self) -> Result<u64> {
        let transcript = self.crew.agents.first().map(|agent| agent.transcript.clone());
        strace::bytes_read(&self.process(0)?.0, &transcript.unwrap_or_default())
    }
}

impl Case for Look<'_> {
    fn name(&self) -> String {
        let what = match self.what {
            What::Status => "tow status --json",
            What::Refresh => "full refresh",
        };
        format!("{what}, transcript of {}", statistics::bytes(self.bytes as usize))
    }

    fn process(&self, _round: usize) -> Result<(Command, Vec<u8>)> {
        let command = match self.what {
            What::Status => self.crew.tow(&["status", "--json"]),
            What::Refresh => {
                self.crew.drop_status_cache()?;
                self.crew.tow(&["bar", "--refresh"])
            }
        };
        Ok((command, Vec::new()))
    }
}

/// Judges time and bytes of each size against the smallest.
fn judged(cases: &[Look<'_>], ratios: &[f64], read: &[u64]) -> Vec<Judgement> {
    let smallest = |what| cases.iter().position(|case| case.what == what).unwrap_or_default();
    let moved = cases.iter().enumerate().filter(|(number, case)| *number != smallest(case.what));
    let movements = moved.map(|(number, case)| {
        let percent = (ratios[number] / ratios[smallest(case.what)] - 1.0) * 100.0;
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
