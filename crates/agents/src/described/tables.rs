//! Where sessions are in a database: names of tables and columns.
//!
//! Holds no SQL, and opens no database.

/// A column and its table, written `table.column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    pub table: String,
    pub column: String,
}

impl TableColumn {
    /// The name of the table may hold dots.
    pub(super) fn parse(text: &str) -> Option<TableColumn> {
        let (table, column) = text.rsplit_once('.')?;
        let is_name = |name: &str| !name.trim().is_empty() && !name.chars().any(char::is_control);
        (is_name(table) && is_name(column))
            .then(|| TableColumn { table: table.to_owned(), column: column.to_owned() })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTables {
    /// The rows of all sessions, by the column that holds the session's id.
    pub rows: TableColumn,
    /// The column that rows are ordered by; without one, the order in which they were added.
    pub order: Option<String>,
    /// A table with one row per session, such as its folder.
    pub about: Option<TableColumn>,
}
