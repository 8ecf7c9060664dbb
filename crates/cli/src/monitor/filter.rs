//! Which agents `tow status` and `tow monitor` show.
//!
//! Compares the fields of one agent; reads nothing.

use clap::Args;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_engine::runtime::Failure;

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
    /// Prefix of the session id; `None` for all sessions.
    pub session: Option<String>,
    pub seats: SeatFilter,
}

impl SessionFilter {
    pub fn fits(&self, seat: &SeatView) -> bool {
        let key = seat.session.as_deref().unwrap_or_default();
        let id = key.split_once(':').map_or(key, |(_, id)| id);
        let prefix = self.session.as_deref().unwrap_or_default();
        (key.starts_with(prefix) || id.starts_with(prefix)) && self.seats.fits(seat)
    }
}
