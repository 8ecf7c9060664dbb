//! Which agents `tow status` and `tow monitor` show.
//!
//! Compares the fields of agents. Asks the store only for the names of projects, to explain an empty list.

use crate::scope::Scope;
use clap::Args;
use towline_core::id::is_called;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_engine::ingest::live;
use towline_engine::runtime::Failure;
use towline_engine::runtime::config::nearest;

/// Options that select agents by state, project and name.
#[derive(Clone, Debug, Default, Args)]
pub struct SeatFilter {
    /// Only this state: idle, working, blocked, completed, interrupted, limited.
    #[arg(long)]
    state: Option<String>,
    /// Only this project.
    #[arg(long)]
    project: Option<String>,
    /// Only this agent.
    #[arg(long)]
    agent: Option<String>,
}

impl SeatFilter {
    /// Fails if there is no such state.
    pub fn check(&self) -> Result<(), Failure> {
        let Some(state) = self.state.as_deref().filter(|state| !SessionState::SITTING.contains(state)) else {
            return Ok(());
        };
        let hint = format!("States are: {}.", SessionState::SITTING.join(", "));
        Err(Failure::input(format!("there is no state `{state}`")).hint(hint))
    }

    /// Whether it leaves anything out.
    pub fn is_narrow(&self) -> bool {
        self.state.is_some() || self.project.is_some() || self.agent.is_some()
    }

    /// Says that none of these agents is chosen. An unknown project is a mistake.
    pub fn nobody(&self, scope: &Scope, all: &[SeatView]) -> Result<String, Failure> {
        let Some(project) = &self.project else {
            return Ok(format!("no agent fits; `tow status` shows all {}", all.len()));
        };
        let mut open: Vec<&str> = all.iter().filter_map(|seat| seat.project.as_deref()).collect();
        open.sort_unstable();
        open.dedup();
        let recorded =
            live::store(&scope.env)?.map(|store| store.projects()).transpose()?.unwrap_or_default();
        let is_known =
            recorded.iter().any(|(name, _, _)| name == project) || open.contains(&project.as_str());
        if is_known {
            return Ok(format!("no agent that fits is running in `{project}`; `tow status` shows all"));
        }
        let failure = Failure::input(format!("there is no project `{project}`"));
        let names = recorded.iter().map(|(name, _, _)| name.as_str()).chain(open.iter().copied());
        Err(match nearest(project, names) {
            Some(near) => failure.hint(format!("Did you mean `--project {near}`?")),
            None if open.is_empty() => failure.hint("Run `tow session list --all-projects`."),
            None => failure.hint(format!("Projects with agents: {}.", open.join(", "))),
        })
    }

    pub fn fits(&self, seat: &SeatView) -> bool {
        let is =
            |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        is(&self.state, Some(seat.state.name()))
            && is(&self.project, seat.project.as_deref())
            && is(&self.agent, Some(&seat.agent))
    }
}

/// The sessions of a monitor.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// The session's id, its end or its beginning; `None` for all sessions.
    pub session: Option<String>,
    pub seats: SeatFilter,
}

impl SessionFilter {
    pub fn fits(&self, seat: &SeatView) -> bool {
        let key = seat.session.as_deref().unwrap_or_default();
        let id = key.split_once(':').map_or(key, |(_, id)| id);
        let prefix = self.session.as_deref().unwrap_or_default();
        (key.starts_with(prefix) || is_called(id, prefix)) && self.seats.fits(seat)
    }
}
