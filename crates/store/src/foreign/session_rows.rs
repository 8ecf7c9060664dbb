//! Reads sessions that an agent keeps as rows of a table, which a description names. Renders each row as a line of JSON:
//! an object of its columns.
//!
//! Only the names of a table and of its columns are given; they are quoted, so that no other SQL can be run. In place: the
//! agent writes to the database at the same time.

use super::ForeignError;
use super::rows::opened;
use super::table::quoted;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use serde_json::{Map, Value};
use std::path::Path;

/// More than any agent keeps of one session: its lines are held in memory.
const LONGEST: usize = 64 << 20;

/// A table, and the column that holds the id of the session that a row belongs to.
#[derive(Clone, Copy, Debug)]
pub struct SessionColumn<'a> {
    pub table: &'a str,
    pub column: &'a str,
}

/// Where the rows of sessions are.
#[derive(Clone, Copy, Debug)]
pub struct SessionRows<'a> {
    pub rows: SessionColumn<'a>,
    /// The column that the rows of a session are ordered by; without one, the order in which they were added.
    pub order: Option<&'a str>,
}

impl SessionRows<'_> {
    /// The ids of all sessions; the one with the newest row is last.
    pub fn sessions(&self, database: &Path) -> Result<Vec<String>, ForeignError> {
        let (table, column) = (quoted(self.rows.table), self.rows.sql(self.rows.column));
        let id = format!("cast({column} as text)");
        let order = self.order();
        let sql = format!(
            "select {id} from {table} where {column} is not null group by 1 order by max({order}), 1"
        );
        let db = opened(database)?;
        let read = || -> rusqlite::Result<Vec<String>> {
            db.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(|source| ForeignError::of(database, source))
    }

    /// The rows of a session, one per line; those beyond 64 MB are left out.
    pub fn lines(&self, database: &Path, session: &str) -> Result<Vec<u8>, ForeignError> {
        let db = opened(database)?;
        rendered(&db, self.rows, session, &self.order()).map_err(|source| ForeignError::of(database, source))
    }

    fn order(&self) -> String {
        self.order.map_or("rowid".to_owned(), |column| self.rows.sql(column))
    }
}

impl SessionColumn<'_> {
    /// A column of the table. With the table's name before it: SQLite takes a quoted name that is no column for a text.
    fn sql(self, column: &str) -> String {
        format!("{}.{}", quoted(self.table), quoted(column))
    }

    /// The first row of a session as JSON, for a table that holds one row per session.
    pub fn row(self, database: &Path, session: &str) -> Result<Vec<u8>, ForeignError> {
        let db = opened(database)?;
        rendered(&db, self, session, "1 limit 1").map_err(|source| ForeignError::of(database, source))
    }
}

fn rendered(
    db: &Connection,
    rows: SessionColumn<'_>,
    session: &str,
    order: &str,
) -> rusqlite::Result<Vec<u8>> {
    let (table, column) = (quoted(rows.table), rows.sql(rows.column));
    // A column of numbers compares with a number only.
    let sql = format!("select * from {table} where cast({column} as text) = ?1 order by {order}");
    let mut statement = db.prepare(&sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query(params![session])?;
    let mut lines = vec![];
    while let Some(row) = rows.next()? {
        let line = object(row, &names)?.to_string();
        if lines.len() + line.len() > LONGEST {
            break;
        }
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    }
    Ok(lines)
}

fn object(row: &Row<'_>, names: &[String]) -> rusqlite::Result<Value> {
    let mut object = Map::new();
    for (index, name) in names.iter().enumerate() {
        object.insert(name.clone(), value(row.get_ref(index)?));
    }
    Ok(Value::Object(object))
}

/// A text that holds an object or a list becomes that, so that paths lead into it. Bytes that are no text are left out.
fn value(of: ValueRef<'_>) -> Value {
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let nested = text.starts_with(['{', '[']).then(|| serde_json::from_str(&text).ok()).flatten();
        nested.unwrap_or_else(|| Value::String(text.into_owned()))
    };
    match of {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) => text(bytes),
        ValueRef::Blob(bytes) if str::from_utf8(bytes).is_ok() => text(bytes),
        ValueRef::Blob(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn database(folder: &Path) -> PathBuf {
        let path = folder.join("a.db");
        let db = crate::database::connect(&path, rusqlite::OpenFlags::default()).unwrap();
        db.execute_batch(
            r#"create table sessions(id integer primary key, cwd text);
             create table "the messages"(session integer, at integer, data text, raw blob);
             insert into sessions values(7, '/p'), (8, '/q');
             insert into "the messages" values(8, 5, '{"role":"user","text":"hello"}', x'ff'),
                (7, 9, 'plain', x'6f6b'), (7, 8, '[not json', null), (null, 1, '', null);"#,
        )
        .unwrap();
        path
    }

    fn column<'a>(table: &'a str, column: &'a str) -> SessionColumn<'a> {
        SessionColumn { table, column }
    }

    fn lines(database: &Path, order: Option<&str>) -> String {
        let rows = column("the messages", "session");
        let read = SessionRows { rows, order }.lines(database, "7").unwrap();
        String::from_utf8(read).unwrap()
    }

    #[test]
    fn rows_of_a_session_are_lines_of_json_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let added = "{\"at\":9,\"data\":\"plain\",\"raw\":\"ok\",\"session\":7}\n\
            {\"at\":8,\"data\":\"[not json\",\"raw\":null,\"session\":7}\n";
        assert_eq!(lines(&path, None), added);
        let by_time: Vec<&str> = added.lines().rev().collect();
        assert_eq!(lines(&path, Some("at")).lines().collect::<Vec<_>>(), by_time);
        let all = SessionRows { rows: column("the messages", "session"), order: None };
        assert_eq!(all.sessions(&path).unwrap(), ["8", "7"]);
        let nested = String::from_utf8(all.lines(&path, "8").unwrap()).unwrap();
        assert_eq!(nested.trim(), r#"{"at":5,"data":{"role":"user","text":"hello"},"raw":null,"session":8}"#);
        let about = column("sessions", "id").row(&path, "7").unwrap();
        assert_eq!(about, b"{\"cwd\":\"/p\",\"id\":7}\n");
    }

    #[test]
    fn a_name_of_a_table_is_no_sql() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        for (table, name) in [
            ("sessions; drop table sessions", "id"),
            ("sessions", "id\" = 1; attach 'b.db' as b; --"),
            ("missing", "id"),
        ] {
            let column = column(table, name);
            assert!(matches!(column.row(&path, "7"), Err(ForeignError::Query { .. })), "{table} {name}");
        }
        assert_eq!(column("sessions", "id").row(&path, "8").unwrap(), b"{\"cwd\":\"/q\",\"id\":8}\n");
        assert!(!folder.path().join("b.db").exists());
    }
}
