//! Which tables a database of another product has, and which of its rows could not be used.
//!
//! Counts only: no text of any row.

use super::table::quoted;
use rusqlite::Connection;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignSurvey {
    /// The schema version, and whether it is newer than any that we know.
    pub schema: Option<i64>,
    pub is_newer: bool,
    pub tables: Vec<SurveyedTable>,
    /// Tables and columns that this version of the product does not have.
    pub missing: Vec<String>,
    pub(super) unfit: BTreeMap<(&'static str, &'static str), u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedTable {
    pub name: String,
    /// `None` if they could not be counted.
    pub rows: Option<u64>,
    pub fate: TableImport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableImport {
    Taken,
    /// Known, and not imported for this reason.
    Left(&'static str),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedRows {
    pub table: &'static str,
    pub rows: u64,
    pub why: &'static str,
}

impl ForeignSurvey {
    /// Counts the rows of every table. `fate` maps a table's name to its fate.
    pub(super) fn tables(
        db: &Connection,
        fate: impl Fn(&str) -> TableImport,
    ) -> rusqlite::Result<Vec<SurveyedTable>> {
        // Virtual tables, which compute their rows, have no root page and are not queried.
        const NAMES: &str = "
            select name from sqlite_schema where type = 'table' and rootpage > 0 and name not like 'sqlite\\_%' escape '\\'
            order by name";
        let names: Vec<String> =
            db.prepare(NAMES)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let surveyed = |name: String| {
            let count = format!("select count(*) from {}", quoted(&name));
            let rows = db.query_row(&count, [], |row| row.get::<_, i64>(0)).ok();
            SurveyedTable { fate: fate(&name), rows: rows.map(i64::cast_unsigned), name }
        };
        Ok(names.into_iter().map(surveyed).collect())
    }

    pub(super) fn count_unfit(&mut self, table: &'static str, why: &'static str) {
        *self.unfit.entry((table, why)).or_default() += 1;
    }

    pub fn unfit_rows(&self) -> impl Iterator<Item = SkippedRows> {
        self.unfit.iter().map(|((table, why), rows)| SkippedRows { table, rows: *rows, why })
    }
}
