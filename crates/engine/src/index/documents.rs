//! Converts archive rows to index documents and back; the document id encodes the row.
//!
//! Reads only the requested rows.

use super::FindError;
use super::actions::{self, TurnActions};
use std::collections::HashMap;
use towline_core::memory::Memory;
use towline_search::{Document, DocumentKind};
use towline_store::archive::{
    Archive, ArchiveChange, Conversation, IndexText, KeptSummary, MemoryQuery, SearchTextKind,
};

/// A row that the search can return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexedRow {
    Memory(i64),
    /// The row of the conversation.
    Summary(i64),
    /// The row of a message.
    Text(SearchTextKind, i64),
    /// The tool calls of a turn: the row of the conversation, and the turn.
    Actions(i64, u32),
    /// The position in the list of searched bookmarks.
    Bookmark(i64),
    /// The position in the list of hub rows.
    Team(i64),
}

/// The number of row kinds that an id can encode.
const KINDS: i64 = 8;
/// The number of turns of a conversation that an id can encode.
const TURNS: i64 = 1 << 20;

impl IndexedRow {
    pub fn id(self) -> i64 {
        let (row, kind) = match self {
            IndexedRow::Memory(row) => (row, 0),
            IndexedRow::Summary(row) => (row, 1),
            IndexedRow::Text(SearchTextKind::Prompt, row) => (row, 2),
            IndexedRow::Text(SearchTextKind::Answer, row) => (row, 3),
            IndexedRow::Actions(row, turn) => (row * TURNS + i64::from(turn).min(TURNS - 1), 4),
            IndexedRow::Bookmark(row) => (row, 5),
            IndexedRow::Team(row) => (row, 6),
        };
        row * KINDS + kind
    }

    /// Decodes an id; `None` for a kind that a newer version wrote.
    pub fn of(id: i64) -> Option<IndexedRow> {
        let row = id.div_euclid(KINDS);
        match id.rem_euclid(KINDS) {
            0 => Some(IndexedRow::Memory(row)),
            1 => Some(IndexedRow::Summary(row)),
            2 => Some(IndexedRow::Text(SearchTextKind::Prompt, row)),
            3 => Some(IndexedRow::Text(SearchTextKind::Answer, row)),
            4 => Some(IndexedRow::Actions(row.div_euclid(TURNS), row.rem_euclid(TURNS) as u32)),
            5 => Some(IndexedRow::Bookmark(row)),
            6 => Some(IndexedRow::Team(row)),
            _ => None,
        }
    }
}

/// The index identifies a project by its name, so two projects with one name are one to it.
pub fn project_key(name: Option<&str>) -> String {
    name.unwrap_or("").to_lowercase()
}

/// Visits the documents affected by a change.
pub fn each_of(
    archive: &Archive,
    change: ArchiveChange,
    each: &mut dyn FnMut(Document) -> Result<(), FindError>,
) -> Result<(), FindError> {
    match change {
        ArchiveChange::Conversation { row, from_turn } => match archive.conversation_at(row)? {
            Some(conversation) => of_conversation(archive, &conversation, from_turn, each),
            None => Ok(()),
        },
        ArchiveChange::Memory { number } => match archive.memory(number)? {
            Some(memory) => each(of_memory(&memory)),
            None => Ok(()),
        },
        ArchiveChange::Summary { conversation } => match archive.conversation_at(conversation)? {
            Some(of) => archive.summary(&of)?.map_or(Ok(()), |kept| each(of_summary(&of, &kept))),
            None => Ok(()),
        },
    }
}

/// The document id of a memory or summary that no longer exists.
pub fn deleted_document(archive: &Archive, change: ArchiveChange) -> Result<Option<i64>, FindError> {
    let (is_gone, row) = match change {
        ArchiveChange::Conversation { .. } => return Ok(None),
        ArchiveChange::Memory { number } => (archive.memory(number)?.is_none(), IndexedRow::Memory(number)),
        ArchiveChange::Summary { conversation } => {
            (archive.conversation_at(conversation)?.is_none(), IndexedRow::Summary(conversation))
        }
    };
    Ok(is_gone.then(|| row.id()))
}

fn of_conversation(
    archive: &Archive,
    of: &Conversation,
    from_turn: u32,
    each: &mut dyn FnMut(Document) -> Result<(), FindError>,
) -> Result<(), FindError> {
    let mut files: HashMap<u32, Vec<String>> = HashMap::new();
    for file in archive.files(of, from_turn..=u32::MAX)? {
        files.entry(file.turn).or_default().push(file.path);
    }
    archive.each_text(of, from_turn, &mut |text: IndexText| {
        let of_turn = files.get(&text.turn).cloned().unwrap_or_default();
        each(of_text(of, text, of_turn))
    })?;
    actions::each_turn(archive, of, from_turn..=u32::MAX, &mut |actions| each(of_actions(of, actions)))
}

fn of_actions(of: &Conversation, actions: TurnActions) -> Document {
    Document {
        id: IndexedRow::Actions(of.row(), actions.turn).id(),
        kind: DocumentKind::Detail,
        text: actions.text,
        turn: actions.turn,
        at: actions.at.0,
        ..within(of)
    }
}

fn of_text(of: &Conversation, text: IndexText, files: Vec<String>) -> Document {
    let kind = match text.kind {
        SearchTextKind::Prompt => DocumentKind::Prompt,
        SearchTextKind::Answer => DocumentKind::Body,
    };
    Document {
        id: IndexedRow::Text(text.kind, text.row).id(),
        kind,
        text: text.text,
        files,
        turn: text.turn,
        at: text.at.0,
        ..within(of)
    }
}

/// The fields that all documents of a conversation share.
fn within(of: &Conversation) -> Document {
    Document {
        project: project_key(of.project.as_deref()),
        branch: of.branch.clone().unwrap_or_default(),
        agent: of.session.agent.as_str().to_owned(),
        session: of.session.id.as_str().to_owned(),
        whole: of.row(),
        ..Document::plain(0, DocumentKind::Body, "")
    }
}

pub fn of_memory(memory: &Memory) -> Document {
    let source = memory.source.as_ref();
    Document {
        id: IndexedRow::Memory(memory.number).id(),
        kind: DocumentKind::Memory,
        title: memory.content.title.clone(),
        text: memory.content.text(),
        files: memory.content.files.iter().map(|(path, _)| path.clone()).collect(),
        concepts: memory.content.concepts.clone(),
        memory_type: Some(memory.content.kind.as_str().to_owned()),
        project: project_key(memory.project.as_deref()),
        branch: source.and_then(|source| source.branch.clone()).unwrap_or_default(),
        agent: source.map_or_else(String::new, |source| source.session.agent.as_str().to_owned()),
        session: source.map_or_else(String::new, |source| source.session.id.as_str().to_owned()),
        turn: source.and_then(|source| source.turn).unwrap_or(0),
        at: memory.made_at.0,
        whole: 0,
    }
}

fn of_summary(of: &Conversation, kept: &KeptSummary) -> Document {
    let parts = kept.summary.parts();
    let text: Vec<&str> = parts.iter().map(|(_, text)| *text).filter(|text| !text.is_empty()).collect();
    Document {
        id: IndexedRow::Summary(of.row()).id(),
        kind: DocumentKind::Summary,
        title: kept.summary.request.lines().next().unwrap_or("").to_owned(),
        text: text.join("\n"),
        turn: kept.turn,
        at: kept.at.0,
        // It has a change of its own.
        whole: 0,
        ..within(of)
    }
}

/// Visits all documents, for an index rebuild.
pub fn each(
    archive: &Archive,
    each: &mut dyn FnMut(Document) -> Result<(), FindError>,
) -> Result<(), FindError> {
    let mut last = 0;
    loop {
        let rows = archive.conversation_rows_after(last, AT_ONCE)?;
        let Some(end) = rows.last() else { break };
        last = *end;
        for row in rows {
            each_of(archive, ArchiveChange::Conversation { row, from_turn: 0 }, each)?;
            each_of(archive, ArchiveChange::Summary { conversation: row }, each)?;
        }
    }
    each_memory(archive, each)
}

/// Visits all memories.
pub fn each_memory(
    archive: &Archive,
    each: &mut dyn FnMut(Document) -> Result<(), FindError>,
) -> Result<(), FindError> {
    let mut before = None;
    loop {
        let asked = MemoryQuery { before, limit: AT_ONCE, ..MemoryQuery::default() };
        let memories = archive.memories(&asked)?;
        let Some(last) = memories.last() else { return Ok(()) };
        before = Some(last.number);
        memories.iter().try_for_each(|memory| each(of_memory(memory)))?;
    }
}

const AT_ONCE: u32 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_back_to_its_row() {
        let rows = [1, 2, 77, i64::MAX / 16];
        for row in rows {
            for place in [
                IndexedRow::Memory(row),
                IndexedRow::Summary(row),
                IndexedRow::Text(SearchTextKind::Prompt, row),
                IndexedRow::Text(SearchTextKind::Answer, row),
                IndexedRow::Actions(row % 1_000_000, 0),
                IndexedRow::Actions(row % 1_000_000, 4711),
                IndexedRow::Bookmark(row),
                IndexedRow::Team(row),
            ] {
                assert_eq!(IndexedRow::of(place.id()), Some(place));
            }
        }
        assert_eq!(IndexedRow::of(7), None);
    }
}
