//! Searchable texts: prompts, answers, tool inputs and outputs.
//!
//! Reads one conversation at a time, in order; a long text is reduced to its start and its end.

use super::Archive;
use super::pack::DetailBytes;
use super::read::Conversation;
use crate::columns::FromRow;
use crate::query::Query;
use crate::{Result, StoreError};
use rusqlite::Row;
use std::ops::ControlFlow;
use towline_core::text::{clip, clip_start};
use towline_core::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchTextKind {
    Prompt,
    Answer,
    Detail,
}

/// One text, with the ids that lead back to its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexText {
    pub kind: SearchTextKind,
    pub row: i64,
    pub turn: u32,
    pub at: Timestamp,
    /// The turn's line for a prompt, the tool of a detail.
    pub title: String,
    pub text: String,
    /// The agent's own id of the message; a detail has none.
    pub message: String,
}

const BODIES: &str = "
    select b.id, b.turn, b.at, b.speaker, ifnull(t.line, ''), b.text, b.message
    from bodies b left join turns t on t.conversation = b.conversation and t.ordinal = b.turn";
/// Thinking is not searchable: it also mentions what was not done.
const DETAILS: &str = "
    select id, turn, at, ifnull(tool, kind), packed, content from details";
const BODIES_FROM: &str = "where b.conversation = ?1 and b.turn >= ?2 order by b.turn, b.place, b.id";
const DETAILS_FROM: &str =
    "where conversation = ?1 and turn >= ?2 and kind not in ('thinking', 'image') order by turn, place, id";

/// Lengths of the start and the end that are kept of a long text.
const HEAD: usize = 6_000;
const TAIL: usize = 2_000;

type ReadText = fn(&Row<'_>) -> Result<IndexText>;

impl Archive {
    /// Passes the texts of a conversation from this turn on to `each`.
    pub fn each_text<E: From<StoreError>>(
        &self,
        conversation: &Conversation,
        from_turn: u32,
        each: &mut dyn FnMut(IndexText) -> Result<(), E>,
    ) -> Result<(), E> {
        let reads: [(&str, &str, ReadText); 2] =
            [(BODIES, BODIES_FROM, body), (DETAILS, DETAILS_FROM, detail)];
        for (columns, condition, read) in reads {
            let query = format!("{columns} {condition}");
            let _ = self.db.each(&query, (conversation.id, from_turn), &mut |row| {
                each(read(row)?).map(ControlFlow::Continue)
            })?;
        }
        Ok(())
    }

    /// One text and its conversation, if they still exist.
    pub fn text_of(&self, kind: SearchTextKind, row: i64) -> Result<Option<(Conversation, IndexText)>> {
        let (query, owner, read): (_, _, ReadText) = match kind {
            SearchTextKind::Prompt | SearchTextKind::Answer => {
                (format!("{BODIES} where b.id = ?1"), "select conversation from bodies where id = ?1", body)
            }
            SearchTextKind::Detail => {
                (format!("{DETAILS} where id = ?1"), "select conversation from details where id = ?1", detail)
            }
        };
        let conversation: Option<i64> = self.db.first(owner, [row])?;
        let Some(conversation) = conversation else { return Ok(None) };
        let mut statement = self.db.prepare_cached(&query)?;
        let mut rows = statement.query([row])?;
        let Some(found) = rows.next()? else { return Ok(None) };
        Ok(Some((self.conversation_by_row(conversation)?, read(found)?)))
    }

    /// The rows of the conversations after this one, in order.
    pub fn conversation_rows_after(&self, row: i64, most: u32) -> Result<Vec<i64>> {
        const QUERY: &str = "select id from conversations where id > ?1 order by id limit ?2";
        self.db.all(QUERY, (row, most))
    }

    /// The newest conversations after this row, newest first.
    pub fn newest_conversation_rows_after(&self, row: i64, most: u32) -> Result<Vec<i64>> {
        const QUERY: &str = "select id from conversations where id > ?1 order by id desc limit ?2";
        self.db.all(QUERY, (row, most))
    }

    /// The number of turns in conversations after this row, at most `most`.
    pub fn count_turns_after(&self, row: i64, most: u32) -> Result<u64> {
        const QUERY: &str = "select count(*) from (select 1 from turns where conversation > ?1 limit ?2)";
        self.db.value(QUERY, (row, most))
    }

    /// The number of texts of a conversation from this turn on, at most `most` of each kind.
    pub fn count_texts(&self, row: i64, from_turn: u32, most: u32) -> Result<u64> {
        const QUERY: &str = "
            select (select count(*) from (select 1 from bodies where conversation = ?1 and turn >= ?2 limit ?3))
                 + (select count(*) from (select 1 from details where conversation = ?1 and turn >= ?2 limit ?3))";
        self.db.value(QUERY, (row, from_turn, most))
    }

    /// The number of a detail within its turn, as `tow session detail` counts.
    pub fn detail_number(&self, conversation: &Conversation, text: &IndexText) -> Result<Option<u32>> {
        let turns = self.turns(conversation, text.turn, text.turn)?;
        let Some(turn) = turns.first() else { return Ok(None) };
        let details = self.details(turn)?;
        Ok(details.iter().find(|detail| detail.id == text.row).map(|detail| detail.number))
    }
}

fn body(row: &Row<'_>) -> Result<IndexText> {
    let ((row, turn, at), speaker, line, text, message): ((_, _, _), String, _, _, _) = FromRow::of(row)?;
    let (kind, title) = match speaker.as_str() {
        "person" => (SearchTextKind::Prompt, line),
        _ => (SearchTextKind::Answer, String::new()),
    };
    Ok(IndexText { kind, row, turn, at, title, text: ends_of(text), message })
}

fn detail(row: &Row<'_>) -> Result<IndexText> {
    let ((row, turn, at, title), content): ((_, _, _, _), DetailBytes) = FromRow::of(row)?;
    let (kind, text, message) = (SearchTextKind::Detail, ends_of(content.text()?), String::new());
    Ok(IndexText { kind, row, turn, at, title, text, message })
}

fn ends_of(text: String) -> String {
    if text.len() <= HEAD + TAIL {
        return text;
    }
    format!("{}\n…\n{}", clip(&text, HEAD), clip_start(&text, TAIL))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, body, conversation, detail, turn};
    use super::super::keep::ExportedRow;
    use super::*;

    #[test]
    fn texts_come_in_order_and_lead_back_to_where_they_stand() {
        let bench = Bench::new();
        let long = format!("begin {} end", "x".repeat(50_000));
        bench.put(vec![
            ExportedRow::Conversation(conversation("a:1", "boat", 0, 9)),
            ExportedRow::Turn(turn("a:1", 1, 0, 5)),
            ExportedRow::Turn(turn("a:1", 2, 6, 9)),
            ExportedRow::Body(body(1, "paint the mast")),
            ExportedRow::Body(body(2, "and the boom")),
            ExportedRow::Detail(detail(2, &long)),
        ]);
        let of = bench.archive.latest_conversations(None, 1).unwrap().remove(0);
        let texts = |from| {
            let mut found = vec![];
            let mut each = |text: IndexText| -> Result<()> {
                found.push(text);
                Ok(())
            };
            bench.archive.each_text(&of, from, &mut each).unwrap();
            found
        };
        let all = texts(0);
        assert_eq!(all.iter().map(|text| text.turn).collect::<Vec<_>>(), [1, 2, 2]);
        assert_eq!((all[0].title.as_str(), all[0].text.as_str()), ("line 1", "paint the mast"));
        assert!(all[2].text.len() < 9_000 && all[2].text.ends_with(" end") && all[2].title == "Bash");
        assert_eq!(texts(2).len(), 2);
        let (conversation, found) =
            bench.archive.text_of(SearchTextKind::Detail, all[2].row).unwrap().unwrap();
        assert_eq!((&conversation, &found), (&of, &all[2]));
        assert_eq!(bench.archive.detail_number(&of, &found).unwrap(), Some(1));
        assert!(bench.archive.text_of(SearchTextKind::Prompt, 99).unwrap().is_none());
        assert_eq!(bench.archive.conversation_rows_after(0, 9).unwrap().len(), 1);
        assert!(bench.archive.conversation_at(99).unwrap().is_none());
    }
}
