//! Reads the sessions of agents that keep them as rows: a table of sessions, one of their messages, one of the messages'
//! parts, each with its contents as JSON. Renders a session as lines, as if the agent had written a transcript.
//!
//! Lines are only ever added: a message is rendered once it is complete, and only with the fields that then stay as they
//! are. A message of the model that its process left incomplete is rendered once another one follows it. In place: the
//! agent writes to the database at the same time, and a copy of it at the end of each turn would cost too much.

use super::ForeignError;
use super::open::{FileStamp, is_wal_mode, read_in_place};
use rusqlite::{Connection, Row, params};
use std::path::Path;

/// Sessions that no other session started, oldest first.
const SESSIONS: &str = "select id from session where parent_id is null order by time_created, id";

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
                'tokens', json(m.data -> '$.tokens'), 'error', json(m.data -> '$.error'),
                'summary', json(iif(m.data ->> '$.role' = 'assistant', m.data -> '$.summary', null))))
    from message m join tree on m.session_id = tree.id order by m.id";

const PARTS: &str = "select json_object('table', 'part', 'id', id, 'session_id', session_id, 'message_id', message_id,
        'data', json_object('type', data ->> '$.type', 'text', data ->> '$.text', 'synthetic', json(data -> '$.synthetic'),
            'typed', data ->> '$.metadata.towline',
            'tool', data ->> '$.tool', 'callID', data ->> '$.callID', 'state', json_object(
                'status', data ->> '$.state.status', 'input', json(data -> '$.state.input'),
                'output', data ->> '$.state.output', 'error', data ->> '$.state.error',
                'exit', data ->> '$.state.metadata.exit')))
    from part where message_id = ?1 and data ->> '$.type' in ('text', 'reasoning', 'tool', 'compaction') order by id";

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
}

impl MessageRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
        Ok(MessageRow {
            id: row.get(0)?,
            session: row.get(1)?,
            is_models: row.get::<_, Option<bool>>(2)?.unwrap_or(false),
            is_complete: row.get(3)?,
            line: row.get(4)?,
        })
    }
}

fn rendered(db: &Connection, session: &str) -> rusqlite::Result<Vec<u8>> {
    let mut lines = vec![];
    let mut add = |line: &str| {
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    };
    let mut heads = db.prepare(HEAD)?;
    let mut heads = heads.query(params![session])?;
    let Some(head) = heads.next()? else { return Ok(lines) };
    add(&head.get::<_, String>(0)?);
    let mut messages = db.prepare(&format!("{TREE} {MESSAGES}"))?;
    let messages: Vec<MessageRow> =
        messages.query_map(params![session], MessageRow::of)?.collect::<rusqlite::Result<_>>()?;
    let mut parts = db.prepare(PARTS)?;
    for message in &messages[..complete(&messages, session)] {
        let mut parts = parts.query(params![message.id])?;
        let mut is_first = true;
        while let Some(part) = parts.next()? {
            if std::mem::take(&mut is_first) {
                add(&message.line);
            }
            add(&part.get::<_, String>(0)?);
        }
        // A prompt is stored before its parts; a message of the model may end without any.
        if is_first && message.is_models {
            add(&message.line);
        }
    }
    Ok(lines)
}

/// How many messages will not change any more.
fn complete(messages: &[MessageRow], root: &str) -> usize {
    let is_followed = |at: usize| {
        let of = &messages[at].session;
        messages[at + 1..]
            .iter()
            .any(|later| later.is_models && (&later.session == of || later.session == root))
    };
    let is_open = |at: &usize| messages[*at].is_models && !messages[*at].is_complete && !is_followed(*at);
    (0..messages.len()).find(is_open).unwrap_or(messages.len())
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
            "create table session(id text, parent_id text, directory text, time_created integer);
             create table message(id text, session_id text, time_created integer, data text);
             create table part(id text, message_id text, session_id text, data text);
             insert into session values('s1', null, '/p', 1), ('s2', 's1', '/p', 2), ('s3', null, '/q', 3);",
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
        let id = |line: &str| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned()
        };
        lines.lines().map(id).collect::<Vec<_>>().join(" ")
    }

    const USER: &str = r#"{"role":"user"}"#;
    const OPEN: &str = r#"{"role":"assistant"}"#;
    const DONE: &str = r#"{"role":"assistant","time":{"completed":7}}"#;

    #[test]
    fn lines_are_only_added_while_the_agent_writes() {
        let folder = tempfile::tempdir().unwrap();
        let db = database(folder.path());
        let mut before = lines(&folder.path().join("a.db"), "s1").unwrap();
        let mut grows = |expected: &str| {
            assert_eq!(said(folder.path(), "s1"), expected);
            let now = lines(&folder.path().join("a.db"), "s1").unwrap();
            assert!(now.starts_with(&before));
            before = now;
        };
        say(&db, "m1", "s1", USER);
        grows("s1 m1 pm1");
        say(&db, "m2", "s1", OPEN);
        say(&db, "m3", "s2", USER);
        say(&db, "m4", "s2", DONE);
        grows("s1 m1 pm1");
        db.execute("update message set data = ?1 where id = 'm2'", params![DONE]).unwrap();
        grows("s1 m1 pm1 m2 pm2 m3 pm3 m4 pm4");
        db.execute("update message set data = json_set(data, '$.summary', json('{}')) where id = 'm1'", [])
            .unwrap();
        grows("s1 m1 pm1 m2 pm2 m3 pm3 m4 pm4");
    }

    #[test]
    fn a_message_that_was_left_incomplete_blocks_nothing_once_the_session_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let db = database(folder.path());
        say(&db, "m1", "s1", USER);
        say(&db, "m2", "s2", OPEN);
        say(&db, "m3", "s1", OPEN);
        assert_eq!(said(folder.path(), "s1"), "s1 m1 pm1 m2 pm2");
        say(&db, "m4", "s1", DONE);
        assert_eq!(said(folder.path(), "s1"), "s1 m1 pm1 m2 pm2 m3 pm3 m4 pm4");
    }

    #[test]
    fn subagents_are_no_sessions_of_users() {
        let folder = tempfile::tempdir().unwrap();
        drop(database(folder.path()));
        let path = folder.path().join("a.db");
        assert_eq!(sessions(&path).unwrap(), ["s1", "s3"]);
        assert_eq!(lines(&path, "none").unwrap(), b"");
        assert!(!folder.path().join("a.db-wal").exists(), "nothing is created beside it");
        assert!(matches!(sessions(&folder.path().join("b.db")), Err(ForeignError::Read { .. })));
    }
}
