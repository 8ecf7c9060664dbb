//! `cargo xtask bench track`: the cost of the status display.
//!
//! Agents run in private tmux servers and are brought into their states by real hooks. Needs no account,
//! client or network, and leaves nothing behind.

mod client;
mod crew;
mod redraw;
mod refresh;
mod sitter;
mod spawns;
mod strace;
mod tails;

use std::io::Write;

use crate::outcome::Failure;

use super::costs;
use super::host::{announce, require, settle};
use super::report::Report;
use super::setup::Setup;

const LEGEND: &str = "`tow bar --refresh` is what tmux runs every few seconds: quiet when it finds that nothing can \
    have changed, full when it looks at everything. It is measured from before its process is forked until it is \
    reaped. `× true` is the median, over the rounds, of the time by that of `/bin/true` in the same round, `p95 × \
    true` the same of one round in twenty; those columns compare between machines, the microseconds do not. From a \
    hook to the status line, times are taken by the process in the pane that starts the hook (and `/bin/true`) and by \
    whoever sees the bytes that an attached client draws.";

/// Fails early, with the command that installs the missing tool.
pub fn require_tools() -> Result<(), Failure> {
    strace::require()?;
    require("tmux", "-V", "`apt-get install tmux` (agents sit in it)")
}

pub fn report(setup: &Setup, out: &mut impl Write) -> Result<Report, Failure> {
    let mut report = Report {
        title: "Benchmarks: what it costs to show what agents do",
        legend: LEGEND,
        tables: Vec::new(),
        remarks: Vec::new(),
        judgements: Vec::new(),
    };
    announce(out, "counting what is started …")?;
    add_spawns(setup, &mut report)?;
    announce(out, "measuring refreshes of the bar (102 agents sit down) …")?;
    add_refreshes(setup, &mut report)?;
    announce(out, "measuring ends of transcripts …")?;
    add_tails(setup, &mut report)?;
    announce(out, "measuring from a hook to the status line …")?;
    add_redraws(setup, &mut report)?;
    Ok(report)
}

fn add_spawns(setup: &Setup, report: &mut Report) -> Result<(), Failure> {
    let counted = spawns::count(setup)?;
    report.tables.push(spawns::table(&counted));
    report.judgements.extend(spawns::judge(&counted));
    Ok(())
}

fn add_refreshes(setup: &Setup, report: &mut Report) -> Result<(), Failure> {
    let crews = refresh::Crews::seated(setup)?;
    let cases = crews.cases();
    settle()?;
    let costs = costs::measured(&cases, setup.rounds)?;
    report.tables.push(costs.table("Refreshes of the bar"));
    report.judgements.extend(refresh::judge(&cases, &costs));
    Ok(())
}

fn add_tails(setup: &Setup, report: &mut Report) -> Result<(), Failure> {
    let crews = tails::Crews::seated(setup)?;
    let cases = crews.cases();
    settle()?;
    let costs = costs::measured(&cases, setup.rounds)?;
    let read = tails::bytes_read(&cases)?;
    report.tables.extend([costs.table("Ends of transcripts"), tails::table(&cases, &read)]);
    report.judgements.extend(tails::judge(&cases, &costs, &read));
    Ok(())
}

fn add_redraws(setup: &Setup, report: &mut Report) -> Result<(), Failure> {
    let redraws = [redraw::measured(setup, 1)?, redraw::measured(setup, refresh::MANY)?];
    report.tables.push(redraw::table(&redraws));
    report.remarks.extend(redraws.iter().flat_map(redraw::Redraw::remarks));
    Ok(())
}
