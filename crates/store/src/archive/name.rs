//! Finds conversations, projects and turns by name or id.
//!
//! Uses indexes; only a name shorter than a short id scans the short ids.

use super::Archive;
use super::read::{CONVERSATION, Conversation, TurnRow};
use crate::Result;
use crate::columns::from_row;
use crate::query::Query;
use towline_core::id::Uid;
use towline_core::text::clip_start;

/// Length of the short id that users and models use.
pub(super) const SHORT: usize = 8;

/// Longer lists of candidates help no user.
const MAX_CANDIDATES: usize = 20;

const NEXT_AGENT: &str = "select min(agent) from conversations where agent > ?1";
const PROJECTS: &str = "select id, name, root, remote from projects order by name, id";
/// A global id starts with the time of its turn, which is indexed.
const TURN_BY_UID: &str = "select conversation, ordinal from turns where at = ?1 and uid = ?2";

/// A project with captured content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRow {
    pub row: i64,
    pub name: String,
    pub root: String,
    pub remote: Option<String>,
}

from_row!(ProjectRow { row, name, root, remote });

impl Archive {
    /// Conversations whose id ends with, begins with or equals `name`.
    pub fn conversations_called(&self, name: &str) -> Result<Vec<Conversation>> {
        let by_short = format!("{CONVERSATION} where c.short = ?1 limit 200");
        let mut found: Vec<Conversation> = self.db.all(&by_short, [clip_start(name, SHORT)])?;
        found.retain(|conversation| conversation.session.id.as_str().ends_with(name));
        if found.is_empty() {
            found = self.conversations_beginning(name)?;
        }
        if found.is_empty() && name.len() < SHORT {
            let by_end = format!("{CONVERSATION} where substr(c.short, ?2) = ?1 limit 200");
            let from = -i64::try_from(name.len()).unwrap_or(0);
            found = self.db.all(&by_end, (name, from))?;
        }
        found.truncate(MAX_CANDIDATES);
        Ok(found)
    }

    /// Uses the index on agent and id, agent by agent.
    fn conversations_beginning(&self, name: &str) -> Result<Vec<Conversation>> {
        // Sorts after every character of an id.
        let end = format!("{name}\u{7f}");
        let query = format!("{CONVERSATION} where c.agent = ?1 and c.session between ?2 and ?3 limit 200");
        let mut found = vec![];
        for agent in self.agents()? {
            found.extend(self.db.all::<Conversation>(&query, (agent, name, &end))?);
        }
        Ok(found)
    }

    /// All agents with conversations; each index lookup starts behind the previous one.
    pub fn agents(&self) -> Result<Vec<String>> {
        let mut found: Vec<String> = vec![];
        let after = |last: Option<&String>| self.db.value(NEXT_AGENT, [last.map_or("", String::as_str)]);
        while let Some(next) = after(found.last())? {
            found.push(next);
        }
        Ok(found)
    }

    pub fn project_rows(&self) -> Result<Vec<ProjectRow>> {
        self.db.all(PROJECTS, [])
    }

    pub fn turn_by_uid(&self, uid: Uid) -> Result<Option<(Conversation, TurnRow)>> {
        let found = self.db.first(TURN_BY_UID, (uid.at().0, uid.0))?;
        let Some((conversation, ordinal)) = found else { return Ok(None) };
        let conversation = self.conversation_by_row(conversation)?;
        let turn = self.turns(&conversation, ordinal, ordinal)?.into_iter().next();
        Ok(turn.map(|turn| (conversation, turn)))
    }
}
