//! What the team's machines are called, for who is shown where a row came from.
//!
//! A name that was told once stays: its machine may have left, its rows have not. This machine's own is not kept here.

use crate::StoreError;
use crate::archive::Archive;
use rusqlite::OptionalExtension;
use towline_core::id::Uid;

const NAME: &str = "
    insert into machine_names (id, name) values (?1, ?2)
    on conflict (id) do update set name = excluded.name where name <> excluded.name";
const CALLED: &str = "select name from machine_names where id = ?1";
const NAMES: &str = "select id, name from machine_names order by id";

impl Archive {
    /// Keeps what machines are called. What is known already costs no writing.
    pub fn name_machines(&self, names: &[(Uid, String)]) -> Result<(), StoreError> {
        let known = self.machine_names()?;
        let is_news = |named: &&(Uid, String)| named.0 != self.machine && !known.contains(named);
        let news: Vec<&(Uid, String)> = names.iter().filter(is_news).collect();
        if news.is_empty() {
            return Ok(());
        }
        self.as_one(|| {
            for (id, name) in news {
                self.db.prepare_cached(NAME)?.execute((id.0, name))?;
            }
            Ok(())
        })
    }

    /// What another machine is called; `None` for this one, and for one that was never named.
    pub fn machine_called(&self, machine: Uid) -> Result<Option<String>, StoreError> {
        Ok(self.db.prepare_cached(CALLED)?.query_row([machine.0], |row| row.get(0)).optional()?)
    }

    fn machine_names(&self) -> Result<std::collections::HashSet<(Uid, String)>, StoreError> {
        let mut statement = self.db.prepare_cached(NAMES)?;
        let found = statement.query_map([], |row| Ok((Uid(row.get(0)?), row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}
