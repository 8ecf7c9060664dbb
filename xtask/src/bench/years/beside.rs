//! Hooks while something long runs: nothing, an import, the worker, forgetting a project.
//!
//! Runs in a home of its own, because it changes it. A hook is compared with `/bin/true` of the same moments.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::commands::LARGEST_PROJECT;
use super::hooks::Stage;
use super::meter::{nothing, short};
use super::world::World;
use crate::bench::measure::cost_of;
use crate::bench::report::Table;
use crate::bench::statistics::{percentile, sorted};
use crate::corpus::{Cast, LiveSession, Shape};
use crate::outcome::{Failure, Result};

/// The transcripts of this home; more only make the long commands longer.
const MOST_GIGABYTES: f64 = 0.35;
/// Turns beside nothing, and the most beside something.
const TURNS: usize = 40;
const MOST_TURNS: usize = 2_000;

/// Milliseconds of each kind of hook, and of `/bin/true`.
type Times = BTreeMap<&'static str, Vec<f64>>;

const YARDSTICK: &str = "/bin/true";

pub fn measured(
    tow: &Path,
    crates: &Path,
    gigabytes: f64,
    say: &dyn Fn(&str) -> Result<()>,
) -> Result<Table> {
    let shape = Shape::of_gigabytes(gigabytes.min(MOST_GIGABYTES));
    let world = World::prepare(None, tow, crates, shape)?;
    let cast = Cast::load(crates)?;
    let stage = Stage::new(&world, &cast)?;
    let mut session = stage.session();
    stage.begin(&mut session)?;
    stage.wait_for_background();
    let mut rows = vec![];
    world.home.without_work()?;
    let long = [
        ("nothing", None),
        ("data import", Some(world.tow(&["data", "import"]))),
        ("data work", Some(world.tow(&["data", "work"]))),
        (
            "data forget --project",
            Some(world.home.on_terminal(&["data", "forget", "--project", LARGEST_PROJECT, "--yes"])?),
        ),
    ];
    for (name, command) in long {
        say(&format!("hooks beside {name}"))?;
        if name == "data work" {
            crate::files::remove(&world.home.config())?;
        }
        let times = times_beside(&stage, &mut session, command)?;
        rows.extend(rows_of(name, &times));
        stage.wait_for_background();
    }
    let columns = ["beside", "hook", "count", "p50 ms", "p99 ms", "p50 × true", "p99 × true"];
    Ok(Table::new("Hooks beside long commands", &columns, rows))
}

fn rows_of(name: &str, times: &Times) -> Vec<Vec<String>> {
    let sorted_times = |hook: &str| sorted(times.get(hook).cloned().unwrap_or_default());
    let yardstick = sorted_times(YARDSTICK);
    let row = |hook: &&str| {
        let walls = sorted_times(hook);
        let [p50, p99] = [50, 99].map(|percent| percentile(&walls, percent));
        let [own50, own99] = [50, 99].map(|percent| percentile(&yardstick, percent));
        let figures = [p50, p99, p50 / own50, p99 / own99].map(short);
        [vec![name.to_owned(), (*hook).to_owned(), walls.len().to_string()], figures.to_vec()].concat()
    };
    times.keys().filter(|hook| **hook != YARDSTICK).map(row).collect()
}

/// Plays turns until the command has ended.
fn times_beside(stage: &Stage<'_>, session: &mut LiveSession<'_>, command: Option<Command>) -> Result<Times> {
    let mut running = command.map(start).transpose()?;
    let most = if running.is_some() { MOST_TURNS } else { TURNS };
    let mut times = Times::new();
    for _ in 0..most {
        play_timed_turn(stage, session, &mut times)?;
        if let Some(child) = &mut running
            && child.try_wait().map_err(Failure::start("a long command"))?.is_some()
        {
            break;
        }
    }
    if let Some(mut child) = running {
        let status = child.wait().map_err(Failure::start("a long command"))?;
        if !status.success() {
            return Err(Failure::Failed {
                program: "a command beside hooks".to_owned(),
                complaint: status.to_string(),
            });
        }
    }
    Ok(times)
}

fn start(mut command: Command) -> Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(Failure::start("a long command"))
}

fn play_timed_turn(stage: &Stage<'_>, session: &mut LiveSession<'_>, times: &mut Times) -> Result<()> {
    let mut timed = |hook: &'static str, session: &LiveSession<'_>, payload: Vec<u8>| -> Result<()> {
        times.entry(YARDSTICK).or_default().push(nothing()? / 1e6);
        let cost = cost_of(&mut stage.hook(session), &payload)?;
        times.entry(hook).or_default().push(cost.wall_ns as f64 / 1e6);
        Ok(())
    };
    let (mut turn, payload) = stage.prompt(session)?;
    timed("prompt", session, payload)?;
    session.accept(&mut turn)?;
    let payload = session.use_tool(&mut turn)?;
    timed("tool result", session, payload)?;
    let payload = session.stop(turn)?;
    timed("Stop", session, payload)
}
