//! `tow session trim`: frees context in a nearly full session, through the agent's own server.
//!
//! Only shows the plan unless `--execute` is given. Types nothing, and edits no file of the agent itself.

use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;
use towline_agents::Agent;
use towline_core::compose::{CUT_TO_MAKE_ROOM, ComposedContext};
use towline_core::escape::escape_for_terminal;
use towline_core::id::SessionKey;
use towline_engine::capture::{Transcript, Wishes, capture};
use towline_engine::erase::trim::{
    Check, Cut, Half, Outcome, Survey, carry_out, checks, cut, memory, survey,
};
use towline_engine::handoff::agent_server::{Client, ServerError, address_of};
use towline_engine::handoff::past;
use towline_engine::query::ownership;
use towline_engine::runtime::Failure;
use towline_store::{Archive, Store};

const EXAMPLES: &str = "\
Examples:
  tow session trim                        what would be cut of the session here, and what would be given instead
  tow session trim 1a2b3c4d --preflight   only check whether it could be trimmed
  tow session trim 1a2b3c4d --execute     do it
  tow session trim 1a2b3c4d --keep 3 --execute

The turns are taken back in the conversation alone: files stay as they are. The old history stays in its file.
What a session's screen shows is not redrawn: the model no longer knows what was cut, except by the memory of it.";

/// Free context in a nearly full session: take its turns back, and give the model a memory of them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The session, by its id or a part of it; the one that this runs in if not given.
    #[arg(value_name = "THREAD")]
    thread: Option<String>,
    /// The same, as an option.
    #[arg(long, value_name = "ID", conflicts_with = "thread")]
    session: Option<String>,
    /// Show what would be done (the default).
    #[arg(long, conflicts_with_all = ["preflight", "execute"])]
    dry_run: bool,
    /// Only check whether it could be done.
    #[arg(long, conflicts_with = "execute")]
    preflight: bool,
    /// Trim the session.
    #[arg(long)]
    execute: bool,
    /// Keep the first N turns; by default the first one if it is small.
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Only if at least this much of the window is used.
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    at_least: u8,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const PATIENCE: Duration = Duration::from_millis(500);

/// Everything the decision depends on.
struct TrimPlan {
    key: SessionKey,
    survey: Survey,
    checks: Vec<Check>,
    cut: Option<Cut>,
    memory: ComposedContext,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (agent, key) = subject(scope, arguments)?;
    let address = address_of(agent, || {
        let what =
            format!("sessions of {} cannot be trimmed: no server of it can take turns back", agent.title());
        Failure::input(what)
            .hint(format!("Run `/compact` there, or `tow session context {}` and `/clear`.", key.short()))
    })?;
    let mut client = Client::open(&scope.env, agent, &address)?;
    let survey = survey(agent, &mut client, &key.id).map_err(|error| unknown(&error, &key))?;
    let plan = plan(scope, arguments, agent, key, survey)?;
    if !arguments.execute {
        show(scope, arguments, &plan, None);
        let is_ready = plan.checks.iter().all(|check| check.verdict.is_ok());
        let is_failed = arguments.preflight && !is_ready;
        return Ok(if is_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    let cut = allowed(&plan)?;
    let outcome = carry_out(&mut client, &plan.survey, cut, &plan.memory.text);
    show(scope, arguments, &plan, Some(&outcome));
    Ok(if outcome.is_done() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A known session, or the full id of an unknown one.
fn subject(scope: &Scope, arguments: &Arguments) -> Result<(Agent, SessionKey), Failure> {
    let name = arguments.thread.as_deref().or(arguments.session.as_deref());
    let found =
        ownership::store(&scope.env).and_then(|store| ownership::session(&store, name, "tow session trim"));
    let key = match (found, name) {
        (Ok(session), _) => session.key,
        (Err(failure), name) => name.and_then(whole_id).ok_or(failure)?,
    };
    let agent = Agent::from_name(key.agent.as_str());
    agent.map(|agent| (agent, key)).ok_or_else(|| Failure::input("the agent of this session is not known"))
}

/// Length of a full id; a shorter one is a part.
const WHOLE: usize = 36;

fn whole_id(name: &str) -> Option<SessionKey> {
    let id = name.rsplit(':').next().unwrap_or(name);
    let served = Agent::ALL.into_iter().find(|agent| agent.server("/".as_ref()).is_some())?;
    served.session_named(id).filter(|_| id.len() == WHOLE)
}

fn unknown(error: &ServerError, key: &SessionKey) -> Failure {
    Failure::about(format!("could not look at {key}"), error)
        .hint("Run `tow status` for the sessions that are open.")
}

fn plan(
    scope: &Scope,
    arguments: &Arguments,
    agent: Agent,
    key: SessionKey,
    survey: Survey,
) -> Result<TrimPlan, Failure> {
    let mut checks = checks(&survey, arguments.at_least);
    let cut = cut(&survey, arguments.keep);
    if let (None, Some(keep)) = (&cut, arguments.keep) {
        let what = format!("there are {} turns: none would go if {keep} stay", survey.turns.len());
        return Err(Failure::input(what).hint("Give a smaller number to --keep."));
    }
    let memory = cut.as_ref().map(|cut| remembered(scope, agent, &key, &survey, cut)).transpose()?;
    let memory = memory.unwrap_or_default();
    checks.push(memory_check(agent, &memory));
    Ok(TrimPlan { key, survey, checks, cut, memory })
}

/// Captures the transcript first: the archive must hold the turns before they are taken back.
fn remembered(
    scope: &Scope,
    agent: Agent,
    key: &SessionKey,
    survey: &Survey,
    cut: &Cut,
) -> Result<ComposedContext, Failure> {
    if let (Some(path), Ok(wishes)) = (survey.thread.path.clone(), Wishes::load(&scope.env)) {
        let captured = capture(&scope.env, &wishes, &[Transcript { agent: agent.into(), path }]);
        captured.map(drop).map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))?;
    }
    let Some(archive) = Archive::read(&scope.env.home, PATIENCE)? else {
        return Ok(ComposedContext::default());
    };
    let Some(conversation) = archive.conversation(key)? else { return Ok(ComposedContext::default()) };
    let hot = Store::read(&scope.env.home, PATIENCE)?;
    let way = CUT_TO_MAKE_ROOM.to_owned();
    let material = past::material(Some(&archive), hot.as_ref(), key, way, scope.env.now)?;
    memory(agent, material, &archive, &conversation, cut).map_err(Failure::from)
}

fn memory_check(agent: Agent, memory: &ComposedContext) -> Check {
    let size = agent.budget().size_of(&memory.text);
    let verdict = if memory.text.is_empty() {
        Err("nothing was captured of what would go".to_owned())
    } else {
        Ok(format!("at most {size} {}", agent.budget().unit()))
    };
    Check { name: "memory", verdict }
}

fn allowed(plan: &TrimPlan) -> Result<&Cut, Failure> {
    let wrong =
        plan.checks.iter().filter_map(|check| check.verdict.as_ref().err().map(|why| (check.name, why)));
    let wrong: Vec<String> = wrong.map(|(name, why)| format!("{name}: {why}")).collect();
    match &plan.cut {
        Some(cut) if wrong.is_empty() => Ok(cut),
        Some(_) | None => {
            let mut failure = Failure::input(format!("{} is not trimmed, and nothing was changed", plan.key));
            failure.causes = wrong;
            Err(failure.hint(format!(
                "Run `tow session trim {} --preflight` when that has changed.",
                plan.key.short()
            )))
        }
    }
}

fn show(scope: &Scope, arguments: &Arguments, plan: &TrimPlan, outcome: Option<&Outcome>) {
    if arguments.json {
        return scope.out.json(&as_json(plan, outcome));
    }
    match outcome {
        Some(outcome) => show_outcome(scope, plan, outcome),
        None => {
            show_checks(scope, plan);
            if !arguments.preflight {
                show_plan(scope, plan);
            }
        }
    }
}

fn show_checks(scope: &Scope, plan: &TrimPlan) {
    for check in &plan.checks {
        let (mark, words) = match &check.verdict {
            Ok(words) => (scope.out.tint(Tone::Good, "ok"), words),
            Err(words) => (scope.out.tint(Tone::Bad, "no"), words),
        };
        scope.out.line(&format!("{mark}  {:<8} {}", check.name, escape_for_terminal(words)));
    }
}

fn show_plan(scope: &Scope, plan: &TrimPlan) {
    let Some(cut) = &plan.cut else { return };
    let line = |text: &str| scope.out.line(text);
    line("");
    line(&format!("would go:   {}, from {} on; {} before stay", turns(cut.turns), cut.before, cut.kept));
    if let Some(usage) = plan.survey.usage {
        line(&format!("tokens:     {} now, {}", usage.tokens, tokens_after(plan, cut)));
    }
    line("would give:");
    for text in plan.memory.text.lines() {
        line(&scope.out.tint(Tone::Faint, &format!("  {}", escape_for_terminal(text))));
    }
    line("");
    line(&format!("next: `tow session trim {} --execute` does it; nothing was changed", plan.key.short()));
}

fn turns(count: usize) -> String {
    if count == 1 { "1 turn".to_owned() } else { format!("{count} turns") }
}

fn memory_tokens(plan: &TrimPlan) -> usize {
    towline_core::compose::ContextBudget::Tokens(usize::MAX).size_of(&plan.memory.text)
}

fn tokens_after(plan: &TrimPlan, cut: &Cut) -> String {
    let memory = memory_tokens(plan);
    match (cut.kept, cut.tokens_kept) {
        (0, _) => format!("then what every session begins with and at most {memory} of memory"),
        (_, Some(kept)) => format!("then {kept} and at most {memory} of memory"),
        (_, None) => format!(
            "then what the kept turns take, which the agent did not write, and at most {memory} of memory"
        ),
    }
}

fn show_outcome(scope: &Scope, plan: &TrimPlan, outcome: &Outcome) {
    let line = |text: &str| scope.out.line(text);
    let cut = plan.cut.as_ref().map_or(0, |cut| cut.turns);
    line(&half(scope, &format!("{} taken back", turns(cut)), &outcome.reverted));
    line(&half(scope, "the memory of them given", &outcome.injected));
    if outcome.is_done() {
        let path = outcome.path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
        line(&format!("Both were read back from {}.", escape_for_terminal(&path)));
        return line("The agent's screen still shows what was cut; its model knows the memory of it alone.");
    }
    how_to_go_on(scope, plan, outcome);
}

fn half(scope: &Scope, what: &str, half: &Half) -> String {
    match half {
        Half::Done => format!("{}  {what}", scope.out.tint(Tone::Good, "done")),
        Half::NotDone { why } => {
            format!("{}  {what}: {}", scope.out.tint(Tone::Bad, "not done"), escape_for_terminal(why))
        }
        Half::Unconfirmed { why } => {
            format!(
                "{}  {what}: {}",
                scope.out.tint(Tone::Warning, "not confirmed"),
                escape_for_terminal(why)
            )
        }
    }
}

fn how_to_go_on(scope: &Scope, plan: &TrimPlan, outcome: &Outcome) {
    let line = |text: &str| scope.out.line(text);
    let id = plan.key.short();
    if let Half::NotDone { .. } = outcome.reverted {
        return line(&format!(
            "Nothing was changed. Run `tow session trim {id} --preflight`, then try again."
        ));
    }
    let before =
        plan.survey.thread.path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    line(&format!("What was before is still in {}.", escape_for_terminal(&before)));
    if outcome.injected != Half::Done {
        line("The model may not know what was cut. To tell it, paste this into the session:");
        line("");
        plan.memory.text.lines().for_each(|text| line(&escape_for_terminal(text)));
    }
}

fn as_json(plan: &TrimPlan, outcome: Option<&Outcome>) -> Value {
    let checks: Vec<Value> = plan.checks.iter().map(check_json).collect();
    let cut = plan.cut.as_ref().map(|cut| {
        json!({"before_turn": cut.before.as_str(), "turns": cut.turns, "kept": cut.kept, "tokens_kept": cut.tokens_kept})
    });
    let usage = plan
        .survey
        .usage
        .map(|usage| json!({"tokens": usage.tokens, "window": usage.window, "percent": usage.percent()}));
    json!({
        "session": plan.key, "checks": checks, "usage": usage, "cut": cut, "memory": plan.memory.text,
        "memory_tokens_at_most": memory_tokens(plan), "outcome": outcome.map(outcome_json),
    })
}

fn check_json(check: &Check) -> Value {
    let (ok, words) = match &check.verdict {
        Ok(words) => (true, words),
        Err(words) => (false, words),
    };
    json!({"check": check.name, "ok": ok, "words": words})
}

fn outcome_json(outcome: &Outcome) -> Value {
    json!({
        "done": outcome.is_done(), "reverted": outcome.reverted, "injected": outcome.injected, "file": outcome.path,
    })
}
