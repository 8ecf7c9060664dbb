//! Writes the agents and their states as JSON.
//!
//! Pure: it must not probe an agent or read the clock.

use serde_json::{Value, json};
use towline_core::shown::SeatView;

pub fn status_json(seats: &[SeatView]) -> Value {
    json!({"seats": seats.iter().map(seat_json).collect::<Vec<_>>()})
}

fn seat_json(seat: &SeatView) -> Value {
    json!({
        "seat": seat.seat,
        "agent": seat.agent,
        "session": seat.session,
        "state": seat.state.name(),
        "since": seat.since.to_utc(),
        "reason": seat.state.reason(),
        "project": seat.project,
        "branch": seat.branch,
        "prompt": seat.prompt,
        "tool": seat.tool,
        "helpers": seat.subagents,
        "tasks": seat.tasks,
        "limited_until": seat.until.map(|until| until.to_utc()),
        "context_percent": seat.context_percent,
        "model": seat.model,
        "pane": seat.pane,
        "seen": seat.seen,
    })
}
