//! Names of the team's machines, to show where a row came from, and which of them are other members'.
//!
//! A known name is kept: its rows stay when a machine leaves. This machine's own name is not stored here.

use crate::Result;
use crate::archive::Archive;
use crate::query::Query;
use towline_core::id::Uid;

const NAME: &str = "
    insert into machine_names (id, name) values (?1, ?2)
    on conflict (id) do update set name = excluded.name where name <> excluded.name";
const NAME_OF: &str = "select name from machine_names where id = ?1";
const NAMES: &str = "select id, name from machine_names order by id";
/// The fact that lists the ids of other members' machines.
const OF_OTHERS: &str = "hub machines of others";

impl Archive {
    /// Stores machine names. Writes only new or changed ones.
    pub fn name_machines(&self, names: &[(Uid, String)]) -> Result<()> {
        let known = self.machine_names()?;
        let is_news = |named: &&(Uid, String)| named.0 != self.machine && !known.contains(named);
        let news: Vec<&(Uid, String)> = names.iter().filter(is_news).collect();
        if news.is_empty() {
            return Ok(());
        }
        self.in_transaction(|| {
            for (id, name) in news {
                self.db.change(NAME, (id.0, name))?;
            }
            Ok(())
        })
    }

    /// Stores which machines are other members'. Writes only a change.
    pub fn set_machines_of_others(&self, machines: &[Uid]) -> Result<()> {
        let list = machines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        if self.machines_of_others()? == list {
            return Ok(());
        }
        self.set_fact(OF_OTHERS, &list)
    }

    /// The ids of other members' machines, as one text.
    pub(super) fn machines_of_others(&self) -> Result<String> {
        Ok(self.fact(OF_OTHERS)?.unwrap_or_default())
    }

    /// The name of another machine; `None` for this one and for one that was never named.
    pub fn machine_called(&self, machine: Uid) -> Result<Option<String>> {
        self.db.first(NAME_OF, [machine.0])
    }

    fn machine_names(&self) -> Result<std::collections::HashSet<(Uid, String)>> {
        Ok(self.db.all(NAMES, [])?.into_iter().collect())
    }
}
