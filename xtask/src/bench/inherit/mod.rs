//! `cargo xtask bench inherit`: the cost of importing conversations and of retrieving them.
//!
//! Transcripts are made from recorded ones, in a temporary folder. The user's own are never read.

mod cases;
pub mod corpus;
mod import;
mod many;

use std::io::Write;

use crate::outcome::Result;

use super::costs;
use super::host::{announce, settle};
use super::report::Report;
use super::setup::Setup;

const LEGEND: &str = "Import is measured as one process over a corpus made of the recorded transcripts, their texts \
    enlarged with source code: `MB/s per core` is what was read by the processor time it took, user and system, readers \
    and writer together. The other cases are processes measured as in docs/evidence/benchmarks.md, in multiples of `/bin/true`.";

pub fn report(setup: &Setup, out: &mut impl Write) -> Result<Report> {
    announce(out, "making a corpus of recorded shapes …")?;
    let (imported, mut judgements) = import::measured(setup, out)?;
    announce(out, "making many short sessions, and taking them in …")?;
    let many = many::ManySessions::import(setup)?;
    let long = many::LongSession::import(setup)?;
    let cases = cases::all(&many, &long);
    settle()?;
    announce(out, &format!("measuring {} cases …", cases.len()))?;
    let costs = costs::measured(&cases, setup.rounds)?;
    judgements
        .extend(cases.iter().zip(&costs.cases).filter_map(|(case, row)| case.judged(row.summary.ratio)));
    let remarks = vec![many.summary()];
    let tables = vec![imported, costs.table("Capturing and getting back")];
    Ok(Report {
        title: "Benchmarks: taking in and getting back",
        legend: LEGEND,
        tables,
        remarks,
        judgements,
    })
}
