//! Sessions: what each is doing, where it sits, and which one sat there before.
//!
//! The words in the columns are translated here and nowhere else; a word of a newer version is an error, not a guess.

use super::heard_turns::kept;
use crate::{Store, StoreError};
use rusqlite::{OptionalExtension, Row};
use towline_core::bookmark::SinceBookmark;
use towline_core::event::{EndedBy, Presence, StartedBy};
use towline_core::id::{SessionKey, SubagentId, Uid};
use towline_core::inherit::{Fallback, Inheriting, OnClear, Wishes};
use towline_core::meter::{Exactness, Fill, Meter, Source, Told};
use towline_core::project::ProjectTraces;
use towline_core::session::{Asked, Session, State};
use towline_core::text::Kept;
use towline_core::time::Timestamp;

const COLUMNS: &str = "s.id, s.uid, s.agent || ':' || s.session, s.state, s.reason, s.since, s.started_at, s.started_by,
    s.last_event_at, s.ended_at, s.ended_by, s.presence, s.folder, s.transcript, s.model, s.branch, s.seat, s.previous,
    s.prompt, s.subagents, s.background, s.context_tokens, s.compactions, s.turns, p.root, p.remote, p.name, s.project, s.seen,
    s.asked_tool, s.asked_subagent, s.limited_until, s.tasks, s.asked_at, s.prompted_at, s.answer, s.inheriting,
    s.on_clear, s.fallback, s.fresh_at, s.context_window, s.context_exact, s.context_source, s.context_at, s.told_model,
    s.told_person, s.compacted_at, s.compacted_percent, s.since_bookmark,
    s.recalled_at";

/// A session as it lies in its row.
pub(crate) struct StoredSession {
    pub id: i64,
    pub project: Option<i64>,
    pub session: Session,
}

const FROM: &str = "from sessions s left join projects p on p.id = s.project";

const SAVE: &str = "
    insert into sessions (uid, machine, revision, agent, session, state, reason, since, started_at, started_by,
        last_event_at, ended_at, ended_by, presence, folder, transcript, model, branch, project, seat, previous, prompt,
        subagents, background, context_tokens, compactions, turns, seen,
        asked_tool, asked_subagent, limited_until, tasks, asked_at, prompted_at, answer, inheriting, on_clear, fallback,
        fresh_at, context_window, context_exact, context_source, context_at, told_model, told_person,
        compacted_at, compacted_percent, since_bookmark, recalled_at)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
        ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38,
        ?39, ?40, ?41, ?42, ?43, ?44, ?45, ?46, ?47, ?48)
    on conflict (agent, session) do update set revision = revision + 1, state = excluded.state, reason = excluded.reason,
        since = excluded.since, started_by = excluded.started_by, last_event_at = excluded.last_event_at,
        ended_at = excluded.ended_at, ended_by = excluded.ended_by, presence = excluded.presence,
        folder = excluded.folder, transcript = excluded.transcript, model = excluded.model, branch = excluded.branch,
        project = excluded.project, seat = excluded.seat, previous = excluded.previous, prompt = excluded.prompt,
        subagents = excluded.subagents, background = excluded.background, context_tokens = excluded.context_tokens,
        compactions = excluded.compactions, turns = excluded.turns, seen = excluded.seen,
        asked_tool = excluded.asked_tool, asked_subagent = excluded.asked_subagent,
        limited_until = excluded.limited_until, tasks = excluded.tasks, asked_at = excluded.asked_at,
        prompted_at = excluded.prompted_at, answer = excluded.answer, inheriting = excluded.inheriting,
        on_clear = excluded.on_clear, fallback = excluded.fallback, fresh_at = excluded.fresh_at,
        context_window = excluded.context_window, context_exact = excluded.context_exact,
        context_source = excluded.context_source, context_at = excluded.context_at,
        told_model = excluded.told_model, told_person = excluded.told_person,
        compacted_at = excluded.compacted_at, compacted_percent = excluded.compacted_percent,
        since_bookmark = excluded.since_bookmark, recalled_at = excluded.recalled_at
    returning id";

const HEARD: &str = "
    select agent || ':' || session from sessions where project = ?1 and last_event_at between ?2 and ?3
    order by last_event_at";

/// No pattern: an id may hold what would be one.
const NAMED: &str = "
    select agent || ':' || session from sessions
    where substr(session, 1, length(?1)) = ?1 or substr(session, -length(?1)) = ?1 or agent || ':' || session = ?1
    order by id limit 20";

/// The condition is the partial index's own, so that the history is not looked at.
const LIVE: &str = "where s.state <> 'ended' and s.seat is not null order by s.last_event_at";

/// Looks through the history: only for whoever asks to see it.
const ENDED: &str =
    "where s.state = 'ended' and s.presence <> 'headless' order by s.last_event_at desc, s.id desc limit ?1";

impl Store {
    /// A session and its row, with the turn that is open.
    pub(crate) fn load_session(&self, key: &SessionKey) -> Result<Option<StoredSession>, StoreError> {
        let query = format!("select {COLUMNS} {FROM} where s.agent = ?1 and s.session = ?2");
        let mut statement = self.db.prepare_cached(&query)?;
        let found = statement.query_row((key.agent.as_str(), key.id.as_str()), stored).optional()?;
        let Some(mut stored) = found else { return Ok(None) };
        stored.session.open_turn = self.open_turn(stored.id, stored.session.turns)?;
        Ok(Some(stored))
    }

    pub fn session(&self, key: &SessionKey) -> Result<Option<Session>, StoreError> {
        Ok(self.load_session(key)?.map(|stored| stored.session))
    }

    /// All sessions, oldest first, without their open turns.
    pub fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        let mut statement = self.db.prepare_cached(&format!("select {COLUMNS} {FROM} order by s.id"))?;
        let rows = statement.query_map([], stored)?.map(|row| row.map(|stored| stored.session));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Sessions that sit in a seat and have not ended, longest quiet first, with their open turns.
    pub fn live_sessions(&self) -> Result<Vec<Session>, StoreError> {
        let mut statement = self.db.prepare_cached(&format!("select {COLUMNS} {FROM} {LIVE}"))?;
        let rows = statement.query_map([], stored)?.collect::<Result<Vec<_>, _>>()?;
        let with_turn = |mut stored: StoredSession| {
            stored.session.open_turn = self.open_turn(stored.id, stored.session.turns)?;
            Ok(stored.session)
        };
        rows.into_iter().map(with_turn).collect()
    }

    /// Sessions that have ended and that a person sat before, the latest first, without their open turns.
    pub fn ended_sessions(&self, most: u32) -> Result<Vec<Session>, StoreError> {
        let mut statement = self.db.prepare_cached(&format!("select {COLUMNS} {FROM} {ENDED}"))?;
        let rows = statement.query_map([most], stored)?.map(|row| row.map(|stored| stored.session));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The sessions of a project whose last event lies in this span.
    pub(crate) fn sessions_heard(
        &self,
        project: Option<i64>,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<Vec<SessionKey>, StoreError> {
        let mut statement = self.db.prepare_cached(HEARD)?;
        let rows = statement.query_map((project, from.0, to.0), |row| session_key(row, 0))?;
        Ok(rows.filter_map(Result::transpose).collect::<Result<_, _>>()?)
    }

    /// The sessions whose id begins or ends so, or whose whole key this is; no more of them than a person would read.
    pub fn sessions_named(&self, part: &str) -> Result<Vec<SessionKey>, StoreError> {
        let mut statement = self.db.prepare_cached(NAMED)?;
        let rows = statement.query_map([part], |row| session_key(row, 0))?;
        Ok(rows.filter_map(Result::transpose).collect::<Result<_, _>>()?)
    }

    /// Saves a session and its open turn; returns the id of its row.
    pub(crate) fn save_session(&self, session: &Session, project: Option<i64>) -> Result<i64, StoreError> {
        let subagents: Vec<&str> = session.subagents.iter().map(SubagentId::as_str).collect();
        let id = self.db.prepare_cached(SAVE)?.query_row(
            rusqlite::params![
                session.uid.0,
                self.machine.0,
                session.key.agent.as_str(),
                session.key.id.as_str(),
                session.state.name(),
                session.state.reason(),
                session.since.0,
                session.started_at.0,
                started_name(session.started_by),
                session.last_event_at.0,
                session.ended.map(|(at, _)| at.0),
                session.ended.map(|(_, by)| ended_name(by)),
                presence_name(session.presence),
                session.folder,
                session.transcript,
                session.model,
                session.project.as_ref().and_then(|traces| traces.branch.as_ref()),
                project,
                session.seat,
                session.previous.as_ref().map(ToString::to_string),
                session.prompt.as_ref().map(Kept::as_str),
                subagents.join(" "),
                session.background,
                session.context_tokens.map(u64::cast_signed),
                session.compactions,
                session.turns,
                session.seen,
                session.asked.as_ref().map(|asked| asked.tool.as_str()),
                session.asked.as_ref().and_then(|asked| asked.subagent.as_ref()).map(SubagentId::as_str),
                session.limited_until.map(|until| until.0),
                session.tasks,
                session.asked.as_ref().map(|asked| asked.at.0),
                session.prompted_at.map(|at| at.0),
                session.answer.as_ref().map(Kept::as_str),
                session.inheriting.name(),
                session.wishes.on_clear.name(),
                session.wishes.fallback.name(),
                session.fresh_at.map(|at| at.0),
                session.meter.fill().map(|fill| fill.window.cast_signed()),
                session.meter.fill().map(|fill| fill.exact.name()),
                session.meter.fill().map(|fill| fill.source.name()),
                session.meter.last.map(|(_, at)| at.0),
                session.meter.told.model,
                session.meter.told.person,
                session.meter.compacted_at.map(|at| at.0),
                session.meter.compacted_percent,
                counted(&session.since_bookmark),
                session.recalled_at.map(|at| at.0),
            ],
            |row| row.get(0),
        )?;
        if let Some(turn) = &session.open_turn {
            self.save_turn(id, turn)?;
        }
        Ok(id)
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredSession> {
    let state = State::parse(&row.get::<_, String>(3)?, row.get::<_, Option<String>>(4)?.as_deref());
    let ended_at: Option<i64> = row.get(9)?;
    let ended_by = row.get::<_, Option<String>>(10)?.map_or(EndedBy::Other, |name| named_end(&name));
    let key = session_key(row, 2)?.ok_or_else(|| unknown(2))?;
    let session = Session {
        uid: Uid(row.get(1)?),
        key,
        state: state.ok_or_else(|| unknown(3))?,
        since: Timestamp(row.get(5)?),
        seen: row.get(28)?,
        started_at: Timestamp(row.get(6)?),
        started_by: named_start(&row.get::<_, String>(7)?),
        last_event_at: Timestamp(row.get(8)?),
        ended: ended_at.map(|at| (Timestamp(at), ended_by)),
        presence: word(row, 11, named_presence)?,
        folder: row.get(12)?,
        transcript: row.get(13)?,
        model: row.get(14)?,
        project: project(row)?,
        seat: row.get(16)?,
        previous: session_key(row, 17)?,
        prompt: row.get::<_, Option<String>>(18)?.map(|text| kept(&text)),
        prompted_at: row.get::<_, Option<i64>>(34)?.map(Timestamp),
        answer: row.get::<_, Option<String>>(35)?.map(|text| kept(&text)),
        inheriting: word(row, 36, Inheriting::parse)?,
        wishes: Wishes {
            on_clear: word(row, 37, OnClear::parse)?,
            fallback: word(row, 38, Fallback::parse)?,
        },
        fresh_at: row.get::<_, Option<i64>>(39)?.map(Timestamp),
        asked: asked(row)?,
        limited_until: row.get::<_, Option<i64>>(31)?.map(Timestamp),
        tasks: row.get(32)?,
        subagents: row.get::<_, String>(19)?.split(' ').filter_map(|id| SubagentId::parse(id).ok()).collect(),
        background: row.get(20)?,
        context_tokens: row.get::<_, Option<i64>>(21)?.map(i64::cast_unsigned),
        meter: meter(row)?,
        compactions: row.get(22)?,
        turns: row.get(23)?,
        since_bookmark: counts(&row.get::<_, String>(48)?),
        recalled_at: row.get::<_, Option<i64>>(49)?.map(Timestamp),
        open_turn: None,
    };
    Ok(StoredSession { id: row.get(0)?, project: row.get(27)?, session })
}

/// Most sessions that are loaded have nothing to count.
fn counted(since: &SinceBookmark) -> String {
    if *since == SinceBookmark::default() {
        return String::new();
    }
    serde_json::to_string(since).unwrap_or_default()
}

/// What a newer version counted, and we do not know, begins anew.
fn counts(text: &str) -> SinceBookmark {
    serde_json::from_str(text).unwrap_or_default()
}

fn meter(row: &Row<'_>) -> rusqlite::Result<Meter> {
    let told = Told { model: row.get(44)?, person: row.get(45)? };
    let compacted_at = row.get::<_, Option<i64>>(46)?.map(Timestamp);
    Ok(Meter { last: fill(row)?, told, compacted_at, compacted_percent: row.get(47)? })
}

fn fill(row: &Row<'_>) -> rusqlite::Result<Option<(Fill, Timestamp)>> {
    let (Some(tokens), Some(window)) = (row.get::<_, Option<i64>>(21)?, row.get::<_, Option<i64>>(40)?)
    else {
        return Ok(None);
    };
    let (exact, source) = (word(row, 41, Exactness::parse)?, word(row, 42, Source::parse)?);
    let fill = Fill { tokens: tokens.cast_unsigned(), window: window.cast_unsigned(), exact, source };
    Ok(Some((fill, Timestamp(row.get(43)?))))
}

fn asked(row: &Row<'_>) -> rusqlite::Result<Option<Asked>> {
    let Some(tool) = row.get::<_, Option<String>>(29)? else { return Ok(None) };
    let subagent = row.get::<_, Option<String>>(30)?.and_then(|id| SubagentId::parse(&id).ok());
    let at = Timestamp(row.get::<_, Option<i64>>(33)?.unwrap_or(0));
    Ok(Some(Asked { tool: kept(&tool), subagent, at }))
}

fn project(row: &Row<'_>) -> rusqlite::Result<Option<ProjectTraces>> {
    let Some(root) = row.get::<_, Option<String>>(24)? else { return Ok(None) };
    Ok(Some(ProjectTraces { root, remote: row.get(25)?, name: row.get(26)?, branch: row.get(15)? }))
}

/// A column that holds one of our own words; a word of a newer version is an error, not a guess.
pub(super) fn word<T>(
    row: &Row<'_>,
    column: usize,
    parse: impl Fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    parse(&row.get::<_, String>(column)?).ok_or_else(|| unknown(column))
}

pub(super) fn session_key(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<SessionKey>> {
    let raw: Option<String> = row.get(column)?;
    raw.map(|raw| SessionKey::parse(&raw).map_err(|_| unknown(column))).transpose()
}

pub(super) fn unknown(column: usize) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(column, "a word of this version".into(), rusqlite::types::Type::Text)
}

fn started_name(by: StartedBy) -> &'static str {
    match by {
        StartedBy::Startup => "startup",
        StartedBy::Resume => "resume",
        StartedBy::Clear => "clear",
        StartedBy::Compact => "compact",
        StartedBy::Fork => "fork",
        StartedBy::Unknown => "unknown",
    }
}

fn named_start(name: &str) -> StartedBy {
    let all = [StartedBy::Startup, StartedBy::Resume, StartedBy::Clear, StartedBy::Compact, StartedBy::Fork];
    all.into_iter().find(|by| started_name(*by) == name).unwrap_or(StartedBy::Unknown)
}

fn ended_name(by: EndedBy) -> &'static str {
    match by {
        EndedBy::Clear => "clear",
        EndedBy::Exit => "exit",
        EndedBy::Other => "other",
    }
}

fn named_end(name: &str) -> EndedBy {
    [EndedBy::Clear, EndedBy::Exit].into_iter().find(|by| ended_name(*by) == name).unwrap_or(EndedBy::Other)
}

fn presence_name(presence: Presence) -> &'static str {
    match presence {
        Presence::Terminal => "terminal",
        Presence::Ide => "ide",
        Presence::Headless => "headless",
    }
}

fn named_presence(name: &str) -> Option<Presence> {
    [Presence::Terminal, Presence::Ide, Presence::Headless].into_iter().find(|p| presence_name(*p) == name)
}
