//! Token usage summed by SQL: by quarter of an hour, project, model, session or agent.
//!
//! Reads the sums that triggers maintain; only `usage_of_conversation` reads message rows, of one session. Knows no prices.

use super::{Archive, Conversation};
use crate::Result;
use crate::columns::{Columns, from_row};
use crate::query::Query;
use std::ops::Range;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;
use towline_core::usage::BandUsage;

/// The triggers that maintain the sums, for connections that write.
pub(super) const TRIGGERS: &str = include_str!("usage/triggers.sql");

/// Inserts a message's usage and decides whether it counts: a fork copies messages into another session's file. A copy
/// has the same id and the same time or the same counts: some servers reuse ids.
macro_rules! add_usage {
    ($if_known:literal) => {
        concat!(
            "insert into usage (conversation, message, turn, at, subagent, model, input, cache_read, cache_write,
                cache_write_1h, output, counted)
            values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, not exists (
                select 1 from usage other where other.message = ?2 and other.conversation <> ?1 and other.counted = 1
                    and (other.at = ?4 or (other.input, other.cache_read, other.cache_write, other.output)
                        = (?7, ?8, ?9, ?11))))
            on conflict (conversation, message) ",
            $if_known
        )
    };
}
pub(super) use add_usage;

/// The key that usage is grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageGroupBy {
    /// The finest grain stored; callers add quarters up to days.
    Quarter,
    Project,
    Model,
    Session,
    Agent,
}

#[derive(Clone, Debug)]
pub struct UsageQuery {
    /// Rounded down to the quarter of an hour.
    pub times: Range<Timestamp>,
    /// The row of the project; `None` for all.
    pub project: Option<i64>,
    pub agent: Option<String>,
}

/// The group of one sum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UsageGroup {
    /// The quarter of an hour that begins then.
    Quarter(Timestamp),
    /// `None` for usage outside any project.
    Project(Option<UsageProject>),
    Model,
    Session(Box<UsedSession>),
    Agent(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UsageProject {
    pub row: i64,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UsedSession {
    /// As `agent:id`.
    pub key: String,
    pub short: String,
    pub project: Option<String>,
    pub last_at: Timestamp,
}

/// The sessions whose usage is one series of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageSeries {
    pub agent: String,
    /// The folder that the sessions began in, and their project's root and name.
    pub folder: Option<String>,
    pub root: Option<String>,
    pub project: Option<String>,
}

const QUARTER_MS: i64 = 900_000;

/// Every query returns model, band and sums in the same columns.
macro_rules! sums {
    ($of:literal, $joins:literal, $group:literal) => {
        concat!(
            "select ",
            $of,
            ", s.model, s.band, sum(s.messages), sum(s.input), sum(s.cache_read), sum(s.cache_write),
                sum(s.cache_write_1h), sum(s.output)
            from usage_sums s ",
            $joins,
            " where s.quarter >= ?1 and s.quarter < ?2
                and (?3 is null or s.conversation in (select id from conversations where project = ?3))
                and (?4 is null or s.conversation in (select id from conversations where agent = ?4))
            group by ",
            $group,
            "s.model, s.band"
        )
    };
}

const BY_QUARTER: &str = sums!("s.quarter, null, null, null, null", "", "s.quarter, ");
const BY_MODEL: &str = sums!("null, null, null, null, null", "", "");
const BY_PROJECT: &str = sums!(
    "p.id, p.name, null, null, null",
    "join conversations c on c.id = s.conversation left join projects p on p.id = c.project",
    "c.project, "
);
const BY_AGENT: &str =
    sums!("null, c.agent, null, null, null", "join conversations c on c.id = s.conversation", "c.agent, ");
const BY_SESSION: &str = sums!(
    "c.last_at, c.agent, c.session, c.short, p.name",
    "join conversations c on c.id = s.conversation left join projects p on p.id = c.project",
    "s.conversation, "
);

/// Other machines count their own sessions.
const SERIES: &str = "
    select distinct c.agent, c.folder, p.root, p.name from conversations c left join projects p on p.id = c.project
    where c.machine = ?1";
const SERIES_OF: &str = "
    select c.agent, c.folder, p.root, p.name from conversations c left join projects p on p.id = c.project
    where c.id = ?1";

const OF_CONVERSATION: &str = "
    select quarter, counted, ifnull(model, ''), band, count(*), sum(input), sum(cache_read), sum(cache_write),
        sum(cache_write_1h), sum(output)
    from usage where conversation = ?1 and quarter >= ?2 and quarter < ?3
    group by quarter, counted, model, band";

const OF_SESSION: &str = "
    select s.quarter, s.model, s.band, s.messages, s.input, s.cache_read, s.cache_write, s.cache_write_1h, s.output
    from conversations c join usage_sums s on s.conversation = c.id where c.agent = ?1 and c.session = ?2
    order by s.quarter";

impl Archive {
    /// Usage sums with their groups. Sums of one group are adjacent.
    pub fn usage_sums(&self, by: UsageGroupBy, asked: &UsageQuery) -> Result<Vec<(UsageGroup, BandUsage)>> {
        let query = match by {
            UsageGroupBy::Quarter => BY_QUARTER,
            UsageGroupBy::Project => BY_PROJECT,
            UsageGroupBy::Model => BY_MODEL,
            UsageGroupBy::Session => BY_SESSION,
            UsageGroupBy::Agent => BY_AGENT,
        };
        let quarter = |at: Timestamp| at.0.div_euclid(QUARTER_MS);
        let (from, until) = (quarter(asked.times.start), quarter(asked.times.end));
        let found: Vec<(GroupColumns, BandUsage)> =
            self.db.all(query, (from, until, asked.project, &asked.agent))?;
        Ok(found.into_iter().map(|(columns, used)| (group(by, columns), used)).collect())
    }

    /// Agents, folders and projects of all sessions captured here. Needs an archive that was opened for writing: only that
    /// knows its machine.
    pub fn usage_series(&self) -> Result<Vec<UsageSeries>> {
        self.db.all(SERIES, [self.machine.0])
    }

    pub fn usage_series_of(&self, conversation: &Conversation) -> Result<UsageSeries> {
        self.db.value(SERIES_OF, [conversation.row()])
    }

    /// The usage of a conversation per quarter of an hour in these times, and whether it counts: messages that another
    /// conversation has, too, count in one of them. Reads the message rows.
    pub fn usage_of_conversation(
        &self,
        of: &Conversation,
        times: &Range<Timestamp>,
    ) -> Result<Vec<(Timestamp, bool, BandUsage)>> {
        let quarter = |at: Timestamp| at.0.div_euclid(QUARTER_MS);
        let range = (of.row(), quarter(times.start), quarter(times.end));
        let found: Vec<(i64, bool, BandUsage)> = self.db.all(OF_CONVERSATION, range)?;
        Ok(found.into_iter().map(|(quarter, counts, used)| (begins(quarter), counts, used)).collect())
    }

    /// The usage of a session per quarter of an hour, in order.
    pub fn usage_of_session(&self, session: &SessionKey) -> Result<Vec<(Timestamp, BandUsage)>> {
        let found: Vec<(i64, BandUsage)> =
            self.db.all(OF_SESSION, (session.agent.as_str(), session.id.as_str()))?;
        Ok(found.into_iter().map(|(quarter, used)| (begins(quarter), used)).collect())
    }

    /// The time span of all usage; `None` if there is none.
    pub fn usage_span(&self) -> Result<Option<Range<Timestamp>>> {
        const SPAN: &str = "
            select (select min(quarter) from usage_sums), (select max(quarter) from usage_sums)";
        let (first, last): (Option<i64>, Option<i64>) = self.db.value(SPAN, [])?;
        Ok(first.zip(last).map(|(first, last)| begins(first)..begins(last + 1)))
    }
}

/// The columns that name a group: which are set, and what they mean, depends on the query.
type GroupColumns = (Option<i64>, Option<String>, Option<String>, Option<String>, Option<String>);

from_row!(UsageSeries { agent, folder, root, project });
from_row!(BandUsage { model: model, band, messages, tokens });

fn model(columns: &mut Columns<'_>) -> rusqlite::Result<Option<String>> {
    Ok(Some(columns.get::<String>()?).filter(|model| !model.is_empty()))
}

fn group(by: UsageGroupBy, (number, name, session, short, project): GroupColumns) -> UsageGroup {
    match by {
        UsageGroupBy::Quarter => UsageGroup::Quarter(begins(number.unwrap_or_default())),
        UsageGroupBy::Model => UsageGroup::Model,
        UsageGroupBy::Agent => UsageGroup::Agent(name.unwrap_or_default()),
        UsageGroupBy::Project => {
            UsageGroup::Project(number.zip(name).map(|(row, name)| UsageProject { row, name }))
        }
        UsageGroupBy::Session => UsageGroup::Session(Box::new(UsedSession {
            key: format!("{}:{}", name.unwrap_or_default(), session.unwrap_or_default()),
            short: short.unwrap_or_default(),
            project,
            last_at: Timestamp(number.unwrap_or_default()),
        })),
    }
}

fn begins(quarter: i64) -> Timestamp {
    Timestamp(quarter * QUARTER_MS)
}

#[cfg(test)]
mod tests;
