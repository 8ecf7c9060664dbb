//! Cached statements in one call: all rows, the first row, the only row, a change.
//!
//! Adds nothing to what rusqlite does: each call prepares from the cache and runs once.

use crate::Result;
use crate::columns::FromRow;
use rusqlite::{Connection, OptionalExtension, Params, Row};

pub(crate) trait Query {
    /// All rows, each read by a function.
    fn all_with<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>>;

    fn all<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Vec<T>> {
        self.all_with(sql, values, T::of)
    }

    fn first<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Option<T>>;

    /// The only row.
    fn value<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<T>;

    /// Whether there is a row.
    fn exists(&self, sql: &str, values: impl Params) -> Result<bool>;

    /// Returns the number of changed rows.
    fn change(&self, sql: &str, values: impl Params) -> Result<usize>;

    /// A change whose number of rows does not matter.
    fn run(&self, sql: &str, values: impl Params) -> Result<()> {
        self.change(sql, values).map(drop)
    }
}

impl Query for Connection {
    fn all_with<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        Ok(self.prepare_cached(sql)?.query_map(values, read)?.collect::<Result<_, _>>()?)
    }

    fn first<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Option<T>> {
        Ok(self.prepare_cached(sql)?.query_row(values, T::of).optional()?)
    }

    fn value<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<T> {
        Ok(self.prepare_cached(sql)?.query_row(values, T::of)?)
    }

    fn exists(&self, sql: &str, values: impl Params) -> Result<bool> {
        Ok(self.prepare_cached(sql)?.exists(values)?)
    }

    fn change(&self, sql: &str, values: impl Params) -> Result<usize> {
        Ok(self.prepare_cached(sql)?.execute(values)?)
    }
}
