//! `tow status --fleet`: the agents on all machines of this user, as last reported to the hub.
//!
//! Shows no other user's agents: the hub returns only the caller's own.

use crate::output::Tone;
use crate::scope::Scope;
use serde_json::{Value, json};
use std::time::Duration;
use towline_core::escape::{escape_for_terminal, fit_to_width, pad};
use towline_core::shown::age;
use towline_engine::runtime::Failure;
use towline_engine::sync::{Link, NoLink, machine};
use towline_hub::{FleetMachine, FleetSeat};

const PATIENCE: Duration = Duration::from_secs(5);
/// After this long without a report, a machine may be asleep or offline.
const OLD_MS: i64 = 10 * 60_000;

pub fn run(scope: &Scope, is_json: bool) -> Result<(), Failure> {
    let mut link = Link::open(&scope.env, &machine(&scope.env)?, PATIENCE)?;
    let machines = link.hub.fleet(&link.membership).map_err(NoLink::from)?;
    if is_json {
        let all: Vec<Value> = machines.iter().map(machine_json).collect();
        scope.out.json(&json!({"machines": all}));
    } else {
        machines.iter().for_each(|machine| print(scope, machine));
    }
    Ok(())
}

fn machine_json(machine: &FleetMachine) -> Value {
    let seats: Vec<Value> = machine.seats.iter().map(seat_json).collect();
    json!({"machine": machine.name, "id": machine.id, "seen_at": machine.seen_at.to_utc(), "seats": seats})
}

fn seat_json(seat: &FleetSeat) -> Value {
    json!({
        "seat": seat.seat, "agent": seat.agent, "session": seat.session, "state": seat.state,
        "since": seat.since.to_utc(), "project": seat.project, "prompt": seat.prompt,
        "context_percent": seat.context_percent, "model": seat.model,
    })
}

fn print(scope: &Scope, machine: &FleetMachine) {
    let silent_ms = scope.env.now.since_ms(machine.seen_at).max(0);
    let heard = format!("heard {} ago", age(silent_ms));
    let tone = if silent_ms > OLD_MS { Tone::Warning } else { Tone::Faint };
    scope.out.line(&format!("{}  {}", escape_for_terminal(&machine.name), scope.out.tint(tone, &heard)));
    for seat in &machine.seats {
        let waited = age(scope.env.now.since_ms(seat.since).max(0));
        let project = escape_for_terminal(seat.project.as_deref().unwrap_or("?"));
        let context = seat.context_percent.map_or(String::new(), |percent| format!("{percent}%"));
        let prompt = escape_for_terminal(seat.prompt.as_deref().unwrap_or(""));
        let [state, waited, agent, project, context] = [
            (&escape_for_terminal(&seat.state), 12),
            (&waited, 5),
            (&escape_for_terminal(&seat.agent), 7),
            (&project, 24),
            (&context, 4),
        ]
        .map(|(text, wide)| pad(text, wide));
        let line = format!("  {state}{waited} {agent} {project} {context} {prompt}");
        scope.out.line(fit_to_width(&line, scope.out.columns()).trim_end());
    }
    if machine.seats.is_empty() {
        scope.out.line(&scope.out.tint(Tone::Faint, "  no agent is running"));
    }
}
