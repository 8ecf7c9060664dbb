//! The command-line grammar, and the dispatch from a verb to its file.
//!
//! One variant per verb, one file per verb. Help, completions and the man page derive from the grammar.

use crate::output::Output;
use crate::output::complain;
use crate::scope::Scope;
use crate::verbs;
use clap::{Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;
use towline_engine::runtime::env;
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::failure::Kind;

const EXAMPLES: &str = "\
Examples:
  tow install               hook into every agent that is found
  tow install --tmux        the same, and the bar in tmux
  tow install --dry-run     show what would be changed
  tow status                what every agent is doing, and which one waits for you
  tow doctor                check everything, with the command that mends it
  tow config set keep.events_days 30";

/// See, resume and search everything your coding agents do.
#[derive(Debug, Parser)]
#[command(name = "tow", version, about, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    #[command(flatten)]
    Setting(Setting),
    #[command(flatten)]
    Tracking(Tracking),
    #[command(flatten)]
    Carrying(Carrying),
    #[command(flatten)]
    Past(Past),
    #[command(flatten)]
    Keeping(Keeping),
    #[command(flatten)]
    Inner(Inner),
}

/// Setup and health checks.
#[derive(Debug, Subcommand)]
enum Setting {
    Hook(verbs::hook::Arguments),
    Install(verbs::install::Arguments),
    Uninstall(verbs::uninstall::Arguments),
    Doctor(verbs::doctor::Arguments),
}

/// Agent status and usage.
#[derive(Debug, Subcommand)]
enum Tracking {
    Status(verbs::status::Arguments),
    Monitor(verbs::monitor::Arguments),
    Statusline(verbs::statusline::Arguments),
    Bar(verbs::bar::Arguments),
    Menu(verbs::menu::Arguments),
    Meter(verbs::meter::Arguments),
    Goto(verbs::goto::Arguments),
    Why(verbs::why::Arguments),
    Next(verbs::next::Arguments),
    Scan(verbs::scan::Arguments),
    Cleanup(verbs::cleanup::Arguments),
    Popup(verbs::popup::Arguments),
    Report(verbs::report::Arguments),
    Usage(verbs::usage::Arguments),
}

/// Handing work on: to the next session, from a bookmark, automatically.
#[derive(Debug, Subcommand)]
enum Carrying {
    Baton(verbs::baton::Arguments),
    Fresh(verbs::fresh::Arguments),
    Inherit(verbs::inherit::Arguments),
    Bookmark(verbs::bookmark::Arguments),
    Bookmarks(verbs::bookmarks::Arguments),
    Rewind(verbs::rewind::Arguments),
    Notify(verbs::notify::Arguments),
    Handoff(verbs::handoff::Arguments),
    Continue(verbs::continue_now::Arguments),
    Typed(verbs::typed::Arguments),
    Pause(verbs::pause::Arguments),
    Resume(verbs::resume::Arguments),
    Tmux(verbs::tmux::Arguments),
    Context(verbs::context::Arguments),
    Trim(verbs::trim::Arguments),
    Repair(verbs::repair::Arguments),
}

/// The archive: conversations, memories, search, and the hub.
#[derive(Debug, Subcommand)]
enum Past {
    Detail(verbs::detail::Arguments),
    Turns(verbs::turns::Arguments),
    Sessions(verbs::sessions::Arguments),
    Show(verbs::show::Arguments),
    Search(verbs::search::Arguments),
    Reindex(verbs::reindex::Arguments),
    Model(verbs::model::Arguments),
    Mcp(verbs::mcp::Arguments),
    Serve(verbs::serve::Arguments),
    Open(verbs::open::Arguments),
    Remember(verbs::remember::Arguments),
    Memories(verbs::memories::Arguments),
    Timeline(verbs::timeline::Arguments),
    Edit(verbs::edit::Arguments),
    Pin(verbs::pin::Arguments),
    Supersede(verbs::supersede::Arguments),
    Undo(verbs::undo::Arguments),
    Hold(verbs::hold::Arguments),
    Release(verbs::release::Arguments),
    Forget(verbs::forget::Arguments),
    Scrub(verbs::scrub::Arguments),
    Import(verbs::import::Arguments),
    Export(verbs::export::Arguments),
    Hub(verbs::hub::Arguments),
}

/// The program's own configuration and background work.
#[derive(Debug, Subcommand)]
enum Keeping {
    Config(verbs::config::Arguments),
    Work(verbs::work::Arguments),
    Jobs(verbs::jobs::Arguments),
    Demo(verbs::demo::Arguments),
    Completions(verbs::completions::Arguments),
}

/// Verbs that only the program itself starts.
#[derive(Debug, Subcommand)]
enum Inner {
    #[command(hide = true)]
    Capture(verbs::capture::Arguments),
    #[command(hide = true)]
    GiveBack(verbs::give_back::Arguments),
    #[command(hide = true)]
    Alert(verbs::alert::Arguments),
    #[command(hide = true)]
    Type(verbs::type_in::Arguments),
    #[command(hide = true)]
    Wake(verbs::wake::Arguments),
    #[command(hide = true)]
    BenchSeed(verbs::bench_seed::Arguments),
}

type Grammar = fn(Command) -> Command;

/// Verbs called by programs and agents, many times a day. Parsing one of them builds only its own grammar.
const OFTEN: [(&str, Grammar); 12] = [
    ("alert", verbs::alert::Arguments::augment_args),
    ("bar", verbs::bar::Arguments::augment_args),
    ("capture", verbs::capture::Arguments::augment_args),
    ("context", verbs::context::Arguments::augment_args),
    ("detail", verbs::detail::Arguments::augment_args),
    ("meter", verbs::meter::Arguments::augment_args),
    ("search", verbs::search::Arguments::augment_args),
    ("show", verbs::show::Arguments::augment_args),
    ("status", verbs::status::Arguments::augment_args),
    ("turns", verbs::turns::Arguments::augment_args),
    ("type", verbs::type_in::Arguments::augment_args),
    ("work", verbs::work::Arguments::augment_args),
];

pub fn run() -> ExitCode {
    let cli =
        env::arguments().nth(1).and_then(|verb| parsed_alone(verb.to_str()?)).unwrap_or_else(Cli::parse);
    match dispatch(&cli) {
        Ok(code) => code,
        Err(failure) => {
            complain(&failure.render());
            failure.kind.exit_code()
        }
    }
}

/// Parses with the grammar of one verb. `None` on help or an error, which the whole grammar then reports.
fn parsed_alone(verb: &str) -> Option<Cli> {
    let (name, grammar) = OFTEN.into_iter().find(|(name, _)| *name == verb)?;
    let only = Command::new("tow").subcommand(grammar(Command::new(name)));
    Cli::from_arg_matches(&only.try_get_matches_from(env::arguments()).ok()?).ok()
}

/// Runs a command and returns its output, for callers other than the command line (server, MCP).
pub fn answer(arguments: &[String]) -> Result<String, Failure> {
    let words = std::iter::once("tow").chain(arguments.iter().map(String::as_str));
    let cli = Cli::try_parse_from(words).map_err(|error| Failure::input(error.to_string()))?;
    let scope = Scope { env: Env::new().ok_or_else(no_home)?, out: Output::kept() };
    carry_out(&cli, &scope)?;
    Ok(scope.out.into_text())
}

fn dispatch(cli: &Cli) -> Result<ExitCode, Failure> {
    let env = Env::new().ok_or_else(no_home)?;
    carry_out(cli, &Scope { env, out: Output::new() })
}

fn carry_out(cli: &Cli, scope: &Scope) -> Result<ExitCode, Failure> {
    match &cli.verb {
        Verb::Setting(verb) => set_up(verb, scope),
        Verb::Tracking(verb) => track(verb, scope),
        Verb::Carrying(verb) => carry(verb, scope),
        Verb::Past(verb) => look_back(verb, scope),
        Verb::Keeping(verb) => keep(verb, scope),
        Verb::Inner(verb) => serve_ourselves(verb, scope),
    }
}

fn set_up(verb: &Setting, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        Setting::Hook(_) => Err(Failure::input("an agent's name is missing").hint("Run `tow hook --help`.")),
        Setting::Install(arguments) => verbs::install::run(scope, arguments),
        Setting::Uninstall(arguments) => verbs::uninstall::run(scope, arguments),
        Setting::Doctor(arguments) => verbs::doctor::run(scope, arguments),
    }
}

fn track(verb: &Tracking, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        Tracking::Status(arguments) => verbs::status::run(scope, arguments),
        Tracking::Monitor(arguments) => verbs::monitor::run(scope, arguments),
        Tracking::Statusline(_) => {
            Err(Failure::input("the agents call this").hint("Run `tow statusline --help`."))
        }
        Tracking::Bar(arguments) => verbs::bar::run(scope, arguments),
        Tracking::Menu(arguments) => verbs::menu::run(scope, arguments),
        Tracking::Meter(arguments) => verbs::meter::run(scope, arguments),
        Tracking::Goto(arguments) => verbs::goto::run(scope, arguments),
        Tracking::Why(arguments) => verbs::why::run(scope, arguments),
        Tracking::Next(arguments) => verbs::next::run(scope, arguments),
        Tracking::Scan(arguments) => verbs::scan::run(scope, arguments),
        Tracking::Cleanup(arguments) => verbs::cleanup::run(scope, arguments),
        Tracking::Popup(arguments) => verbs::popup::run(scope, arguments),
        Tracking::Report(arguments) => verbs::report::run(scope, arguments),
        Tracking::Usage(arguments) => verbs::usage::run(scope, arguments),
    }
}

fn carry(verb: &Carrying, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        Carrying::Baton(arguments) => verbs::baton::run(scope, arguments),
        Carrying::Fresh(arguments) => verbs::fresh::run(scope, arguments),
        Carrying::Inherit(arguments) => verbs::inherit::run(scope, arguments),
        Carrying::Bookmark(arguments) => verbs::bookmark::run(scope, arguments),
        Carrying::Bookmarks(arguments) => verbs::bookmarks::run(scope, arguments),
        Carrying::Rewind(arguments) => verbs::rewind::run(scope, arguments),
        Carrying::Notify(arguments) => verbs::notify::run(scope, arguments),
        Carrying::Handoff(arguments) => verbs::handoff::run(scope, arguments),
        Carrying::Continue(arguments) => verbs::continue_now::run(scope, arguments),
        Carrying::Typed(arguments) => verbs::typed::run(scope, arguments),
        Carrying::Pause(arguments) => verbs::pause::run(scope, arguments),
        Carrying::Resume(arguments) => verbs::resume::run(scope, arguments),
        Carrying::Tmux(arguments) => verbs::tmux::run(scope, arguments),
        Carrying::Context(arguments) => verbs::context::run(scope, arguments),
        Carrying::Trim(arguments) => verbs::trim::run(scope, arguments),
        Carrying::Repair(arguments) => verbs::repair::run(scope, arguments),
    }
}

fn look_back(verb: &Past, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        Past::Detail(arguments) => verbs::detail::run(scope, arguments),
        Past::Turns(arguments) => verbs::turns::run(scope, arguments),
        Past::Sessions(arguments) => verbs::sessions::run(scope, arguments),
        Past::Show(arguments) => verbs::show::run(scope, arguments),
        Past::Search(arguments) => verbs::search::run(scope, arguments),
        Past::Reindex(arguments) => verbs::reindex::run(scope, arguments),
        Past::Model(arguments) => verbs::model::run(scope, arguments),
        Past::Mcp(arguments) => verbs::mcp::run(scope, arguments),
        Past::Serve(arguments) => verbs::serve::run(scope, arguments),
        Past::Open(arguments) => verbs::open::run(scope, arguments),
        Past::Remember(arguments) => verbs::remember::run(scope, arguments),
        Past::Memories(arguments) => verbs::memories::run(scope, arguments),
        Past::Timeline(arguments) => verbs::timeline::run(scope, arguments),
        Past::Edit(arguments) => verbs::edit::run(scope, arguments),
        Past::Pin(arguments) => verbs::pin::run(scope, arguments),
        Past::Supersede(arguments) => verbs::supersede::run(scope, arguments),
        Past::Undo(arguments) => verbs::undo::run(scope, arguments),
        Past::Hold(arguments) => verbs::hold::run(scope, arguments),
        Past::Release(arguments) => verbs::release::run(scope, arguments),
        Past::Forget(arguments) => verbs::forget::run(scope, arguments),
        Past::Scrub(arguments) => verbs::scrub::run(scope, arguments),
        Past::Import(arguments) => verbs::import::run(scope, arguments),
        Past::Export(arguments) => verbs::export::run(scope, arguments),
        Past::Hub(arguments) => verbs::hub::run(scope, arguments),
    }
}

fn keep(verb: &Keeping, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        Keeping::Config(arguments) => verbs::config::run(scope, arguments),
        Keeping::Work(arguments) => verbs::work::run(scope, arguments),
        Keeping::Jobs(arguments) => verbs::jobs::run(scope, arguments),
        Keeping::Demo(arguments) => verbs::demo::run(scope, arguments),
        Keeping::Completions(arguments) => verbs::completions::run(scope, arguments, Cli::command()),
    }
}

fn serve_ourselves(verb: &Inner, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        Inner::Capture(arguments) => verbs::capture::run(scope, arguments),
        Inner::GiveBack(arguments) => verbs::give_back::run(scope, arguments),
        Inner::Alert(arguments) => verbs::alert::run(scope, arguments),
        Inner::Type(arguments) => verbs::type_in::run(scope, arguments),
        Inner::Wake(arguments) => verbs::wake::run(scope, arguments),
        Inner::BenchSeed(arguments) => verbs::bench_seed::run(scope, arguments),
    }
}

fn no_home() -> Failure {
    let failure = Failure::input("there is no home folder: HOME is not set and the user has no entry");
    Failure { kind: Kind::Failed, ..failure }.hint("Set HOME, or TOWLINE_HOME to an absolute path.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_verb_that_is_called_often_has_the_grammar_that_it_has_among_all() {
        let all = Cli::command();
        for (name, grammar) in OFTEN {
            let among_all = all.find_subcommand(name).unwrap();
            let names = |command: &Command| {
                command.get_arguments().map(|it| it.get_id().to_string()).collect::<Vec<_>>()
            };
            assert_eq!(names(&grammar(Command::new(name))), names(among_all), "{name}");
        }
    }
}
