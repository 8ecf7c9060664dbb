//! Facts about the archive itself: how far somebody came, by a name of their own.
//!
//! Small texts. Nothing that was captured is kept here.

use super::Archive;
use crate::StoreError;
use rusqlite::OptionalExtension;

const FACT: &str = "select value from facts where name = ?1";
const SET: &str = "insert or replace into facts (name, value) values (?1, ?2)";

impl Archive {
    pub fn fact(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.db.prepare_cached(FACT)?.query_row([name], |row| row.get(0)).optional()?)
    }

    pub fn set_fact(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.db.prepare_cached(SET)?.execute((name, value))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;

    #[test]
    fn a_fact_is_what_was_said_last() {
        let bench = Bench::new();
        assert_eq!(bench.archive.fact("place").unwrap(), None);
        bench.archive.set_fact("place", "1").unwrap();
        bench.archive.set_fact("place", "2").unwrap();
        assert_eq!(bench.archive.fact("place").unwrap().as_deref(), Some("2"));
    }
}
