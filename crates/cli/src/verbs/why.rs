//! `tow why`: the evidence for an agent's state, and the rule that decided.
//!
//! Prints evidence and verdict as `core` returns them. Changes nothing.

use super::goto;
use crate::scope::Scope;
use clap::Args;
use towline_agents::Agent;
use towline_core::arbiter::{StateEvidence, resolve_state};
use towline_core::escape::escape_for_terminal;
use towline_core::shown::SeatView;
use towline_engine::ingest::live;
use towline_engine::ingest::live::Glance;
use towline_engine::runtime::Failure;
use towline_engine::status::probe;

const EXAMPLES: &str = "\
Examples:
  tow why             choose from all agents
  tow why shop        the agent in the project `shop`
  tow why %3          the agent in this tmux pane
  tow why 1a2b3c4d    the session with this id, as `tow session list` shows it";

/// Explain why an agent is shown in its current state.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A project, a branch, words of the prompt, a pane or an id; without any, choose.
    #[arg(value_name = "AGENT")]
    words: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    let chosen = goto::chosen(scope, &seats, &arguments.words, "tow why")?;
    if chosen.session.is_none() {
        if Agent::from_name(&chosen.agent).is_none() {
            by_description(scope, chosen, arguments.json);
            return Ok(());
        }
        let what = format!("nothing was heard of the agent at {} yet", chosen.seat);
        return Err(Failure::input(what).hint("Give it a prompt; if that changes nothing, run `tow doctor`."));
    }
    let (session, place) = live::session_in_seat(&scope.env, &chosen.seat)?;
    let verdict = resolve_state(&session, &probe::of(&session, &place, &scope.env));
    if arguments.json {
        let evidence: Vec<_> = verdict.evidence.iter().map(row).collect();
        let all = serde_json::json!({
            "session": chosen.session, "seat": chosen.seat, "state": session.state.name(), "since": session.since.to_utc(),
            "confidence": verdict.confidence.name(), "rule": verdict.rule, "evidence": evidence,
        });
        scope.out.json(&all);
        return Ok(());
    }
    scope.out.line(&format!(
        "{} is {} since {}",
        chosen.name(),
        session.state.name(),
        session.since.to_utc()
    ));
    for evidence in &verdict.evidence {
        let at = evidence.at.map_or_else(String::new, |at| format!(" ({})", at.to_utc()));
        scope.out.line(&format!("  {}: {}{at}", evidence.source, escape_for_terminal(&evidence.says)));
    }
    scope.out.line(&format!("  decided by: {} ({})", verdict.rule, verdict.confidence.name()));
    Ok(())
}

/// An agent without hooks: its process and its screen are all that is known.
fn by_description(scope: &Scope, seat: &SeatView, json: bool) {
    let (state, agent) = (seat.state_name(), &seat.agent);
    let says = match seat.by_screen {
        true => "a pattern of its description matches",
        false => "no pattern of its description matches, or it has none",
    };
    if json {
        let evidence = serde_json::json!([{"source": "screen", "says": says, "at": null}]);
        scope.out.json(&serde_json::json!({
            "session": null, "seat": seat.seat, "state": state, "since": seat.since.to_utc(), "confidence": null,
            "rule": "description", "evidence": evidence,
        }));
        return;
    }
    scope.out.line(&format!("{} is {state}", seat.name()));
    scope.out.line(&format!("  screen: {says}"));
    scope
        .out
        .line(&format!("  decided by: the description of `{agent}`; `tow doctor --agent {agent}` checks it"));
}

fn row(evidence: &StateEvidence) -> serde_json::Value {
    serde_json::json!({
        "source": evidence.source, "says": evidence.says, "at": evidence.at.map(|at| at.to_utc()),
    })
}
