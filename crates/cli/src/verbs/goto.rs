//! `tow goto`: switches to an agent's pane and marks it as seen.
//!
//! `engine::ingest::goto` finds and switches; this asks which of several is meant, and prints.

use super::menu;
use crate::agreement::is_interactive;
use crate::pick::{Candidate, Choice, pick};
use crate::scope::Scope;
use clap::Args;
use towline_core::escape::{escape_for_terminal, fit_to_width};
use towline_core::shown::{SeatView, age};
use towline_core::time::Timestamp;
use towline_engine::ingest::live::Glance;
use towline_engine::ingest::{goto, live};
use towline_engine::query::{EndedSession, resumable, seats_that_began_with};
use towline_engine::runtime::{Env, Failure};
use towline_engine::status::tmux::conf::current_server;

const EXAMPLES: &str = "\
Examples:
  tow goto                   choose from all agents
  tow goto shop              the agent in the project `shop`, or on a branch of that name
  tow goto flaky checkout    the one whose prompt has these words
  tow goto %3                the agent in this tmux pane
  tow goto 1a2b3c4d          the session with this id, as `tow session list` shows it
  tow goto --next            the one that has waited for you longest";

/// Go to an agent: by project, branch, words of its prompt, pane or id.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A project, a branch, words of the prompt, a pane or an id; without any, choose.
    #[arg(value_name = "AGENT")]
    words: Vec<String>,
    /// The agent that has waited longest.
    #[arg(long, conflicts_with = "words")]
    next: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.words.is_empty() && !arguments.next && current_server().is_some() {
        return menu::open(scope);
    }
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    match arguments.next {
        true => next(scope, &seats),
        false => goto::go(&scope.env, chosen(scope, &seats, &arguments.words, "tow goto")?),
    }
}

pub fn next(scope: &Scope, seats: &[SeatView]) -> Result<(), Failure> {
    match goto::longest_waiting(seats) {
        Some(seat) => goto::go(&scope.env, seat)?,
        None => scope.out.line(NOBODY_WAITS),
    }
    Ok(())
}

/// The agent that the words mean. Several are chosen from; a session that has ended is answered with how to resume it.
pub fn chosen<'a>(
    scope: &Scope,
    seats: &'a [SeatView],
    words: &[String],
    command: &str,
) -> Result<&'a SeatView, Failure> {
    let wanted = words.join(" ");
    let (found, why) = match wanted.as_str() {
        "" if !is_interactive() => {
            return Err(Failure::input("no agent was named")
                .hint(format!("Run `tow status`, then `{command} NAME`.")));
        }
        "" => (seats.iter().collect(), "all agents".to_owned()),
        _ => (goto::matching(seats, &wanted), format!("several agents fit `{wanted}`")),
    };
    let found = match found.is_empty() && !wanted.is_empty() {
        true => seats_that_began_with(&scope.env, seats, &wanted)?,
        false => found,
    };
    if found.is_empty() {
        return Err(if wanted.is_empty() { no_agent() } else { ended(&scope.env, &wanted)? });
    }
    let candidates: Vec<Candidate> = found.iter().map(|seat| candidate(seat, scope.env.now)).collect();
    Ok(found[pick(scope, &Choice { why, command }, &candidates)?])
}

fn candidate(seat: &SeatView, now: Timestamp) -> Candidate {
    let (waited, place) = (age(now.since_ms(seat.since)), seat.project_and_branch());
    let prompt = fit_to_width(seat.prompt.as_deref().unwrap_or("(no prompt yet)"), 40);
    let (pane, name) = (seat.pane.as_deref().unwrap_or("-"), seat.short().to_owned());
    let label = format!(
        "{:<9} {waited:<4} {} {name} {pane} {place} {}",
        seat.state_name(),
        seat.agent,
        prompt.trim()
    );
    Candidate { label: escape_for_terminal(&label), name }
}

pub fn ended_candidate(session: &EndedSession, now: Timestamp) -> Candidate {
    let branch = session.branch.as_deref().map_or(String::new(), |branch| format!("/{branch}"));
    let place = format!("{}{branch}", session.project.as_deref().unwrap_or("?"));
    let (words, name) = (fit_to_width(&session.words, 40), session.key.short().to_owned());
    let label =
        format!("{:<4} {} {name} {place} {}", age(now.since_ms(session.at)), session.key.agent, words.trim());
    Candidate { label: escape_for_terminal(&label), name }
}

/// No agent fits: names the past sessions that do.
fn ended(env: &Env, wanted: &str) -> Result<Failure, Failure> {
    let past = resumable(env, wanted)?;
    let failure = Failure::input(format!(
        "no agent that fits `{wanted}` is running, but a session that fits has ended"
    ));
    let hint = |session: &EndedSession| {
        let candidate = ended_candidate(session, env.now);
        format!("Run `tow session resume {}` to go on with: {}", candidate.name, candidate.label.trim())
    };
    Ok(match past.is_empty() {
        true => nobody(wanted),
        false => past.iter().take(5).fold(failure, |failure, session| failure.hint(hint(session))),
    })
}

pub fn nobody(wanted: &str) -> Failure {
    match wanted {
        "" => Failure::input("no session of this project has ended")
            .hint("Run `tow session list --all-projects`."),
        _ => Failure::input(format!("no agent and no past session fits `{wanted}`"))
            .hint("Run `tow status` for all agents, `tow session list --all-projects` for past sessions."),
    }
}

fn no_agent() -> Failure {
    Failure::input("no agent is running")
        .hint("Run `tow new` to start one, `tow session resume` to go on with one.")
}

pub const NOBODY_WAITS: &str = "nobody waits for you";
