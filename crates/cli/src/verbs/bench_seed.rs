//! `tow bench-seed`: fills a data folder with made-up history, for benchmarks.
//!
//! Writes no table directly: events go through the journal, memories through the code that stores a user's.

use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;
use towline_core::event::{
    Event, EventKind, EventScene, PromptOrigin, SessionPresence, StartedBy, ToolOutcome,
};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::InheritSettings;
use towline_core::memory::{
    ConfidencePercent, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
};
use towline_core::project::ProjectIdentity;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_engine::memory::remember::open;
use towline_engine::runtime::env::variable;
use towline_engine::runtime::failure::Failure;
use towline_store::archive::NewMemory;
use towline_store::journal::{self, JournalRecord};
use towline_store::lock::ProjectionLock;
use towline_store::{ProjectionLimits, Store, StoreError, upkeep};

/// Fill the data folder with events of made-up sessions.
#[derive(Debug, Args)]
pub struct Arguments {
    #[arg(long, default_value_t = 0)]
    events: u64,
    /// How many events belong to one session.
    #[arg(long, default_value_t = 400)]
    per_session: u64,
    /// How many memories to make, spread over the projects in the archive.
    #[arg(long, default_value_t = 0)]
    memories: u64,
}

const BATCH: u64 = 5_000;

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if variable("TOWLINE_HOME").is_none() {
        return Err(Failure::input("this would fill your own data folder")
            .hint("Set TOWLINE_HOME to a folder of its own."));
    }
    if arguments.events > 0 {
        happen(scope, arguments)?;
    }
    if arguments.memories > 0 {
        remember(scope, arguments.memories)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Appends the events to the journal and applies them, batch by batch.
fn happen(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let failed = |error: &dyn std::error::Error| Failure::new(error);
    let home = &scope.env.home;
    home.create().map_err(|error| failed(&error))?;
    let lock = ProjectionLock::try_take(home).map_err(|error| failed(&error))?;
    let lock = lock.ok_or_else(|| Failure::input("somebody is folding this data folder"))?;
    for from in (0..arguments.events).step_by(usize::try_from(BATCH).unwrap_or(1)) {
        let to = (from + BATCH).min(arguments.events);
        let records: Vec<JournalRecord> =
            (from..to).map(|n| JournalRecord::Event(event(arguments, scope.env.now, n))).collect();
        journal::append(home, &records).map_err(|error| failed(&error))?;
        let pace = ProjectionLimits {
            has_time: &|| true,
            now: scope.env.now,
            new_machine: scope.env.uid(),
            patience: Duration::from_secs(5),
        };
        let (store, _) = Store::open_and_fold(home, &lock, &pace).map_err(|error| failed(&error))?;
        upkeep::checkpoint(&store).map_err(|error| failed(&error))?;
        upkeep::seal_if_large(home, &lock).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Stores memories of made-up words, one minute apart, ending now.
fn remember(scope: &Scope, memories: u64) -> Result<(), Failure> {
    let failed = |error: StoreError| Failure::new(&error);
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let projects: Vec<i64> =
        archive.project_rows().map_err(failed)?.iter().map(|project| project.row).collect();
    for from in (0..memories).step_by(usize::try_from(BATCH).unwrap_or(1)) {
        let batch = from..(from + BATCH).min(memories);
        let made = archive.as_one(|| {
            batch
                .clone()
                .filter_map(|n| memory(scope.env.now, n, memories, &projects))
                .try_for_each(|new| archive.add_memory(&new).map(drop))
        });
        made.map_err(failed)?;
    }
    archive.tidy().map_err(failed)
}

const WORDS: [&str; 32] = [
    "harbour",
    "mast",
    "paint",
    "tide",
    "berth",
    "allocator",
    "pier",
    "token",
    "refresh",
    "queue",
    "parser",
    "cache",
    "index",
    "lantern",
    "anchor",
    "rope",
    "sail",
    "pilot",
    "ledger",
    "crane",
    "signal",
    "beacon",
    "schema",
    "migration",
    "retry",
    "timeout",
    "socket",
    "journal",
    "merge",
    "branch",
    "deploy",
    "pipeline",
];

/// Builds memory `n` of `all`.
fn memory(now: Timestamp, n: u64, all: u64, projects: &[i64]) -> Option<NewMemory> {
    let word = |step: u64| {
        WORDS[usize::try_from(n.wrapping_mul(2_654_435_761).wrapping_add(step * 40_503) >> 7 & 31)
            .unwrap_or(0)]
    };
    let kinds = ["decision", "gotcha", "discovery", "preference", "bugfix", "feature"];
    let kind = MemoryType::parse(kinds[usize::try_from(n % 6).unwrap_or(0)])?;
    let title = format!("The {} of {} {n} keeps its {}", word(1), word(2), word(3));
    let narrative = format!(
        "We decided that {} and {} go together, since {} failed at {} {n}.",
        word(4),
        word(5),
        word(6),
        word(7)
    );
    let content = MemoryContent::of(MemoryDraft { narrative, ..MemoryDraft::new(kind, title) })?;
    let at = now.plus_ms(-60_000 * (all - n).cast_signed());
    let mut random = [1; 10];
    random[..8].copy_from_slice(&n.to_le_bytes());
    Some(NewMemory {
        uid: Uid::v7(at, random),
        content,
        project: projects.get(usize::try_from(n).unwrap_or(0) % projects.len().max(1)).copied(),
        session: None,
        turn: None,
        branch: None,
        commit: None,
        maker: MemoryAuthor::Person,
        trust: MemoryTrust::Person,
        confidence: ConfidencePercent::SURE,
        cost: 0,
        at,
        valid_from: at,
        quarantine: None,
    })
}

/// Builds event `n`: sessions in sequence, ten events to a turn, one second apart, ending a day ago.
fn event(arguments: &Arguments, now: Timestamp, n: u64) -> Event {
    let (session, step) = (n / arguments.per_session, n % arguments.per_session);
    let age = (arguments.events - n).cast_signed();
    let at = now.plus_ms(-86_400_000 - 1000 * age);
    let mut random = [0; 10];
    random[..8].copy_from_slice(&n.to_le_bytes());
    let keeping = TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Kept };
    let happening = match step % 10 {
        _ if step == 0 => {
            EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() }
        }
        1 => EventKind::PromptSubmitted {
            prompt: SafeText::new("go on with the work at hand", keeping),
            origin: PromptOrigin::Human,
            own: None,
        },
        9 => EventKind::TurnEnded { background: Some(0), answer: None },
        _ => EventKind::ToolFinished {
            tool: SafeText::new("Bash", keeping),
            outcome: ToolOutcome::Done,
            bytes: 400,
        },
    };
    let key = SessionKey::parse(&format!("seeded:past-{session}"));
    let project = ProjectIdentity {
        root: format!("/past/project-{}/.git", session % 20),
        remote: None,
        name: None,
        branch: None,
    };
    let scene = EventScene {
        presence: SessionPresence::Terminal,
        folder: None,
        transcript: None,
        model: None,
        place: None,
        project: Some(project),
    };
    Event {
        uid: Uid::v7(at, random),
        at,
        session: key.unwrap_or_else(|_| unreachable!("a made-up key is a sound one")),
        subagent: None,
        turn: None,
        happening,
        scene: (step == 0).then_some(scene),
    }
}
