//! Finding by name: conversations by what people and models call them, projects by theirs.
//!
//! Long histories are asked through indexes; only a name shorter than a short one looks at all short names.

use super::Archive;
use super::read::{CONVERSATION, Conversation, TurnRow};
use crate::StoreError;
use rusqlite::OptionalExtension;
use towline_core::id::Uid;
use towline_core::text::clip_start;

/// How many letters of a session's id people and models call it by.
pub(super) const SHORT: usize = 8;

/// More candidates than this tell nobody anything.
const MOST: usize = 20;

const NEXT_AGENT: &str = "select min(agent) from conversations where agent > ?1";
const PROJECTS: &str = "select id, name, root, remote from projects order by name, id";
/// A global id begins with its turn's time, by which turns are found anyway.
const TURN_BY_UID: &str = "select conversation, ordinal from turns where at = ?1 and uid = ?2";

/// A project of which something was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRow {
    pub row: i64,
    pub name: String,
    pub root: String,
    pub remote: Option<String>,
}

impl Archive {
    /// Those that are called so: by the last letters of the id, its first ones, or all of them.
    pub fn conversations_called(&self, name: &str) -> Result<Vec<Conversation>, StoreError> {
        let by_short = format!("{CONVERSATION} where c.short = ?1 limit 200");
        let mut found = self.conversations(&by_short, [clip_start(name, SHORT)])?;
        found.retain(|conversation| conversation.session.id.as_str().ends_with(name));
        if found.is_empty() {
            found = self.conversations_beginning(name)?;
        }
        if found.is_empty() && name.len() < SHORT {
            let by_end = format!("{CONVERSATION} where substr(c.short, ?2) = ?1 limit 200");
            let from = -i64::try_from(name.len()).unwrap_or(0);
            found = self.conversations(&by_end, (name, from))?;
        }
        found.truncate(MOST);
        Ok(found)
    }

    /// By the index of agents and ids, agent by agent.
    fn conversations_beginning(&self, name: &str) -> Result<Vec<Conversation>, StoreError> {
        // No letter of an id comes behind this one.
        let end = format!("{name}\u{7f}");
        let query = format!("{CONVERSATION} where c.agent = ?1 and c.session between ?2 and ?3 limit 200");
        let mut found = vec![];
        for agent in self.agents()? {
            found.extend(self.conversations(&query, (agent, name, &end))?);
        }
        Ok(found)
    }

    /// The agents that said anything, each found behind the one before.
    pub fn agents(&self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.db.prepare_cached(NEXT_AGENT)?;
        let mut found: Vec<String> = vec![];
        while let Some(next) = {
            let last = found.last().map_or("", String::as_str);
            statement.query_row([last], |row| row.get::<_, Option<String>>(0))?
        } {
            found.push(next);
        }
        Ok(found)
    }

    /// All projects by name.
    pub fn project_rows(&self) -> Result<Vec<ProjectRow>, StoreError> {
        let mut statement = self.db.prepare_cached(PROJECTS)?;
        let project = |row: &rusqlite::Row<'_>| {
            Ok(ProjectRow { row: row.get(0)?, name: row.get(1)?, root: row.get(2)?, remote: row.get(3)? })
        };
        Ok(statement.query_map([], project)?.collect::<Result<_, _>>()?)
    }

    /// The turn that has this global id.
    pub fn turn_by_uid(&self, uid: Uid) -> Result<Option<(Conversation, TurnRow)>, StoreError> {
        let mut statement = self.db.prepare_cached(TURN_BY_UID)?;
        let place =
            statement.query_row((uid.at().0, uid.0), |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((conversation, ordinal)) = place else { return Ok(None) };
        let conversation = self.conversation_by_row(conversation)?;
        let turn = self.turns(&conversation, ordinal, ordinal)?.into_iter().next();
        Ok(turn.map(|turn| (conversation, turn)))
    }
}
