//! `cargo xtask bench track`: the cost of the status display.
//!
//! Agents run in private tmux servers and are brought into their states by real hooks. Needs no account,
//! client or network, and leaves nothing behind.

mod agent;
mod client;
mod crew;
mod redraw;
mod refresh;
mod spawns;
mod strace;
mod tails;

use std::io::Write;

use crate::outcome::Result;

use super::host::announce;
use super::report::Report;
use super::setup::Setup;

const LEGEND: &str = "`tow bar --refresh` is what tmux runs every few seconds: quiet when it finds that nothing can \
    have changed, full when it looks at everything. It is measured from before its process is forked until it is \
    reaped. `× true` is the median, over the rounds, of the time by that of `/bin/true` in the same round, `p95 × \
    true` the same of one round in twenty; those columns compare between machines, the microseconds do not. From a \
    hook to the status line, times are taken by the process in the pane that starts the hook (and `/bin/true`) and by \
    whoever sees the bytes that an attached client draws.";

pub fn report(setup: &Setup, out: &mut impl Write) -> Result<Report> {
    announce(out, "counting what is started …")?;
    let (started, mut judgements) = spawns::measured(setup)?;
    announce(out, "measuring refreshes of the bar (102 agents sit down) …")?;
    let (refreshes, judged) = refresh::measured(setup)?;
    judgements.extend(judged);
    announce(out, "measuring ends of transcripts …")?;
    let ([ends, bytes], judged) = tails::measured(setup)?;
    judgements.extend(judged);
    announce(out, "measuring from a hook to the status line …")?;
    let redraws = [redraw::measured(setup, 1)?, redraw::measured(setup, refresh::MANY)?];
    Ok(Report {
        title: "Benchmarks: what it costs to show what agents do",
        legend: LEGEND,
        tables: vec![started, refreshes, ends, bytes, redraw::table(&redraws)],
        remarks: redraws.iter().flat_map(redraw::Redraw::remarks).collect(),
        judgements,
    })
}
