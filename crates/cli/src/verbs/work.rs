//! `tow work`: does what nobody should wait for, then exits.
//!
//! Started by hooks when there is something to do; at most one at a time. Never stays.

use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;
use towline_core::fault::{Fault, FaultKind};
use towline_engine::background::changes;
use towline_engine::background::typist;
use towline_engine::capture;
use towline_engine::erase::forget;
use towline_engine::handoff::bookmarks::Bookmarked;
use towline_engine::index;
use towline_engine::index::FindError;
use towline_engine::index::embeddings;
use towline_engine::index::embeddings::Extent;
use towline_engine::index::embeddings::Standing;
use towline_engine::ingest::effects;
use towline_engine::memory::distil;
use towline_engine::memory::enrich;
use towline_engine::memory::model::{Drained, Left};
use towline_engine::runtime::config::settings;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::failure::chain;
use towline_engine::runtime::faults::record_here;
use towline_engine::runtime::spawn::place_detached;
use towline_engine::status::push;
use towline_engine::sync;
use towline_store::lock::{FoldLock, WorkLock, pauses};
use towline_store::{Archive, Pace, Store, StoreError, journal, meters, told, upkeep, warned};

const EXAMPLES: &str = "\
Examples:
  tow work            fold what is left in the journal, tidy up, say what was done
  tow work --json     the same for scripts
  tow work --rebuild  keep the database aside and make a new one from the journal";

/// Fold the journal, tidy the data folder, do the jobs that are due.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Say nothing.
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Move the database aside and make it anew from the journal.
    #[arg(long)]
    rebuild: bool,
}

/// What there was to do.
#[derive(Debug, Default, serde::Serialize)]
struct Report {
    folded_events: usize,
    expired_events: usize,
    expired_journal_bytes: u64,
    /// Sessions of which something was taken from the archive.
    expired_conversations: u32,
    /// Turns that were looked at for what is worth remembering, and what was remembered.
    distilled_turns: u32,
    made_memories: u32,
    /// Texts that a vector was made of, for search.
    made_vectors: u64,
    /// Somebody else is at it.
    busy: bool,
    /// What a model was asked, where one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    distilled: Option<Distilled>,
}

/// What came of asking a model.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
struct Distilled {
    turns: usize,
    memories: usize,
    failed: usize,
    tokens: u64,
}

impl Distilled {
    fn plus(self, done: &Drained) -> Distilled {
        Distilled {
            turns: self.turns + done.done,
            memories: self.memories + done.kept,
            failed: self.failed + done.failed,
            tokens: self.tokens + done.spent.tokens(),
        }
    }
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let folder = |error: std::io::Error| {
        Failure::new(&StoreError::Folder { path: scope.env.home.folder().to_owned(), source: error })
            .hint("Run `tow doctor` to see who may write there.")
    };
    scope.env.home.create().map_err(folder)?;
    let mut report = Report::default();
    let mut rebuilding = arguments.rebuild;
    // Who comes while we hold the lock leaves the work to us: so we look again when we have let go.
    loop {
        let Some(lock) = WorkLock::try_take(&scope.env.home).map_err(folder)? else {
            report.busy = report.distilled.is_none();
            break;
        };
        let rebuilt = if std::mem::take(&mut rebuilding) { rebuild(scope) } else { Ok(()) };
        let worked = rebuilt.and_then(|()| work(scope));
        let worked = worked.map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))?;
        forget::finish_interrupted(&scope.env)?;
        let worked = distilled(scope, worked)?;
        let next = ask_model(scope, &mut report);
        report = report.plus(worked);
        drop(lock);
        if next == Next::Leave {
            break;
        }
    }
    // At last: whoever searches meanwhile does without.
    index(scope);
    if sync::exchange_if_due(&scope.env) {
        index(scope);
    }
    report.made_vectors = vectors(scope, &report);
    if arguments.json {
        scope.out.line(&serde_json::to_string(&report).unwrap_or_default());
    } else if !arguments.quiet {
        scope.out.line(&describe(&report));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether there is more to do for a model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Again,
    Leave,
}

/// What fails here is told elsewhere, and keeps nothing else from being done.
fn ask_model(scope: &Scope, report: &mut Report) -> Next {
    match enrich::run(&scope.env) {
        Ok(Some(drained)) => {
            report.distilled = Some(report.distilled.unwrap_or_default().plus(&drained));
            match drained.left {
                Left::More => Next::Again,
                Left::Nothing if enrich::waits(&scope.env) => Next::Again,
                Left::Nothing | Left::Budget | Left::Trouble(_) | Left::Busy => Next::Leave,
            }
        }
        Ok(None) => Next::Leave,
        Err(error) => {
            let fault = Fault { at: scope.env.now, kind: FaultKind::Store, detail: chain(&error) };
            record_here(&scope.env, fault);
            Next::Leave
        }
    }
}

impl Report {
    /// What was done in one more round; what a model was asked is counted as it comes.
    fn plus(self, other: Report) -> Report {
        Report {
            folded_events: self.folded_events + other.folded_events,
            expired_events: self.expired_events + other.expired_events,
            expired_journal_bytes: self.expired_journal_bytes + other.expired_journal_bytes,
            expired_conversations: self.expired_conversations + other.expired_conversations,
            distilled_turns: self.distilled_turns + other.distilled_turns,
            made_memories: self.made_memories + other.made_memories,
            made_vectors: self.made_vectors + other.made_vectors,
            busy: other.busy,
            distilled: self.distilled,
        }
    }
}

/// What captures and imports have left to distil. Whoever comes while it is at work leaves it to us.
fn distilled(scope: &Scope, report: Report) -> Result<Report, Failure> {
    let config = settings(&scope.env).distil;
    let done = distil::pending(&scope.env, &config, None, Duration::MAX)
        .map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))?;
    Ok(Report { distilled_turns: done.turns, made_memories: done.memories, ..report })
}

/// What fails here is done by the next search, and keeps nothing else from being done.
fn index(scope: &Scope) {
    let home = &scope.env.home;
    let updated = Archive::read(home, Duration::from_secs(5))
        .map_err(FindError::from)
        .and_then(|archive| archive.map(|archive| index::update(home, &archive, &mut |_| {})).transpose());
    let dropped = match updated {
        // While somebody else is at the index, nobody knows from where it will go on.
        Ok(Some(updated)) if !updated.busy => changes::drop_read(&scope.env).map_err(FindError::from),
        other => other.map(drop),
    };
    if let Err(error) = dropped {
        let fault = Fault { at: scope.env.now, kind: FaultKind::Store, detail: chain(&error) };
        record_here(&scope.env, fault);
    }
}

/// Nobody waits for it, and it waits for nobody: what there was no time for is left to the next.
fn vectors(scope: &Scope, report: &Report) -> u64 {
    let home = &scope.env.home;
    let make = || -> Result<u64, index::FindError> {
        let Some(archive) = Archive::read(home, Duration::from_secs(5))? else { return Ok(0) };
        if report.expired_conversations > 0 {
            embeddings::shed(home, &archive)?;
        }
        let Standing::Ready(model) = embeddings::standing(home, &settings(&scope.env).search) else {
            return Ok(0);
        };
        enrich::be_nice();
        let began = scope.env.elapsed();
        let mut has_time = |_| scope.env.elapsed().saturating_sub(began) < VECTORS_FOR;
        Ok(embeddings::embed((home, &archive), &model, Extent::New, &mut has_time)?.documents)
    };
    make().unwrap_or_else(|error| {
        record_here(&scope.env, Fault { at: scope.env.now, kind: FaultKind::Store, detail: chain(&error) });
        0
    })
}

/// At most so long at a time.
const VECTORS_FOR: Duration = Duration::from_secs(120);

/// Hooks that find the lock taken leave their events to its holder. So after every part the lock is let go, and the
/// journal is looked at again before we leave.
fn work(scope: &Scope) -> Result<Report, StoreError> {
    let home = &scope.env.home;
    let mut report = Report::default();
    let mut is_tidy = false;
    loop {
        let Some(lock) = lock(scope)? else { return Ok(Report { busy: true, ..report }) };
        let seen = journal::unsealed_bytes(home);
        let (store, folded) = Store::open_and_fold(home, &lock, &pace(scope, &|| false))?;
        report.folded_events += folded.events;
        if !folded.effects.is_empty() {
            // A hook that found the lock taken left its event to us, and what is to be told of it too.
            let bookmarked = effects::settle(&scope.env, &settings(&scope.env), &store, &folded.effects)?;
            if bookmarked == Bookmarked::Something {
                place_detached();
            }
        }
        if folded.caught_up && !is_tidy {
            tidy(scope, &store, &lock, &mut report)?;
            is_tidy = true;
        }
        drop((store, lock));
        if is_tidy && journal::unsealed_bytes(home) <= seen {
            return Ok(report);
        }
    }
}

fn tidy(scope: &Scope, store: &Store, lock: &FoldLock, report: &mut Report) -> Result<(), StoreError> {
    upkeep::seal_if_large(&scope.env.home, lock)?;
    let config = settings(&scope.env);
    let done = upkeep::run_jobs(store, config.retention(), scope.env.now)?;
    if done.was_time_to_expire {
        report.expired_conversations = capture::expire(&scope.env, config.archive)?;
    }
    report.expired_events = done.expired_events;
    report.expired_journal_bytes = done.expired_journal_bytes;
    // Nothing is told of a state that is older than this: see `notify::alert`.
    told::forget(&scope.env.home, scope.env.now.plus_ms(-86_400_000));
    meters::forget(&scope.env.home, scope.env.now.plus_ms(-30 * 86_400_000));
    warned::forget(&scope.env.home, scope.env.now.plus_ms(-30 * 86_400_000));
    typist::forget_locks(&scope.env.home, store)?;
    push::leftovers(&scope.env.home).iter().for_each(|file| drop(std::fs::remove_file(file)));
    upkeep::checkpoint(store)
}

/// The old database is kept beside the new one.
fn rebuild(scope: &Scope) -> Result<(), StoreError> {
    match lock(scope)? {
        Some(lock) if scope.env.home.database().exists() => {
            towline_store::rebuild(&scope.env.home, &lock, scope.env.now, "as asked")
        }
        Some(_) | None => Ok(()),
    }
}

fn lock(scope: &Scope) -> Result<Option<FoldLock>, StoreError> {
    let home = &scope.env.home;
    FoldLock::take_within(home, pauses(Duration::from_secs(10)))
        .map_err(|source| StoreError::Folder { path: home.folder().to_owned(), source })
}

fn pace<'a>(scope: &Scope, has_time: &'a dyn Fn() -> bool) -> Pace<'a> {
    Pace { has_time, now: scope.env.now, new_machine: scope.env.uid(), patience: Duration::from_secs(10) }
}

fn describe(report: &Report) -> String {
    if report.busy {
        return "another `tow work` or a fold is under way".to_owned();
    }
    let made = match report.made_memories {
        0 => String::new(),
        made => format!(", made {made} memories"),
    };
    let upkeep = format!(
        "folded {} events, forgot {} old ones, freed {} KB of journal{made}",
        report.folded_events,
        report.expired_events,
        report.expired_journal_bytes / 1024
    );
    match report.distilled {
        Some(Distilled { turns, memories, failed, tokens }) => {
            format!(
                "{upkeep}; {turns} turns put into words, {memories} memories, {failed} failed, {tokens} tokens"
            )
        }
        None => upkeep,
    }
}
