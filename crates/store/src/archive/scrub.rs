//! Applies the current rules to content captured before they existed.
//!
//! Works in batches; each commits its changes together with the cursor of the next, so it can be interrupted anywhere
//! and resumes there. Writes only rows that change.

use super::erase::DROP_UNUSED_PROJECTS;
use super::share::{Burial, TombFate};
use super::{Archive, EraseMode, Packer};
use crate::StoreError;
use crate::archive::pack::DetailBytes;
use crate::query::Query;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior};
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

/// The steps, in order.
const STEPS: [ScrubStep; 7] = [
    // Before the conversations, whose folders decide what is excluded.
    ScrubStep::Memories,
    ScrubStep::Traces,
    ScrubStep::Conversations,
    ScrubStep::Details,
    ScrubStep::Bodies,
    ScrubStep::Lines,
    ScrubStep::Summaries,
];

#[derive(Clone, Copy)]
enum ScrubStep {
    Conversations,
    Details,
    Bodies,
    Lines,
    Memories,
    Traces,
    Summaries,
}

impl ScrubStep {
    fn table(self) -> &'static str {
        match self {
            ScrubStep::Conversations => "conversations",
            ScrubStep::Details => "details",
            ScrubStep::Bodies => "bodies",
            ScrubStep::Lines => "turns",
            ScrubStep::Memories => "memories",
            ScrubStep::Traces => "memory_trace",
            ScrubStep::Summaries => "summaries",
        }
    }
}

const CURSOR: &str = "select value from facts where name = 'scrub'";
const SAVE_CURSOR: &str = "insert or replace into facts (name, value) values ('scrub', ?1)";
const DROP_CURSOR: &str = "delete from facts where name = 'scrub'";

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
const CALL: &str = "
    select turn, mark, at from details where id = ?1 or ?3 is not null and conversation = ?2 and call = ?3";
const DROP_CALL: &str = "
    delete from details where id = ?1 or ?3 is not null and conversation = ?2 and call = ?3";
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
    ) -> Result<ScrubCounts, StoreError> {
        let unpackable = |source| StoreError::Unpack { source };
        let packer = Packer::new().map_err(unpackable)?;
        let mut scrubber = Scrubber { archive: self, cleaner, packer, done: ScrubCounts::default() };
        let sizes = STEPS.map(|step| self.highest(step.table()));
        let sizes = sizes.into_iter().collect::<Result<Vec<_>, _>>()?;
        let all = sizes.iter().sum();
        let mut cursor = match erasing {
            EraseMode::ForGood => self.saved_cursor(cleaner.rules)?,
            EraseMode::Rehearsal => ScrubCursor { step: 0, after: 0 },
        };
        while let Some(step) = STEPS.get(cursor.step) {
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

    fn highest(&self, table: &str) -> Result<u64, StoreError> {
        let query = format!("select ifnull(max(id), 0) from {table}");
        Ok(self.db.query_row(&query, [], |row| row.get::<_, i64>(0))?.cast_unsigned())
    }

    /// The cursor saved by a run under the same rules.
    fn saved_cursor(&self, rules: IdHash) -> Result<ScrubCursor, StoreError> {
        let saved: Option<String> = self.db.query_row(CURSOR, [], |row| row.get(0)).optional()?;
        let parsed = saved.and_then(|saved| {
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

impl Scrubber<'_> {
    /// Runs one transaction and returns the next cursor.
    fn batch(
        &mut self,
        step: ScrubStep,
        cursor: ScrubCursor,
        erasing: EraseMode,
    ) -> Result<ScrubCursor, StoreError> {
        let transaction = Transaction::new_unchecked(&self.archive.db, TransactionBehavior::Immediate)?;
        let next = match self.run_step(step, cursor.after)? {
            Some(last) => ScrubCursor { after: last, ..cursor },
            None => ScrubCursor { step: cursor.step + 1, after: 0 },
        };
        if erasing == EraseMode::Rehearsal {
            transaction.rollback()?;
            return Ok(next);
        }
        let saved = format!("{} {} {}", self.cleaner.rules.0, next.step, next.after);
        self.change(SAVE_CURSOR, [saved])?;
        transaction.commit()?;
        Ok(next)
    }

    /// Processes the rows behind an id; returns the last id, `None` if there were no rows.
    fn run_step(&mut self, step: ScrubStep, after: i64) -> Result<Option<i64>, StoreError> {
        match step {
            ScrubStep::Conversations => self.conversations(after),
            ScrubStep::Details => self.details(after),
            ScrubStep::Bodies => self.bodies(after),
            ScrubStep::Lines => self.lines(after),
            ScrubStep::Memories => self.memories(after),
            ScrubStep::Traces => self.traces(after),
            ScrubStep::Summaries => self.summaries(after),
        }
    }

    fn conversations(&mut self, after: i64) -> Result<Option<i64>, StoreError> {
        let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?));
        let rows = self.rows(CONVERSATIONS, after, row)?;
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

    fn details(&mut self, after: i64) -> Result<Option<i64>, StoreError> {
        let rows = self.rows(DETAILS, after, detail)?;
        for row in &rows {
            if row.is_input && (self.cleaner.is_excluded_call)(&row.agent, &row.tool, &row.text) {
                let call = (row.id, row.conversation, row.call);
                self.archive.add_piece_tombstones(row.conversation, RowKind::Detail, CALL, call, EXCLUDED)?;
                self.done.details += self.change(DROP_CALL, (row.id, row.conversation, row.call))?;
                self.done.others += self.change(DROP_LINE, (row.conversation, row.turn))?;
                self.drop_derived_memories(row.conversation, row.turn)?;
                self.change(UNREAD, [row.conversation])?;
            } else if let Some(clean) = (self.cleaner.clean)(&row.text) {
                let (is_packed, bytes) = match self.packer.content(&clean) {
                    DetailBytes::Plain(bytes) => (false, bytes),
                    DetailBytes::Packed(bytes) => (true, bytes),
                };
                let size = i64::try_from(clean.len()).unwrap_or(i64::MAX);
                self.done.details += self.change(CHANGE_DETAIL, (row.id, is_packed, bytes, size))?;
            }
        }
        Ok(rows.last().map(|row| row.id))
    }

    fn bodies(&mut self, after: i64) -> Result<Option<i64>, StoreError> {
        let (last, changed) = self.texts(BODIES, CHANGE_BODY, after)?;
        self.done.bodies += changed;
        Ok(last)
    }

    fn lines(&mut self, after: i64) -> Result<Option<i64>, StoreError> {
        let (last, changed) = self.texts(LINES, CHANGE_LINE, after)?;
        self.done.others += changed;
        Ok(last)
    }

    fn texts(&mut self, find: &str, change: &str, after: i64) -> Result<(Option<i64>, usize), StoreError> {
        let text = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        let rows = self.rows(find, after, text)?;
        let mut changed = 0;
        for (id, text) in &rows {
            if let Some(clean) = (self.cleaner.clean)(text) {
                changed += self.change(change, (id, clean))?;
            }
        }
        Ok((rows.last().map(|(id, _)| *id), changed))
    }

    /// Few and short: in one transaction at the end. A reader's state is text too.
    fn scrub_names(&mut self, erasing: EraseMode) -> Result<(), StoreError> {
        let transaction = Transaction::new_unchecked(&self.archive.db, TransactionBehavior::Immediate)?;
        let db = &self.archive.db;
        let text = |row: &Row<'_>| row.get::<_, String>(0);
        let paths = db.prepare(PATHS)?.query_map([], text)?.collect::<Result<Vec<_>, _>>()?;
        for path in paths {
            if (self.cleaner.is_excluded_path)(&path) || (self.cleaner.clean)(&path).is_some() {
                self.unlearn_path(&path)?;
                self.done.others += self.change(DROP_PATH, [path])?;
            }
        }
        let subjects = db.prepare(SUBJECTS)?.query_map([], text)?.collect::<Result<Vec<_>, _>>()?;
        for subject in subjects {
            if let Some(clean) = (self.cleaner.clean)(&subject) {
                self.done.others += self.change(CHANGE_SUBJECT, [&subject, &clean])?;
            }
        }
        let pair = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let states = db.prepare(STATES)?.query_map([], pair)?.collect::<Result<Vec<_>, _>>()?;
        for (path, state) in states {
            if (self.cleaner.clean)(&state).is_some() {
                self.change(DROP_SOURCE, [path])?;
            }
        }
        self.change(DROP_UNUSED_PROJECTS, [])?;
        self.change(DROP_CURSOR, [])?;
        match erasing {
            EraseMode::ForGood => transaction.commit()?,
            EraseMode::Rehearsal => transaction.rollback()?,
        }
        Ok(())
    }

    fn rows<T>(
        &self,
        query: &str,
        after: i64,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.archive.db.all(query, (after, BATCH), read)
    }

    fn change(&self, statement: &str, params: impl rusqlite::Params) -> Result<usize, StoreError> {
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

fn detail(row: &Row<'_>) -> rusqlite::Result<DetailText> {
    Ok(DetailText {
        id: row.get(0)?,
        conversation: row.get(1)?,
        turn: row.get(8)?,
        is_input: row.get::<_, String>(2)? == "input",
        call: row.get(3)?,
        agent: row.get(4)?,
        tool: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
        text: super::unpacked(row.get(6)?, row.get(7)?),
    })
}
