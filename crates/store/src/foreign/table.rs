//! Tables whose columns come and go with the versions of a product, and values of any type.
//!
//! A column that is not there is null. No value is trusted to be what its column says.

use super::survey::Survey;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use towline_core::id::SessionId;
use towline_core::redact::redact;
use towline_core::time::Timestamp;

/// More than any of these products writes into one field; what is longer is said to be there, and not read.
const LONGEST_TEXT: usize = 64 << 20;
/// No name or number is longer.
const LONGEST_KEY: usize = 4096;
const LONGEST_TOOL: usize = 80;
const LONGEST_FOLDER: usize = 1024;

/// A table as we would like to find it: its columns by their names, the newest first.
pub(super) struct Shape {
    pub table: &'static str,
    /// Small values, read when the database is looked through.
    pub keys: &'static [&'static [&'static str]],
    /// Texts of any length, read one row at a time.
    pub texts: &'static [&'static [&'static str]],
}

/// The statements that read one table as it is here.
pub(super) struct Table {
    keys: String,
    row: String,
    columns: usize,
}

impl Table {
    /// `None` if there is no such table. What it lacks is noted.
    pub fn find(db: &Connection, shape: &Shape, survey: &mut Survey) -> rusqlite::Result<Option<Table>> {
        if !survey.tables.iter().any(|table| table.name == shape.table) {
            survey.missing.push(shape.table.to_owned());
            return Ok(None);
        }
        let there = columns(db, shape.table)?;
        let mut missing = vec![];
        let mut expressions = |wanted: &[&[&str]], bounded: fn(&str) -> String| -> Vec<String> {
            let expression =
                |names: &&[&str]| match names.iter().find(|name| there.iter().any(|it| it == *name)) {
                    Some(name) => bounded(&quoted(name)),
                    None => {
                        missing.extend(names.first().map(|name| format!("{}.{name}", shape.table)));
                        "null".to_owned()
                    }
                };
            wanted.iter().map(expression).collect()
        };
        let (keys, texts) = (expressions(shape.keys, key), expressions(shape.texts, text));
        survey.missing.extend(missing);
        let table = quoted(shape.table);
        let all = [keys.as_slice(), texts.as_slice()].concat();
        Ok(Some(Table {
            keys: format!("select rowid, {} from {table} order by rowid", keys.join(", ")),
            row: format!("select {} from {table} where rowid = ?1", all.join(", ")),
            columns: all.len(),
        }))
    }

    /// Goes through all rows by their keys.
    pub fn each(&self, db: &Connection, mut take: impl FnMut(i64, &[Value])) -> rusqlite::Result<()> {
        let mut statement = db.prepare(&self.keys)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values = values(row, 1, columns)?;
            take(row.get(0)?, &values);
        }
        Ok(())
    }

    /// One row: its keys, then its texts. A row that went away is all null.
    pub fn row(&self, db: &Connection, id: i64) -> rusqlite::Result<Vec<Value>> {
        let mut statement = db.prepare_cached(&self.row)?;
        let mut rows = statement.query([id])?;
        match rows.next()? {
            Some(row) => values(row, 0, self.columns),
            None => Ok(vec![Value::Null; self.columns]),
        }
    }
}

/// A name as it stands in a statement.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("select name from pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

fn key(column: &str) -> String {
    format!("case when octet_length({column}) <= {LONGEST_KEY} then {column} end")
}

fn text(column: &str) -> String {
    format!(
        "case when octet_length({column}) > {LONGEST_TEXT} then '[… ' || octet_length({column}) || ' bytes cut …]' \
         else {column} end"
    )
}

fn values(row: &Row<'_>, from: usize, to: usize) -> rusqlite::Result<Vec<Value>> {
    (from..to).map(|column| row.get_ref(column).map(Value::of)).collect()
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Number(i64),
    Text(String),
}

impl Value {
    fn of(raw: ValueRef<'_>) -> Value {
        match raw {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Number(number),
            ValueRef::Real(number) => Value::Number(number as i64),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Value::Text(String::from_utf8_lossy(bytes).into_owned())
            }
        }
    }

    /// What it says, unless that is nothing.
    pub fn words(&self) -> Option<String> {
        let words = match self {
            Value::Null => return None,
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text.clone(),
        };
        (!words.trim().is_empty()).then_some(words)
    }

    pub fn number(&self) -> Option<i64> {
        match self {
            Value::Null => None,
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.trim().parse().ok(),
        }
    }

    /// Seconds or milliseconds since the epoch, or a date in words. What cannot be is no time.
    pub fn time(&self) -> Option<Timestamp> {
        const YEAR_2000: i64 = 946_684_800_000;
        const YEAR_2200: i64 = 7_258_118_400_000;
        let at = match (self.number(), self) {
            (Some(seconds), _) if seconds < YEAR_2200 / 1000 => seconds.checked_mul(1000)?,
            (Some(ms), _) => ms,
            (None, Value::Text(text)) => Timestamp::parse_utc(text.trim())?.0,
            (None, Value::Null | Value::Number(_)) => return None,
        };
        (YEAR_2000..YEAR_2200).contains(&at).then_some(Timestamp(at))
    }

    /// A session's own id. One that looks like a secret is none.
    pub fn session(&self) -> Option<SessionId> {
        let Value::Text(text) = self else { return None };
        SessionId::parse(text).ok().filter(|id| is_harmless(id.as_str()))
    }

    /// A folder, as an absolute path that says nothing else.
    pub fn folder(&self) -> Option<String> {
        let Value::Text(text) = self else { return None };
        let is_path =
            text.starts_with('/') && text.len() <= LONGEST_FOLDER && !text.contains(char::is_control);
        (is_path && is_harmless(text)).then(|| text.clone())
    }

    /// The name of a project, as people would write it.
    pub fn project(&self) -> Option<String> {
        let Value::Text(text) = self else { return None };
        let is_name = !text.trim().is_empty() && text.len() <= 256 && !text.contains(char::is_control);
        (is_name && is_harmless(text)).then(|| text.trim().to_owned())
    }

    /// The name of a tool. It is kept as it is, so it must be a name.
    pub fn tool(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
        match self {
            Value::Text(name)
                if !name.is_empty()
                    && name.len() <= LONGEST_TOOL
                    && name.chars().all(plain)
                    && is_harmless(name) =>
            {
                name.clone()
            }
            Value::Text(_) | Value::Null | Value::Number(_) => "tool".to_owned(),
        }
    }
}

fn is_harmless(text: &str) -> bool {
    redact(text) == text
}
