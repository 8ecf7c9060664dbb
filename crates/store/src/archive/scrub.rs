//! Applies the current rules to content captured before they existed.
//!
//! Works in batches; each commits its changes together with the cursor of the next, so it can be interrupted anywhere
//! and resumes there. Writes only rows that change.

use super::erase::DROP_UNUSED_PROJECTS;
use super::share::{Burial, TombFate};
use super::{Archive, EraseMode, Packer};
use crate::columns::{Columns, FromRow, from_row, values};
use crate::query::Query;
use crate::{Result, StoreError};
use rusqlite::{Transaction, TransactionBehavior};
use towline_core::id::IdHash;
use towline_core::share::RowKind;
use towline_core::time::Timestamp;

/// The rules: how a text is redacted, and which folders, calls and paths are excluded.
pub struct ScrubRules<'c> {
    /// A text without its secrets; `None` if it has none.
    pub clean: &'c dyn Fn(&str) -> Option<String>,
    pub is_excluded_folder: &'c dyn Fn(&str) -> bool,
    /// Whether a tool call is excluded: by agent, tool and input.
    pub is_excluded_call: &'c dyn Fn(&str, &str, &str) -> bool,
    pub is_excluded_path: &'c dyn Fn(&str) -> bool,
    /// Identifies the rules: work done under other rules does not count.
    pub rules: IdHash,
}

/// Counts of changed rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrubCounts {
    pub conversations: usize,
    pub bodies: usize,
    pub details: usize,
    /// Memories, their traces, and summaries.
    pub memories: usize,
    /// Lines, paths, subjects.
    pub others: usize,
}

const BATCH: u32 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScrubCursor {
    step: usize,
    after: i64,
}

/// Processes the rows of a table behind an id; returns the last id, `None` if there were no rows.
type ScrubStep<'a> = fn(&mut Scrubber<'a>, i64) -> Result<Option<i64>>;

/// The tables and their steps, in order: memories before the conversations, whose folders decide what is excluded.
fn steps<'a>() -> [(&'static str, ScrubStep<'a>); 7] {
    [
        ("memories", Scrubber::memories),
        ("memory_trace", Scrubber::traces),
        ("conversations", Scrubber::conversations),
        ("details", Scrubber::details),
        ("bodies", Scrubber::bodies),
        ("turns", Scrubber::lines),
        ("summaries", Scrubber::summaries),
    ]
}

/// The fact that holds the cursor.
const CURSOR: &str = "scrub";
const DROP_CURSOR: &str = "delete from facts where name = ?1";

const CONVERSATIONS: &str = "
    select id, folder from conversations where id > ?1 order by id limit ?2";
const DETAILS: &str = "
    select d.id, d.conversation, d.kind, d.call, c.agent, d.tool, d.packed, d.content, d.turn
    from details d join conversations c on c.id = d.conversation where d.id > ?1 order by d.id limit ?2";
const BODIES: &str = "select id, text from bodies where id > ?1 order by id limit ?2";
const LINES: &str = "select id, line from turns where id > ?1 order by id limit ?2";

/// Excluded content must not stay on other machines.
const EXCLUDED: Burial<'_> =
    Burial { at: Timestamp(0), by: "", own_fate: TombFate::Forgotten, others_fate: TombFate::Away };
/// The input and the output of a call.
const CALL: &str = "id = ?1 or ?3 is not null and conversation = ?2 and call = ?3";
const CHANGE_DETAIL: &str =
    "update details set revision = revision + 1, packed = ?2, content = ?3, size = ?4 where id = ?1";
const CHANGE_BODY: &str = "update bodies set revision = revision + 1, text = ?2 where id = ?1";
const CHANGE_LINE: &str = "update turns set line = ?2, revision = revision + 1 where id = ?1";
/// The line may mention the call; rereading the file creates one without it.
const DROP_LINE: &str = "
    update turns set line = '', revision = revision + 1 where conversation = ?1 and ordinal = ?2 and line <> ''";
const UNREAD: &str = "delete from sources where conversation = ?1";

const PATHS: &str = "select distinct path from files";
const DROP_PATH: &str = "delete from files where path = ?1";
const SUBJECTS: &str = "select distinct subject from commits";
const CHANGE_SUBJECT: &str = "update commits set subject = ?2 where subject = ?1";
const STATES: &str = "select path, state from sources";
const DROP_SOURCE: &str = "delete from sources where path = ?1";

impl Archive {
    /// Scrubs everything, from the saved cursor. `progress` receives the rows done and their total.
    pub fn scrub(
        &self,
        cleaner: &ScrubRules<'_>,
        erasing: EraseMode,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ScrubCounts> {
        let unpackable = |source| StoreError::Unpack { source };
        let packer = Packer::new().map_err(unpackable)?;
        let mut scrubber = Scrubber { archive: self, cleaner, packer, done: ScrubCounts::default() };
        let steps = steps();
        let sizes = steps.map(|(table, _)| self.highest(table));
        let sizes = sizes.into_iter().collect::<Result<Vec<_>, _>>()?;
        let all = sizes.iter().sum();
        let mut cursor = match erasing {
            EraseMode::ForGood => self.saved_cursor(cleaner.rules)?,
            EraseMode::Rehearsal => ScrubCursor { step: 0, after: 0 },
        };
        while let Some((_, step)) = steps.get(cursor.step) {
            let before: u64 = sizes[..cursor.step].iter().sum();
            progress(before + cursor.after.cast_unsigned(), all);
            cursor = scrubber.batch(*step, cursor, erasing)?;
        }
        scrubber.scrub_names(erasing)?;
        if erasing == EraseMode::ForGood && !self.shared_projects()?.is_empty() {
            // Changed rows are not recorded: the scan compares everything with what the hub has.
            self.begin_scan()?;
        }
        Ok(scrubber.done)
    }

    fn highest(&self, table: &str) -> Result<u64> {
        let query = format!("select ifnull(max(id), 0) from {table}");
        self.db.value(&query, [])
    }

    /// The cursor saved by a run under the same rules.
    fn saved_cursor(&self, rules: IdHash) -> Result<ScrubCursor> {
        let parsed = self.fact(CURSOR)?.and_then(|saved| {
            let numbers: Vec<i64> = saved.split(' ').filter_map(|word| word.parse().ok()).collect();
            let [mark, step, after] = numbers.as_slice() else { return None };
            (*mark == rules.0).then_some(ScrubCursor { step: usize::try_from(*step).ok()?, after: *after })
        });
        Ok(parsed.unwrap_or(ScrubCursor { step: 0, after: 0 }))
    }
}

struct Scrubber<'a> {
    archive: &'a Archive,
    cleaner: &'a ScrubRules<'a>,
    packer: Packer,
    done: ScrubCounts,
}

impl<'a> Scrubber<'a> {
    /// Runs one transaction and returns the next cursor.
    fn batch(&mut self, step: ScrubStep<'a>, cursor: ScrubCursor, erasing: EraseMode) -> Result<ScrubCursor> {
        let transaction = Transaction::new_unchecked(&self.archive.db, TransactionBehavior::Immediate)?;
        let next = match step(self, cursor.after)? {
            Some(last) => ScrubCursor { after: last, ..cursor },
            None => ScrubCursor { step: cursor.step + 1, after: 0 },
        };
        if erasing == EraseMode::Rehearsal {
            transaction.rollback()?;
            return Ok(next);
        }
        let saved = format!("{} {} {}", self.cleaner.rules.0, next.step, next.after);
        self.archive.set_fact(CURSOR, &saved)?;
        self.archive.log_memories()?;
        transaction.commit()?;
        Ok(next)
    }

    fn conversations(&mut self, after: i64) -> Result<Option<i64>> {
        let rows: Vec<(i64, Option<String>)> = self.rows(CONVERSATIONS, after)?;
        for (id, folder) in &rows {
            if folder.as_deref().is_some_and(self.cleaner.is_excluded_folder) {
                self.change(UNREAD, [id])?;
                self.archive.add_session_tombstones(*id, EXCLUDED)?;
                self.archive.drop_conversation(*id)?;
                self.done.conversations += 1;
            }
        }
        Ok(rows.last().map(|(id, _)| *id))
    }

    fn details(&mut self, after: i64) -> Result<Option<i64>> {
        let rows: Vec<DetailText> = self.rows(DETAILS, after)?;
        for row in &rows {
            if row.is_input && (self.cleaner.is_excluded_call)(&row.agent, &row.tool, &row.text) {
                let call = (row.id, row.conversation, row.call);
                self.archive.add_piece_tombstones(row.conversation, RowKind::Detail, CALL, call, EXCLUDED)?;
                self.done.details += self.change(&format!("delete from details where {CALL}"), call)?;
                self.done.others += self.change(DROP_LINE, (row.conversation, row.turn))?;
                self.drop_derived_memories(row.conversation, row.turn)?;
                self.change(UNREAD, [row.conversation])?;
            } else if let Some(clean) = (self.cleaner.clean)(&row.text) {
                let content = self.packer.content(&clean);
                let (is_packed, bytes) = content.columns();
                self.done.details +=
                    self.change(CHANGE_DETAIL, values![row.id, is_packed, bytes, clean.len()])?;
            }
        }
        Ok(rows.last().map(|row| row.id))
    }

    fn bodies(&mut self, after: i64) -> Result<Option<i64>> {
        let (last, changed) = self.texts(BODIES, CHANGE_BODY, after)?;
        self.done.bodies += changed;
        Ok(last)
    }

    fn lines(&mut self, after: i64) -> Result<Option<i64>> {
        let (last, changed) = self.texts(LINES, CHANGE_LINE, after)?;
        self.done.others += changed;
        Ok(last)
    }

    fn texts(&mut self, find: &str, change: &str, after: i64) -> Result<(Option<i64>, usize)> {
        let rows: Vec<(i64, String)> = self.rows(find, after)?;
        let mut changed = 0;
        for (id, text) in &rows {
            if let Some(clean) = (self.cleaner.clean)(text) {
                changed += self.change(change, (id, clean))?;
            }
        }
        Ok((rows.last().map(|(id, _)| *id), changed))
    }

    /// Few and short: in one transaction at the end. A reader's state is text too.
    fn scrub_names(&mut self, erasing: EraseMode) -> Result<()> {
        let transaction = Transaction::new_unchecked(&self.archive.db, TransactionBehavior::Immediate)?;
        let db = &self.archive.db;
        for path in db.all::<String>(PATHS, [])? {
            if (self.cleaner.is_excluded_path)(&path) || (self.cleaner.clean)(&path).is_some() {
                self.unlearn_path(&path)?;
                self.done.others += self.change(DROP_PATH, [path])?;
            }
        }
        for subject in db.all::<String>(SUBJECTS, [])? {
            if let Some(clean) = (self.cleaner.clean)(&subject) {
                self.done.others += self.change(CHANGE_SUBJECT, [&subject, &clean])?;
            }
        }
        for (path, state) in db.all::<(String, String)>(STATES, [])? {
            if (self.cleaner.clean)(&state).is_some() {
                self.change(DROP_SOURCE, [path])?;
            }
        }
        self.change(DROP_UNUSED_PROJECTS, [])?;
        self.change(DROP_CURSOR, [CURSOR])?;
        erasing.end(transaction)
    }

    fn rows<T: FromRow>(&self, query: &str, after: i64) -> Result<Vec<T>> {
        self.archive.db.all(query, (after, BATCH))
    }

    fn change(&self, statement: &str, params: impl rusqlite::Params) -> Result<usize> {
        self.archive.db.change(statement, params)
    }
}

mod memories;

struct DetailText {
    id: i64,
    conversation: i64,
    turn: i64,
    is_input: bool,
    call: Option<i64>,
    agent: String,
    tool: String,
    text: String,
}

from_row!(DetailText { id, conversation, is_input: is_input, call, agent, tool: tool, text: text, turn });

fn is_input(columns: &mut Columns<'_>) -> rusqlite::Result<bool> {
    Ok(columns.get::<String>()? == "input")
}

fn tool(columns: &mut Columns<'_>) -> rusqlite::Result<String> {
    Ok(columns.get::<Option<String>>()?.unwrap_or_default())
}

fn text(columns: &mut Columns<'_>) -> rusqlite::Result<String> {
    let (is_packed, content) = columns.get()?;
    Ok(super::unpacked(is_packed, content))
}
