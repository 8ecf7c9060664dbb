//! Reads the sessions of agents that keep them as rows: a table of sessions, one of their messages, one of the messages'
//! parts, each with its contents as JSON. Renders a session as lines, as if the agent had written a transcript.
//!
//! Lines are added while the agent works: a part is rendered once it stays as it is, the result of a tool and the end of a
//! message as lines of their own. So what the process of a message had finished is there although it was killed; the rest
//! follows once the session goes on. Only going back changes lines: a message that the agent took back is there, with a
//! last line that says so, until the next prompt deletes it.
//!
//! In place: the agent writes to the database at the same time, and a copy of it at the end of each turn would cost too much.

use super::ForeignError;
use super::open::{FileStamp, is_wal_mode, read_in_place};
use rusqlite::{Connection, Row, params};
use std::path::Path;

/// Sessions that no other session started, oldest first.
const SESSIONS: &str = "select id from session where parent_id is null order by time_created, id";

/// The session of a user's with the newest message.
const LATEST: &str = "select s.id from session s join message m on m.session_id = s.id
    where s.parent_id is null order by m.id desc limit 1";

/// The session and those that it started, at any depth.
const TREE: &str = "with recursive tree(id) as (
    select id from session where id = ?1 union select s.id from session s join tree on s.parent_id = tree.id)";

const HEAD: &str =
    "select json_object('table', 'session', 'id', id, 'directory', directory, 'time_created', time_created)
    from session where id = ?1";

const MESSAGES: &str = "select m.id, m.session_id, m.data ->> '$.role' = 'assistant',
        m.data ->> '$.time.completed' is not null,
        json_object('table', 'message', 'id', m.id, 'session_id', m.session_id, 'time_created', m.time_created,
            'data', json_object('role', m.data ->> '$.role', 'modelID', m.data ->> '$.modelID',
                'summary', json(iif(m.data ->> '$.role' = 'assistant', m.data -> '$.summary', null)))),
        json_object('table', 'end', 'id', m.id, 'session_id', m.session_id, 'message_id', m.id,
            'data', json_object('modelID', m.data ->> '$.modelID', 'tokens', json(m.data -> '$.tokens'),
                'error', json(m.data -> '$.error')))
    from message m join tree on m.session_id = tree.id order by m.id";

/// A tool has begun once its input is known; any other part is finished when it begins to count.
const PARTS: &str = "select data ->> '$.type' = 'tool',
        iif(data ->> '$.type' = 'tool', data ->> '$.state.status' <> 'pending', data ->> '$.time.end' is not null),
        data ->> '$.state.status' in ('completed', 'error'),
        json_object('table', 'part', 'id', id, 'session_id', session_id, 'message_id', message_id,
            'data', json_object('type', data ->> '$.type', 'text', data ->> '$.text',
                'synthetic', json(data -> '$.synthetic'), 'typed', data ->> '$.metadata.towline',
                'tool', data ->> '$.tool', 'callID', data ->> '$.callID', 'input', json(data -> '$.state.input'))),
        json_object('table', 'result', 'id', id, 'session_id', session_id, 'message_id', message_id,
            'data', json_object('callID', data ->> '$.callID', 'state', json_object('status', data ->> '$.state.status',
                'output', data ->> '$.state.output', 'error', data ->> '$.state.error',
                'exit', data ->> '$.state.metadata.exit')))
    from part where message_id = ?1 and data ->> '$.type' in ('text', 'reasoning', 'tool', 'compaction') order by id";

/// The first prompt that the user took back. Going back to within a turn takes back the turns after it.
const TAKEN_BACK: &str = "select json_object('table', 'revert', 'id', min(m.id), 'time_created', (
            select max(time_created) + 1 from message where session_id = ?1))
    from session s join message m on m.session_id = s.id
    where s.id = ?1 and m.data ->> '$.role' = 'user' and m.id >= s.revert ->> '$.messageID' having min(m.id) is not null";

/// The session of a user's that was written last.
pub fn latest_session(database: &Path) -> Result<Option<String>, ForeignError> {
    let db = opened(database)?;
    let read = || -> rusqlite::Result<Option<String>> {
        db.prepare(LATEST)?.query_map([], |row| row.get(0))?.next().transpose()
    };
    read().map_err(|source| ForeignError::of(database, source))
}

/// The ids of all sessions of users, oldest first.
pub fn sessions(database: &Path) -> Result<Vec<String>, ForeignError> {
    let db = opened(database)?;
    let read = || -> rusqlite::Result<Vec<String>> {
        db.prepare(SESSIONS)?.query_map([], |row| row.get(0))?.collect()
    };
    read().map_err(|source| ForeignError::of(database, source))
}

/// The session as lines; none if there is no such session.
pub fn lines(database: &Path, session: &str) -> Result<Vec<u8>, ForeignError> {
    let mut db = opened(database)?;
    // One moment: the agent writes meanwhile.
    let read = db.transaction().and_then(|moment| rendered(&moment, session));
    read.map_err(|source| ForeignError::of(database, source))
}

struct MessageRow {
    id: String,
    session: String,
    is_models: bool,
    is_complete: bool,
    line: String,
    end: String,
}

impl MessageRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
        Ok(MessageRow {
            id: row.get(0)?,
            session: row.get(1)?,
            is_models: row.get::<_, Option<bool>>(2)?.unwrap_or(false),
            is_complete: row.get(3)?,
            line: row.get(4)?,
            end: row.get(5)?,
        })
    }
}

/// A part of a message that may still be written.
struct PartRow {
    is_tool: bool,
    /// Whether the line stays as it is.
    is_begun: bool,
    has_result: bool,
    line: String,
    result: String,
}

impl PartRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<PartRow> {
        Ok(PartRow {
            is_tool: row.get(0)?,
            is_begun: row.get::<_, Option<bool>>(1)?.unwrap_or(false),
            has_result: row.get::<_, Option<bool>>(2)?.unwrap_or(false),
            line: row.get(3)?,
            result: row.get(4)?,
        })
    }
}

/// The rendered lines.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn add(&mut self, line: &str) {
        self.0.extend_from_slice(line.as_bytes());
        self.0.push(b'\n');
    }
}

fn rendered(db: &Connection, session: &str) -> rusqlite::Result<Vec<u8>> {
    let mut lines = Lines::default();
    let Some(head) = first(db, HEAD, session)? else { return Ok(lines.0) };
    lines.add(&head);
    let mut messages = db.prepare(&format!("{TREE} {MESSAGES}"))?;
    let messages: Vec<MessageRow> =
        messages.query_map(params![session], MessageRow::of)?.collect::<rusqlite::Result<_>>()?;
    let mut parts = db.prepare(PARTS)?;
    for (at, message) in messages.iter().enumerate() {
        let state =
            if will_change(&messages, at, session) { MessageState::Open } else { MessageState::Final };
        let rows = parts.query_map(params![message.id], PartRow::of)?;
        if add_message(&mut lines, message, state, rows)? == MessageState::Open {
            break;
        }
    }
    if let Some(taken_back) = first(db, TAKEN_BACK, session)? {
        lines.add(&taken_back);
    }
    Ok(lines.0)
}

fn first(db: &Connection, query: &str, session: &str) -> rusqlite::Result<Option<String>> {
    db.prepare(query)?.query_map(params![session], |row| row.get(0))?.next().transpose()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageState {
    Open,
    Final,
}

/// Adds what will not change any more. Parts have the order in which they began: one that is written holds back the later
/// ones, or their lines would move.
fn add_message(
    lines: &mut Lines,
    message: &MessageRow,
    state: MessageState,
    parts: impl Iterator<Item = rusqlite::Result<PartRow>>,
) -> rusqlite::Result<MessageState> {
    let is_open = state == MessageState::Open;
    let mut is_first = true;
    for part in parts {
        let part = part?;
        if is_open && !part.is_begun {
            break;
        }
        if std::mem::take(&mut is_first) {
            lines.add(&message.line);
        }
        lines.add(&part.line);
        if is_open && part.is_tool && !part.has_result {
            break;
        }
        if part.is_tool {
            lines.add(&part.result);
        }
    }
    if is_open || !message.is_models {
        return Ok(state);
    }
    // A prompt is stored before its parts; a message of the model may end without any.
    if is_first {
        lines.add(&message.line);
    }
    lines.add(&message.end);
    Ok(state)
}

/// Whether the agent may still write to this message. One that its process left incomplete is final once another one
/// follows it.
fn will_change(messages: &[MessageRow], at: usize, root: &str) -> bool {
    let MessageRow { session: of, is_models, is_complete, .. } = &messages[at];
    let is_next = |later: &MessageRow| later.is_models && (&later.session == of || later.session == root);
    *is_models && !is_complete && !messages[at + 1..].iter().any(is_next)
}

/// While the agent runs, its WAL is read as by any other reader; otherwise no file is created beside the database.
pub(super) fn opened(path: &Path) -> Result<Connection, ForeignError> {
    let unreadable = |source| ForeignError::Read { path: path.to_owned(), source };
    let stamp = FileStamp::of(path).map_err(unreadable)?;
    let is_at_rest = is_wal_mode(path)? && !stamp.has_wal();
    let parameter = if is_at_rest { "immutable=1" } else { "mode=ro" };
    read_in_place(path, parameter).map_err(|source| ForeignError::of(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(folder: &Path) -> Connection {
        let db = crate::database::connect(&folder.join("a.db"), rusqlite::OpenFlags::default()).unwrap();
        db.pragma_update(None, "journal_mode", "wal").unwrap();
        db.execute_batch(
            "create table session(id text, parent_id text, directory text, time_created integer, revert text);
             create table message(id text, session_id text, time_created integer, data text);
             create table part(id text, message_id text, session_id text, data text);
             insert into session(id, parent_id, directory, time_created)
                values('s1', null, '/p', 1), ('s2', 's1', '/p', 2), ('s3', null, '/q', 3);",
        )
        .unwrap();
        db
    }

    fn say(db: &Connection, id: &str, session: &str, data: &str) {
        db.execute("insert into message values(?1, ?2, 5, ?3)", params![id, session, data]).unwrap();
        let part = format!(r#"{{"type":"text","text":"{id} says"}}"#);
        db.execute("insert into part values(?1, ?2, ?3, ?4)", params![format!("p{id}"), id, session, part])
            .unwrap();
    }

    fn said(folder: &Path, session: &str) -> String {
        let lines = String::from_utf8(lines(&folder.join("a.db"), session).unwrap()).unwrap();
        let name = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let id = row["id"].as_str().unwrap();
            match row["table"].as_str().unwrap() {
                "session" | "message" | "part" => id.to_owned(),
                table => format!("{table}:{id}"),
            }
        };
        lines.lines().map(name).collect::<Vec<_>>().join(" ")
    }

    const USER: &str = r#"{"role":"user"}"#;
    const OPEN: &str = r#"{"role":"assistant"}"#;
    const DONE: &str = r#"{"role":"assistant","time":{"completed":7}}"#;

    /// Compares the lines with what is expected, again and again, and makes sure that they only grow.
    struct Growing<'f> {
        folder: &'f Path,
        before: Vec<u8>,
    }

    impl Growing<'_> {
        #[track_caller]
        fn to(&mut self, expected: &str) {
            assert_eq!(said(self.folder, "s1"), expected);
            let now = lines(&self.folder.join("a.db"), "s1").unwrap();
            assert!(now.starts_with(&self.before));
            self.before = now;
        }
    }

    fn update(db: &Connection, table: &str, id: &str, data: &str) {
        db.execute(&format!("update {table} set data = ?1 where id = ?2"), params![data, id]).unwrap();
    }

    #[test]
    fn lines_are_only_added_while_the_agent_writes() {
        let folder = tempfile::tempdir().unwrap();
        let db = database(folder.path());
        let mut grows = Growing { folder: folder.path(), before: vec![] };
        say(&db, "m1", "s1", USER);
        grows.to("s1 m1 pm1");
        say(&db, "m2", "s1", OPEN);
        say(&db, "m3", "s2", USER);
        say(&db, "m4", "s2", DONE);
        grows.to("s1 m1 pm1");
        update(&db, "message", "m2", DONE);
        grows.to("s1 m1 pm1 m2 pm2 end:m2 m3 pm3 m4 pm4 end:m4");
        db.execute("update message set data = json_set(data, '$.summary', json('{}')) where id = 'm1'", [])
            .unwrap();
        grows.to("s1 m1 pm1 m2 pm2 end:m2 m3 pm3 m4 pm4 end:m4");
    }

    #[test]
    fn a_message_that_was_left_incomplete_blocks_nothing_once_the_session_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let db = database(folder.path());
        say(&db, "m1", "s1", USER);
        say(&db, "m2", "s2", OPEN);
        say(&db, "m3", "s1", OPEN);
        assert_eq!(said(folder.path(), "s1"), "s1 m1 pm1 m2 pm2 end:m2");
        say(&db, "m4", "s1", DONE);
        assert_eq!(said(folder.path(), "s1"), "s1 m1 pm1 m2 pm2 end:m2 m3 pm3 end:m3 m4 pm4 end:m4");
    }

    /// A process that is killed leaves its last message as it is.
    #[test]
    fn what_an_incomplete_message_had_finished_was_not_rendered() {
        let folder = tempfile::tempdir().unwrap();
        let db = database(folder.path());
        let add = |id: &str, data: &str| {
            db.execute("insert into part values(?1, 'm2', 's1', ?2)", params![id, data]).unwrap();
        };
        let mut grows = Growing { folder: folder.path(), before: vec![] };
        say(&db, "m1", "s1", USER);
        db.execute("insert into message values('m2', 's1', 5, ?1)", params![OPEN]).unwrap();
        add("p1", r#"{"type":"text","text":"","time":{"start":1}}"#);
        grows.to("s1 m1 pm1");
        update(&db, "part", "p1", r#"{"type":"text","text":"I look.","time":{"start":1,"end":2}}"#);
        grows.to("s1 m1 pm1 m2 p1");
        add("p2", r#"{"type":"tool","callID":"c","state":{"status":"pending","input":{}}}"#);
        grows.to("s1 m1 pm1 m2 p1");
        update(
            &db,
            "part",
            "p2",
            r#"{"type":"tool","callID":"c","state":{"status":"running","input":{"a":1}}}"#,
        );
        add(
            "p3",
            r#"{"type":"tool","callID":"d","state":{"status":"completed","input":{"a":2},"output":"x"}}"#,
        );
        grows.to("s1 m1 pm1 m2 p1 p2");
        update(
            &db,
            "part",
            "p2",
            r#"{"type":"tool","callID":"c","state":{"status":"completed","input":{"a":1},"output":"y"}}"#,
        );
        grows.to("s1 m1 pm1 m2 p1 p2 result:p2 p3 result:p3");
        say(&db, "m3", "s1", USER);
        grows.to("s1 m1 pm1 m2 p1 p2 result:p2 p3 result:p3");
        say(&db, "m4", "s1", OPEN);
        grows.to("s1 m1 pm1 m2 p1 p2 result:p2 p3 result:p3 end:m2 m3 pm3");
    }

    #[test]
    fn a_last_line_names_the_first_prompt_that_was_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let db = database(folder.path());
        for (id, data) in [("m1", USER), ("m2", DONE), ("m3", USER), ("m4", DONE), ("m5", USER), ("m6", DONE)]
        {
            say(&db, id, "s1", data);
        }
        let all = "s1 m1 pm1 m2 pm2 end:m2 m3 pm3 m4 pm4 end:m4 m5 pm5 m6 pm6 end:m6";
        let revert = |to: Option<&str>, expected: &str| {
            let to = to.map(|to| format!(r#"{{"messageID":"{to}","diff":""}}"#));
            db.execute("update session set revert = ?1 where id = 's1'", params![to]).unwrap();
            assert_eq!(said(folder.path(), "s1"), format!("{all}{expected}"));
        };
        revert(None, "");
        revert(Some("m5"), " revert:m5");
        revert(Some("m3"), " revert:m3");
        revert(Some("m4"), " revert:m5");
        revert(Some("m6"), "");
        revert(None, "");
    }

    #[test]
    fn subagents_are_no_sessions_of_users() {
        let folder = tempfile::tempdir().unwrap();
        drop(database(folder.path()));
        let path = folder.path().join("a.db");
        assert_eq!(sessions(&path).unwrap(), ["s1", "s3"]);
        assert_eq!(latest_session(&path).unwrap(), None);
        assert_eq!(lines(&path, "none").unwrap(), b"");
        assert!(!folder.path().join("a.db-wal").exists(), "nothing is created beside it");
        assert!(matches!(sessions(&folder.path().join("b.db")), Err(ForeignError::Read { .. })));
    }
}
