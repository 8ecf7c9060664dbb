//! The memory log: every memory that somebody told or changed by hand, whole, in a file of its own beside the archive.
//!
//! Appended to and synced before the archive commits. An archive that lacks a logged memory, because it was damaged,
//! emptied or restored from an old copy, gets it back when it is opened. The log never brings back what was deleted:
//! a deletion is logged as well, and an erase rewrites the file without it.

use super::Archive;
use crate::home::{append_to, if_exists, replace_file_synced, size};
use crate::journal::frame::{self, ParsedFrame};
use crate::query::Query;
use crate::{Result, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use towline_core::id::{IdHash, Uid};

/// One memory with all its rows, or the fact that it was deleted.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LogRecord {
    /// Hex digits, as SQLite writes them.
    uid: String,
    /// By table; empty for a deleted memory.
    #[serde(default)]
    rows: BTreeMap<String, Vec<Map<String, Value>>>,
}

impl LogRecord {
    /// Without the history of a memory that would not fit into a frame.
    fn bounded(mut self) -> LogRecord {
        if serde_json::to_vec(&self).is_ok_and(|json| json.len() > LONGEST) {
            self.rows.remove("memory_trace");
        }
        self
    }
}

/// The log as it was read.
struct LogContent {
    /// By the memory's id.
    records: BTreeMap<String, LogRecord>,
    /// Whether every byte belonged to a record.
    is_whole: bool,
}

/// Safely below the longest frame; a memory without its history is far below it.
const LONGEST: usize = 900 * 1024;

/// The tables that hold a memory, and the conditions for its rows.
const TABLES: [(&str, &str); 6] = [
    ("memories", "id = ?1"),
    ("projects", "id = (select project from memories where id = ?1)"),
    ("memory_files", "memory = ?1"),
    ("memory_concepts", "memory = ?1"),
    // Bounded, because a frame is: the newest decisions of the user.
    (
        "memory_trace",
        "id in (select id from memory_trace where memory = ?1 and what <> 'found again' order by id desc limit 40)
            order by id",
    ),
    ("stamps", "uid = (select uid from memories where id = ?1)"),
];

/// Memories that nothing else could bring back: not those that distilling makes and nobody touched.
const BY_HAND: &str = "(m.maker in ('person', 'agent') or exists (select 1 from memory_trace t
    where t.memory = m.id and (t.undone_at is not null
        or t.what not in ('made', 'found again', 'replaced', 'changed elsewhere'))))";

/// The name of the log among the consumers of changes.
const READER: &str = "the memory log";
/// The fact that holds the size of the log as of the last commit.
const LOGGED: &str = "bytes of the memory log";
/// The fact that holds its size after it was last rewritten.
const REWRITTEN: &str = "bytes of the memory log when rewritten";
/// A larger log is rewritten once it has grown to four times its size.
const LARGE: u64 = 4 << 20;
const COLUMNS: &str = "select name, upper(type) = 'BLOB' from pragma_table_info(?1)";

impl Archive {
    /// Appends the memories that changed since the last call. To be called in the transaction of the change.
    pub(super) fn log_memories(&self) -> Result<()> {
        let last = self.last_change()?;
        let from = self.read_up_to(READER)?.unwrap_or(0);
        if from >= last {
            return Ok(());
        }
        let changed = format!(
            "select m.id from memories m where {BY_HAND}
                and m.id in (select row from changes where what = 'memory' and seq > ?1)"
        );
        let mut records = self.records(&self.db.all(&changed, [from])?)?;
        records.extend(self.deletions()?);
        self.append_to_log(&records)?;
        self.note_read_up_to(READER, last)?;
        let rewritten = self.fact(REWRITTEN)?.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
        if size(&self.home.memory_log()) > LARGE.max(4 * rewritten) {
            return self.rewrite_log();
        }
        self.note_log_size()
    }

    /// Notes a memory that is about to be deleted, for the log.
    pub(super) fn note_deletion(&self, number: i64) -> Result<()> {
        let deleted: Option<String> =
            self.db.first("select hex(uid) from memories where id = ?1", [number])?;
        self.deleted.borrow_mut().extend(deleted);
        Ok(())
    }

    /// The deletions noted since the last call, without those that were rolled back.
    fn deletions(&self) -> Result<Vec<LogRecord>> {
        let mut gone = vec![];
        for uid in self.deleted.take() {
            if self.number_of(&uid)?.is_none() {
                gone.push(LogRecord { uid, rows: BTreeMap::new() });
            }
        }
        Ok(gone)
    }

    /// Brings back the logged memories that the archive lacks, if the log is not as the archive left it. Returns their
    /// number.
    pub(super) fn recover_memories(&self) -> Result<usize> {
        let known = self.fact(LOGGED)?.and_then(|bytes| bytes.parse::<u64>().ok());
        let bytes = size(&self.home.memory_log());
        if known == Some(bytes) {
            return Ok(0);
        }
        let recovered = self.in_transaction(|| {
            let mut recovered = 0;
            for record in self.logged()?.records.values() {
                recovered += usize::from(self.recover(record)?);
            }
            Ok(recovered)
        })?;
        self.rewrite_log().map(|()| recovered)
    }

    /// Writes the log anew: without deleted memories, without what an erase changed, and whole if it was damaged.
    /// A logged memory that the archive has lost stays in it.
    pub fn rewrite_log(&self) -> Result<()> {
        let mut all = self.logged()?.records;
        let numbers = self.db.all(&format!("select m.id from memories m where {BY_HAND}"), [])?;
        let known =
            all.keys().filter_map(|uid| self.number_of(uid).transpose()).collect::<Result<Vec<_>>>()?;
        for record in self.records(&[numbers, known].concat())?.into_iter().chain(self.deletions()?) {
            all.insert(record.uid.clone(), record);
        }
        all.retain(|uid, record| !record.rows.is_empty() && !self.is_erased(uid));
        let records: Vec<LogRecord> = all.into_values().collect();
        let frames = frame::encode(&records).map_err(|error| self.log_error(error))?;
        replace_file_synced(&self.home.memory_log(), &frames).map_err(|error| self.log_error(error))?;
        self.note_read_up_to(READER, self.last_change()?)?;
        self.set_fact(REWRITTEN, &frames.len().to_string())?;
        self.note_log_size()
    }

    /// Writes the log anew if it is damaged, which its size does not tell: the next damage may hit the archive.
    pub fn check_log(&self) -> Result<()> {
        if self.logged()?.is_whole { Ok(()) } else { self.rewrite_log() }
    }

    /// The last record of each memory. Damaged parts of the file are skipped.
    fn logged(&self) -> Result<LogContent> {
        let bytes = if_exists(fs::read(self.home.memory_log())).map_err(|error| self.log_error(error))?;
        let bytes = bytes.unwrap_or_default();
        let (mut records, mut is_whole, mut rest) = (BTreeMap::new(), true, bytes.as_slice());
        while !rest.is_empty() {
            let length = match frame::next(rest) {
                ParsedFrame::Newer => return Err(self.log_error(io::ErrorKind::Unsupported.into())),
                ParsedFrame::Incomplete => rest.len(),
                ParsedFrame::Torn { length } => length,
                ParsedFrame::Frame { payload, length } => {
                    match serde_json::from_slice::<LogRecord>(payload) {
                        Ok(record) => {
                            records.insert(record.uid.clone(), record);
                            rest = &rest[length..];
                            continue;
                        }
                        Err(_) => length,
                    }
                }
            };
            is_whole = false;
            rest = &rest[length..];
        }
        Ok(LogContent { records, is_whole })
    }

    fn records(&self, numbers: &[i64]) -> Result<Vec<LogRecord>> {
        let mut records = Vec::with_capacity(numbers.len());
        for number in numbers {
            let uid = self.db.value("select hex(uid) from memories where id = ?1", [number])?;
            let mut rows = BTreeMap::new();
            for (table, condition) in TABLES {
                rows.insert(table.to_owned(), self.rows_of(table, condition, *number)?);
            }
            records.push(LogRecord { uid, rows }.bounded());
        }
        Ok(records)
    }

    /// The rows as objects with all columns of the table; bytes are hex digits.
    fn rows_of(&self, table: &str, condition: &str, number: i64) -> Result<Vec<Map<String, Value>>> {
        let columns: Vec<(String, bool)> = self.db.all(COLUMNS, [table])?;
        let pair = |(name, is_blob): &(String, bool)| match is_blob {
            true => format!("'{name}', iif({name} is null, null, hex({name}))"),
            false => format!("'{name}', {name}"),
        };
        let pairs: Vec<String> = columns.iter().map(pair).collect();
        let select = format!("select json_object({}) from {table} where {condition}", pairs.join(", "));
        let found: Vec<String> = self.db.all(&select, [number])?;
        Ok(found.iter().filter_map(|row| serde_json::from_str(row).ok()).collect())
    }

    /// Returns whether the archive lacked the memory as it was logged.
    fn recover(&self, record: &LogRecord) -> Result<bool> {
        let Some(memory) = record.rows.get("memories").and_then(|rows| rows.first()) else {
            return Ok(false);
        };
        if self.is_erased(&record.uid) {
            return Ok(false);
        }
        let revision = memory.get("revision").and_then(Value::as_i64).unwrap_or(0);
        if let Some(number) = self.number_of(&record.uid)? {
            if self.db.value::<i64>("select revision from memories where id = ?1", [number])? >= revision {
                return Ok(false);
            }
            for statement in super::memories::DROP {
                self.db.change(statement, [number])?;
            }
        }
        let number = self.put_logged(memory.clone(), record)?;
        self.note_change("memory", number, None)?;
        Ok(true)
    }

    /// Inserts the rows of a memory; its project, its number and its successor may have other row ids here.
    fn put_logged(&self, mut memory: Map<String, Value>, record: &LogRecord) -> Result<i64> {
        let rows = |table: &str| record.rows.get(table).cloned().unwrap_or_default();
        memory.insert("conversation".to_owned(), Value::Null);
        let project = rows("projects").into_iter().next().map(|row| self.logged_project(row)).transpose()?;
        memory.insert("project".to_owned(), project.into());
        let successor = memory.get("superseded_uid").and_then(Value::as_str).map(|uid| self.number_of(uid));
        memory.insert("superseded_by".to_owned(), successor.transpose()?.flatten().into());
        if self
            .db
            .exists("select 1 from memories where id = ?1", [memory.get("id").and_then(Value::as_i64)])?
        {
            memory.remove("id");
        }
        self.insert_row("memories", &memory)?;
        let number = self.db.last_insert_rowid();
        for table in ["memory_files", "memory_concepts", "memory_trace", "stamps"] {
            for mut row in rows(table) {
                row.remove("id");
                if row.contains_key("memory") {
                    row.insert("memory".to_owned(), number.into());
                }
                self.insert_row(table, &row)?;
            }
        }
        let waiting = "update memories set superseded_by = ?1 where superseded_uid = (select uid from memories where id = ?1)";
        self.db.run(waiting, [number])?;
        Ok(number)
    }

    /// The local row of a logged project.
    fn logged_project(&self, mut row: Map<String, Value>) -> Result<i64> {
        const FIND: &str = "select id from projects where uid = unhex(?1) or root = ?2 or remote = ?3";
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        if let Some(known) = self.db.first(FIND, (text("uid"), text("root"), text("remote")))? {
            return Ok(known);
        }
        row.remove("id");
        self.insert_row("projects", &row)?;
        Ok(self.db.last_insert_rowid())
    }

    /// Inserts the columns that both the table and the row have.
    fn insert_row(&self, table: &str, row: &Map<String, Value>) -> Result<()> {
        let columns: Vec<(String, bool)> = self.db.all(COLUMNS, [table])?;
        let columns: Vec<_> = columns.into_iter().filter(|(name, _)| row.contains_key(name)).collect();
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let value = |(name, is_blob): &(String, bool)| match is_blob {
            true => format!("unhex(?1 ->> '{name}')"),
            false => format!("?1 ->> '{name}'"),
        };
        let values: Vec<String> = columns.iter().map(value).collect();
        let insert =
            format!("insert or ignore into {table} ({}) values ({})", names.join(", "), values.join(", "));
        self.db.run(&insert, [Value::Object(row.clone()).to_string()])
    }

    fn number_of(&self, uid: &str) -> Result<Option<i64>> {
        self.db.first("select id from memories where uid = unhex(?1)", [uid])
    }

    fn is_erased(&self, uid: &str) -> bool {
        let bytes = (0..uid.len()).step_by(2).map(|at| u8::from_str_radix(uid.get(at..at + 2)?, 16).ok());
        let uid = bytes.collect::<Option<Vec<u8>>>().and_then(|bytes| bytes.try_into().ok()).map(Uid);
        uid.is_some_and(|uid| self.forgotten.is_memory_erased(IdHash::of(&uid.to_string())))
    }

    fn append_to_log(&self, records: &[LogRecord]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let append = || -> io::Result<()> {
            let mut file = append_to(&self.home.memory_log())?;
            file.write_all(&frame::encode(records)?)?;
            file.sync_data()
        };
        append().map_err(|error| self.log_error(error))
    }

    fn note_log_size(&self) -> Result<()> {
        self.set_fact(LOGGED, &size(&self.home.memory_log()).to_string())
    }

    fn log_error(&self, source: io::Error) -> StoreError {
        StoreError::Folder { path: self.home.memory_log(), source }
    }
}

#[cfg(test)]
mod tests;
