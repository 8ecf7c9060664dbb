//! Key-value facts about the archive itself, such as the cursors of its consumers.
//!
//! Short texts. Captured content is not stored here.

use super::Archive;
use crate::Result;
use crate::query::Query;

const FACT: &str = "select value from facts where name = ?1";
const DROP: &str = "delete from facts where name = ?1";
const SET: &str = "insert or replace into facts (name, value) values (?1, ?2)";

impl Archive {
    pub fn fact(&self, name: &str) -> Result<Option<String>> {
        self.db.first(FACT, [name])
    }

    pub fn set_fact(&self, name: &str, value: &str) -> Result<()> {
        self.db.run(SET, (name, value))
    }

    pub fn drop_fact(&self, name: &str) -> Result<()> {
        self.db.run(DROP, [name])
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;

    #[test]
    fn a_fact_holds_its_last_value() {
        let bench = Bench::new();
        assert_eq!(bench.archive.fact("place").unwrap(), None);
        bench.archive.set_fact("place", "1").unwrap();
        bench.archive.set_fact("place", "2").unwrap();
        assert_eq!(bench.archive.fact("place").unwrap().as_deref(), Some("2"));
        bench.archive.drop_fact("place").unwrap();
        assert_eq!(bench.archive.fact("place").unwrap(), None);
    }
}
