//! Searchable texts: prompts, answers, tool inputs and outputs.
//!
//! Reads one conversation at a time, in order; a long message is reduced to its start and its end. Details are lent, never
//! collected: their texts are most of the archive.

use super::Archive;
use super::pack::Unpacker;
use super::read::Conversation;
use crate::columns::FromRow;
use crate::query::Query;
use crate::{Result, StoreError};
use rusqlite::Row;
use std::ops::{ControlFlow, RangeInclusive};
use towline_core::capture::DetailKind;
use towline_core::event::ToolOutcome;
use towline_core::text::{clip, clip_start};
use towline_core::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchTextKind {
    Prompt,
    Answer,
}

/// One message, with the ids that lead back to its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexText {
    pub kind: SearchTextKind,
    pub row: i64,
    pub turn: u32,
    pub at: Timestamp,
    /// The turn's line for a prompt.
    pub title: String,
    pub text: String,
    /// The agent's own id of the message.
    pub message: String,
}

/// One input or output of a tool, or another text beside the messages.
#[derive(Clone, Copy, Debug)]
pub struct DetailText<'a> {
    pub row: i64,
    pub turn: u32,
    pub at: Timestamp,
    pub kind: DetailKind,
    pub tool: Option<&'a str>,
    pub is_failed: bool,
    pub text: &'a str,
}

/// The order in which details are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailOrder {
    OldestFirst,
    NewestFirst,
}

const BODIES: &str = "
    select b.id, b.turn, b.at, b.speaker, ifnull(t.line, ''), b.text, b.message
    from bodies b left join turns t on t.conversation = b.conversation and t.ordinal = b.turn";
const BODIES_FROM: &str = "where b.conversation = ?1 and b.turn >= ?2 order by b.turn, b.place, b.id";
/// Thinking is not searchable: it also mentions what was not done.
const DETAILS: &str = "
    select id, turn, at, kind, tool, outcome, packed, content from details
    where conversation = ?1 and turn between ?2 and ?3 and kind not in ('thinking', 'image')";

/// Lengths of the start and the end that are kept of a long text.
const HEAD: usize = 6_000;
const TAIL: usize = 2_000;

impl Archive {
    /// Passes the messages of a conversation from this turn on to `each`.
    pub fn each_text<E: From<StoreError>>(
        &self,
        conversation: &Conversation,
        from_turn: u32,
        each: &mut dyn FnMut(IndexText) -> Result<(), E>,
    ) -> Result<(), E> {
        let query = format!("{BODIES} {BODIES_FROM}");
        let _ = self.db.each(&query, (conversation.id, from_turn), &mut |row| {
            each(body(row)?).map(ControlFlow::Continue)
        })?;
        Ok(())
    }

    /// Passes the details of some turns of a conversation to `each`, until it breaks.
    pub fn each_detail<E: From<StoreError>>(
        &self,
        conversation: &Conversation,
        turns: RangeInclusive<u32>,
        order: DetailOrder,
        each: &mut dyn FnMut(&DetailText<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        let order = match order {
            DetailOrder::OldestFirst => "order by turn, place, id",
            DetailOrder::NewestFirst => "order by turn desc, place desc, id desc",
        };
        let mut unpacker = Unpacker::default();
        let values = (conversation.id, turns.start(), turns.end());
        self.db.each(&format!("{DETAILS} {order}"), values, &mut |row| {
            let detail = detail(row, &mut unpacker)?;
            detail.map_or(Ok(ControlFlow::Continue(())), |detail| each(&detail))
        })
    }

    /// One message and its conversation, if they still exist.
    pub fn text_of(&self, row: i64) -> Result<Option<(Conversation, IndexText)>> {
        let conversation: Option<i64> =
            self.db.first("select conversation from bodies where id = ?1", [row])?;
        let Some(conversation) = conversation else { return Ok(None) };
        let mut statement = self.db.prepare_cached(&format!("{BODIES} where b.id = ?1"))?;
        let mut rows = statement.query([row])?;
        let Some(found) = rows.next()? else { return Ok(None) };
        Ok(Some((self.conversation_by_row(conversation)?, body(found)?)))
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
    pub fn detail_number(&self, conversation: &Conversation, turn: u32, row: i64) -> Result<Option<u32>> {
        let turns = self.turns(conversation, turn, turn)?;
        let Some(turn) = turns.first() else { return Ok(None) };
        let details = self.details(turn)?;
        Ok(details.iter().find(|detail| detail.id == row).map(|detail| detail.number))
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

/// `None` for a kind of a newer version.
fn detail<'a>(row: &'a Row<'_>, unpacker: &'a mut Unpacker) -> Result<Option<DetailText<'a>>> {
    let text = |column: usize| row.get_ref(column).map(|value| value.as_str_or_null().ok().flatten());
    let Some(kind) = text(3)?.and_then(DetailKind::named) else { return Ok(None) };
    let content = row.get_ref(7)?.as_blob_or_null().ok().flatten().unwrap_or_default();
    Ok(Some(DetailText {
        row: row.get(0)?,
        turn: row.get(1)?,
        at: Timestamp(row.get(2)?),
        kind,
        tool: text(4)?,
        is_failed: text(5)?.and_then(ToolOutcome::named) == Some(ToolOutcome::Failed),
        text: unpacker.text(row.get(6)?, content)?,
    }))
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
    use super::super::keep::{ExportedDetail, ExportedRow};
    use super::*;
    use towline_core::id::IdHash;

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
            ExportedRow::Detail(ExportedDetail { mark: IdHash(77), place: 78, ..detail(2, &long) }),
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
        assert_eq!(all.iter().map(|text| text.turn).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((all[0].title.as_str(), all[0].text.as_str()), ("line 1", "paint the mast"));
        assert_eq!(texts(2).len(), 1);
        let (conversation, found) = bench.archive.text_of(all[1].row).unwrap().unwrap();
        assert_eq!((&conversation, &found), (&of, &all[1]));
        assert!(bench.archive.text_of(99).unwrap().is_none());
        let mut details = vec![];
        let _ = bench.archive.each_detail(&of, 0..=9, DetailOrder::OldestFirst, &mut |detail| -> Result<_> {
            assert_eq!((detail.tool, detail.text.len()), (Some("Bash"), long.len()));
            details.push((detail.turn, detail.row));
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(details.iter().map(|(turn, _)| *turn).collect::<Vec<_>>(), [2, 2]);
        for (number, (turn, row)) in (1..).zip(details) {
            assert_eq!(bench.archive.detail_number(&of, turn, row).unwrap(), Some(number));
        }
        assert_eq!(bench.archive.conversation_rows_after(0, 9).unwrap().len(), 1);
        assert!(bench.archive.conversation_at(99).unwrap().is_none());
    }
}
