//! `tow session resume`: goes on with a session that has ended, in its pane or in a new window.
//!
//! The agent's own command resumes it. A session that is still open is gone to instead.

use super::goto::{self, ended_candidate};
use crate::launch::{Launch, launch};
use crate::pick::{Candidate, Choice, pick};
use crate::scope::Scope;
use clap::Args;
use towline_agents::Agent;
use towline_core::id::SessionKey;
use towline_engine::ingest::goto::{go, matching};
use towline_engine::ingest::live::{self, Glance};
use towline_engine::query::{ProjectScope, ended_sessions, resumable};
use towline_engine::runtime::Failure;
use towline_engine::runtime::descriptions::{Descriptions, folder};

const EXAMPLES: &str = "\
Examples:
  tow session resume               choose from the latest sessions of this project
  tow session resume 1a2b3c4d
  tow session resume shop          the last one in the project `shop`, if it is the only one
  tow session resume flaky checkout --print

It runs the agent's own command, in the folder of the session: in its pane if that is this one or its program has
ended, else in a new window of tmux.";

/// Go on with a session that has ended.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// An id, a project, a branch or words of the prompt; without any, choose.
    #[arg(value_name = "SESSION")]
    words: Vec<String>,
    /// Print the command instead of running it.
    #[arg(long)]
    print: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let wanted = arguments.words.join(" ");
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    if let ([open], false) = (matching(&seats, &wanted).as_slice(), arguments.print) {
        return go(&scope.env, open);
    }
    let (found, why) = match wanted.as_str() {
        "" => (
            ended_sessions(&scope.env, ProjectScope::Here)?,
            "the latest sessions of this project".to_owned(),
        ),
        _ => (resumable(&scope.env, &wanted)?, format!("several sessions fit `{wanted}`")),
    };
    if found.is_empty() {
        return Err(goto::nobody(&wanted));
    }
    let candidates: Vec<Candidate> = found.iter().map(|it| ended_candidate(it, scope.env.now)).collect();
    let chosen = &found[pick(scope, &Choice { why, command: "tow session resume" }, &candidates)?];
    let words = command(scope, &chosen.key)?;
    let there = chosen.folder.as_deref().unwrap_or("/");
    if arguments.print {
        scope.out.line(&format!("cd {there} && {}", words.join(" ")));
        return Ok(());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    launch(scope, Launch::Seat(chosen.seat.as_deref()), there, &words)
}

/// The agent's own command that resumes the session, word by word.
fn command(scope: &Scope, session: &SessionKey) -> Result<Vec<String>, Failure> {
    let name = session.agent.as_str();
    if let Some(agent) = Agent::from_name(name) {
        return Ok(agent.resume_command(&session.id).split(' ').map(str::to_owned).collect());
    }
    let descriptions = Descriptions::load(&scope.env);
    let described = descriptions.named(name).ok_or_else(|| {
        Failure::input(format!("{session} is of an agent that Towline does not know"))
            .hint(format!("Describe it in {}/{name}.toml.", folder(&scope.env).display()))
    })?;
    described.description.resume_command(&session.id).ok_or_else(|| {
        Failure::input(format!(
            "the description of {} names no command that resumes",
            described.description.title()
        ))
        .hint(format!("Run `tow doctor --agent {name}`."))
    })
}
