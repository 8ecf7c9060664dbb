//! Brings the archive up to date before a query: captures what live sessions wrote since the last capture.
//!
//! Costs one `stat` per file if nothing is new. Never waits long and never fails: the next capture takes the
//! rest.

use super::opened::{Opened, is_unwritten_since};
use super::steps::{is_read, is_unwritten_document};
use super::{CaptureError, Transcript, Wishes, known, take_in_while};
use crate::runtime::Env;
use crate::runtime::archive::open;
use std::path::PathBuf;
use std::time::Duration;
use towline_agents::Agent;
use towline_core::project::ProjectIdentity;
use towline_store::{Archive, LiveTranscript, Store, StoreError, archive, journal, marks};

/// How long a query waits for new data.
const PATIENCE: Duration = Duration::from_millis(200);

/// A session without events for this long has nothing left to capture.
const HEARD_WITHIN_MS: i64 = 24 * 3_600_000;
/// The capture at a session's end is done by then.
const ENDED_WITHIN_MS: i64 = 3_600_000;
/// Agents write their transcripts a little later than they call their hooks.
const ON_ITS_WAY_MS: i64 = 60_000;

/// Whether the archive is up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caught {
    Up,
    /// There is new data that could not be captured in time.
    Behind,
}

/// Captures what live sessions of a project, or of all, have written, and opens the archive for reading.
/// `None` if there is no archive yet.
pub fn catch_up(
    env: &Env,
    wishes: &Wishes,
    project: Option<&ProjectIdentity>,
) -> Result<(Option<Archive>, Caught), StoreError> {
    let archive = Archive::read(&env.home, PATIENCE)?;
    if is_quiet(env) {
        return Ok((archive, Caught::Up));
    }
    let grown = grown(archive.as_ref(), live(env, project));
    if grown.is_empty() {
        return Ok((archive, Caught::Up));
    }
    drop(archive);
    // A capture error is not a query error; `tow capture` records it.
    let caught = take_in_some(env, wishes, &grown).unwrap_or(Caught::Behind);
    Ok((Archive::read(&env.home, PATIENCE)?, caught))
}

/// Whether no agent works and no event came since the archive was written: then no file can have grown, and
/// the hot database need not be opened. A recent event may still be on its way into a transcript.
fn is_quiet(env: &Env) -> bool {
    let heard = journal::last_append_at(&env.home);
    let (Some(heard), Some(written)) = (heard, archive::written_at(&env.home)) else { return false };
    heard < written && heard.plus_ms(ON_ITS_WAY_MS) < env.now && !marks::is_any(&env.home)
}

/// The transcripts of sessions that may still write.
fn live(env: &Env, project: Option<&ProjectIdentity>) -> Vec<Transcript> {
    let store = Store::read(&env.home, PATIENCE).ok().flatten();
    let since = |ms: i64| env.now.plus_ms(-ms);
    let found =
        store.and_then(|store| store.live_transcripts(since(HEARD_WITHIN_MS), since(ENDED_WITHIN_MS)).ok());
    let is_meant = |transcript: &LiveTranscript| {
        project.is_none_or(|wanted| {
            transcript
                .project
                .as_ref()
                .is_some_and(|of| wanted.matches_project(&of.root, of.remote.as_deref()))
        })
    };
    found.into_iter().flatten().filter(is_meant).filter_map(of_known_agent).collect()
}

pub(super) fn of_known_agent(transcript: LiveTranscript) -> Option<Transcript> {
    let agent = Agent::from_name(&transcript.agent)?;
    Some(Transcript { agent: agent.into(), path: PathBuf::from(transcript.path) })
}

/// The files, including those of subagents, whose size differs from the captured offset.
pub(super) fn grown(archive: Option<&Archive>, live: Vec<Transcript>) -> Vec<Transcript> {
    let with_subagents = |file: Transcript| {
        let subagents = file.agent.subagent_transcripts(&file.path);
        let Transcript { agent, path } = file;
        let of = move |path| Transcript { agent: agent.clone(), path };
        std::iter::once(path).chain(subagents).map(of)
    };
    let has_grown = |file: &Transcript| {
        let reading = archive.and_then(|archive| known(archive, file).ok()).map(|source| source.reading);
        if file.agent.document().is_some() {
            // Its length is known only once it is parsed, which the capture does.
            return !reading.is_some_and(|reading| is_unwritten_document(file, &reading));
        }
        if reading.as_ref().is_some_and(|reading| is_unwritten_since(&file.path, reading.modified)) {
            return false;
        }
        let Ok(opened) = Opened::of(&file.agent, &file.path) else { return false };
        let is_read = match reading {
            Some(reading) => is_read(&opened, &reading),
            None => opened.size().map(|size| size == 0),
        };
        is_read.is_ok_and(|is_read| !is_read)
    };
    live.into_iter().flat_map(with_subagents).filter(has_grown).collect()
}

fn take_in_some(env: &Env, wishes: &Wishes, files: &[Transcript]) -> Result<Caught, CaptureError> {
    let Some(writable) = open(env, PATIENCE)? else { return Ok(Caught::Behind) };
    for file in files {
        let has_time = || env.elapsed() <= PATIENCE;
        let (_, caught) = take_in_while(&writable, wishes, file, env.now, &has_time)?;
        if caught == Caught::Behind {
            return Ok(Caught::Behind);
        }
    }
    Ok(Caught::Up)
}
