//! Sessions: state, seat, and the previous session in that seat.
//!
//! An unknown name of a newer version in a column is an error.

use crate::columns::{Columns, from_row};
use crate::query::Query;
use crate::{Result, Store};
use rusqlite::params_from_iter;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use towline_core::bookmark::BookmarkCounters;
use towline_core::event::EndedBy;
use towline_core::id::{SessionKey, SubagentId};
use towline_core::inherit::{HOUR_MS, InheritSettings};
use towline_core::meter::{ContextUsage, Exactness, NotifiedThresholds, UsageMeter, UsageSource};
use towline_core::project::ProjectIdentity;
use towline_core::session::{OpenDialog, Session, SessionState};
use towline_core::text::SafeText;
use towline_core::time::Timestamp;

/// A session with its row ids.
#[derive(Clone)]
pub(crate) struct StoredSession {
    pub id: i64,
    pub project: Option<i64>,
    pub session: Session,
}

/// All columns in the order of the table, to which migrations only append: a hook spends most of its time parsing SQL, and
/// naming them and joining their project took 75 k more instructions, of two million.
const FROM: &str = "select * from sessions";

const PROJECT: &str = "select root, remote, name from projects where id = ?1";

/// Leaves out what `core::inherit` never chooses: sessions of another agent, those that work or wait for the user, and those
/// whose work another one continues. Loading one costs 60 times as much as leaving it out here.
const CLEARABLE_BETWEEN: &str = "
    select s.agent || ':' || s.session from sessions s
    where s.project = ?1 and s.active_hour between ?2 / 3600000 and ?3 / 3600000
     and s.last_event_at between ?2 and ?3 and s.agent = ?4
     and s.state not in ('working', 'blocked')
     and not exists (select 1 from inheritances i where i.from_session = s.id and i.way in ('clear', 'fallback')
                     and i.decided_at >= ifnull(s.prompted_at, 0))
    order by s.last_event_at";

/// No `like` pattern: an id may contain wildcards.
const NAMED: &str = "
    select agent || ':' || session from sessions
    where substr(session, 1, length(?1)) = ?1 or substr(session, -length(?1)) = ?1 or agent || ':' || session = ?1
    order by id limit 20";

/// The condition of the partial index, so that ended sessions are not scanned.
const LIVE: &str = "where ended_at is null and seat is not null order by last_event_at";

/// Scans the whole history: only for callers that list it.
const ENDED: &str =
    "where state = 'ended' and presence <> 'headless' order by last_event_at desc, id desc limit ?1";

impl Store {
    /// A session with its row ids and its open turn.
    pub(crate) fn load_session(&self, key: &SessionKey) -> Result<Option<StoredSession>> {
        let query = format!("{FROM} where agent = ?1 and session = ?2");
        let found = self.db.first::<StoredSession>(&query, (key.agent.as_str(), key.id.as_str()))?;
        found.map(|stored| self.with_open_turn(self.with_project(stored)?)).transpose()
    }

    pub fn session(&self, key: &SessionKey) -> Result<Option<Session>> {
        Ok(self.load_session(key)?.map(|stored| stored.session))
    }

    /// All sessions, oldest first, without their open turns.
    pub fn sessions(&self) -> Result<Vec<Session>> {
        let rows = self.db.all(&format!("{FROM} order by id"), [])?;
        rows.into_iter().map(|stored| Ok(self.with_project(stored)?.session)).collect()
    }

    /// Sessions that have a seat and have not ended, with their open turns, ordered by their last event, oldest first.
    pub fn live_sessions(&self) -> Result<Vec<Session>> {
        let rows = self.db.all(&format!("{FROM} {LIVE}"), [])?;
        let whole = |stored| Ok(self.with_open_turn(self.with_project(stored)?)?.session);
        rows.into_iter().map(whole).collect()
    }

    /// Ended sessions that were not headless, latest first, without their open turns.
    pub fn ended_sessions(&self, most: u32) -> Result<Vec<Session>> {
        let rows = self.db.all(&format!("{FROM} {ENDED}"), [most])?;
        rows.into_iter().map(|stored| Ok(self.with_project(stored)?.session)).collect()
    }

    /// Adds what the project's own row holds; the session's row has only the branch.
    fn with_project(&self, mut stored: StoredSession) -> Result<StoredSession> {
        let branch = stored.session.project.take().and_then(|project| project.branch);
        if let Some(id) = stored.project
            && let Some((root, remote, name)) = self.db.first::<(String, _, _)>(PROJECT, [id])?
        {
            stored.session.project = Some(ProjectIdentity { root, remote, name, branch });
        }
        Ok(stored)
    }

    fn with_open_turn(&self, mut stored: StoredSession) -> Result<StoredSession> {
        stored.session.open_turn = self.open_turn(stored.id, stored.session.turns)?;
        Ok(stored)
    }

    /// The agent's sessions of a project that may have been cleared, with their last event in this time.
    pub(crate) fn clearable_sessions(
        &self,
        agent: &str,
        project: Option<i64>,
        during: RangeInclusive<Timestamp>,
    ) -> Result<Vec<SessionKey>> {
        self.db.all(CLEARABLE_BETWEEN, (project, during.start().0, during.end().0, agent))
    }

    /// The sessions whose id begins or ends with `part`, or whose key it is; at most 20.
    pub fn sessions_named(&self, part: &str) -> Result<Vec<SessionKey>> {
        self.db.all(NAMED, [part])
    }

    /// Inserts a session and its open turn; returns its row id.
    pub(crate) fn add_session(&self, session: &Session, project: Option<i64>) -> Result<i64> {
        // Each column costs: most of a new session's have no value yet.
        let has_value =
            |cell: &(_, ToSqlOutput<'_>)| !matches!(cell.1, ToSqlOutput::Borrowed(ValueRef::Null));
        let cells: Vec<_> = cells(session, project).into_iter().filter(has_value).collect();
        let names: Vec<&str> = cells.iter().map(|(name, _)| *name).collect();
        let statement = format!(
            "insert into sessions (uid, machine, revision, agent, session, started_at, {}) values (?, ?, 1, ?, ?, ?{})",
            names.join(", "),
            ", ?".repeat(cells.len())
        );
        let fixed = [
            blob(&session.uid.0),
            blob(&self.machine.0),
            text(Some(session.key.agent.as_str())),
            text(Some(session.key.id.as_str())),
            number(Some(session.started_at.0)),
        ];
        let values = fixed.into_iter().chain(cells.into_iter().map(|(_, value)| value));
        self.db.change(&statement, params_from_iter(values))?;
        let id = self.db.last_insert_rowid();
        if let Some(turn) = &session.open_turn {
            self.add_turn(id, turn)?;
        }
        Ok(id)
    }

    /// Saves the changes of a session and of its open turn. The only statement that is built from the changed columns:
    /// naming all columns took a quarter of a hook.
    pub(crate) fn change_session(&self, was: &StoredSession, is: &StoredSession) -> Result<()> {
        let (before, after) = (cells(&was.session, was.project), cells(&is.session, is.project));
        // Columns that are read as one value are written together: an erase may have cleared only some of them.
        let is_written_anyway = |name: &str| match name {
            "asked_subagent" | "asked_at" => was.session.asked != is.session.asked,
            "branch" => was.project != is.project,
            _ => false,
        };
        let pairs = after.into_iter().zip(before);
        let changed = pairs.filter(|(is, was)| is != was || is_written_anyway(is.0)).map(|(is, _)| is);
        let (names, mut values): (Vec<&str>, Vec<ToSqlOutput<'_>>) = changed.unzip();
        if !names.is_empty() {
            let set: String = names.iter().map(|name| format!(", {name} = ?")).collect();
            let statement = format!("update sessions set revision = revision + 1{set} where id = ?");
            values.push(number(Some(is.id)));
            self.db.change(&statement, params_from_iter(values))?;
        }
        match (&was.session.open_turn, &is.session.open_turn) {
            (Some(before), Some(turn)) if before == turn => Ok(()),
            (Some(before), Some(turn)) if before.ordinal == turn.ordinal => self.save_turn(is.id, turn),
            (_, Some(turn)) => self.add_turn(is.id, turn),
            (_, None) => Ok(()),
        }
    }
}

/// A session's columns and values, except those that never change.
fn cells(session: &Session, project: Option<i64>) -> [(&'static str, ToSqlOutput<'_>); 44] {
    let subagents: Vec<&str> = session.subagents.iter().map(SubagentId::as_str).collect();
    let (asked, fill) = (session.asked.as_ref(), session.meter.fill());
    let time = |at: Option<Timestamp>| number(at.map(|at| at.0));
    [
        ("state", text(Some(session.state.name()))),
        ("reason", text(session.state.reason())),
        ("since", number(Some(session.since.0))),
        ("seen", number(Some(session.seen.into()))),
        ("started_by", text(Some(session.started_by.name()))),
        ("last_event_at", number(Some(session.last_event_at.0))),
        ("ended_at", time(session.ended.map(|(at, _)| at))),
        ("ended_by", text(session.ended.map(|(_, by)| by.name()))),
        ("presence", text(Some(session.presence.name()))),
        ("folder", text(session.folder.as_deref())),
        ("transcript", text(session.transcript.as_deref())),
        ("model", text(session.model.as_deref())),
        ("branch", text(session.project.as_ref().and_then(|traces| traces.branch.as_deref()))),
        ("project", number(project)),
        ("seat", text(session.seat.as_deref())),
        ("previous", session.previous.as_ref().map_or(text(None), |key| key.to_string().into())),
        ("prompt", text(session.prompt.as_ref().map(SafeText::as_str))),
        ("prompted_at", time(session.prompted_at)),
        ("answer", text(session.answer.as_ref().map(SafeText::as_str))),
        ("inheriting", text(Some(session.inheriting.name()))),
        ("on_clear", text(Some(session.wishes.on_clear.name()))),
        ("fallback", text(Some(session.wishes.fallback.name()))),
        ("fresh_at", time(session.fresh_at)),
        ("asked_tool", text(asked.map(|asked| asked.tool.as_str()))),
        ("asked_subagent", text(asked.and_then(|asked| asked.subagent.as_ref()).map(SubagentId::as_str))),
        ("asked_at", time(asked.map(|asked| asked.at))),
        ("limited_until", time(session.limited_until)),
        ("tasks", number(Some(session.tasks.into()))),
        ("subagents", subagents.join(" ").into()),
        ("background", number(Some(session.background.into()))),
        ("context_tokens", number(session.context_tokens.map(u64::cast_signed))),
        ("context_window", number(fill.map(|fill| fill.window.cast_signed()))),
        ("context_exact", text(fill.map(|fill| fill.exact.name()))),
        ("context_source", text(fill.map(|fill| fill.source.name()))),
        ("context_at", time(session.meter.last.map(|(_, at)| at))),
        ("told_model", number(Some(session.meter.told.model.into()))),
        ("told_person", number(Some(session.meter.told.person.into()))),
        ("compacted_at", time(session.meter.compacted_at)),
        ("compacted_percent", number(session.meter.compacted_percent.map(i64::from))),
        ("compactions", number(Some(session.compactions.into()))),
        ("turns", number(Some(session.turns.into()))),
        ("since_bookmark", encode_counts(&session.since_bookmark).into()),
        ("recalled_at", time(session.memories_given_at)),
        ("active_hour", number(Some(session.last_event_at.0 / HOUR_MS))),
    ]
}

fn text(value: Option<&str>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(value.map_or(ValueRef::Null, ValueRef::from))
}

fn blob(value: &[u8]) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Blob(value))
}

fn number(value: Option<i64>) -> ToSqlOutput<'static> {
    ToSqlOutput::Borrowed(value.map_or(ValueRef::Null, ValueRef::Integer))
}

from_row!(StoredSession { id, session, project: project_row });
// In the order of the table's columns. The open turn has a row of its own, and so has the project.
from_row! { Session {
    uid, key: key, state: state, since, seen, started_at, started_by, last_event_at, ended: ended, presence,
    folder, transcript, model, project: branch, seat, previous, prompt, subagents: subagents, background,
    context_tokens, compactions, turns, asked: asked, limited_until, tasks, answer, prompted_at, inheriting,
    wishes, fresh_at, since_bookmark: bookmark_counters, meter, memories_given_at, open_turn = None
} }
from_row!(InheritSettings { on_clear, fallback });
from_row!(UsageMeter { last: fill, told, compacted_at, compacted_percent });
from_row!(NotifiedThresholds { model, person });

/// Behind the columns that only other machines need: `machine` and `revision`.
fn key(columns: &mut Columns<'_>) -> rusqlite::Result<SessionKey> {
    columns.skip(2);
    let (agent, id): (String, String) = columns.get()?;
    SessionKey::parse(&format!("{agent}:{id}")).map_err(|_| columns.unknown())
}

/// The branch, which `Store::with_project` completes. The row id of the project follows it.
fn branch(columns: &mut Columns<'_>) -> rusqlite::Result<Option<ProjectIdentity>> {
    let branch = columns.get()?;
    columns.skip(1);
    Ok(Some(ProjectIdentity { root: String::new(), remote: None, name: None, branch }))
}

fn project_row(columns: &mut Columns<'_>) -> rusqlite::Result<Option<i64>> {
    columns.named("project")
}

fn state(columns: &mut Columns<'_>) -> rusqlite::Result<SessionState> {
    let (state, reason): (String, Option<String>) = columns.get()?;
    SessionState::parse(&state, reason.as_deref()).ok_or_else(|| columns.unknown())
}

fn ended(columns: &mut Columns<'_>) -> rusqlite::Result<Option<(Timestamp, EndedBy)>> {
    let (at, by): (Option<Timestamp>, Option<EndedBy>) = columns.get()?;
    Ok(at.map(|at| (at, by.unwrap_or(EndedBy::Other))))
}

fn subagents(columns: &mut Columns<'_>) -> rusqlite::Result<BTreeSet<SubagentId>> {
    let ids: String = columns.get()?;
    Ok(ids.split(' ').filter_map(|id| SubagentId::parse(id).ok()).collect())
}

/// Empty for the default, which most loaded sessions have.
fn encode_counts(since: &BookmarkCounters) -> String {
    if *since == BookmarkCounters::default() {
        return String::new();
    }
    serde_json::to_string(since).unwrap_or_default()
}

/// Counts of a newer version that we cannot parse start over.
fn bookmark_counters(columns: &mut Columns<'_>) -> rusqlite::Result<BookmarkCounters> {
    Ok(serde_json::from_str(&columns.get::<String>()?).unwrap_or_default())
}

fn fill(columns: &mut Columns<'_>) -> rusqlite::Result<Option<(ContextUsage, Timestamp)>> {
    let window: Option<u64> = columns.get()?;
    let (exact, source, at): (Option<Exactness>, Option<UsageSource>, Option<Timestamp>) = columns.get()?;
    let tokens = if window.is_some() { columns.named::<Option<i64>>("context_tokens")? } else { None };
    let (Some(tokens), Some(window)) = (tokens.map(i64::cast_unsigned), window) else { return Ok(None) };
    let (Some(exact), Some(source), Some(at)) = (exact, source, at) else { return Err(columns.unknown()) };
    Ok(Some((ContextUsage { tokens, window, exact, source }, at)))
}

fn asked(columns: &mut Columns<'_>) -> rusqlite::Result<Option<OpenDialog>> {
    let (tool, subagent, at): (Option<SafeText>, _, Option<Timestamp>) = columns.get()?;
    Ok(tool.map(|tool| OpenDialog { tool, subagent, at: at.unwrap_or_default() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::stored_text;
    use crate::home::DataFolder;
    use crate::lock::ProjectionLock;
    use std::time::Duration;
    use towline_core::event::{BlockReason, PromptOrigin, SessionPresence, StartedBy};
    use towline_core::id::Uid;
    use towline_core::inherit::{Fallback, InheritState, OnClear};
    use towline_core::session::SessionTurn;

    fn fresh() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let lock = ProjectionLock::try_take(&home).unwrap().unwrap();
        let store = Store::open(&home, &lock, Duration::ZERO, Uid([1; 16])).unwrap();
        (folder, store)
    }

    fn key(text: &str) -> SessionKey {
        SessionKey::parse(text).unwrap()
    }

    fn project(number: u8) -> ProjectIdentity {
        let named = |what: &str| format!("{what}{number}");
        let (remote, name) = (Some(named("host/")), Some(named("name")));
        ProjectIdentity { root: named("/root"), remote, name, branch: Some(named("branch")) }
    }

    fn turn(ordinal: u32, tool_calls: u32) -> SessionTurn {
        let started_at = Timestamp(90 + i64::from(ordinal));
        SessionTurn {
            uid: Uid([ordinal.try_into().unwrap(); 16]),
            ordinal,
            id: None,
            origin: PromptOrigin::Human,
            prompt: stored_text("go on"),
            started_at,
            ended: None,
            tool_calls,
            tool_failures: 0,
            steered: 0,
        }
    }

    /// A session whose changeable columns differ for each number.
    fn session(number: u8) -> Session {
        let n = i64::from(number);
        let time = |k: i64| Some(Timestamp(1_000 * n + k));
        let is_odd = number % 2 == 1;
        let fill = ContextUsage {
            tokens: 100 + n.cast_unsigned(),
            window: 200 + n.cast_unsigned(),
            exact: if is_odd { Exactness::Exact } else { Exactness::Estimated },
            source: if is_odd { UsageSource::Client } else { UsageSource::Hook },
        };
        Session {
            uid: Uid([7; 16]),
            key: key("a:1"),
            state: if is_odd {
                SessionState::Blocked(BlockReason::Permission)
            } else {
                SessionState::Limited
            },
            since: Timestamp(n),
            seen: is_odd,
            started_at: Timestamp(5),
            started_by: if is_odd { StartedBy::Clear } else { StartedBy::Resume },
            last_event_at: Timestamp(10 + n * HOUR_MS),
            ended: Some((Timestamp(20 + n), if is_odd { EndedBy::Clear } else { EndedBy::Exit })),
            presence: if is_odd { SessionPresence::Terminal } else { SessionPresence::Ide },
            folder: Some(format!("/folder/{n}")),
            transcript: Some(format!("/transcript/{n}")),
            model: Some(format!("model {n}")),
            project: Some(project(number)),
            seat: Some(format!("seat {n}")),
            previous: Some(key(&format!("a:before{n}"))),
            prompt: Some(stored_text(&format!("prompt {n}"))),
            prompted_at: time(1),
            answer: Some(stored_text(&format!("answer {n}"))),
            inheriting: if is_odd { InheritState::Due } else { InheritState::Settled },
            wishes: InheritSettings {
                on_clear: if is_odd { OnClear::Ask } else { OnClear::Never },
                fallback: if is_odd { Fallback::On } else { Fallback::Off },
            },
            fresh_at: time(2),
            asked: Some(OpenDialog {
                tool: stored_text(&format!("tool {n}")),
                subagent: SubagentId::parse(&format!("helper{n}")).ok(),
                at: Timestamp(30 + n),
            }),
            limited_until: time(3),
            memories_given_at: time(4),
            tasks: 40 + u32::from(number),
            subagents: [SubagentId::parse(&format!("sub{n}")).unwrap()].into(),
            background: 50 + u32::from(number),
            context_tokens: Some(fill.tokens),
            meter: UsageMeter {
                last: Some((fill, Timestamp(60 + n))),
                told: NotifiedThresholds { model: number, person: number + 1 },
                compacted_at: time(5),
                compacted_percent: Some(number + 2),
            },
            compactions: 70 + u32::from(number),
            turns: u32::from(number),
            since_bookmark: BookmarkCounters { bytes: n.cast_unsigned(), ..BookmarkCounters::default() },
            open_turn: Some(turn(u32::from(number), 0)),
        }
    }

    fn stored(store: &Store, number: u8) -> StoredSession {
        let project = store.project(&project(number), Uid([number; 16]), Timestamp(1)).unwrap().id;
        StoredSession { id: 1, project: Some(project), session: session(number) }
    }

    #[test]
    fn every_column_of_a_session_is_added_changed_and_read_back() {
        let (_folder, store) = fresh();
        let (was, is) = (stored(&store, 1), stored(&store, 20));
        assert_eq!(store.add_session(&was.session, was.project).unwrap(), 1);
        assert_eq!(store.session(&was.session.key).unwrap().as_ref(), Some(&was.session));
        let pairs = cells(&was.session, was.project).into_iter().zip(cells(&is.session, is.project));
        let same: Vec<_> = pairs.filter(|(was, is)| was == is).map(|((name, _), _)| name).collect();
        assert_eq!(same, Vec::<&str>::new(), "columns that this test would not miss");
        store.change_session(&was, &is).unwrap();
        assert_eq!(store.session(&is.session.key).unwrap().as_ref(), Some(&is.session));
    }

    #[test]
    fn columns_left_by_an_erase_are_overwritten_by_the_next_dialog_or_project() {
        let (_folder, store) = fresh();
        let was = stored(&store, 1);
        store.add_session(&was.session, was.project).unwrap();
        store.db.execute("update sessions set asked_tool = null, project = null", []).unwrap();
        let was = store.load_session(&was.session.key).unwrap().unwrap();
        assert_eq!((&was.session.asked, was.project), (&None, None));
        let mut is = stored(&store, 20);
        is.session.asked = Some(OpenDialog { tool: stored_text("Edit"), subagent: None, at: Timestamp(9) });
        is.session.project = Some(ProjectIdentity { branch: None, ..project(20) });
        store.change_session(&was, &is).unwrap();
        let found = store.session(&was.session.key).unwrap().unwrap();
        assert_eq!((found.asked, found.project), (is.session.asked, is.session.project));
    }

    /// An older version reads a newer schema: a column name that became ambiguous would break it.
    #[test]
    fn unqualified_column_names_are_unique_to_sessions() {
        let (_folder, store) = fresh();
        let columns = |table: &str| -> Vec<String> {
            let mut asked = store.db.prepare("select name from pragma_table_info(?1)").unwrap();
            asked.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let (sessions, projects) = (columns("sessions"), columns("projects"));
        let shared: Vec<&String> = sessions.iter().filter(|name| projects.contains(name)).collect();
        assert_eq!(shared, ["id", "uid", "machine", "revision"], "read both with their table's name");
    }

    #[test]
    fn unchanged_columns_are_not_written() {
        let (_folder, store) = fresh();
        let was = stored(&store, 1);
        store.add_session(&was.session, was.project).unwrap();
        store.db.execute("update sessions set model = 'of somebody else'", []).unwrap();
        let mut is = was.clone();
        is.session.state = SessionState::Working;
        is.session.open_turn = Some(turn(1, 9));
        store.change_session(&was, &is).unwrap();
        let found = store.session(&was.session.key).unwrap().unwrap();
        assert_eq!((found.state, found.model.as_deref()), (SessionState::Working, Some("of somebody else")));
        assert_eq!(found.open_turn, Some(turn(1, 9)));
        let revision = || store.db.query_row("select revision from sessions", [], |row| row.get::<_, i64>(0));
        store.change_session(&is, &is).unwrap();
        assert_eq!(revision().unwrap(), 2, "a session that is as it was is not touched");
    }
}
