//! Bringing the archive up to date before somebody reads it: what live sessions wrote since they were captured last.
//!
//! Costs a look at each file's size where nothing is new. Never waits long and never fails: what cannot be taken in now is
//! taken in by whoever captures next.

use super::{CaptureError, Transcript, Wishes, known, open, take_in_while};
use crate::runtime::env::Env;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use towline_agents::Agent;
use towline_core::project::ProjectTraces;
use towline_store::{Archive, LiveTranscript, Store, StoreError, archive, journal, marks};

/// How long a reader waits for what is new.
const PATIENCE: Duration = Duration::from_millis(200);

/// A session that was not heard of for so long has nothing that is not captured.
const HEARD_WITHIN_MS: i64 = 24 * 3_600_000;
/// What is captured at a session's end is captured by then.
const ENDED_WITHIN_MS: i64 = 3_600_000;
/// Agents write their files a little later than they tell of it.
const ON_ITS_WAY_MS: i64 = 60_000;

/// How far it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caught {
    Up,
    /// Something is new that could not be taken in in time.
    Behind,
}

/// Takes in what live sessions of a project, or of all, have written, and opens the archive for reading.
/// `None` if nothing was ever captured.
pub fn catch_up(
    env: &Env,
    wishes: &Wishes,
    project: Option<&ProjectTraces>,
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
    // A fault of capturing is not one of reading; `tow capture` records it.
    let caught = take_in_some(env, wishes, &grown).unwrap_or(Caught::Behind);
    Ok((Archive::read(&env.home, PATIENCE)?, caught))
}

/// Whether no agent works and nothing was heard since the archive was written: then no file can have grown, and the other
/// database need not be opened to ask for them. What was heard a moment ago may still be on its way into a file.
fn is_quiet(env: &Env) -> bool {
    let heard = journal::heard_at(&env.home);
    let (Some(heard), Some(written)) = (heard, archive::written_at(&env.home)) else { return false };
    heard < written && heard.plus_ms(ON_ITS_WAY_MS) < env.now && !marks::is_any(&env.home)
}

/// The files of sessions that may write.
fn live(env: &Env, project: Option<&ProjectTraces>) -> Vec<Transcript> {
    let store = Store::read(&env.home, PATIENCE).ok().flatten();
    let since = |ms: i64| env.now.plus_ms(-ms);
    let found =
        store.and_then(|store| store.live_transcripts(since(HEARD_WITHIN_MS), since(ENDED_WITHIN_MS)).ok());
    let is_meant = |transcript: &LiveTranscript| {
        project.is_none_or(|wanted| {
            transcript.project.as_ref().is_some_and(|of| wanted.lead_to(&of.root, of.remote.as_deref()))
        })
    };
    let known_agent = |transcript: LiveTranscript| {
        let agent = Agent::named(&transcript.agent)?;
        Some(Transcript { agent, path: PathBuf::from(transcript.path) })
    };
    found.into_iter().flatten().filter(is_meant).filter_map(known_agent).collect()
}

/// Those whose size is not the one up to which they were read, with the files of their helpers.
fn grown(archive: Option<&Archive>, live: Vec<Transcript>) -> Vec<Transcript> {
    let with_helpers = |file: Transcript| {
        let helpers = file.agent.helpers_of(&file.path);
        let of = move |path| Transcript { agent: file.agent, path };
        std::iter::once(file.path).chain(helpers).map(of)
    };
    let has_grown = |file: &Transcript| {
        let Ok(meta) = fs::metadata(&file.path) else { return false };
        let read =
            archive.and_then(|archive| known(archive, file).ok()).map_or(0, |source| source.reading.offset);
        meta.len() != read
    };
    live.into_iter().flat_map(with_helpers).filter(has_grown).collect()
}

fn take_in_some(env: &Env, wishes: &Wishes, files: &[Transcript]) -> Result<Caught, CaptureError> {
    let Some(writable) = open(env, PATIENCE)? else { return Ok(Caught::Behind) };
    for file in files {
        let has_time = || env.elapsed() <= PATIENCE;
        let (_, caught) = take_in_while(&writable, wishes, file, (env.now, &has_time))?;
        if caught == Caught::Behind {
            return Ok(Caught::Behind);
        }
    }
    Ok(Caught::Up)
}
