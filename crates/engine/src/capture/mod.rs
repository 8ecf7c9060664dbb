//! Captures transcripts: reads each file from its last offset to its end, in steps that are written whole.
//!
//! Safe to repeat, to run anywhere and to kill at any point: written data is known by its offset, repeated
//! data by the agent's own ids. Transcripts are never written to; memory use does not grow with them.

mod asked;
mod catch_up;
mod current;
mod detached;
mod door;
mod foreign;
mod lines;
mod many;
mod opened;
mod overdue;
mod preview;
mod private;
mod rules;
mod settle;
mod steps;

pub use asked::{Asked, Project};
pub use catch_up::{Caught, catch_up};
pub use current::{CurrentSession, current_session};
pub use detached::{Bookmarked, capture_detached};
pub use door::notify_capture;
pub use foreign::{Destination, ForeignFile, Learnt, TakenOver, take_over};
pub use many::{Imported, import};
use opened::{Opened, file_of, paths_of};
pub use opened::{bad_document, transcripts};
pub use overdue::capture_overdue;
pub use preview::{Preview, preview};
pub use rules::Wishes;
pub use settle::capture_settled;
use steps::{Kit, Steps, is_read};

use crate::runtime::archive::{self, Writable};
use crate::runtime::faults::record_here;
use crate::runtime::{Env, chain, spawn};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use towline_agents::Agent;
use towline_agents::described::{TranscriptList, TranscriptWriter};
use towline_core::fault::FaultKind;
use towline_core::session::Session;
use towline_core::time::Timestamp;
use towline_store::archive::{ArchiveRetention, TakenRows, TranscriptSource};
use towline_store::{Archive, StoreError};
use towline_terminal::tail::open_file;

/// How long one capture waits for another.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("could not read the transcript {path}")]
    Read { path: PathBuf, source: io::Error },
    #[error("could not make ready to compress")]
    Kit(#[from] io::Error),
    #[error("could not keep what was captured")]
    Store(#[from] StoreError),
}

/// A transcript file and the agent that writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub agent: TranscriptWriter,
    pub path: PathBuf,
}

/// The transcripts of a writer.
pub struct Listed {
    pub files: Vec<Transcript>,
    /// How many older ones there are that are not listed.
    pub left_out: usize,
    /// Databases that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

pub fn transcripts_of(writer: &TranscriptWriter, variable: &dyn Fn(&str) -> Option<String>) -> Listed {
    let TranscriptList { files, left_out, unreadable } = paths_of(writer, variable);
    let of = |path| Transcript { agent: writer.clone(), path };
    Listed { files: files.into_iter().map(of).collect(), left_out, unreadable }
}

/// The captured counts and the archive, still locked for writing: a caller with more to write need not reopen
/// it.
pub struct Captured {
    pub taken: TakenRows,
    pub writable: Writable,
}

/// Captures what is new in these files. `None` if another writer held the archive for too long: then `tow data work`
/// captures them.
pub fn capture(env: &Env, wishes: &Wishes, files: &[Transcript]) -> Result<Option<Captured>, CaptureError> {
    let captured = capture_within(env, wishes, files, PATIENCE)?;
    if captured.is_none() {
        overdue::defer(env);
        spawn::start_detached(env);
    }
    Ok(captured)
}

fn capture_within(
    env: &Env,
    wishes: &Wishes,
    files: &[Transcript],
    patience: Duration,
) -> Result<Option<Captured>, CaptureError> {
    let files: Vec<&Transcript> = files.iter().filter(|file| may_be_opened(env, file)).collect();
    let Some(writable) = archive::open(env, patience)? else { return Ok(None) };
    let mut taken = TakenRows::default();
    for file in files {
        match capture_one(&writable, wishes, file, env.now) {
            Err(error) if is_passed_over(env, &error) => {}
            captured => taken = taken.plus(captured?),
        }
    }
    if taken != TakenRows::default() {
        // A subagent's file may have been captured before its session's, by a capture that waited for less.
        writable.archive.seat_subagents()?;
    }
    writable.archive.tidy()?;
    Ok(Some(Captured { taken, writable }))
}

/// Opens the file once before the archive is locked: on a hung mount, only this capture waits. A pipe or a folder is
/// recorded as a fault; a file that does not exist yet is not.
fn may_be_opened(env: &Env, file: &Transcript) -> bool {
    match file_of(&file.agent, &file.path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let error = CaptureError::Read { path: file.path.clone(), source: error };
            record_here(env, FaultKind::Store, chain(&error));
            false
        }
        Ok(_) | Err(_) => true,
    }
}

/// Half of a whole JSON file that is being written is none: the next capture reads it.
const WRITTEN_BY_THEN_MS: i64 = 60_000;

/// A whole JSON file that is none, or too long, keeps no other file from being captured. It is recorded as a fault, unless
/// its agent may still be writing it.
fn is_passed_over(env: &Env, error: &CaptureError) -> bool {
    let CaptureError::Read { path, source } = error else { return false };
    if bad_document(source).is_none() {
        return false;
    }
    let written = fs::metadata(path).map_or(0, |meta| opened::nanoseconds(&meta) / 1_000_000);
    if env.later().now.since_ms(Timestamp(written)) >= WRITTEN_BY_THEN_MS {
        record_here(env, FaultKind::Store, chain(error));
    }
    true
}

/// The archive with the rest of this session's transcript, as far as that can be captured quickly: an agent waits.
pub fn snapshot_with(
    env: &Env,
    session: Option<&Session>,
    patience: Duration,
) -> Result<Option<Archive>, StoreError> {
    let archive = Archive::read(&env.home, patience)?;
    if let Some(session) = session {
        capture_if_quick(env, session, archive.as_ref());
    }
    let Some(archive) = archive else { return Archive::open_snapshot(&env.home, patience) };
    archive.begin_read()?;
    Ok(Some(archive))
}

/// Captures a session's transcript while its agent waits, but only if that is quick. `open` tells without a lock whether
/// there is anything new.
pub fn capture_if_quick(env: &Env, session: &Session, open: Option<&Archive>) {
    let agent = Agent::from_name(session.key.agent.as_str());
    let (Some(agent), Some(path)) = (agent, &session.transcript) else { return };
    let file = Transcript { agent: agent.into(), path: path.into() };
    let quickly = || -> Result<(), CaptureError> {
        let opened = Opened::of(&file.agent, &file.path);
        let size = opened.as_ref().map_or(0, |file| file.size().unwrap_or(0));
        let is_read = |archive| {
            let reading = known(archive, &file).map(|source| source.reading);
            let (Ok(opened), Ok(reading)) = (&opened, reading) else { return size == 0 };
            is_read(opened, &reading).unwrap_or(false)
        };
        if open.is_some_and(is_read) || !may_be_opened(env, &file) {
            return Ok(());
        }
        let Ok(wishes) = Wishes::load(env) else { return Ok(()) };
        let Some(writable) = archive::open(env, HURRY)? else { return Ok(()) };
        let read = known(&writable.archive, &file)?.reading.offset;
        if size.saturating_sub(read) <= QUICKLY_READ {
            take_in(&writable, &wishes, &file, env.now)?;
        }
        Ok(())
    };
    if let Err(error) = quickly() {
        record_here(env, FaultKind::Store, chain(&error));
    }
}

/// How long an agent may wait for another capture, and how much may be read while it waits.
const HURRY: Duration = Duration::from_millis(100);
const QUICKLY_READ: u64 = 16 << 20;

/// Repairs a damaged memory log, and brings its memories back into an archive that lacks them or is gone, unless another
/// process is writing.
pub fn check_memory_log(env: &Env) -> Result<(), StoreError> {
    if !env.home.archive().exists() && !env.home.memory_log().exists() {
        return Ok(());
    }
    archive::open(env, Duration::ZERO)?.map_or(Ok(()), |writable| writable.archive.check_log())
}

/// Deletes all rows past their retention and gives their space back, step by step: others may write in between. The next
/// expiry does the rest if another process writes for long.
pub fn expire(env: &Env, retention: ArchiveRetention) -> Result<u32, StoreError> {
    if !env.home.archive().exists() {
        return Ok(0);
    }
    let (mut all, mut next) = (0, archive::open(env, PATIENCE)?);
    while let Some(writable) = next {
        let changed = writable.archive.expire(retention, env.now)?;
        all += changed;
        if changed == 0 && writable.archive.release_pages()? == 0 {
            writable.archive.tidy()?;
            break;
        }
        writable.archive.tidy_at_times()?;
        next = writable.let_others_write(env, PAUSE, PATIENCE)?;
    }
    Ok(all)
}

/// How long background work leaves the archive to others between two steps.
const PAUSE: Duration = Duration::from_millis(15);

/// Captures one file and those of its session's subagents.
fn capture_one(
    writable: &Writable,
    wishes: &Wishes,
    file: &Transcript,
    now: Timestamp,
) -> Result<TakenRows, CaptureError> {
    let mut all = take_in(writable, wishes, file, now)?;
    // Anything but a file in the folder of subagents is left alone.
    let files = file.agent.subagent_transcripts(&file.path).into_iter();
    for path in files.filter(|path| open_file(path).is_ok()) {
        all = all.plus(take_in(writable, wishes, &Transcript { agent: file.agent.clone(), path }, now)?);
    }
    Ok(all)
}

fn take_in(
    writable: &Writable,
    wishes: &Wishes,
    file: &Transcript,
    now: Timestamp,
) -> Result<TakenRows, CaptureError> {
    Ok(take_in_while(writable, wishes, file, now, &|| true)?.0)
}

/// Reads a file to its end, or until time is up; rows read by then are kept.
fn take_in_while(
    writable: &Writable,
    wishes: &Wishes,
    file: &Transcript,
    now: Timestamp,
    has_time: &dyn Fn() -> bool,
) -> Result<(TakenRows, Caught), CaptureError> {
    let mut all = TakenRows::default();
    let mut source = known(&writable.archive, file)?;
    let unreadable = |source| CaptureError::Read { path: file.path.clone(), source };
    let mut kit = Kit::new()?;
    let steps = Steps::open(file, &mut source, wishes, writable.archive.forgotten(), &mut kit);
    let Some(mut steps) = steps.map_err(unreadable)? else { return Ok((all, Caught::Up)) };
    while let Some(step) = steps.next().map_err(unreadable)? {
        source.reading = step.reading;
        all = all.plus(writable.archive.write_rows(&mut source, step.rows, now)?);
        if !has_time() {
            return Ok((all, Caught::Behind));
        }
    }
    Ok((all, Caught::Up))
}

/// The stored read state of the file, keyed by its canonical path.
fn known(archive: &Archive, file: &Transcript) -> Result<TranscriptSource, StoreError> {
    known_as(archive, file, &whole(&file.path))
}

fn known_as(archive: &Archive, file: &Transcript, path: &Path) -> Result<TranscriptSource, StoreError> {
    let path = path.to_string_lossy();
    let found = archive.source(&path)?.filter(|source| source.agent == file.agent.name());
    Ok(found.unwrap_or_else(|| TranscriptSource::fresh(file.agent.name(), &path)))
}

fn whole(path: &Path) -> PathBuf {
    let canonical = fs::canonicalize(path).or_else(|error| match (path.parent(), path.file_name()) {
        // A session in a database is no file, but its folder is one.
        (Some(folder), Some(name)) => Ok(fs::canonicalize(folder)?.join(name)),
        (_, _) => Err(error),
    });
    canonical.unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests;
