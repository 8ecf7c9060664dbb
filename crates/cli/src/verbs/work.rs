//! `tow data work`: runs background work that no caller should wait for, then exits.
//!
//! Hooks start it when there is work; at most one runs at a time. Never stays resident.

use crate::progress::{self, ProgressBar};
use crate::scope::Scope;
use clap::Args;
use std::ops::ControlFlow;
use std::time::Duration;
use towline_core::fault::FaultKind;
use towline_core::time::Timestamp;
use towline_engine::background::{changes, typist};
use towline_engine::capture::{Caught, Wishes};
use towline_engine::curate::Actor;
use towline_engine::erase::forget;
use towline_engine::handoff::bookmarks::Bookmarked;
use towline_engine::index::embeddings::{Extent, Standing};
use towline_engine::index::{FindError, Updated, embeddings};
use towline_engine::ingest::effects;
use towline_engine::memory::model::{Drained, Left};
use towline_engine::memory::{distil, enrich};
use towline_engine::runtime::budget::CpuBudget;
use towline_engine::runtime::faults::record_here;
use towline_engine::runtime::spawn::{at_low_priority, place_detached};
use towline_engine::runtime::{Env, Failure, chain, settings};
use towline_engine::status::push;
use towline_engine::sync::{Amount, otlp, otlp::Exported};
use towline_engine::{capture, index, sync};
use towline_store::lock::{ProjectionLock, WorkLock, pauses};
use towline_store::upkeep::ClockTrust;
use towline_store::{
    Archive, ProjectionLimits, Store, StoreError, journal, meters, private, shared, told, unwritten, upkeep,
    warned,
};

const EXAMPLES: &str = "\
Examples:
  tow data work            apply what is left in the journal, tidy up, say what was done
  tow data work --json     the same for scripts
  tow data work --expire   delete what is past its retention now: the date of this machine is right
  tow data work --rebuild  keep the database aside and make a new one from the journal";

/// Apply the journal to the database, tidy the data folder, and run the jobs that are due.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print nothing.
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Move the database aside and rebuild it from the journal.
    #[arg(long)]
    rebuild: bool,
    /// Delete what is past its retention now, even if the clock jumped.
    #[arg(long)]
    expire: bool,
}

/// The work done.
#[derive(Debug, Default, serde::Serialize)]
struct WorkReport {
    #[serde(rename = "folded_events")]
    applied_events: usize,
    expired_events: usize,
    expired_journal_bytes: u64,
    /// Whether the archive has to be pruned.
    #[serde(skip)]
    is_expiry_due: bool,
    /// Sessions that were pruned from the archive.
    expired_conversations: u32,
    /// The end of a hold on deletion, after a jump of the clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    expiry_held_until: Option<String>,
    /// Turns that were distilled, and memories made from them.
    distilled_turns: u32,
    made_memories: u32,
    /// Embeddings computed for search.
    made_vectors: u64,
    /// Another process is already working.
    busy: bool,
    /// The hour's processor time is used up; the rest follows later.
    paused: bool,
    /// Results of the model, if one is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    distilled: Option<ModelResults>,
    /// What was sent to the receiver of telemetry, if one is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    otlp: Option<Exported>,
}

/// Results of distilling with a model.
#[derive(Debug, Default, serde::Serialize)]
struct ModelResults {
    turns: usize,
    memories: usize,
    failed: usize,
    tokens: u64,
}

impl ModelResults {
    fn add(&mut self, done: &Drained) {
        self.turns += done.done;
        self.memories += done.kept;
        self.failed += done.failed;
        self.tokens += done.spent.tokens();
    }
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let folder = |error: std::io::Error| {
        Failure::new(&StoreError::Folder { path: scope.env.home.folder().to_owned(), source: error })
            .hint("Run `tow doctor` to see who may write there.")
    };
    scope.env.home.create().map_err(folder)?;
    if arguments.expire {
        Actor::of_caller(&scope.env)?.require_person("say that the clock is right")?;
    }
    // A user who asks for the work gets all of it.
    let budget = match arguments.quiet {
        true => CpuBudget::configured(&scope.env),
        false => CpuBudget::unlimited(&scope.env),
    };
    let amount = if arguments.quiet { Amount::AWhile } else { Amount::All };
    let mut report = WorkReport::default();
    let mut rebuilding = arguments.rebuild;
    // A process that finds the lock taken leaves its work to us: look again after releasing it.
    loop {
        // A person who asks wants it done: they wait for a process that is at it already. What they named is not left to one
        // that was not asked for it.
        let is_named = rebuilding || arguments.expire;
        let patience = if arguments.quiet && !is_named { Duration::ZERO } else { PATIENCE };
        let Some(lock) = WorkLock::take_within(&scope.env.home, pauses(patience)).map_err(folder)? else {
            if is_named {
                return Err(busy());
            }
            if !WorkLock::ask_holder(&scope.env.home) {
                continue;
            }
            report.busy = report.distilled.is_none();
            break;
        };
        if std::mem::take(&mut rebuilding) {
            rebuild(scope)?;
        }
        // At the usual priority: hooks wait for this lock.
        apply_and_tidy(scope, &mut report, &mut |store, report| tidy(scope, arguments, store, report))?;
        let env = &scope.env;
        let mut applied = WorkReport::default();
        let work = || {
            forget::finish_interrupted(env)?;
            if std::mem::take(&mut report.is_expiry_due) {
                report.expired_conversations += capture::expire(env, settings(env).archive)?;
            }
            capture_overdue(env);
            index_what_is_not_found(env, &budget);
            distil_pending(env, &budget, &mut report)?;
            let next = ask_model(env, &mut report);
            if next == NextRound::Leave {
                make_searchable(env, &budget, &mut report);
                export(env, amount, &mut report);
            }
            report.paused |= !budget.has_left();
            Ok::<_, Failure>(next)
        };
        let next = at_low_priority(work, &mut || keep_small(scope, &mut applied))?;
        report.applied_events += applied.applied_events;
        drop(lock);
        if next == NextRound::Leave && !WorkLock::was_asked(&env.home) {
            break;
        }
    }
    if arguments.json {
        scope.out.json(&report);
    } else if !arguments.quiet {
        scope.out.line(&describe(&report));
    }
    Ok(())
}

fn busy() -> Failure {
    Failure::busy("another `tow data work` is under way, and nothing was done")
        .hint("Run the command again once it has ended.")
}

/// Whether the model has more jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextRound {
    Again,
    Leave,
}

/// Errors are recorded as faults and do not stop the other work.
fn ask_model(env: &Env, report: &mut WorkReport) -> NextRound {
    match enrich::run(env) {
        Ok(Some(drained)) => {
            report.distilled.get_or_insert_default().add(&drained);
            match drained.left {
                Left::More => NextRound::Again,
                Left::Nothing if enrich::waits(env) => NextRound::Again,
                Left::Nothing | Left::Budget | Left::Trouble(_) | Left::Busy => NextRound::Leave,
            }
        }
        Ok(None) => NextRound::Leave,
        Err(error) => {
            record_here(env, FaultKind::Store, chain(&error));
            NextRound::Leave
        }
    }
}

/// Captures what hooks announced and no capture could write. What is left is tried again by the next run.
fn capture_overdue(env: &Env) {
    // A configuration that cannot be read is reported by everything that needs it.
    let Ok(wishes) = Wishes::load(env) else { return };
    match capture::capture_overdue(env, &wishes).map_err(|error| chain(&error)) {
        Ok(Caught::Up) => {}
        Ok(Caught::Behind) => {
            let detail = "transcripts wait to be captured: another process held the archive for ten minutes";
            record_here(env, FaultKind::Store, detail.to_owned());
        }
        Err(detail) => record_here(env, FaultKind::Store, detail),
    }
}

/// Last, because a search in the meantime works without it.
fn make_searchable(env: &Env, budget: &CpuBudget<'_>, report: &mut WorkReport) {
    if let Err(failure) = forget::sweep(env) {
        record_here(env, FaultKind::Store, failure.what);
    }
    if let Err(error) = index::purge(&env.home) {
        record_here(env, FaultKind::Store, chain(&error));
    }
    index(env, budget);
    if sync::exchange_if_due(env) {
        index(env, budget);
    }
    report.made_vectors += vectors(env, budget, report);
}

/// Last of all: nobody waits for it, and a receiver may be slow.
fn export(env: &Env, amount: Amount, report: &mut WorkReport) {
    let _shown = otlp::is_on(env).then(|| progress::activity("sending telemetry"));
    let done = otlp::export_if_on(env, amount);
    if otlp::is_on(env) {
        let all = report.otlp.get_or_insert_default();
        (all.spans, all.points) = (all.spans + done.spans, all.points + done.points);
    }
}

/// Distils the turns that captures and imports left; a process that arrives meanwhile leaves its turns to us.
fn distil_pending(env: &Env, budget: &CpuBudget<'_>, report: &mut WorkReport) -> Result<(), Failure> {
    let _shown = progress::activity("distilling turns");
    let config = settings(env).distil;
    let done = distil::pending(env, &config, None, &|| budget.has_left())
        .map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))?;
    report.distilled_turns += done.turns;
    report.made_memories += done.memories;
    Ok(())
}

/// Updates the search index, and drops the changes that all readers have passed. On failure the next run does it; the fault
/// is recorded.
fn index(env: &Env, budget: &CpuBudget<'_>) {
    let dropped = match update_index(env, budget) {
        // While another process updates the index, the position it will resume from is unknown.
        Ok(Some(updated)) if !updated.busy => changes::drop_read(env).map_err(FindError::from),
        other => other.map(drop),
    };
    if let Err(error) = dropped {
        record_here(env, FaultKind::Store, chain(&error));
    }
}

/// Indexes before anything is distilled if a search misses something: distilling may take long. No change is dropped yet: a
/// model that was just configured has read none. A failure is recorded by `index`.
fn index_what_is_not_found(env: &Env, budget: &CpuBudget<'_>) {
    let pending = Archive::read(&env.home, Duration::from_secs(5))
        .map_err(FindError::from)
        .and_then(|archive| archive.map_or(Ok(0), |archive| index::pending(&env.home, &archive)));
    if pending.is_ok_and(|turns| turns > 0) {
        let _updated = update_index(env, budget);
    }
}

/// Returns `None` if there is nothing to index, or no time for it.
fn update_index(env: &Env, budget: &CpuBudget<'_>) -> Result<Option<Updated>, FindError> {
    if !budget.has_left() {
        return Ok(None);
    }
    let mut progress = ProgressBar::default();
    let mut seen = |documents: u64| {
        progress.draw(env.elapsed(), || format!("indexing, {documents} documents"));
        let is_time_to_look = documents.is_multiple_of(DOCUMENTS_PER_LOOK);
        if is_time_to_look && !budget.has_left() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let Some(archive) = Archive::read(&env.home, Duration::from_secs(5))? else { return Ok(None) };
    index::update(&env.home, &archive, &mut seen).map(Some)
}

/// Computes embeddings within a time limit; the next run continues.
fn vectors(env: &Env, budget: &CpuBudget<'_>, report: &WorkReport) -> u64 {
    let home = &env.home;
    let make = || -> Result<u64, index::FindError> {
        let Some(archive) = Archive::read(home, Duration::from_secs(5))? else { return Ok(0) };
        if report.expired_conversations > 0 {
            embeddings::remove_deleted(home, &archive)?;
        }
        let Standing::Ready(model) = embeddings::standing(home, &settings(env).search) else {
            return Ok(0);
        };
        let began = env.elapsed();
        let mut has_time = |_| env.elapsed().saturating_sub(began) < VECTORS_FOR && budget.has_left();
        Ok(embeddings::embed(home, &archive, &model, Extent::New, &mut has_time)?.documents)
    };
    make().unwrap_or_else(|error| {
        record_here(env, FaultKind::Store, chain(&error));
        0
    })
}

/// How long to wait for a lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time limit of one run.
const VECTORS_FOR: Duration = Duration::from_secs(120);

/// How many documents are indexed between two looks at the budget.
const DOCUMENTS_PER_LOOK: u64 = 2_000;

/// Keeps the log of the database short during long work: every hook reads all of it. On failure the next round reports it.
fn keep_small(scope: &Scope, report: &mut WorkReport) {
    if !report.busy && upkeep::is_large(&scope.env.home) {
        report.busy = apply_and_tidy(scope, report, &mut |store, _| upkeep::checkpoint(store)).is_err();
    }
}

type Tidy<'t> = &'t mut dyn FnMut(&Store, &mut WorkReport) -> Result<(), StoreError>;

/// Hooks that find the lock taken leave their events to its holder. So we release the lock after every part,
/// and check the journal again before we leave.
fn apply_and_tidy(scope: &Scope, report: &mut WorkReport, tidy: Tidy<'_>) -> Result<(), StoreError> {
    let home = &scope.env.home;
    let mut is_tidy = false;
    loop {
        let lock = lock(scope)?;
        report.busy = lock.is_none();
        let Some(lock) = lock else { return Ok(()) };
        let seen = journal::unsealed_bytes(home);
        let env = scope.env.later();
        let (now, new_machine) = (env.now, env.uid());
        let limits = ProjectionLimits { has_time: &|| false, now, new_machine, patience: PATIENCE };
        let (store, projected) = Store::open_and_apply(home, &lock, &limits)?;
        report.applied_events += projected.events;
        if !projected.effects.is_empty() {
            // A hook that found the lock taken left its event to us, and its notifications as well.
            let bookmarked = effects::settle(&env, &settings(&env), &store, &projected.effects)?;
            if bookmarked == Bookmarked::Something {
                place_detached();
            }
        }
        if projected.caught_up && !is_tidy {
            upkeep::seal_if_large(home, &lock)?;
            tidy(&store, report)?;
            is_tidy = true;
        }
        drop((store, lock));
        if is_tidy && journal::unsealed_bytes(home) <= seen {
            return Ok(());
        }
    }
}

fn tidy(
    scope: &Scope,
    arguments: &Arguments,
    store: &Store,
    report: &mut WorkReport,
) -> Result<(), StoreError> {
    let clock = if arguments.expire { ClockTrust::Confirmed } else { ClockTrust::Watched };
    let config = settings(&scope.env);
    let done = upkeep::run_jobs(store, config.retention(), scope.env.now, clock)?;
    if let Some(until) = done.held_until {
        hold_expiry(scope, until, done.jumped_days, report);
    }
    report.is_expiry_due |= done.was_time_to_expire;
    report.expired_events += done.expired_events;
    report.expired_journal_bytes += done.expired_journal_bytes;
    // States older than this are never notified: see `notify::alert`.
    told::forget(&scope.env.home, scope.env.now.plus_ms(-86_400_000));
    meters::forget(&scope.env.home, scope.env.now.plus_ms(-30 * 86_400_000));
    warned::forget(&scope.env.home, scope.env.now.plus_ms(-30 * 86_400_000));
    shared::forget(&scope.env.home, scope.env.now.plus_ms(-30 * 86_400_000));
    unwritten::forget(&scope.env.home, scope.env.now.plus_ms(-30 * 86_400_000));
    if done.held_until.is_none() {
        private::forget(&scope.env.home, scope.env.now.plus_ms(-30 * 86_400_000));
    }
    typist::forget_locks(&scope.env.home, store)?;
    push::stale_files(&scope.env.home).iter().for_each(|file| drop(std::fs::remove_file(file)));
    capture::check_memory_log(&scope.env)?;
    let lost = store.mend_journal(scope.env.now)?;
    if lost > 0 {
        let detail = format!(
            "the journal lacked {lost} records of labels and of work handed on; they are back from the database"
        );
        record_here(&scope.env, FaultKind::Rebuilt, detail);
    }
    upkeep::checkpoint(store)
}

fn hold_expiry(scope: &Scope, until: Timestamp, jumped_days: i64, report: &mut WorkReport) {
    let until = until.to_utc();
    if jumped_days > 0 {
        let detail = format!(
            "the clock is {jumped_days} days ahead of the last run; nothing old is deleted until {until}"
        );
        record_here(&scope.env, FaultKind::Clock, detail);
    }
    report.expiry_held_until = Some(until);
}

/// Keeps the old database beside the new one.
fn rebuild(scope: &Scope) -> Result<(), StoreError> {
    match lock(scope)? {
        Some(lock) if scope.env.home.database().exists() => {
            towline_store::rebuild(&scope.env.home, &lock, scope.env.now, "as asked")
        }
        Some(_) | None => Ok(()),
    }
}

fn lock(scope: &Scope) -> Result<Option<ProjectionLock>, StoreError> {
    let home = &scope.env.home;
    ProjectionLock::take_within(home, pauses(PATIENCE))
        .map_err(|source| StoreError::Folder { path: home.folder().to_owned(), source })
}

fn describe(report: &WorkReport) -> String {
    if report.busy {
        return "another `tow data work` or an apply is under way".to_owned();
    }
    let made = match report.made_memories {
        0 => String::new(),
        made => format!(", made {made} memories"),
    };
    let held = report.expiry_held_until.as_ref().map_or(String::new(), |until| {
        format!(", deleted nothing old until {until} because the clock jumped (see `tow doctor`)")
    });
    let sent = report.otlp.map_or(String::new(), |Exported { spans, points }| {
        format!(", sent {spans} spans and {points} sums to otlp.endpoint")
    });
    let upkeep = format!(
        "applied {} events, deleted {} old ones and the old content of {} sessions, freed {} KB of journal{made}{held}{sent}",
        report.applied_events,
        report.expired_events,
        report.expired_conversations,
        report.expired_journal_bytes / 1024
    );
    match &report.distilled {
        Some(ModelResults { turns, memories, failed, tokens }) => {
            format!(
                "{upkeep}; {turns} turns put into words, {memories} memories, {failed} failed, {tokens} tokens"
            )
        }
        None => upkeep,
    }
}
