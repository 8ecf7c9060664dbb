//! Past sessions that a user may want to resume or look at, by a few words.
//!
//! Only reads. Sessions of the journal come first: they know their pane.

use super::past::ProjectScope;
use super::sessions::{SessionLine, SessionsRequest, sessions};
use crate::ingest::live;
use crate::runtime::{Env, Failure};
use towline_core::called::{self, Callable};
use towline_core::id::SessionKey;
use towline_core::session::{Session, SessionState};
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;

/// How many past sessions are compared with the words.
const MOST: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedSession {
    pub key: SessionKey,
    pub folder: Option<String>,
    pub project: Option<String>,
    pub branch: Option<String>,
    /// The last prompt, or the first line.
    pub words: String,
    pub at: Timestamp,
    /// The seat it had last.
    pub seat: Option<String>,
}

/// Past sessions, latest first.
pub fn ended_sessions(env: &Env, scope: ProjectScope) -> Result<Vec<EndedSession>, Failure> {
    let store = live::store(env)?;
    let known = store.map(|store| store.sessions()).transpose()?.unwrap_or_default();
    let request = SessionsRequest { scope, ..SessionsRequest::of_all(MOST) };
    let captured = sessions(env, &request)?.sessions;
    let mut all: Vec<EndedSession> = captured.into_iter().map(of_archive).collect();
    for session in known.iter().rev().take(MOST) {
        let has_ended = session.state == SessionState::Ended;
        match all.iter().position(|other| other.key == session.key) {
            Some(index) if !has_ended => drop(all.remove(index)),
            Some(index) => all[index].seat.clone_from(&session.seat),
            None if has_ended && session.prompt.is_some() && request.scope == ProjectScope::All => {
                all.push(of_journal(session));
            }
            None => {}
        }
    }
    all.sort_by_key(|session| std::cmp::Reverse(session.at));
    Ok(all)
}

/// The seats whose sessions began with these words, as far as they were captured: a seat shows its last prompt alone.
pub fn seats_that_began_with<'a>(
    env: &Env,
    seats: &'a [SeatView],
    wanted: &str,
) -> Result<Vec<&'a SeatView>, Failure> {
    let request = SessionsRequest::of_all(MOST);
    let captured: Vec<EndedSession> = sessions(env, &request)?.sessions.into_iter().map(of_archive).collect();
    let of_seat = |seat: &'a SeatView| {
        let session = captured.iter().find(|session| seat.session == Some(session.key.to_string()))?;
        Some((seat, session))
    };
    let known: Vec<(&'a SeatView, &EndedSession)> = seats.iter().filter_map(of_seat).collect();
    let found = called::best(&known, wanted, |(_, session)| callable(session));
    Ok(found.into_iter().map(|(seat, _)| *seat).collect())
}

/// The past sessions that the text may mean: the beginning or end of an id, else a project, a branch or words.
pub fn resumable(env: &Env, wanted: &str) -> Result<Vec<EndedSession>, Failure> {
    let all = ended_sessions(env, ProjectScope::All)?;
    let is_called = |session: &&EndedSession| {
        let id = session.key.id.as_str();
        wanted == session.key.to_string() || id.starts_with(wanted) || id.ends_with(wanted)
    };
    let by_id: Vec<EndedSession> = all.iter().filter(is_called).cloned().collect();
    if !by_id.is_empty() {
        return Ok(by_id);
    }
    Ok(called::best(&all, wanted, callable).into_iter().cloned().collect())
}

fn callable(session: &EndedSession) -> Callable<'_> {
    Callable {
        agent: session.key.agent.as_str(),
        project: session.project.as_deref(),
        branch: session.branch.as_deref(),
        words: &session.words,
    }
}

fn of_archive(session: SessionLine) -> EndedSession {
    let of = session.of;
    EndedSession {
        words: session.first.into_iter().chain(session.last).collect::<Vec<_>>().join(" · "),
        folder: of.folder,
        project: of.project,
        branch: of.branch,
        at: of.last_at,
        key: of.session,
        seat: None,
    }
}

fn of_journal(session: &Session) -> EndedSession {
    let project = session.project.as_ref();
    EndedSession {
        key: session.key.clone(),
        folder: session.folder.clone(),
        project: project.map(|project| project.display_name().to_owned()),
        branch: project.and_then(|project| project.branch.clone()),
        words: session.prompt.as_ref().map_or(String::new(), |prompt| prompt.as_str().to_owned()),
        at: session.last_event_at,
        seat: session.seat.clone(),
    }
}
