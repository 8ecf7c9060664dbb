//! `tow setup`: hooks, tmux, notifications, completions and the past, in one dialogue.
//!
//! Shows a plan and asks; other commands do the work. Changes nothing before the user has agreed.

use super::completions::ShellFile;
use super::install::{Choice, is_found};
use super::{completions, config, import, install};
use crate::agreement::{agree, is_interactive};
use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use towline_agents::Agent;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::query::overview;
use towline_engine::runtime::Failure;
use towline_engine::runtime::text::{plain_text, size, span};
use towline_engine::status::tmux::conf::{self, MenuKey};

const EXAMPLES: &str = "\
Examples:
  tow setup              ask about each step
  tow setup --dry-run    show the plan, and the changes as a diff
  tow setup --yes        agree to everything, for scripts

Run it again at any time: what is set up stays as it is.
`tow uninstall` takes everything out again.";

/// Set up agents, tmux, notifications, completions and past sessions.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Agree to every step.
    #[arg(long)]
    yes: bool,
    /// Show the plan and the changes, change nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// The agents, programs and files found here, hence the steps that are possible.
struct Plan {
    agents: Vec<Agent>,
    /// The key of the menu; `None` if tmux is missing or shows the bar already.
    tmux: Option<MenuKey>,
    /// Whether the user has no setting of their own for notifications.
    has_usual_notifications: bool,
    completions: Vec<ShellFile>,
    transcripts: Vec<PathBuf>,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let plan = Plan::made(scope)?;
    plan.show(scope);
    if arguments.dry_run {
        let choice = Choice { dry_run: true, ..Choice::default() };
        let key = plan.tmux.map(|menu| menu.key);
        return install::run(scope, &install::Arguments::everything(choice, key));
    }
    if !arguments.yes && !is_interactive() {
        return Err(Failure::input("`tow setup` asks questions, and nobody can answer them here").hint(
            "Agree beforehand with `tow setup --yes`, or look at the plan with `tow setup --dry-run`.",
        ));
    }
    let asked = |question: &str| if arguments.yes { Ok(true) } else { agree(question) };
    if !asked("Set this up?")? {
        scope.out.line("nothing was changed; `tow setup --dry-run` shows the changes as a diff");
        return Ok(());
    }
    let key = match &plan.tmux {
        Some(menu) if asked(&key_question(menu))? => Some(menu.key.clone()),
        Some(_) | None => None,
    };
    install::run(scope, &install::Arguments::everything(Choice::default(), key))?;
    if plan.has_usual_notifications
        && asked("Notify you of agents that wait: bell at once, desktop after 30 s?")?
    {
        notify(scope);
    }
    if !plan.completions.is_empty() && asked("Complete `tow` commands in your shell, and add its manual?")? {
        completions::install(scope, &plan.completions)?;
    }
    if !plan.transcripts.is_empty() && asked(&format!("Import {}?", plan.past()))? {
        import::everything(scope)?;
    }
    summary(scope)
}

/// Cautious: the benchmark reads more than three times as much per core.
const BYTES_PER_SECOND: u64 = 50_000_000;

impl Plan {
    fn made(scope: &Scope) -> Result<Plan, Failure> {
        let agents: Vec<Agent> = Agent::ALL.into_iter().filter(|agent| is_found(*agent)).collect();
        Ok(Plan {
            transcripts: agents.iter().flat_map(|agent| import::transcripts(*agent)).collect(),
            agents,
            tmux: conf::menu_key(),
            has_usual_notifications: config::are_usual(scope, &NOTIFICATIONS.map(|(key, _)| key))?,
            completions: completions::outdated_files(),
        })
    }

    fn show(&self, scope: &Scope) {
        let step = |name: &str, what: &str| {
            scope.out.line(&format!("  {} {what}", scope.out.tint(Tone::Good, &format!("{name:<14}"))));
        };
        scope.out.line("Found here, and what Towline would do:");
        let agents: Vec<&str> = self.agents.iter().map(|agent| agent.title()).collect();
        match agents.is_empty() {
            true => step("agents", "none found: run `tow setup` again once you have one"),
            false => step("agents", &format!("{}: hooks, skills and tools", agents.join(", "))),
        }
        if let Some(MenuKey { key, .. }) = &self.tmux {
            step("tmux", &format!("counts in the status line, a menu on prefix {key}"));
        }
        if self.has_usual_notifications {
            step("notifications", "a bell at once, the desktop after 30 s, when an agent waits for you");
        }
        for file in &self.completions {
            step(file.kind(), &plain_text(&file.path.display().to_string()));
        }
        if !self.transcripts.is_empty() {
            step("import", &self.past());
        }
    }

    /// How much there is to import, and how long that takes.
    fn past(&self) -> String {
        let length = |file: &PathBuf| file.metadata().map_or(0, |found| found.len());
        let bytes: u64 = self.transcripts.iter().map(length).sum();
        let time = span(Duration::from_secs((bytes / BYTES_PER_SECOND).max(1)));
        format!("{}, {}, about {time}", several(self.transcripts.len() as u64, "transcript"), size(bytes))
    }
}

fn key_question(MenuKey { key, taken }: &MenuKey) -> String {
    match taken {
        Some(theirs) => format!(
            "The bar in tmux, and its menu on prefix {key}? (prefix a is yours: {})",
            plain_text(theirs)
        ),
        None => format!("The bar in tmux, and its menu on prefix {key}?"),
    }
}

const NOTIFICATIONS: [(&str, &str); 2] = [("notify.terminal", "bell"), ("notify.desktop_after_s", "30")];

/// A refusal does not stop the rest: an agent may set everything up but this.
fn notify(scope: &Scope) {
    match config::set_all(scope, &NOTIFICATIONS) {
        Ok(()) => scope.out.line("notifications: bell and desktop; `tow config notify --test` sends one"),
        Err(failure) => scope.out.line(
            &scope
                .out
                .tint(Tone::Warning, &format!("notifications: not changed: {}", plain_text(&failure.what))),
        ),
    }
}

/// Sums up the result: sessions and agents, the agents to restart, the first commands to try.
fn summary(scope: &Scope) -> Result<(), Failure> {
    let sessions = overview::counts(&scope.env)?.map_or(0, |counts| counts.sessions);
    let seats = live::seats(&scope.env, Glance::Cheap)?;
    scope.out.line("");
    scope.out.line(&scope.out.tint(
        Tone::Good,
        &format!("ready: {}, {} running", several(sessions, "session"), several(seats.len() as u64, "agent")),
    ));
    for seat in seats.iter().filter(|seat| seat.session.is_none()) {
        let place = seat.pane.as_deref().unwrap_or(&seat.seat);
        scope.out.line(&format!("restart {} in {}: it has no hooks yet", seat.agent, plain_text(place)));
    }
    if seats.is_empty() {
        scope.out.line("the bar counts agents as soon as one runs");
    }
    scope.out.line("try: tow status, tow search with words of your past prompts, tow monitor");
    Ok(())
}

fn several(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
