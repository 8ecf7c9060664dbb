//! Loads the archive row behind a search hit.
//!
//! Deleted rows and quarantined memories yield no hit.

use super::FindError;
use super::actions::indexed;
use super::question::Question;
use crate::index::labels::short;
use std::ops::ControlFlow;
use towline_core::memory::TrustLevel;
use towline_core::time::Timestamp;
use towline_search::{snippet, words_in};
use towline_store::BookmarkRow;
use towline_store::archive::{Archive, Conversation, DetailOrder, DetailText, IndexText, SearchTextKind};

/// One search hit with its references.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The id that `tow show`, `tow session detail` or `tow bookmark show` accepts.
    pub id: String,
    pub kind: &'static str,
    pub title: String,
    pub snippet: String,
    /// The agent's own ids.
    pub session: Option<String>,
    pub message: Option<String>,
    pub turn: Option<u32>,
    pub at: Timestamp,
    pub project: Option<String>,
    pub agent: Option<String>,
    /// The size of the full text in tokens.
    pub tokens: usize,
    pub memory_type: Option<String>,
    /// The origin of a memory.
    pub level: Option<TrustLevel>,
    /// Replaced by another memory.
    pub is_replaced: bool,
    /// The owner, if it is not the user.
    pub person: Option<String>,
    /// The name of the source machine, if it is another one.
    pub machine: Option<String>,
    /// Not stored here: the hub returned it for this query.
    pub is_from_hub: bool,
    pub score: f32,
    pub words: Vec<String>,
    pub reasons: Vec<String>,
}

/// About one line of text, in characters.
const SNIPPET: usize = 160;

pub fn memory(archive: &Archive, number: i64, question: &Question) -> Result<Option<Found>, FindError> {
    let Some(memory) = archive.memory(number)? else { return Ok(None) };
    let is_replaced = memory.superseded.is_some();
    if memory.quarantine.is_some() || (is_replaced && !question.with_replaced) {
        return Ok(None);
    }
    let text = memory.content.text();
    let source = memory.source.as_ref();
    Ok(Some(Found {
        id: memory.name(),
        kind: "memory",
        title: memory.content.title.clone(),
        snippet: snippet(&text, &question.text, SNIPPET).text,
        session: source.map(|source| source.session.id.as_str().to_owned()),
        turn: source.and_then(|source| source.turn),
        at: memory.made_at,
        project: memory.project.clone(),
        agent: source.map(|source| source.session.agent.as_str().to_owned()),
        tokens: text.len().div_ceil(4),
        memory_type: Some(memory.content.kind.as_str().to_owned()),
        level: Some(memory.trust.level()),
        person: memory.person.clone(),
        machine: memory.machine.clone(),
        is_replaced,
        ..Found::default()
    }))
}

pub fn summary(archive: &Archive, row: i64, question: &Question) -> Result<Option<Found>, FindError> {
    let Some(of) = archive.conversation_at(row)? else { return Ok(None) };
    let Some(kept) = archive.summary(&of)? else { return Ok(None) };
    let text: Vec<&str> = kept.summary.parts().iter().map(|(_, text)| *text).collect();
    let text = text.join("\n");
    Ok(Some(Found {
        id: of.short.clone(),
        kind: "summary",
        title: kept.summary.request.lines().next().unwrap_or("").to_owned(),
        snippet: snippet(&text, &question.text, SNIPPET).text,
        turn: Some(kept.turn),
        at: kept.at,
        tokens: text.len().div_ceil(4),
        ..of_conversation(&of)
    }))
}

pub fn text(archive: &Archive, row: i64, question: &Question) -> Result<Option<Found>, FindError> {
    let Some((of, text)) = archive.text_of(row)? else { return Ok(None) };
    let found = snippet(&text.text, &question.text, SNIPPET).text;
    Ok(Some(Found {
        id: format!("{}#{}", of.short, text.turn),
        kind: "body",
        title: title(archive, &of, &text)?.unwrap_or_else(|| found.chars().take(80).collect()),
        snippet: found,
        message: Some(text.message).filter(|message| !message.is_empty()),
        turn: Some(text.turn),
        at: text.at,
        tokens: text.text.len().div_ceil(4),
        ..of_conversation(&of)
    }))
}

/// The detail of a turn that contains the most words of the question.
pub fn actions(
    archive: &Archive,
    row: i64,
    turn: u32,
    question: &Question,
) -> Result<Option<Found>, FindError> {
    let Some(of) = archive.conversation_at(row)? else { return Ok(None) };
    let mut best: Option<(usize, i64, Found)> = None;
    let _ = archive.each_detail(&of, turn..=turn, DetailOrder::OldestFirst, &mut |detail| {
        let part = indexed(detail);
        let words = words_in(&part, &question.text);
        if best.as_ref().is_none_or(|(most, ..)| words > *most) {
            let text = if words == 0 { detail.text } else { &part };
            let snippet = snippet(text, &question.text, SNIPPET).text;
            best = Some((words, detail.row, of_detail(detail, snippet)));
        }
        Ok::<_, FindError>(ControlFlow::Continue(()))
    })?;
    best.map(|(_, row, found)| in_conversation(archive, &of, row, found)).transpose()
}

/// A hit on a detail, without what its conversation and its place there say.
pub fn of_detail(detail: &DetailText<'_>, snippet: String) -> Found {
    Found {
        kind: "detail",
        title: detail.tool.unwrap_or(detail.kind.name()).to_owned(),
        snippet,
        turn: Some(detail.turn),
        at: detail.at,
        tokens: detail.text.len().div_ceil(4),
        ..Found::default()
    }
}

/// Completes a hit on the detail with this row.
pub fn in_conversation(
    archive: &Archive,
    of: &Conversation,
    row: i64,
    found: Found,
) -> Result<Found, FindError> {
    let turn = found.turn.unwrap_or_default();
    let number = archive.detail_number(of, turn, row)?.map_or(String::new(), |number| format!(".{number}"));
    let Found { session, project, agent, .. } = of_conversation(of);
    Ok(Found { id: format!("{}#{turn}{number}", of.short), session, project, agent, ..found })
}

/// The turn's line.
fn title(archive: &Archive, of: &Conversation, text: &IndexText) -> Result<Option<String>, FindError> {
    let title = match text.kind {
        SearchTextKind::Prompt => Some(text.title.clone()),
        SearchTextKind::Answer => archive.turns(of, text.turn, text.turn)?.pop().map(|turn| turn.line),
    };
    Ok(title.filter(|title| !title.is_empty()))
}

pub fn bookmark(known: &BookmarkRow, label: &str) -> Found {
    Found {
        id: short(known.bookmark.uid),
        kind: "bookmark",
        title: label.to_owned(),
        snippet: label.to_owned(),
        session: Some(known.session.id.as_str().to_owned()),
        turn: Some(known.bookmark.set.after_turn),
        at: known.bookmark.at,
        project: known.project.clone(),
        agent: Some(known.session.agent.as_str().to_owned()),
        tokens: label.len().div_ceil(4),
        ..Found::default()
    }
}

fn of_conversation(of: &Conversation) -> Found {
    Found {
        session: Some(of.session.id.as_str().to_owned()),
        project: of.project.clone(),
        agent: Some(of.session.agent.as_str().to_owned()),
        ..Found::default()
    }
}
