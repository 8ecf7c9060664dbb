//! Tables whose columns differ between versions of a product, and values of any type.
//!
//! A missing column reads as null. No value is assumed to have its column's type.

use super::survey::ForeignSurvey;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use towline_core::id::SessionId;
use towline_core::redact::redact;
use towline_core::time::Timestamp;

/// Longer than any field that these products write; a longer one is replaced by a note of its length.
const MAX_TEXT: usize = 64 << 20;
/// Longer than any name or number.
const MAX_KEY: usize = 4096;
const MAX_TOOL: usize = 80;
const MAX_FOLDER: usize = 1024;

/// The columns that we look for in a table, separated by spaces; `|` separates the possible names of one, newest first.
pub(super) struct TableSpec {
    pub table: &'static str,
    /// Small values, read while the database is scanned.
    pub keys: &'static str,
    /// Texts of any length, read one row at a time.
    pub texts: &'static str,
}

/// The statements that read one table with the columns that exist.
pub(super) struct ForeignTable {
    keys: String,
    row: String,
    columns: usize,
}

impl ForeignTable {
    /// `None` if there is no such table. Adds missing tables and columns to the survey.
    pub fn find(
        db: &Connection,
        shape: &TableSpec,
        survey: &mut ForeignSurvey,
    ) -> rusqlite::Result<Option<ForeignTable>> {
        if !survey.tables.iter().any(|table| table.name == shape.table) {
            survey.missing.push(shape.table.to_owned());
            return Ok(None);
        }
        let existing = columns(db, shape.table)?;
        let mut missing = vec![];
        let mut expressions = |wanted: &str, bounded: fn(&str) -> String| -> Vec<String> {
            let expression =
                |names: &str| match names.split('|').find(|name| existing.iter().any(|it| it == name)) {
                    Some(name) => bounded(&quoted(name)),
                    None => {
                        missing.extend(names.split('|').next().map(|name| format!("{}.{name}", shape.table)));
                        "null".to_owned()
                    }
                };
            wanted.split_whitespace().map(expression).collect()
        };
        let (keys, texts) = (expressions(shape.keys, bounded_key), expressions(shape.texts, bounded_text));
        survey.missing.extend(missing);
        let table = quoted(shape.table);
        let all = [keys.as_slice(), texts.as_slice()].concat();
        Ok(Some(ForeignTable {
            keys: format!("select rowid, {} from {table} order by rowid", keys.join(", ")),
            row: format!("select {} from {table} where rowid = ?1", all.join(", ")),
            columns: all.len(),
        }))
    }

    /// Calls `take` with the number and the keys of each row.
    pub fn each(&self, db: &Connection, mut take: impl FnMut(i64, &[Scalar])) -> rusqlite::Result<()> {
        let mut statement = db.prepare(&self.keys)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values = values(row, 1, columns)?;
            take(row.get(0)?, &values);
        }
        Ok(())
    }

    /// One row: its keys, then its texts. A row that no longer exists is all null.
    pub fn row(&self, db: &Connection, id: i64) -> rusqlite::Result<Vec<Scalar>> {
        let mut statement = db.prepare_cached(&self.row)?;
        let mut rows = statement.query([id])?;
        match rows.next()? {
            Some(row) => values(row, 0, self.columns),
            None => Ok(vec![Scalar::Null; self.columns]),
        }
    }
}

/// A quoted SQL identifier.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("select name from pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

fn bounded_key(column: &str) -> String {
    format!("case when octet_length({column}) <= {MAX_KEY} then {column} end")
}

fn bounded_text(column: &str) -> String {
    format!(
        "case when octet_length({column}) > {MAX_TEXT} then '[… ' || octet_length({column}) || ' bytes cut …]' \
         else {column} end"
    )
}

fn values(row: &Row<'_>, from: usize, to: usize) -> rusqlite::Result<Vec<Scalar>> {
    (from..to).map(|column| row.get_ref(column).map(Scalar::of)).collect()
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Number(i64),
    Text(String),
}

impl Scalar {
    fn of(raw: ValueRef<'_>) -> Scalar {
        match raw {
            ValueRef::Null => Scalar::Null,
            ValueRef::Integer(number) => Scalar::Number(number),
            ValueRef::Real(number) => Scalar::Number(number as i64),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Scalar::Text(String::from_utf8_lossy(bytes).into_owned())
            }
        }
    }

    /// The value as text, `None` if it is blank.
    pub fn words(&self) -> Option<String> {
        let words = match self {
            Scalar::Null => return None,
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text.clone(),
        };
        (!words.trim().is_empty()).then_some(words)
    }

    pub fn number(&self) -> Option<i64> {
        match self {
            Scalar::Null => None,
            Scalar::Number(number) => Some(*number),
            Scalar::Text(text) => text.trim().parse().ok(),
        }
    }

    /// Seconds or milliseconds since the epoch, or a date as text; `None` if it is not plausible.
    pub fn time(&self) -> Option<Timestamp> {
        const YEAR_2000: i64 = 946_684_800_000;
        const YEAR_2200: i64 = 7_258_118_400_000;
        let at = match (self.number(), self) {
            (Some(seconds), _) if seconds < YEAR_2200 / 1000 => seconds.checked_mul(1000)?,
            (Some(ms), _) => ms,
            (None, Scalar::Text(text)) => Timestamp::parse_utc(text.trim())?.0,
            (None, Scalar::Null | Scalar::Number(_)) => return None,
        };
        (YEAR_2000..YEAR_2200).contains(&at).then_some(Timestamp(at))
    }

    /// A session id; `None` for one that looks like a secret.
    pub fn session(&self) -> Option<SessionId> {
        let Scalar::Text(text) = self else { return None };
        SessionId::parse(text).ok().filter(|id| is_harmless(id.as_str()))
    }

    /// An absolute path without control characters or secrets.
    pub fn folder(&self) -> Option<String> {
        let Scalar::Text(text) = self else { return None };
        let is_path = text.starts_with('/') && text.len() <= MAX_FOLDER && !text.contains(char::is_control);
        (is_path && is_harmless(text)).then(|| text.clone())
    }

    /// A project's name without control characters or secrets.
    pub fn project(&self) -> Option<String> {
        let Scalar::Text(text) = self else { return None };
        let is_name = !text.trim().is_empty() && text.len() <= 256 && !text.contains(char::is_control);
        (is_name && is_harmless(text)).then(|| text.trim().to_owned())
    }

    /// A tool's name, or `tool` for anything else: it is stored unredacted.
    pub fn tool(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
        match self {
            Scalar::Text(name)
                if !name.is_empty()
                    && name.len() <= MAX_TOOL
                    && name.chars().all(plain)
                    && is_harmless(name) =>
            {
                name.clone()
            }
            Scalar::Text(_) | Scalar::Null | Scalar::Number(_) => "tool".to_owned(),
        }
    }
}

fn is_harmless(text: &str) -> bool {
    redact(text) == text
}
