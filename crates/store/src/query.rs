//! Cached statements in one call (all rows, the first row, one value, a change), and columns with names of ours.
//!
//! Adds nothing to what rusqlite does: each call prepares from the cache and runs once.

use crate::StoreError;
use rusqlite::{Connection, OptionalExtension, Params, Row};
use towline_core::id::SessionKey;

pub(crate) trait Query {
    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError>;

    fn first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError>;

    /// The first column of the only row.
    fn value<T: rusqlite::types::FromSql>(&self, sql: &str, values: impl Params) -> Result<T, StoreError>;

    /// Returns the number of changed rows.
    fn change(&self, sql: &str, values: impl Params) -> Result<usize, StoreError>;
}

impl Query for Connection {
    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        Ok(self.prepare_cached(sql)?.query_map(values, read)?.collect::<Result<_, _>>()?)
    }

    fn first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.prepare_cached(sql)?.query_row(values, read).optional()?)
    }

    fn value<T: rusqlite::types::FromSql>(&self, sql: &str, values: impl Params) -> Result<T, StoreError> {
        Ok(self.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
    }

    fn change(&self, sql: &str, values: impl Params) -> Result<usize, StoreError> {
        Ok(self.prepare_cached(sql)?.execute(values)?)
    }
}

/// Parses a column with one of our names; an unknown name of a newer version is an error.
pub(crate) fn parse_column<T>(
    row: &Row<'_>,
    column: usize,
    parse: impl Fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    parse(&row.get::<_, String>(column)?).ok_or_else(|| unknown_name(column))
}

pub(crate) fn session_key(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<SessionKey>> {
    let raw: Option<String> = row.get(column)?;
    raw.map(|raw| SessionKey::parse(&raw).map_err(|_| unknown_name(column))).transpose()
}

pub(crate) fn unknown_name(column: usize) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(column, "a word of this version".into(), rusqlite::types::Type::Text)
}
