//! Gathers everything that must be known of a session before it may be trimmed.
//!
//! Only reads. A failed check names its obstacle.

use crate::handoff::agent_server::{Client, Kind, ServerError};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use towline_agents::server::{HistoryMode, Thread, ThreadStatus, ThreadTurn};
use towline_agents::{Agent, history};
use towline_core::id::{SessionId, TurnId};
use towline_core::meter::ReportedContext;
use towline_terminal::process::{can_be_seen, holders};

/// The newest token count is near the end of the file.
const TAIL: usize = 4 << 20;

/// A session as its server and its file show it.
#[derive(Clone, Debug)]
pub struct Survey {
    pub server: Kind,
    pub thread: Thread,
    pub turns: Vec<ThreadTurn>,
    /// After each turn, by the agent's own count.
    pub tokens: BTreeMap<TurnId, u64>,
    pub usage: Option<ReportedContext>,
    /// Other programs that have the file open: they would not notice the change.
    pub strangers: Vec<String>,
    /// Ordinal at which each turn begins in the file, if found.
    pub beginnings: BTreeMap<TurnId, u64>,
}

/// Queries the server, and reads the file that it names.
pub fn survey(agent: Agent, client: &mut Client<'_>, id: &SessionId) -> Result<Survey, ServerError> {
    let thread = client.thread(id)?;
    let turns = client.turns(id)?;
    let text = thread.path.as_deref().and_then(|path| fs::read(path).ok()).unwrap_or_default();
    let beginning = |turn: &ThreadTurn| Some((turn.id.clone(), history::beginning_of(&text, &turn.id)?));
    Ok(Survey {
        server: client.kind,
        tokens: history::tokens_by_turn(&text),
        usage: agent.context(&text[text.len().saturating_sub(TAIL)..], None),
        strangers: thread.path.as_deref().map(|path| strangers(agent, path)).unwrap_or_default(),
        beginnings: turns.iter().filter_map(beginning).collect(),
        thread,
        turns,
    })
}

/// Programs other than our server that have the file open.
fn strangers(agent: Agent, path: &Path) -> Vec<String> {
    if !can_be_seen() {
        return vec!["a program that cannot be seen here".to_owned()];
    }
    let others = holders(path).into_iter().filter(|process| !agent.is_shared_server(&process.arguments()));
    others.map(|process| format!("{} (process {})", process.program_name(), process.pid)).collect()
}

/// One precondition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    pub verdict: Result<String, String>,
}

/// All preconditions. `at_least` is the share of the window that must be used, in percent.
pub fn checks(survey: &Survey, at_least: u8) -> Vec<Check> {
    let check = |name, verdict| Check { name, verdict };
    vec![
        check("server", Ok(server(survey))),
        check("thread", thread(survey)),
        check("history", history_kept(survey)),
        check("idle", idle(survey)),
        check("alone", alone(survey)),
        check("usage", usage(survey, at_least)),
    ]
}

fn server(survey: &Survey) -> String {
    match survey.server {
        Kind::Shared => "the one in the background answers".to_owned(),
        Kind::Private => "none in the background: one of our own answers".to_owned(),
    }
}

fn thread(survey: &Survey) -> Result<String, String> {
    match (&survey.thread.path, survey.turns.len()) {
        (None, _) => Err("it is kept in no file, so nothing could be read back".to_owned()),
        (Some(_), 0) => Err("it has no turns".to_owned()),
        (Some(path), turns) => Ok(format!("{turns} turns in {}", path.display())),
    }
}

fn history_kept(survey: &Survey) -> Result<String, String> {
    match survey.thread.history {
        HistoryMode::Paginated => Ok("kept in pages, so it can be taken back".to_owned()),
        HistoryMode::Other => Err("kept in the older way, which cannot be taken back".to_owned()),
    }
}

fn idle(survey: &Survey) -> Result<String, String> {
    match survey.thread.status {
        _ if survey.turns.iter().any(|turn| turn.is_running) => Err("a turn is running".to_owned()),
        ThreadStatus::Idle => Ok("nothing is being worked on".to_owned()),
        ThreadStatus::NotLoaded => Ok("nobody has it open".to_owned()),
        ThreadStatus::Active => Err("it is at work".to_owned()),
        ThreadStatus::Other => Err("its server does not say whether it is at work".to_owned()),
    }
}

fn alone(survey: &Survey) -> Result<String, String> {
    match survey.strangers.as_slice() {
        [] => Ok("no other program writes it".to_owned()),
        others => Err(format!("{} has it open, and would not know of the change", others.join(", "))),
    }
}

fn usage(survey: &Survey, at_least: u8) -> Result<String, String> {
    let Some(usage) = survey.usage else {
        return Err("the agent has written no number since the last change: ask something first".to_owned());
    };
    let (Some(window), Some(percent)) = (usage.window, usage.percent()) else {
        return Err(format!("{} tokens of a window that is not known", usage.tokens));
    };
    let said = format!("{} of {window} tokens, {percent} %", usage.tokens);
    if percent < at_least { Err(format!("{said}: less than {at_least} %")) } else { Ok(said) }
}
