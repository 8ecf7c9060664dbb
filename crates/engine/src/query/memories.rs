//! Lists memories, newest first.
//!
//! Leaves out replaced and held-back memories unless the request asks for them.

use super::{Past, ProjectScope, call, parse_time, unreadable_data};
use crate::memory::remember::type_named;
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure};
use towline_core::id::SessionKey;
use towline_core::memory::{Memory, number};
use towline_core::when::TimeExpression;
pub use towline_store::archive::MemoryFilter;
use towline_store::archive::MemoryQuery;

#[derive(Default)]
pub struct MemoriesRequest {
    pub kind: Option<String>,
    pub concept: Option<String>,
    /// A path, or the end of one.
    pub file: Option<String>,
    pub project: ProjectScope,
    /// The beginning or the end of a session's id.
    pub session: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
    /// Only those after this id in the list.
    pub before: Option<String>,
    pub only: MemoryFilter,
    pub limit: u32,
}

pub struct MemoryList {
    pub memories: Vec<Memory>,
    /// Whether there are more than `limit`.
    pub is_cut: bool,
    pub limit: u32,
    /// Description of the searched scope.
    pub looked: String,
}

pub fn memories(env: &Env, request: &MemoriesRequest) -> Result<MemoryList, Failure> {
    let limit = request.limit;
    let Some(past) = Past::open(env, &request.project)? else {
        let looked = "nothing was captured yet".to_owned();
        return Ok(MemoryList { memories: vec![], is_cut: false, limit, looked });
    };
    let mut memories = if past.project.is_empty() { vec![] } else { find(&past, request)? };
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_cut = memories.len() > most;
    memories.truncate(most);
    Ok(MemoryList { memories, is_cut, limit, looked: past.project.description() })
}

fn find(past: &Past, request: &MemoriesRequest) -> Result<Vec<Memory>, Failure> {
    let kind = request.kind.as_deref().map(type_named).transpose()?;
    let at = |text: &Option<String>| text.as_deref().map(|text| parse_time(text, past.now)).transpose();
    let session = request.session.as_deref().map(|session| session_named(past, session)).transpose()?;
    let query = MemoryQuery {
        project: past.project.row().filter(|_| session.is_none()),
        kind: kind.as_ref(),
        concept: request.concept.as_deref(),
        file: request.file.as_deref(),
        session: session.as_ref(),
        from: at(&request.since)?,
        until: at(&request.until)?,
        before: request.before.as_deref().map(number_of).transpose()?,
        only: request.only,
        limit: request.limit.saturating_add(1),
        ..MemoryQuery::default()
    };
    past.archive.memories(&query).map_err(unreadable_data)
}

fn number_of(id: &str) -> Result<i64, Failure> {
    number(id).ok_or_else(|| {
        Failure::input(format!("`{}` is no memory", plain_text(id))).hint("Write one like m12.")
    })
}

/// A captured session, or the full key of one that was not captured.
fn session_named(past: &Past, text: &str) -> Result<SessionKey, Failure> {
    if let Ok(TimeExpression::Session(hint)) = TimeExpression::parse(text)
        && let Some(of) = call(past, &hint)?
    {
        return Ok(of.session);
    }
    SessionKey::parse(text).map_err(|_| {
        Failure::input(format!("no session has an id that begins or ends with `{}`", plain_text(text)))
            .hint("Run `tow session list --all-projects` to see what was captured.")
    })
}
