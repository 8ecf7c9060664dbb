//! Cost of work by day, week, month, project, model, session or agent: the store's sums at the prices in force.
//!
//! Combines the sums of `store` with the prices of `core::usage`; counts nothing itself and prints nothing.

mod periods;
mod report;

pub use report::{UsageReport, UsageRequest, report};

use crate::runtime::{Env, settings};
use periods::periods;
use std::collections::HashMap;
use towline_core::id::SessionKey;
use towline_core::ledger::LedgerDay;
use towline_core::named_enum;
use towline_core::time::Timestamp;
use towline_core::usage::{ModelPrices, UsageTotal};
use towline_store::archive::{UsageGroup, UsageGroupBy, UsageProject, UsageQuery, UsedSession};
use towline_store::{Archive, StoreError};

named_enum! {
    /// Grouping of the sums.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum By as from_name {
        Day = "day",
        Week = "week",
        Month = "month",
        Project = "project",
        Model = "model",
        Session = "session",
        Agent = "agent",
    }
}

/// The group that one sum belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// A day, week or month in local time: its start and its name.
    Period(Timestamp, String),
    /// `None`: work outside any project.
    Project(Option<UsageProject>),
    /// `None`: an unnamed model.
    Model(Option<String>),
    Session(Box<UsedSession>),
    Agent(String),
}

/// The prices in force: the user's own, else the compiled-in ones.
pub fn prices(env: &Env) -> ModelPrices {
    settings(env).all_prices()
}

/// Sums by group: periods in order, all others by descending cost.
pub fn sums(
    archive: &Archive,
    prices: &ModelPrices,
    by: By,
    asked: &UsageQuery,
) -> Result<Vec<(Group, UsageTotal)>, StoreError> {
    let periods = periods(&asked.times, by);
    let mut found: HashMap<Group, UsageTotal> = HashMap::new();
    for times in prices.stretches(&asked.times) {
        let at = times.start;
        for (of, used) in archive.usage_sums(in_store(by), &UsageQuery { times, ..asked.clone() })? {
            let Some(group) = group(of, used.model.as_ref(), &periods) else { continue };
            found.entry(group).or_default().add(&used, prices, at);
        }
    }
    for LedgerDay { name, begins, .. } in periods {
        found.entry(Group::Period(begins, name)).or_default();
    }
    Ok(in_order(found))
}

/// Cost of one session including subagents; usage that a fork copied counts for the original session only.
pub fn of_session(
    archive: &Archive,
    prices: &ModelPrices,
    session: &SessionKey,
) -> Result<UsageTotal, StoreError> {
    let mut spent = UsageTotal::default();
    for (at, used) in archive.usage_of_session(session)? {
        spent.add(&used, prices, at);
    }
    Ok(spent)
}

pub fn total(sums: &[(Group, UsageTotal)]) -> UsageTotal {
    sums.iter().fold(UsageTotal::default(), |total, (_, spent)| total.plus(spent))
}

fn in_store(by: By) -> UsageGroupBy {
    match by {
        By::Day | By::Week | By::Month => UsageGroupBy::Quarter,
        By::Project => UsageGroupBy::Project,
        By::Model => UsageGroupBy::Model,
        By::Session => UsageGroupBy::Session,
        By::Agent => UsageGroupBy::Agent,
    }
}

fn group(of: UsageGroup, model: Option<&String>, periods: &[LedgerDay]) -> Option<Group> {
    Some(match of {
        UsageGroup::Quarter(at) => {
            let period = periods.get(periods.partition_point(|period| period.ends <= at))?;
            Group::Period(period.begins, period.name.clone())
        }
        UsageGroup::Project(project) => Group::Project(project),
        UsageGroup::Model => Group::Model(model.cloned()),
        UsageGroup::Session(session) => Group::Session(session),
        UsageGroup::Agent(agent) => Group::Agent(agent),
    })
}

fn in_order(found: HashMap<Group, UsageTotal>) -> Vec<(Group, UsageTotal)> {
    let mut sums: Vec<(Group, UsageTotal)> = found.into_iter().collect();
    sums.sort_by(|(a, spent), (b, other)| match (a, b) {
        (Group::Period(a, _), Group::Period(b, _)) => a.cmp(b),
        (_, _) => {
            let size = |spent: &UsageTotal| (spent.cost, spent.tokens.total());
            size(other).cmp(&size(spent)).then_with(|| a.name().cmp(&b.name()))
        }
    });
    sums
}

impl By {
    /// Rows of these follow each other in time, and none is left out.
    pub fn is_period(self) -> bool {
        matches!(self, By::Day | By::Week | By::Month)
    }
}

impl Group {
    /// Display name.
    pub fn name(&self) -> String {
        match self {
            Group::Period(_, name) => name.clone(),
            Group::Project(project) => {
                project.as_ref().map_or_else(|| "no project".to_owned(), |project| project.name.clone())
            }
            Group::Model(model) => model.clone().unwrap_or_else(|| "a model without a name".to_owned()),
            Group::Session(of) => {
                let project = of.project.as_deref().unwrap_or("no project");
                format!("{} {project}", of.short)
            }
            Group::Agent(agent) => agent.clone(),
        }
    }
}
