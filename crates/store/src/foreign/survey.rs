//! What a database of another product holds, table by table, and what was not understood of it.
//!
//! Counts only: no text of any row.

use super::table::quoted;
use rusqlite::Connection;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The version of its schema, and whether it is newer than any that is known.
    pub schema: Option<i64>,
    pub is_newer: bool,
    pub tables: Vec<Surveyed>,
    /// Tables and columns that this version of the product does not have.
    pub missing: Vec<String>,
    pub(super) unfit: BTreeMap<(&'static str, &'static str), u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    pub name: String,
    /// None if they could not be counted.
    pub rows: Option<u64>,
    pub fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Taken,
    /// Known, and left where it is, for this reason.
    Left(&'static str),
    Unknown,
}

/// Rows that cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit {
    pub table: &'static str,
    pub rows: u64,
    pub why: &'static str,
}

impl Survey {
    /// Counts every table. `fate` says what is done with one of that name.
    pub(super) fn tables(db: &Connection, fate: impl Fn(&str) -> Fate) -> rusqlite::Result<Vec<Surveyed>> {
        // A table of its own has pages; what only computes rows has none, and is not asked.
        const NAMES: &str = "
            select name from sqlite_schema where type = 'table' and rootpage > 0 and name not like 'sqlite\\_%' escape '\\'
            order by name";
        let names: Vec<String> =
            db.prepare(NAMES)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let surveyed = |name: String| {
            let count = format!("select count(*) from {}", quoted(&name));
            let rows = db.query_row(&count, [], |row| row.get::<_, i64>(0)).ok();
            Surveyed { fate: fate(&name), rows: rows.map(i64::cast_unsigned), name }
        };
        Ok(names.into_iter().map(surveyed).collect())
    }

    pub(super) fn count_unfit(&mut self, table: &'static str, why: &'static str) {
        *self.unfit.entry((table, why)).or_default() += 1;
    }

    pub fn unfit_rows(&self) -> impl Iterator<Item = Unfit> {
        self.unfit.iter().map(|((table, why), rows)| Unfit { table, rows: *rows, why })
    }
}
