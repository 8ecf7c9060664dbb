//! Applying the rules of today to what was captured before they were made.
//!
//! A batch at a time, each written whole with the place where the next one begins: it may be stopped at any point and goes
//! on there. Only what changes is written.

use super::erase::LONE_PROJECTS;
use super::share::{Burial, Fate};
use super::{Archive, Erasing, Packer};
use crate::StoreError;
use crate::archive::pack::Content;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior};
use towline_core::id::Mark;
use towline_core::share::RowKind;
use towline_core::time::Timestamp;

/// The rules: what is left of a text, and what leaves no trace.
pub struct Cleaner<'c> {
    /// A text without its secrets; `None` if it has none.
    pub clean: &'c dyn Fn(&str) -> Option<String>,
    pub is_excluded_folder: &'c dyn Fn(&str) -> bool,
    /// Whether what a tool was given and gave stays private: by agent, tool and input.
    pub is_excluded_call: &'c dyn Fn(&str, &str, &str) -> bool,
    pub is_excluded_path: &'c dyn Fn(&str) -> bool,
    /// Other rules have another mark: what was done by them does not count.
    pub rules: Mark,
}

/// What was, or would be, changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    pub conversations: usize,
    pub bodies: usize,
    pub details: usize,
    /// Memories, what their traces tell, and summaries.
    pub memories: usize,
    /// Lines, paths, subjects.
    pub others: usize,
}

/// Rows that are looked at in one transaction.
const BATCH: u32 = 500;

/// Where the work stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    part: usize,
    after: i64,
}

/// The parts, in the order in which they are gone through.
const PARTS: [Part; 7] = [
    // Before the conversations, by whose folders it is known what is excluded.
    Part::Memories,
    Part::Traces,
    Part::Conversations,
    Part::Details,
    Part::Bodies,
    Part::Lines,
    Part::Summaries,
];

#[derive(Clone, Copy)]
enum Part {
    Conversations,
    Details,
    Bodies,
    Lines,
    Memories,
    Traces,
    Summaries,
}

impl Part {
    fn table(self) -> &'static str {
        match self {
            Part::Conversations => "conversations",
            Part::Details => "details",
            Part::Bodies => "bodies",
            Part::Lines => "turns",
            Part::Memories => "memories",
            Part::Traces => "memory_trace",
            Part::Summaries => "summaries",
        }
    }
}

const PLACE: &str = "select value from facts where name = 'scrub'";
const SAVE_PLACE: &str = "insert or replace into facts (name, value) values ('scrub', ?1)";
const FORGET_PLACE: &str = "delete from facts where name = 'scrub'";

const CONVERSATIONS: &str = "
    select id, folder from conversations where id > ?1 order by id limit ?2";
const DETAILS: &str = "
    select d.id, d.conversation, d.kind, d.call, c.agent, d.tool, d.packed, d.content, d.turn
    from details d join conversations c on c.id = d.conversation where d.id > ?1 order by d.id limit ?2";
const BODIES: &str = "select id, text from bodies where id > ?1 order by id limit ?2";
const LINES: &str = "select id, line from turns where id > ?1 order by id limit ?2";

/// What is excluded now was never to travel.
const EXCLUDED: Burial<'_> =
    Burial { at: Timestamp(0), by: "", of_own: Fate::Forgotten, of_others: Fate::Away };
const CALL: &str = "
    select turn, mark, at from details where id = ?1 or ?3 is not null and conversation = ?2 and call = ?3";
const DROP_CALL: &str = "
    delete from details where id = ?1 or ?3 is not null and conversation = ?2 and call = ?3";
const CHANGE_DETAIL: &str =
    "update details set revision = revision + 1, packed = ?2, content = ?3, size = ?4 where id = ?1";
const CHANGE_BODY: &str = "update bodies set revision = revision + 1, text = ?2 where id = ?1";
const CHANGE_LINE: &str = "update turns set line = ?2, revision = revision + 1 where id = ?1";
/// A line may tell of the call; read again, the turn gets one of what is left.
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
    /// Goes through everything, from where it was left. `progress` is told of rows gone through, and of all.
    pub fn scrub(
        &self,
        cleaner: &Cleaner<'_>,
        erasing: Erasing,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Scrubbed, StoreError> {
        let unpackable = |source| StoreError::Unpack { source };
        let packer = Packer::new().map_err(unpackable)?;
        let mut work = Work { archive: self, cleaner, packer, done: Scrubbed::default() };
        let sizes = PARTS.map(|part| self.highest(part.table()));
        let sizes = sizes.into_iter().collect::<Result<Vec<_>, _>>()?;
        let all = sizes.iter().sum();
        let mut place = match erasing {
            Erasing::ForGood => self.place(cleaner.rules)?,
            Erasing::Rehearsal => Place { part: 0, after: 0 },
        };
        while let Some(part) = PARTS.get(place.part) {
            let before: u64 = sizes[..place.part].iter().sum();
            progress(before + place.after.cast_unsigned(), all);
            place = work.batch(*part, place, erasing)?;
        }
        work.names(erasing)?;
        if erasing == Erasing::ForGood && !self.shared_projects()?.is_empty() {
            // Which rows changed is not noted: the hub is told of all that it does not have so.
            self.begin_scan()?;
        }
        Ok(work.done)
    }

    fn highest(&self, table: &str) -> Result<u64, StoreError> {
        let query = format!("select ifnull(max(id), 0) from {table}");
        Ok(self.db.query_row(&query, [], |row| row.get::<_, i64>(0))?.cast_unsigned())
    }

    /// Where work by the same rules was left.
    fn place(&self, rules: Mark) -> Result<Place, StoreError> {
        let saved: Option<String> = self.db.query_row(PLACE, [], |row| row.get(0)).optional()?;
        let parsed = saved.and_then(|saved| {
            let numbers: Vec<i64> = saved.split(' ').filter_map(|word| word.parse().ok()).collect();
            let [mark, part, after] = numbers.as_slice() else { return None };
            (*mark == rules.0).then_some(Place { part: usize::try_from(*part).ok()?, after: *after })
        });
        Ok(parsed.unwrap_or(Place { part: 0, after: 0 }))
    }
}

struct Work<'a> {
    archive: &'a Archive,
    cleaner: &'a Cleaner<'a>,
    packer: Packer,
    done: Scrubbed,
}

impl Work<'_> {
    /// One transaction; where the next one begins.
    fn batch(&mut self, part: Part, place: Place, erasing: Erasing) -> Result<Place, StoreError> {
        let transaction = Transaction::new_unchecked(&self.archive.db, TransactionBehavior::Immediate)?;
        let next = match self.step(part, place.after)? {
            Some(last) => Place { after: last, ..place },
            None => Place { part: place.part + 1, after: 0 },
        };
        if erasing == Erasing::Rehearsal {
            transaction.rollback()?;
            return Ok(next);
        }
        let saved = format!("{} {} {}", self.cleaner.rules.0, next.part, next.after);
        self.change(SAVE_PLACE, [saved])?;
        transaction.commit()?;
        Ok(next)
    }

    /// Goes through the rows behind an id; returns the last one, `None` if there was none.
    fn step(&mut self, part: Part, after: i64) -> Result<Option<i64>, StoreError> {
        match part {
            Part::Conversations => self.conversations(after),
            Part::Details => self.details(after),
            Part::Bodies => self.bodies(after),
            Part::Lines => self.lines(after),
            Part::Memories => self.memories(after),
            Part::Traces => self.traces(after),
            Part::Summaries => self.summaries(after),
        }
    }

    fn conversations(&mut self, after: i64) -> Result<Option<i64>, StoreError> {
        let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?));
        let rows = self.rows(CONVERSATIONS, after, row)?;
        for (id, folder) in &rows {
            if folder.as_deref().is_some_and(self.cleaner.is_excluded_folder) {
                self.change(UNREAD, [id])?;
                self.archive.bury_conversation(*id, EXCLUDED)?;
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
                self.archive.bury_pieces(row.conversation, RowKind::Detail, (CALL, call), EXCLUDED)?;
                self.done.details += self.change(DROP_CALL, (row.id, row.conversation, row.call))?;
                self.done.others += self.change(DROP_LINE, (row.conversation, row.turn))?;
                self.unlearn(row.conversation, row.turn)?;
                self.change(UNREAD, [row.conversation])?;
            } else if let Some(clean) = (self.cleaner.clean)(&row.text) {
                let (is_packed, bytes) = match self.packer.content(&clean) {
                    Content::Plain(bytes) => (false, bytes),
                    Content::Packed(bytes) => (true, bytes),
                };
                let size = i64::try_from(clean.len()).unwrap_or(i64::MAX);
                self.done.details += self.change(CHANGE_DETAIL, (row.id, is_packed, bytes, size))?;
            }
        }
        Ok(rows.last().map(|row| row.id))
    }

    fn bodies(&mut self, after: i64) -> Result<Option<i64>, StoreError> {
        let (last, changed) = self.texts((BODIES, CHANGE_BODY), after)?;
        self.done.bodies += changed;
        Ok(last)
    }

    fn lines(&mut self, after: i64) -> Result<Option<i64>, StoreError> {
        let (last, changed) = self.texts((LINES, CHANGE_LINE), after)?;
        self.done.others += changed;
        Ok(last)
    }

    fn texts(
        &mut self,
        (find, change): (&str, &str),
        after: i64,
    ) -> Result<(Option<i64>, usize), StoreError> {
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

    /// Few and short: all at once, and at the end. What a reader remembers is a text too.
    fn names(&mut self, erasing: Erasing) -> Result<(), StoreError> {
        let transaction = Transaction::new_unchecked(&self.archive.db, TransactionBehavior::Immediate)?;
        let db = &self.archive.db;
        let one = |row: &Row<'_>| row.get::<_, String>(0);
        let paths = db.prepare(PATHS)?.query_map([], one)?.collect::<Result<Vec<_>, _>>()?;
        for path in paths {
            if (self.cleaner.is_excluded_path)(&path) || (self.cleaner.clean)(&path).is_some() {
                self.unlearn_path(&path)?;
                self.done.others += self.change(DROP_PATH, [path])?;
            }
        }
        let subjects = db.prepare(SUBJECTS)?.query_map([], one)?.collect::<Result<Vec<_>, _>>()?;
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
        self.change(LONE_PROJECTS, [])?;
        self.change(FORGET_PLACE, [])?;
        match erasing {
            Erasing::ForGood => transaction.commit()?,
            Erasing::Rehearsal => transaction.rollback()?,
        }
        Ok(())
    }

    fn rows<T>(
        &self,
        query: &str,
        after: i64,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.archive.db.prepare_cached(query)?;
        Ok(statement.query_map((after, BATCH), read)?.collect::<Result<_, _>>()?)
    }

    fn change(&self, statement: &str, params: impl rusqlite::Params) -> Result<usize, StoreError> {
        Ok(self.archive.db.prepare_cached(statement)?.execute(params)?)
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
