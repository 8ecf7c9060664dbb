//! `cargo xtask bench hooks`: the cost of a hook.
//!
//! A hook is one process that an agent waits for: it is measured from outside, from its fork to its end.
//! Notifying a terminal is measured elsewhere: here no agent runs in a terminal.

mod bounds;
mod case;
mod hub;
mod layout;

use std::io::Write;

use crate::outcome::Result;

use super::costs::{self, Costs};
use super::home::Seeds;
use super::host::{announce, settle};
use super::report::Report;
use super::setup::Setup;

use bounds::Measured;
use case::{Case, Group};

pub use layout::write as write_layout;

const LEGEND: &str = "Every process is started by posix_spawn with the same small environment and is measured \
    from before the start until it is reaped, on a machine where nothing else runs at that moment, and \
    strictly alternates with `/bin/true`. `× true` is the \
    median, over the rounds, of its time by that of `/bin/true` in the same round, `p95 × true` the same of one \
    round in twenty; those columns compare between machines, the microseconds do not. `cpu` is user and system \
    time, `faults` are page faults, `k instr.` are thousands of instructions in user code, counted by callgrind; `at most` \
    is the bound on `× true`. A session without a seat has no agent process, terminal, transcript or repository.";

pub fn report(setup: &Setup, out: &mut impl Write) -> Result<Report> {
    let histories: &[u64] = setup.by_extent(&case::QUICK_HISTORIES, &case::HISTORIES);
    let seeds = Seeds::new(&setup.tow);
    let (mut tables, mut measured) = (Vec::new(), Vec::new());
    for group in case::groups(&setup.recordings, histories) {
        announce(out, &format!("measuring: {} ({} cases) …", group.title, group.subjects.len()))?;
        let costs = costs_of(&group, setup, &seeds)?;
        let bound = |subject| bounds::bound_of(subject).map_or_else(|| "–".to_owned(), |at| at.to_string());
        let at_most = group.subjects.iter().map(bound).collect();
        tables.push(costs.table(group.title).with_column("at most", at_most));
        measured.extend(group.subjects.into_iter().zip(costs.cases).map(|(subject, row)| Measured {
            subject,
            ratio: row.summary.ratio,
            instructions: row.instructions.unwrap_or_default() as f64,
        }));
    }
    let judgements = bounds::judge(&measured);
    Ok(Report { title: "Benchmarks", legend: LEGEND, tables, remarks: Vec::new(), judgements })
}

fn costs_of(group: &Group, setup: &Setup, seeds: &Seeds) -> Result<Costs> {
    let mut cases = Vec::new();
    for (number, subject) in group.subjects.iter().enumerate() {
        cases.push(Case::prepare(subject, number, &setup.recordings, seeds)?);
    }
    settle()?;
    costs::measured(&cases, setup.rounds)
}
