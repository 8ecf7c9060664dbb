//! Databases as each version of the other products creates them, for tests.
//!
//! Tables and columns are those of the products; the rows are invented.

use crate::database::connect;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::path::Path;

/// A database in use: its WAL is not checkpointed while this value exists.
pub struct SampleDatabase {
    db: Connection,
}

#[derive(Clone, Debug)]
pub enum SampleValue {
    Null,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&str> for SampleValue {
    fn from(text: &str) -> SampleValue {
        SampleValue::Text(text.to_owned())
    }
}

impl From<i64> for SampleValue {
    fn from(number: i64) -> SampleValue {
        SampleValue::Number(number)
    }
}

impl SampleDatabase {
    /// A database as Throughline leaves it with this schema, from 1 to 12 and beyond.
    pub fn throughline(path: &Path, schema: i64) -> rusqlite::Result<SampleDatabase> {
        let sample = SampleDatabase::new(path)?;
        for (_, step) in THROUGHLINE.iter().filter(|(version, _)| *version <= schema) {
            sample.db.execute_batch(step)?;
        }
        sample.db.pragma_update(None, "user_version", schema)?;
        Ok(sample)
    }

    /// A database as claude-mem leaves it after this migration, from 4 on.
    pub fn claude_mem(path: &Path, migration: i64) -> rusqlite::Result<SampleDatabase> {
        let sample = SampleDatabase::new(path)?;
        for (version, step) in CLAUDE_MEM.iter().filter(|(version, _)| *version <= migration) {
            sample.db.execute_batch(step)?;
            sample
                .add("schema_versions", &[("version", (*version).into()), ("applied_at", "once".into())])?;
        }
        if CLAUDE_MEM.iter().all(|(version, _)| *version != migration) {
            sample.add("schema_versions", &[("version", migration.into()), ("applied_at", "now".into())])?;
        }
        Ok(sample)
    }

    /// A database of an agent that keeps its sessions as rows: `sessions.id`, `messages.session`, what was said as JSON.
    pub fn of_agent(path: &Path) -> rusqlite::Result<SampleDatabase> {
        let sample = SampleDatabase::new(path)?;
        sample.run(
            "create table sessions(id text, cwd text);
             create table messages(id integer primary key, session text, at integer, said text);",
        )?;
        Ok(sample)
    }

    /// Puts a message in another's place, as a streaming agent does.
    pub fn change_message(&self, id: i64, said: &str) -> rusqlite::Result<()> {
        self.db.execute("update messages set said = ?2 where id = ?1", (id, said))?;
        Ok(())
    }

    pub fn rename(&self, table: &str, to: &str) -> rusqlite::Result<()> {
        self.run(&format!("alter table {table} rename to {to}"))
    }

    fn new(path: &Path) -> rusqlite::Result<SampleDatabase> {
        let db = connect(path, OpenFlags::default())?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "wal_autocheckpoint", 0)?;
        db.pragma_update(None, "synchronous", "off")?;
        Ok(SampleDatabase { db })
    }

    pub fn again(path: &Path) -> rusqlite::Result<SampleDatabase> {
        Ok(SampleDatabase { db: connect(path, OpenFlags::default())? })
    }

    pub fn add(&self, table: &str, row: &[(&str, SampleValue)]) -> rusqlite::Result<()> {
        let names: Vec<_> = row.iter().map(|(name, _)| *name).collect();
        let placeholders = vec!["?"; row.len()].join(", ");
        let insert = format!("insert into {table} ({}) values ({placeholders})", names.join(", "));
        let value = |(_, cell): &(&str, SampleValue)| match cell {
            SampleValue::Null => Value::Null,
            SampleValue::Number(number) => Value::Integer(*number),
            SampleValue::Text(text) => Value::Text(text.clone()),
            SampleValue::Bytes(bytes) => Value::Blob(bytes.clone()),
        };
        self.db.execute(&insert, params_from_iter(row.iter().map(value)))?;
        Ok(())
    }

    /// Adds a table that only a later version has, with one row.
    pub fn add_unknown(&self, table: &str) -> rusqlite::Result<()> {
        self.run(&format!("create table {table} (x); insert into {table} values (1)"))
    }

    pub fn run(&self, script: &str) -> rusqlite::Result<()> {
        self.db.execute_batch(script)
    }

    /// Checkpoints and closes, as a program does when it exits.
    pub fn close(self) -> rusqlite::Result<()> {
        self.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
        self.db.close().map_err(|(_, error)| error)
    }

    /// Closes and leaves WAL mode, as old versions did.
    pub fn close_without_log(self) -> rusqlite::Result<()> {
        self.db.pragma_update(None, "journal_mode", "delete")?;
        self.db.close().map_err(|(_, error)| error)
    }

    /// Locks it exclusively, as a program does in the middle of a write.
    pub fn hold(&self) -> rusqlite::Result<()> {
        self.db.execute_batch("begin exclusive")
    }
}

const THROUGHLINE: [(i64, &str); 12] = [
    (
        1,
        "create table sessions (session_id text primary key, project_path text not null,
             status text not null default 'active', created_at integer not null, updated_at integer not null);
         create table skeletons (id integer primary key autoincrement, session_id text not null,
             turn_number integer not null, role text not null, summary text not null, created_at integer not null);
         create table judgments (id integer primary key autoincrement, session_id text not null,
             turn_number integer not null, category text not null, content text not null, content_hash text not null,
             resolved integer not null default 0, created_at integer not null);
         create table details (id integer primary key autoincrement, session_id text not null, turn_number integer,
             tool_name text not null, input_text text, output_text text, token_count integer not null default 0,
             created_at integer not null);
         create table injection_log (id integer primary key autoincrement, session_id text not null,
             event_type text not null, turns_injected integer not null default 0,
             tokens_saved integer not null default 0, created_at integer not null);",
    ),
    (2, "create unique index skeletons_once on skeletons (session_id, turn_number, role);"),
    (
        3,
        "alter table skeletons add column origin_session_id text;
         alter table judgments add column origin_session_id text;
         alter table details add column origin_session_id text;
         alter table sessions add column merged_into text;",
    ),
    (
        4,
        "create table bodies (id integer primary key autoincrement, session_id text not null,
             origin_session_id text not null, turn_number integer not null, role text not null, text text not null,
             token_count integer, created_at integer not null,
             unique (session_id, origin_session_id, turn_number, role));
         drop table judgments;",
    ),
    (
        5,
        "alter table details add column kind text not null default 'tool_input';
         alter table details add column source_id text;
         create unique index details_once on details (session_id, origin_session_id, source_id)
             where source_id is not null;",
    ),
    (
        6,
        "create table handoff_batons (project_path text primary key, session_id text not null,
             created_at integer not null);",
    ),
    (7, "alter table handoff_batons add column memo_text text;"),
    (8, "alter table handoff_batons drop column memo_text;"),
    (
        9,
        "create table pending_handoffs (session_id text primary key, project_path text not null, source text,
             auto_predecessor_id text, created_at integer not null);",
    ),
    (
        10,
        "create table room_turns (project_path text not null, room_id text not null, message_id text not null,
             speaker text not null, text text not null, primary key (project_path, room_id, message_id));",
    ),
    (11, "alter table bodies add column turn_start text;"),
    (
        12,
        "create table codex_handoffs (handoff_id text primary key, source_thread_id text not null);
         create table codex_handoff_summaries (origin_session_id text not null, turn_number integer not null,
             source_hash text not null, summary text not null, created_at integer not null,
             primary key (origin_session_id, turn_number, source_hash));",
    ),
];

const CLAUDE_MEM: [(i64, &str); 8] = [
    (
        4,
        "create table schema_versions (id integer primary key, version integer unique not null,
             applied_at text not null);
         create table sdk_sessions (id integer primary key autoincrement, claude_session_id text unique not null,
             sdk_session_id text unique, project text not null, user_prompt text, started_at text not null,
             started_at_epoch integer not null, completed_at text, completed_at_epoch integer,
             status text not null default 'active');
         create table observations (id integer primary key autoincrement, sdk_session_id text not null,
             project text not null, text text, type text not null, created_at text not null,
             created_at_epoch integer not null);
         create table session_summaries (id integer primary key autoincrement, sdk_session_id text not null,
             project text not null, request text, investigated text, learned text, completed text, next_steps text,
             files_read text, files_edited text, notes text, created_at text not null,
             created_at_epoch integer not null);",
    ),
    (
        6,
        "alter table sdk_sessions add column prompt_counter integer default 0;
         alter table observations add column prompt_number integer;
         alter table session_summaries add column prompt_number integer;",
    ),
    (
        8,
        "alter table observations add column title text;
         alter table observations add column subtitle text;
         alter table observations add column facts text;
         alter table observations add column narrative text;
         alter table observations add column concepts text;
         alter table observations add column files_read text;
         alter table observations add column files_modified text;",
    ),
    (
        10,
        "create table user_prompts (id integer primary key autoincrement, claude_session_id text not null,
             prompt_number integer not null, prompt_text text not null, created_at text not null,
             created_at_epoch integer not null);",
    ),
    (
        16,
        "create table pending_messages (id integer primary key autoincrement, session_db_id integer not null,
             message_type text not null, status text not null default 'pending');",
    ),
    (
        17,
        "alter table sdk_sessions rename column claude_session_id to content_session_id;
         alter table sdk_sessions rename column sdk_session_id to memory_session_id;
         alter table observations rename column sdk_session_id to memory_session_id;
         alter table session_summaries rename column sdk_session_id to memory_session_id;
         alter table user_prompts rename column claude_session_id to content_session_id;",
    ),
    (
        48,
        "alter table sdk_sessions add column platform_source text not null default 'claude';
         alter table observations add column content_hash text;
         create table tool_uses (id integer primary key autoincrement, tool_use_id text, content_session_id text,
             memory_session_id text, session_db_id integer, project text, platform_source text, tool_name text,
             tool_input text, tool_response text, cwd text, prompt_number integer, created_at text,
             created_at_epoch integer);
         create table sync_state (name text primary key, value text);
         create table corpora (id integer primary key, name text);",
    ),
    (
        49,
        // Our SQLite lacks the module for this index: its table can be declared in the schema, but not created.
        "create table user_prompts_fts_data (id integer primary key, block blob);
         insert into user_prompts_fts_data values (1, x'00');
         pragma writable_schema = on;
         insert into sqlite_schema values ('table', 'user_prompts_fts', 'user_prompts_fts', 0,
             'create virtual table user_prompts_fts using fts5 (prompt_text, content = ''user_prompts'')');
         pragma writable_schema = reset;",
    ),
];
