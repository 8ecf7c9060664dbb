//! Switching to an agent's pane and marking it as seen.
//!
//! Types nothing and does not disturb the agent.

use crate::ingest::bar;
use crate::ingest::live::{self, Glance};
use crate::runtime::{Env, Failure};
use crate::status::push::server_of;
use crate::status::read_marks::{self, Look};
use crate::status::tmux::conf::current_server;
use towline_agents::settings::quote;
use towline_core::called::{self, Callable};
use towline_core::escape::{escape_for_terminal, fit_to_width};
use towline_core::id::is_called;
use towline_core::shown::{SeatLight, SeatView};

/// Goes to the agent that the text means.
pub fn goto(env: &Env, wanted: &str) -> Result<(), Failure> {
    let seats = live::seats(env, Glance::Thorough)?;
    go(env, choose(&seats, wanted)?)
}

/// The only seat that the text may mean.
pub fn choose<'a>(seats: &'a [SeatView], wanted: &str) -> Result<&'a SeatView, Failure> {
    match matching(seats, wanted).as_slice() {
        [] => {
            Err(Failure::input(format!("no agent sits at `{wanted}`"))
                .hint("Run `tow status` for all seats."))
        }
        [seat] => Ok(seat),
        several => {
            let names: Vec<String> = several.iter().map(|seat| label(seat)).collect();
            Err(Failure::input(format!("`{wanted}` fits several: {}", names.join(", ")))
                .hint("Give the id of one of them."))
        }
    }
}

/// The seats that a text may mean: a pane, the beginning of a session's id or its short name, else a project, a branch, the
/// agent's name or words of the last prompt. Of panes with the same name, the current tmux server's win.
pub fn matching<'a>(seats: &'a [SeatView], wanted: &str) -> Vec<&'a SeatView> {
    let fits = |seat: &&SeatView| {
        seat.pane.as_deref() == Some(wanted)
            || seat.session_id().is_some_and(|id| is_called(id, wanted))
            || seat.name() == wanted
            || seat.seat == wanted
    };
    let here = current_server();
    let mut found: Vec<&SeatView> = seats.iter().filter(fits).collect();
    if found.len() > 1 && found.iter().any(|seat| server_of(&seat.seat) == here) {
        found.retain(|seat| server_of(&seat.seat) == here);
    }
    let callable = |seat: &'a SeatView| Callable {
        agent: &seat.agent,
        project: seat.project.as_deref(),
        branch: seat.branch.as_deref(),
        words: seat.prompt.as_deref().unwrap_or_default(),
    };
    if found.is_empty() { called::best(seats, wanted, callable) } else { found }
}

/// An agent in a few words that no other one has: its name, id and prompt.
fn label(seat: &SeatView) -> String {
    let prompt = seat.prompt.as_deref().map(|prompt| format!(" “{}”", fit_to_width(prompt.trim(), 40)));
    escape_for_terminal(&format!("{} {}{}", seat.agent, seat.short(), prompt.unwrap_or_default()))
}

/// Seats are sorted by urgency: the first that needs the user has waited longest.
pub fn longest_waiting(seats: &[SeatView]) -> Option<&SeatView> {
    let waits = |seat: &&SeatView| {
        matches!(seat.light(), SeatLight::Blocked | SeatLight::Stopped | SeatLight::Completed)
    };
    seats.iter().find(waits)
}

/// Switches to the seat's pane and marks it as seen.
pub fn go(env: &Env, seat: &SeatView) -> Result<(), Failure> {
    let (Some(pane), Some(server)) = (&seat.pane, server_of(&seat.seat)) else {
        let what = format!("{} does not sit in a tmux pane", seat.name());
        return Err(Failure::input(what).hint(format!("It sits at {}.", seat.seat)));
    };
    if !server.show(pane) {
        let what = format!("pane {pane} is not there any more");
        return Err(Failure::input(what).hint("Run `tow status` for all seats."));
    }
    if server.lookers(pane).is_empty() {
        let what = format!("pane {pane} is chosen, but nobody is attached to see it");
        let attach = format!("tmux -S {} attach", quote(&server.socket));
        return Err(Failure::input(what).hint(format!("Run `{attach}`.")));
    }
    read_marks::see(env, seat)?;
    bar::refresh(env, Look::Nowhere)
}
