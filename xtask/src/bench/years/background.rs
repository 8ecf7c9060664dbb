//! The processes that hooks start behind an agent's back: how many per turn, and their cost.
//!
//! This process adopts them, so none is missed. Must run alone: it reaps every other child.

use rustix::process::{getpid, set_child_subreaper};

use super::hooks::Stage;
use super::meter::short;
use crate::bench::measure::reap_all_but;
use crate::bench::report::Table;
use crate::outcome::{Failure, Result};

/// Turns that are sent one after the other.
const TURNS: usize = 20;

pub struct PerTurn {
    pub processes: f64,
    pub cpu_ms: f64,
    pub largest_peak_mb: f64,
}

/// Sends turns of one session and waits for every process that they started.
pub fn measured(stage: &Stage<'_>) -> Result<PerTurn> {
    let mut session = stage.session();
    stage.begin(&mut session)?;
    stage.wait_for_background();
    set_child_subreaper(Some(getpid())).map_err(|error| Failure::start("a reaper")(error.into()))?;
    for _ in 0..TURNS {
        stage.play_turn(&mut session)?;
        stage.wait_for_background();
    }
    let all = reap_all_but(&stage.agent.id());
    set_child_subreaper(None).map_err(|error| Failure::start("a reaper")(error.into()))?;
    let turns = TURNS as f64;
    Ok(PerTurn {
        processes: all.len() as f64 / turns,
        cpu_ms: all.iter().map(|cost| cost.cpu_us as f64 / 1e3).sum::<f64>() / turns,
        largest_peak_mb: all.iter().map(|cost| cost.peak_kb as f64 / 1e3).fold(0.0, f64::max),
    })
}

pub fn table(per_turn: &PerTurn) -> Table {
    let figures = [per_turn.processes, per_turn.cpu_ms, per_turn.largest_peak_mb].map(short);
    let row = [vec!["a turn".to_owned()], figures.to_vec()].concat();
    Table::new("Background work", &["of", "processes", "cpu ms", "largest peak MB"], vec![row])
}
