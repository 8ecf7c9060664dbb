//! `cargo xtask bench inherit`: the cost of importing conversations and of retrieving them.
//!
//! Transcripts are made from recorded ones, in a temporary folder. The user's own are never read.

mod cases;
pub mod corpus;
mod import;
mod many;

use std::io::Write;

use clap::Args;

use crate::outcome::{Result, Verdict};
use crate::repository::Repository;

use super::costs;
use super::host::{announce, settle};
use super::report::Report;
use super::setup::{Options as SetupOptions, Setup};

/// What to measure, and how.
#[derive(Args)]
pub struct Options {
    /// Leave out the table of imports: three minutes less
    #[arg(long)]
    without_import: bool,
    #[command(flatten)]
    setup: SetupOptions,
}

const LEGEND: &str = "Import is measured as one process over a corpus made of the recorded transcripts, their texts \
    enlarged with source code: `MB/s per core` is what was read by the processor time it took, user and system, readers \
    and writer together. The other cases are processes measured as in docs/evidence/benchmarks.md, in multiples of `/bin/true`.";

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let report = options.report(&options.setup.setup(repository, out)?, out)?;
    let left_out = if options.without_import { " --without-import" } else { "" };
    let arguments = options.setup.arguments("inherit") + left_out;
    options.setup.publication.publish(&report, &arguments, "benchmarks-inherit.md", out)
}

impl Options {
    fn report(&self, setup: &Setup, out: &mut impl Write) -> Result<Report> {
        if self.without_import {
            return retrieved(setup, out);
        }
        announce(out, "making a corpus of recorded shapes …")?;
        let (imported, mut judgements) = import::measured(setup, out)?;
        let mut report = retrieved(setup, out)?;
        report.tables.insert(0, imported);
        judgements.append(&mut report.judgements);
        Ok(Report { judgements, ..report })
    }
}

fn retrieved(setup: &Setup, out: &mut impl Write) -> Result<Report> {
    announce(out, "making many short sessions, and taking them in …")?;
    let many = many::ManySessions::import(setup)?;
    let long = many::LongSession::import(setup)?;
    let cases = cases::all(&many, &long);
    settle()?;
    announce(out, &format!("measuring {} cases …", cases.len()))?;
    let costs = costs::measured(&cases, setup.rounds)?;
    let judged = cases.iter().zip(&costs.cases).filter_map(|(case, row)| case.judged(row.summary.ratio));
    Ok(Report {
        title: "Benchmarks: taking in and getting back",
        legend: LEGEND,
        tables: vec![costs.table("Capturing and getting back")],
        remarks: vec![many.summary()],
        judgements: judged.collect(),
    })
}
