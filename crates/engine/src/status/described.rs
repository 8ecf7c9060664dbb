//! Agents by description among the processes: which process is one, and what its screen and the title of its pane show.
//!
//! Screens are read of agents in tmux only, with one query per server. What is not recognised is unknown: a state that was
//! seen before does not stay.

use crate::runtime::Env;
use crate::runtime::descriptions::{Described, Descriptions};
use crate::status::scan::Stray;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use towline_agents::described::{Description, ProcessTraits};
use towline_core::arbiter::ScreenProbe;
use towline_core::event::BlockReason;
use towline_core::seat::SeatKind;
use towline_core::session::SessionState;
use towline_core::time::Timestamp;
use towline_terminal::process::Process;
use towline_terminal::tmux::{PaneInfo, TmuxServer};

/// What an agent without hooks was seen doing, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sight {
    doing: Doing,
    pub since: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Doing {
    Waiting,
    Working,
    Idle,
}

impl Sight {
    pub fn state(self) -> SessionState {
        match self.doing {
            // The screen does not say whether it wants a permission or an answer.
            Doing::Waiting => SessionState::Blocked(BlockReason::Question),
            Doing::Working => SessionState::Working,
            Doing::Idle => SessionState::Idle,
        }
    }

    fn of(probe: ScreenProbe, before: Option<Sight>, now: Timestamp) -> Option<Sight> {
        let doing = match probe {
            ScreenProbe::Dialog => Doing::Waiting,
            ScreenProbe::Busy => Doing::Working,
            ScreenProbe::Prompt => Doing::Idle,
            ScreenProbe::Unknown => return None,
        };
        let since = before.filter(|before| before.doing == doing).map_or(now, |before| before.since);
        Some(Sight { doing, since })
    }
}

/// The descriptions whose agents may run here.
pub fn candidates(env: &Env) -> Vec<Arc<Description>> {
    let descriptions = Descriptions::load(env);
    descriptions.present().map(|Described { description, .. }| Arc::clone(description)).collect()
}

/// Whether the process is the agent in front of a user, and not a child of the agent.
pub fn is_agent(description: &Description, process: &Process) -> bool {
    is_program(description, process)
        && !description.runs_headless(&process.arguments())
        && !Process::read(process.parent).is_some_and(|parent| is_program(description, &parent))
}

/// Whether the process is the agent, however it is run.
pub fn is_program(description: &Description, process: &Process) -> bool {
    let (program, arguments) = (process.program_name(), || process.arguments());
    let traits = ProcessTraits { name: &process.name, program: &program, arguments: &arguments };
    description.is_process(&traits)
}

/// Looks at the screens of the agents that are described.
pub fn look(env: &Env, descriptions: &[Arc<Description>], strays: &mut [Stray]) {
    let described = |stray: &Stray| descriptions.iter().find(|description| description.name() == stray.agent);
    let mut servers: BTreeMap<&str, Vec<PaneInfo>> = BTreeMap::new();
    for stray in strays.iter().filter(|stray| described(stray).is_some() && has_screen(stray)) {
        let place = &stray.place;
        let (Some(socket), Some(id), Some(tty)) = (&place.server, &place.pane, &place.tty) else { continue };
        servers.entry(socket).or_default().push(PaneInfo::at(id, tty));
    }
    let mut shown: Vec<PaneInfo> = vec![];
    for (socket, panes) in servers {
        let server = TmuxServer { socket: socket.to_owned(), pid: String::new() };
        shown.extend(server.show_screens(&panes).unwrap_or_default());
    }
    for stray in strays {
        let Some(description) = described(stray) else { continue };
        let pane = shown.iter().find(|pane| Some(&pane.terminal) == stray.place.tty.as_ref());
        let probe = pane.map_or(ScreenProbe::Unknown, |pane| description.state(&pane.screen, &pane.title));
        stray.sight = Sight::of(probe, stray.sight, env.now);
    }
}

/// Whether the agent is in the foreground of its pane.
fn has_screen(stray: &Stray) -> bool {
    let place = &stray.place;
    let is_it = |process: Process| process.started == place.started && process.is_in_front();
    place.kind == SeatKind::Tmux && Process::read(place.pid).is_some_and(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_lasts_since_it_was_first_seen_and_an_unknown_screen_ends_it() {
        let at = |ms| Timestamp(ms);
        let first = Sight::of(ScreenProbe::Busy, None, at(1)).unwrap();
        let still = Sight::of(ScreenProbe::Busy, Some(first), at(9)).unwrap();
        assert_eq!((still.state(), still.since), (SessionState::Working, at(1)));
        let waits = Sight::of(ScreenProbe::Dialog, Some(still), at(12)).unwrap();
        assert_eq!((waits.state(), waits.since), (SessionState::Blocked(BlockReason::Question), at(12)));
        assert_eq!(Sight::of(ScreenProbe::Unknown, Some(waits), at(13)), None);
    }
}
