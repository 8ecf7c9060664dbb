//! Cached statements in one call: all rows, the first row, the only row, a change.
//!
//! Adds nothing to what rusqlite does: each call prepares from the cache and runs once.

use crate::columns::FromRow;
use crate::{Result, StoreError};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};
use std::ops::ControlFlow;

pub(crate) trait Query {
    fn cached(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>>;

    /// All rows, each read by a function.
    fn all_with<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        Ok(self.cached(sql)?.query_map(values, read)?.collect::<Result<_, _>>()?)
    }

    fn all<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Vec<T>> {
        self.all_with(sql, values, T::of)
    }

    /// Passes row after row to `each`, until it breaks; holds one row in memory at a time.
    fn each<E: From<StoreError>>(
        &self,
        sql: &str,
        values: impl Params,
        each: &mut dyn FnMut(&Row<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        let mut statement = self.cached(sql).map_err(StoreError::from)?;
        let mut rows = statement.query(values).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            if each(row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn first<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Option<T>> {
        Ok(self.cached(sql)?.query_row(values, T::of).optional()?)
    }

    /// The only row.
    fn value<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<T> {
        Ok(self.cached(sql)?.query_row(values, T::of)?)
    }

    /// Whether there is a row.
    fn exists(&self, sql: &str, values: impl Params) -> Result<bool> {
        Ok(self.cached(sql)?.exists(values)?)
    }

    /// Returns the number of changed rows.
    fn change(&self, sql: &str, values: impl Params) -> Result<usize> {
        Ok(self.cached(sql)?.execute(values)?)
    }

    /// A change whose number of rows does not matter.
    fn run(&self, sql: &str, values: impl Params) -> Result<()> {
        self.change(sql, values).map(drop)
    }
}

impl Query for Connection {
    fn cached(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.prepare_cached(sql)
    }
}
