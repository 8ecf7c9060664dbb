//! Commands that change the data, each run once: import, worker, reindex, forgetting.
//!
//! They run in the order of a user's life, and forgetting comes last. A watcher samples the logs of the databases meanwhile.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use towline_core::id::Uid;
use towline_store::archive::ArchiveRetention;
use towline_store::lock::{ArchiveLock, WorkLock, pauses};
use towline_store::{Archive, DataFolder};

use super::commands::{COMMON_WORD, LARGEST_PROJECT, any_memory};
use super::meter::{Bound, Ends, Figures, Row, once, short};
use super::world::World;
use crate::bench::host::now;
use crate::bench::report::Judgement;
use crate::files;
use crate::outcome::{Failure, Result};

/// Rows, and judgements on figures that no column shows.
#[derive(Default)]
pub struct Done {
    pub rows: Vec<Row>,
    pub judgements: Vec<Judgement>,
    pub remarks: Vec<String>,
}

/// How often a watcher looks.
const LOOK: Duration = Duration::from_millis(20);
const LARGEST_LOG_MB: f64 = 64.0;

/// Runs `act` and returns the largest size that the log of the archive had meanwhile, in MB.
fn watching_log<T>(world: &World, act: impl FnOnce() -> T) -> (T, f64) {
    let log = world.home.data().join("archive.db-wal");
    let (is_over, largest) = (AtomicBool::new(false), AtomicU64::new(0));
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                largest.fetch_max(fs::metadata(&log).map_or(0, |meta| meta.len()), Ordering::Relaxed);
                thread::sleep(LOOK);
            }
        });
        let result = act();
        is_over.store(true, Ordering::Relaxed);
        result
    });
    (result, largest.into_inner() as f64 / 1e6)
}

/// Runs a command once and returns its figures and the JSON that it printed.
fn once_with_json(world: &World, command: &mut Command) -> Result<(Figures, Value)> {
    let path = world.home.plain_folder().join("printed");
    let file = File::create(&path).map_err(Failure::write(&path))?;
    let figures = once(command, Stdio::from(file), Ends::Well)?;
    let printed = serde_json::from_str(&files::read(&path)?).unwrap_or_default();
    Ok((figures, printed))
}

/// Imports everything, searches at once, then runs the worker to its end.
pub fn import(world: &World, say: &dyn Fn(&str) -> Result<()>) -> Result<Done> {
    let mut done = Done::default();
    // The worker would start behind the import and compete with what is measured next. Settings cannot keep it away: rules
    // that are turned on later let distiller and index read the whole archive again.
    let home = DataFolder::at(world.home.data());
    home.create().map_err(Failure::write(home.folder()))?;
    let no_worker = WorkLock::try_take(&home).map_err(Failure::write(home.folder()))?;
    say("tow data import")?;
    let (imported, log) =
        watching_log(world, || once(&mut world.tow(&["data", "import"]), Stdio::null(), Ends::Well));
    let figures = imported?;
    let speed = world.written.bytes as f64 / 1e3 / figures.cpu_ms;
    done.judgements.push(Judgement::at_least("import with its index", speed, 100.0, " MB per CPU second"));
    done.judgements.push(log_bound("log of the archive during the import", log));
    done.rows.push(Row { name: "data import".to_owned(), figures, bounds: vec![] });
    let search = ["search", COMMON_WORD, "--all-projects"];
    let figures = once(&mut world.tow(&search), Stdio::null(), Ends::Well)?;
    let bounds = vec![Bound::WallMs(300.0)];
    done.rows.push(Row { name: "first search after the import".to_owned(), figures, bounds });
    drop(no_worker);
    say("tow data work")?;
    let (worked, log) =
        watching_log(world, || once_with_json(world, &mut world.tow(&["data", "work", "--json"])));
    let (figures, report) = worked?;
    let turns = report["distilled_turns"].as_f64().unwrap_or_default();
    let each = figures.cpu_ms / turns;
    done.judgements.push(Judgement::at_most(
        "worker with its index, per distilled turn",
        each,
        2.0,
        " ms CPU",
    ));
    done.judgements.push(log_bound("log of the archive during the worker", log));
    done.remarks.push(format!(
        "Worker: {turns} turns distilled, {} memories, {} sessions past their retention.",
        report["made_memories"], report["expired_conversations"]
    ));
    done.rows.push(Row { name: "data work, to its end".to_owned(), figures, bounds: vec![] });
    done.judgements.extend(retention(world)?);
    Ok(done)
}

fn log_bound(name: &str, megabytes: f64) -> Judgement {
    Judgement::at_most(name, megabytes, LARGEST_LOG_MB, " MB")
}

/// Whether one run of the worker brings the archive within its retention. Expiry is first due hours after an import, so the
/// user asks for it.
fn retention(world: &World) -> Result<Vec<Judgement>> {
    let mut expire = world.home.on_terminal(&["data", "work", "--expire"])?;
    expire.env("TMUX_TMPDIR", world.home.plain_folder());
    once(&mut expire, Stdio::null(), Ends::Well)?;
    let data = world.home.data();
    let refused = |error: &dyn std::error::Error| Failure::malformed("archive", error);
    let home = DataFolder::at(&data);
    let lock = ArchiveLock::take_within(&home, pauses(Duration::from_secs(10)));
    let lock = lock.map_err(Failure::write(&data))?.ok_or_else(|| Failure::malformed("archive", "locked"))?;
    let archive = Archive::open(&home, &lock, Duration::from_secs(10), Uid::v7(now(), [0; 10]));
    let archive = archive.map_err(|error| refused(&error))?;
    let usual = ArchiveRetention { words_days: 0, details_days: 365, thinking_days: 90, most_mb: 8192 };
    let left = archive.expire(usual, now()).map_err(|error| refused(&error))?;
    let free = archive.release_pages().map_err(|error| refused(&error))?;
    let megabytes = world.size("archive.db") as f64 / 1e6;
    Ok(vec![
        Judgement::at_most("sessions past their retention after one worker", f64::from(left), 0.0, ""),
        Judgement::at_most("free pages left after one worker", free as f64, 0.0, ""),
        Judgement::at_most("archive after one worker", megabytes, usual.most_mb as f64 * 1.048_576, " MB"),
    ])
}

pub fn reindex(world: &World) -> Result<Row> {
    let figures = once(&mut world.tow(&["data", "reindex"]), Stdio::null(), Ends::Well)?;
    let bounds = vec![Bound::CpuMs(120_000.0), Bound::PeakMb(100.0)];
    Ok(Row { name: "data reindex".to_owned(), figures, bounds })
}

/// Forgets a memory, a project of usual size and the largest one, as a person at a terminal.
pub fn forgetting(world: &World, say: &dyn Fn(&str) -> Result<()>) -> Result<Done> {
    let memory = any_memory(world)?;
    let tasks: [(&str, Vec<&str>, f64); 3] = [
        ("data forget MEMORY", vec![&memory], 1_000.0),
        ("data forget --project, the second largest", vec!["--project", "invoice-1"], 30_000.0),
        ("data forget --project, the largest", vec!["--project", LARGEST_PROJECT], 30_000.0),
    ];
    let mut done = Done::default();
    for (name, target, most_ms) in tasks {
        say(name)?;
        let before = world.size("archive.db");
        let arguments = [vec!["data", "forget"], target, vec!["--yes"]].concat();
        let mut command = world.home.on_terminal(&arguments)?;
        command.env("TMUX_TMPDIR", world.home.plain_folder());
        let (figures, log) = watching_log(world, || once(&mut command, Stdio::null(), Ends::Well));
        let freed = before.saturating_sub(world.size("archive.db")) as f64 / 1e6;
        done.remarks.push(format!(
            "{name}: log of the archive up to {} MB, file smaller by {} MB.",
            short(log),
            short(freed)
        ));
        done.rows.push(Row {
            name: name.to_owned(),
            figures: figures?,
            bounds: vec![Bound::WallMs(most_ms)],
        });
    }
    Ok(done)
}

/// Other programs on the same files; those that are not installed are named.
pub fn others(world: &World, clients: &Path) -> Result<Done> {
    let mut done = Done::default();
    let ccusage = clients.join("node_modules/ccusage/src/cli.js");
    let mut node = Command::new("node");
    node.arg(&ccusage).args(["daily", "--offline", "--json"]);
    let mut ripgrep = Command::new("rg");
    ripgrep.args(["--no-ignore", "--hidden", "--files-with-matches", COMMON_WORD]).arg(world.home.user());
    for (name, is_there, mut command) in [
        ("ccusage daily", ccusage.exists(), node),
        ("ripgrep, the same word", Path::new("/usr/bin/rg").exists(), ripgrep),
    ] {
        if !is_there {
            done.remarks.push(format!("{name}: not installed."));
            continue;
        }
        command.env_clear().envs(crate::bench::rounds::ENVIRONMENT).env("HOME", world.home.user());
        let figures = once(&mut command, Stdio::null(), Ends::Well)?;
        done.rows.push(Row { name: name.to_owned(), figures, bounds: vec![] });
    }
    Ok(done)
}
