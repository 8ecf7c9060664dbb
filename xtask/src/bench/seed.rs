//! Made-up history: fills a data folder with it, and names and dates made-up sessions.
//!
//! Writes no table directly: events go through the journal, memories through the code that stores a user's. Must not
//! decide what a session says: each benchmark does.

use std::path::Path;
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
use towline_store::archive::NewMemory;
use towline_store::journal::{self, JournalRecord};
use towline_store::lock::{ArchiveLock, ProjectionLock};
use towline_store::{Archive, DataFolder, ProjectionLimits, Store, StoreError, upkeep};

use crate::outcome::{Failure, Result};

use super::host::now;

const BATCH: usize = 5_000;
const EVENTS_PER_SESSION: u64 = 400;
const PATIENCE: Duration = Duration::from_secs(5);

/// Appends events to the journal and applies them, batch by batch.
pub fn events(data: &Path, count: u64) -> Result<()> {
    let home = DataFolder::at(data);
    home.create().map_err(Failure::write(data))?;
    let lock = ProjectionLock::try_take(&home).map_err(Failure::write(data))?.ok_or_else(|| taken(data))?;
    let now = now();
    for from in (0..count).step_by(BATCH) {
        let batch = from..(from + BATCH as u64).min(count);
        let records: Vec<JournalRecord> = batch.map(|n| JournalRecord::Event(event(now, n, count))).collect();
        journal::append(&home, &records).map_err(|error| refused(data, &error))?;
        apply(&home, &lock, now).map_err(|error| refused(data, &error))?;
    }
    Ok(())
}

fn apply(home: &DataFolder, lock: &ProjectionLock, now: Timestamp) -> Result<(), StoreError> {
    let limits = ProjectionLimits { has_time: &|| true, now, new_machine: machine(now), patience: PATIENCE };
    let (store, _) = Store::open_and_apply(home, lock, &limits)?;
    upkeep::checkpoint(&store)?;
    upkeep::seal_if_large(home, lock)?;
    Ok(())
}

/// Stores memories of made-up words, one minute apart, ending now, spread over the projects in the archive.
pub fn memories(data: &Path, count: u64) -> Result<()> {
    let home = DataFolder::at(data);
    let lock = ArchiveLock::take_within(&home, towline_store::lock::pauses(PATIENCE));
    let lock = lock.map_err(Failure::write(data))?.ok_or_else(|| taken(data))?;
    let add_all = || {
        let archive = Archive::open(&home, &lock, PATIENCE, machine(now()))?;
        let projects: Vec<i64> = archive.project_rows()?.iter().map(|project| project.row).collect();
        for from in (0..count).step_by(BATCH) {
            let batch = from..(from + BATCH as u64).min(count);
            archive.in_transaction(|| {
                let new = batch.clone().filter_map(|n| memory(now(), n, count, &projects));
                new.into_iter().try_for_each(|new| archive.add_memory(&new).map(drop))
            })?;
        }
        archive.tidy()
    };
    add_all().map_err(|error: StoreError| refused(data, &error))
}

fn machine(now: Timestamp) -> Uid {
    Uid::v7(now, [7; 10])
}

fn taken(data: &Path) -> Failure {
    Failure::malformed(data.display().to_string(), "another process is writing it")
}

fn refused(data: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::malformed(data.display().to_string(), error)
}

const WORDS: &str = "harbour mast paint tide berth allocator pier token refresh queue parser cache index lantern \
    anchor rope sail pilot ledger crane signal beacon schema migration retry timeout socket journal merge branch \
    deploy pipeline";

/// Builds memory `n` of `all`.
fn memory(now: Timestamp, n: u64, all: u64, projects: &[i64]) -> Option<NewMemory> {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let word = |step: u64| {
        words[usize::try_from(n.wrapping_mul(2_654_435_761).wrapping_add(step * 40_503) >> 7 & 31)
            .unwrap_or(0)]
    };
    let kinds = ["decision", "gotcha", "discovery", "preference", "bugfix", "feature"];
    let kind = MemoryType::parse(kinds[usize::try_from(n % 6).unwrap_or(0)])?;
    let title = format!("The {} of {} {n} keeps its {}", word(1), word(2), word(3));
    let [one, other, cause, place] = [4, 5, 6, 7].map(word);
    let narrative =
        format!("We decided that {one} and {other} go together, since {cause} failed at {place} {n}.");
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

/// Builds event `n` of `all`: sessions in sequence, ten events to a turn, one second apart, ending a day ago.
fn event(now: Timestamp, n: u64, all: u64) -> Event {
    let (session, step) = (n / EVENTS_PER_SESSION, n % EVENTS_PER_SESSION);
    let age = (all - n).cast_signed();
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

/// The id of session `number`; neighbours look unrelated.
pub fn session_id(number: usize) -> String {
    format!("{:08x}-0000-4000-8000-{number:012x}", number.wrapping_mul(2_654_435_761) & 0xffff_ffff)
}

/// This many seconds after the start of `year`, with months of 28 days: every time is unique.
pub fn stamp(year: usize, seconds: usize) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = (year + days / 336, days / 28 % 12 + 1, days % 28 + 1);
    format!("{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}.000Z", rest / 3600, rest / 60 % 60, rest % 60)
}
