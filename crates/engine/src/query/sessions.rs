//! Lists captured sessions, latest first, with their first and last line.
//!
//! Only reads, and no more than it lists.

use super::past::{Past, ProjectScope, unreadable_data};
use super::sought::parse_time;
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure};
use towline_core::time::Timestamp;
use towline_store::archive::{Conversation, PageKey, SessionQuery};

pub struct SessionsRequest<'a> {
    pub scope: ProjectScope,
    /// Only sessions that were active since this time.
    pub since: Option<&'a str>,
    /// The `next` of an earlier list.
    pub before: Option<&'a str>,
    pub agent: Option<&'a str>,
    pub limit: usize,
}

impl SessionsRequest<'_> {
    /// The latest sessions of all projects and agents.
    pub fn of_all(limit: usize) -> Self {
        SessionsRequest { scope: ProjectScope::All, since: None, before: None, agent: None, limit }
    }
}

/// A session with its first and its last line.
pub struct SessionLine {
    pub of: Conversation,
    pub first: Option<String>,
    pub last: Option<String>,
}

pub struct SessionList {
    pub sessions: Vec<SessionLine>,
    pub has_more: bool,
    /// Description of the searched scope.
    pub looked: String,
}

impl SessionList {
    /// The page key of the next page.
    pub fn next(&self) -> Option<String> {
        self.sessions.last().filter(|_| self.has_more).map(|last| PageKey::of(&last.of).to_string())
    }
}

pub fn sessions(env: &Env, request: &SessionsRequest<'_>) -> Result<SessionList, Failure> {
    let since = request.since.map(|since| parse_time(since, env.now)).transpose()?.unwrap_or(Timestamp(0));
    let Some(past) = Past::open(env, &request.scope)? else {
        let looked = "nothing was captured yet".to_owned();
        return Ok(SessionList { sessions: vec![], has_more: false, looked });
    };
    let query = SessionQuery {
        project: past.project.row(),
        agent: request.agent,
        since,
        behind: request.before.map(page_key).transpose()?,
        most: request.limit.saturating_add(1),
    };
    let mut found = past.archive.find_sessions(&query).map_err(unreadable_data)?;
    if past.project.is_empty() {
        found.clear();
    }
    let has_more = found.len() > request.limit;
    found.truncate(request.limit);
    let with_lines = |of: Conversation| {
        let (first, last) = past.archive.first_and_last_line(&of).map_err(unreadable_data)?;
        Ok(SessionLine { of, first, last })
    };
    let sessions = found.into_iter().map(with_lines).collect::<Result<_, Failure>>()?;
    Ok(SessionList { sessions, has_more, looked: past.project.description() })
}

fn page_key(text: &str) -> Result<PageKey, Failure> {
    let refused = || Failure::input(format!("`{}` is no place in a list", plain_text(text)));
    PageKey::parse(text).ok_or_else(|| refused().hint("Give what an earlier list with --json has as `next`."))
}
