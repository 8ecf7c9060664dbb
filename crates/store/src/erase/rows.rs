//! Erasing from the database that is projected from the journal.
//!
//! One transaction, which a rehearsal rolls back. Changes the same data as the erase of the journal.

use super::records::STRUCTURE;
use super::{EraseMode, EraseSelection};
use crate::columns::sums;
use crate::query::Query;
use crate::sql_text::add_holds;
use crate::{Result, Store};
use rusqlite::{Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use towline_core::forget::TimeRange;
use towline_core::id::{SessionKey, Uid};

/// How many rows were deleted or lost their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedSessionRows {
    pub sessions: usize,
    pub heard_turns: usize,
    pub events: usize,
    /// Faults, names of places, waits, bookmarks, batons of other machines.
    pub others: usize,
}

sums!(ErasedSessionRows { sessions, heard_turns, events, others });

const SPANS: &str = "select id, agent || ':' || session, started_at, last_event_at from sessions";

/// References to a session are removed before the session.
const DROP_SESSION: [&str; 15] = [
    "delete from hops where session = ?1",
    "update hops set successor = null where successor = ?1",
    "update hops set given_to = null, given_at = null where given_to = ?1",
    "delete from intents where session = ?1",
    "update intents set typed_into = null where typed_into = ?1",
    "update intents set led_to = null where led_to = ?1",
    "delete from bookmarks where session = ?1",
    "delete from inheritances where heir = ?1 or from_session = ?1",
    "delete from batons where session = ?1 or taken_by = ?1",
    "delete from waits where session = ?1",
    "delete from events where session = ?1",
    "delete from heard_turns where session = ?1",
    "update seats set current = null where current =
        (select agent || ':' || session from sessions where id = ?1)",
    "update sessions set previous = null where previous =
        (select agent || ':' || session from sessions where id = ?1)",
    "delete from sessions where id = ?1",
];

const COUNT_EVENTS: &str = "select count(*) from events where session = ?1";
const COUNT_TURNS: &str = "select count(*) from heard_turns where session = ?1";

const DROP_TURNS_IN: &str = "delete from heard_turns where session = ?1 and started_at between ?2 and ?3";
const DROP_OTHERS_IN: [&str; 5] = [
    "delete from waits where session = ?1 and ended_at between ?2 and ?3",
    "delete from intents where session = ?1 and made_at between ?2 and ?3",
    "delete from bookmarks where session = ?1 and at between ?2 and ?3",
    "delete from hops where session = ?1 and began_at between ?2 and ?3",
    "update hops set text = '', revision = revision + 1 where session = ?1 and written_at between ?2 and ?3",
];
const BLANK_SESSION_TEXTS_IN: &str = "
    update sessions set revision = revision + 1, asked_tool = null, asked_subagent = null, asked_at = null,
        prompt = case when prompted_at between ?2 and ?3 then null else prompt end,
        answer = case when last_event_at >= ?2 and ifnull(prompted_at, 0) <= ?3 then null else answer end
    where id = ?1";

/// Data about sessions of other machines, which have no row here.
const DROP_FAR: [&str; 2] = [
    "delete from inheritances where (?1 is null or far = ?1) and far is not null and decided_at between ?2 and ?3",
    "delete from batons where (?1 is null or far = ?1) and far is not null and passed_at between ?2 and ?3",
];

const DROP_EVENT: &str = "delete from events where uid = ?1";
const DROP_NOTE: [&str; 2] = ["delete from bookmarks where uid = ?1", "delete from batons where uid = ?1"];
const KNOWS_NOTE: &str = "
    select exists (select 1 from bookmarks where uid = ?1) or exists (select 1 from batons where uid = ?1)";

pub(super) const DROP_UNUSED_PROJECTS: &str = "
    delete from projects where id not in (select project from sessions where project is not null)
        and id not in (select project from batons where project is not null)";

/// Blanks columns that contain the text: turns, sessions, then the rest.
const BLANK_TURNS: &str = "
    update heard_turns set prompt = '', revision = revision + 1 where holds(prompt)";
const BLANK_SESSIONS: &str = "
    update sessions set revision = revision + 1,
        prompt = case when holds(prompt) then '' else prompt end,
        answer = case when holds(answer) then null else answer end,
        asked_subagent = case when holds(asked_tool) then null else asked_subagent end,
        asked_at = case when holds(asked_tool) then null else asked_at end,
        asked_tool = case when holds(asked_tool) then null else asked_tool end
    where holds(prompt) or holds(answer) or holds(asked_tool)";
const BLANK_OTHERS: [&str; 12] = [
    "update batons set called = '', revision = revision + 1 where holds(called)",
    "update inheritances set far_machine = '', revision = revision + 1 where holds(far_machine)",
    "update hops set text = '', revision = revision + 1 where holds(text)",
    "update intents set text = '', revision = revision + 1 where holds(text)",
    "update bookmarks set revision = revision + 1,
        label = case when holds(label) then '' else label end,
        branch = case when holds(branch) then '' else branch end,
        commit_id = case when holds(commit_id) then '' else commit_id end
     where holds(label) or holds(branch) or holds(commit_id)",
    "update sessions set revision = revision + 1,
        folder = case when holds(folder) then null else folder end,
        transcript = case when holds(transcript) then null else transcript end,
        model = case when holds(model) then null else model end,
        branch = case when holds(branch) then null else branch end
     where holds(folder) or holds(transcript) or holds(model) or holds(branch)",
    "update sessions set project = null, branch = null, revision = revision + 1 where project in
        (select id from projects where holds(root) or holds(remote) or holds(name))",
    "update batons set project = null, revision = revision + 1 where project in
        (select id from projects where holds(root) or holds(remote) or holds(name))",
    "delete from projects where holds(root) or holds(remote) or holds(name)",
    "update events set tool = null where holds(tool)",
    "update inheritances set reason = '', revision = revision + 1 where holds(reason)",
    "delete from faults where holds(detail)",
];
const BLANK_JOBS: &str = "update jobs set last_error = null where holds(last_error)";

impl Store {
    /// Whether a bookmark or baton with this id is stored here.
    pub fn has_note(&self, uid: Uid) -> Result<bool> {
        self.db.value(KNOWS_NOTE, [uid.0])
    }

    /// The sessions whose events all lie in the stretch.
    pub(super) fn whole_sessions(&self, traces: &EraseSelection) -> Result<BTreeSet<SessionKey>> {
        let (chosen, stretch) = match traces {
            EraseSelection::Text(_) | EraseSelection::Notes(_) => return Ok(BTreeSet::new()),
            EraseSelection::Sessions { sessions, stretch } => (Some(sessions), stretch),
            EraseSelection::Everyone { stretch } => (None, stretch),
        };
        let spans = self.spans()?.into_iter();
        let is_whole = |(_, key, span): &(i64, SessionKey, TimeRange)| {
            chosen.is_none_or(|chosen| chosen.contains(key)) && stretch.covers(*span)
        };
        Ok(spans.filter(is_whole).map(|(_, key, _)| key).collect())
    }

    fn spans(&self) -> Result<Vec<(i64, SessionKey, TimeRange)>> {
        self.db.all(SPANS, [])
    }

    pub(super) fn erase_rows(
        &self,
        traces: &EraseSelection,
        whole: &BTreeSet<SessionKey>,
        erasing: EraseMode,
    ) -> Result<ErasedSessionRows> {
        if let EraseSelection::Text(needle) = traces {
            add_holds(&self.db, needle.clone())?;
        }
        self.db.pragma_update(None, "secure_delete", true)?;
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let erased = match traces {
            EraseSelection::Text(_) => self.blank_text()?,
            EraseSelection::Sessions { sessions, stretch } => {
                self.drop_between(Some(sessions), *stretch, whole)?
            }
            EraseSelection::Everyone { stretch } => self.drop_between(None, *stretch, whole)?,
            EraseSelection::Notes(notes) => self.drop_notes(notes)?,
        };
        erasing.end(transaction)?;
        Ok(erased)
    }

    fn drop_notes(&self, notes: &BTreeSet<Uid>) -> Result<ErasedSessionRows> {
        let mut erased = ErasedSessionRows::default();
        for note in notes {
            erased.events += self.db.change(DROP_EVENT, [note.0])?;
            for statement in DROP_NOTE {
                erased.others += self.db.change(statement, [note.0])?;
            }
        }
        self.db.execute(DROP_UNUSED_PROJECTS, [])?;
        Ok(erased)
    }

    fn blank_text(&self) -> Result<ErasedSessionRows> {
        let mut erased = ErasedSessionRows {
            heard_turns: self.db.execute(BLANK_TURNS, [])?,
            others: self.db.execute(BLANK_SESSIONS, [])?,
            ..ErasedSessionRows::default()
        };
        for statement in BLANK_OTHERS {
            erased.others += self.db.execute(statement, [])?;
        }
        self.db.execute(BLANK_JOBS, [])?;
        Ok(erased)
    }

    fn drop_between(
        &self,
        chosen: Option<&BTreeSet<SessionKey>>,
        stretch: TimeRange,
        whole: &BTreeSet<SessionKey>,
    ) -> Result<ErasedSessionRows> {
        let mut erased = ErasedSessionRows::default();
        for (id, key, span) in self.spans()? {
            let overlaps = span.from <= stretch.until && stretch.from <= span.until;
            if !overlaps || chosen.is_some_and(|chosen| !chosen.contains(&key)) {
                continue;
            }
            if whole.contains(&key) {
                self.drop_session(id, &mut erased)?;
            } else {
                self.drop_part(id, stretch, &mut erased)?;
            }
        }
        erased.others += self.drop_far(chosen, stretch)?;
        self.db.execute(DROP_UNUSED_PROJECTS, [])?;
        Ok(erased)
    }

    fn drop_far(&self, chosen: Option<&BTreeSet<SessionKey>>, stretch: TimeRange) -> Result<usize> {
        let keys: Vec<Option<String>> = match chosen {
            Some(chosen) => chosen.iter().map(|key| Some(key.to_string())).collect(),
            None => vec![None],
        };
        let mut dropped = 0;
        for key in &keys {
            for statement in DROP_FAR {
                dropped += self.db.change(statement, (key, stretch.from.0, stretch.until.0))?;
            }
        }
        Ok(dropped)
    }

    pub(super) fn drop_session(&self, id: i64, erased: &mut ErasedSessionRows) -> Result<()> {
        erased.events += self.db.value::<u32>(COUNT_EVENTS, [id])? as usize;
        erased.heard_turns += self.db.value::<u32>(COUNT_TURNS, [id])? as usize;
        for statement in DROP_SESSION {
            self.db.execute(statement, [id])?;
        }
        erased.sessions += 1;
        Ok(())
    }

    fn drop_part(&self, id: i64, stretch: TimeRange, erased: &mut ErasedSessionRows) -> Result<()> {
        let span = (id, stretch.from.0, stretch.until.0);
        let events = format!(
            "delete from events where session = ?1 and at between ?2 and ?3 and kind not in ('{}')",
            STRUCTURE.join("', '")
        );
        erased.events += self.db.change(&events, span)?;
        erased.heard_turns += self.db.change(DROP_TURNS_IN, span)?;
        for statement in DROP_OTHERS_IN {
            erased.others += self.db.change(statement, span)?;
        }
        self.db.run(BLANK_SESSION_TEXTS_IN, span)
    }
}
