//! The command-line grammar, and the dispatch from a verb to its file.
//!
//! One variant per verb, one file per verb. Help, completions and the man page derive from the grammar.

use crate::output::{Output, complain};
use crate::scope::Scope;
use crate::verbs;
use clap::{Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;
use towline_engine::runtime::env;
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::{Failure, Kind};

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
    verb: VerbGroup,
}

#[derive(Debug, Subcommand)]
enum VerbGroup {
    #[command(flatten)]
    Setup(SetupVerb),
    #[command(flatten)]
    Status(StatusVerb),
    #[command(flatten)]
    Handoff(HandoffVerb),
    #[command(flatten)]
    Archive(ArchiveVerb),
    #[command(flatten)]
    Own(OwnVerb),
    #[command(flatten)]
    Internal(InternalVerb),
}

/// Setup and health checks.
#[derive(Debug, Subcommand)]
enum SetupVerb {
    Hook(verbs::hook::Arguments),
    Install(verbs::install::Arguments),
    Uninstall(verbs::uninstall::Arguments),
    Doctor(verbs::doctor::Arguments),
}

/// Agent status and usage.
#[derive(Debug, Subcommand)]
enum StatusVerb {
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
enum HandoffVerb {
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
enum ArchiveVerb {
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
enum OwnVerb {
    Config(verbs::config::Arguments),
    Work(verbs::work::Arguments),
    Jobs(verbs::jobs::Arguments),
    Demo(verbs::demo::Arguments),
    Completions(verbs::completions::Arguments),
}

/// Verbs that only the program itself starts.
#[derive(Debug, Subcommand)]
enum InternalVerb {
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
        VerbGroup::Setup(verb) => set_up(verb, scope),
        VerbGroup::Status(verb) => track(verb, scope),
        VerbGroup::Handoff(verb) => carry(verb, scope),
        VerbGroup::Archive(verb) => look_back(verb, scope),
        VerbGroup::Own(verb) => keep(verb, scope),
        VerbGroup::Internal(verb) => serve_ourselves(verb, scope),
    }
}

fn set_up(verb: &SetupVerb, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        SetupVerb::Hook(_) => {
            Err(Failure::input("an agent's name is missing").hint("Run `tow hook --help`."))
        }
        SetupVerb::Install(arguments) => verbs::install::run(scope, arguments),
        SetupVerb::Uninstall(arguments) => verbs::uninstall::run(scope, arguments),
        SetupVerb::Doctor(arguments) => verbs::doctor::run(scope, arguments),
    }
}

fn track(verb: &StatusVerb, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        StatusVerb::Status(arguments) => verbs::status::run(scope, arguments),
        StatusVerb::Monitor(arguments) => verbs::monitor::run(scope, arguments),
        StatusVerb::Statusline(_) => {
            Err(Failure::input("the agents call this").hint("Run `tow statusline --help`."))
        }
        StatusVerb::Bar(arguments) => verbs::bar::run(scope, arguments),
        StatusVerb::Menu(arguments) => verbs::menu::run(scope, arguments),
        StatusVerb::Meter(arguments) => verbs::meter::run(scope, arguments),
        StatusVerb::Goto(arguments) => verbs::goto::run(scope, arguments),
        StatusVerb::Why(arguments) => verbs::why::run(scope, arguments),
        StatusVerb::Next(arguments) => verbs::next::run(scope, arguments),
        StatusVerb::Scan(arguments) => verbs::scan::run(scope, arguments),
        StatusVerb::Cleanup(arguments) => verbs::cleanup::run(scope, arguments),
        StatusVerb::Popup(arguments) => verbs::popup::run(scope, arguments),
        StatusVerb::Report(arguments) => verbs::report::run(scope, arguments),
        StatusVerb::Usage(arguments) => verbs::usage::run(scope, arguments),
    }
}

fn carry(verb: &HandoffVerb, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        HandoffVerb::Baton(arguments) => verbs::baton::run(scope, arguments),
        HandoffVerb::Fresh(arguments) => verbs::fresh::run(scope, arguments),
        HandoffVerb::Inherit(arguments) => verbs::inherit::run(scope, arguments),
        HandoffVerb::Bookmark(arguments) => verbs::bookmark::run(scope, arguments),
        HandoffVerb::Bookmarks(arguments) => verbs::bookmarks::run(scope, arguments),
        HandoffVerb::Rewind(arguments) => verbs::rewind::run(scope, arguments),
        HandoffVerb::Notify(arguments) => verbs::notify::run(scope, arguments),
        HandoffVerb::Handoff(arguments) => verbs::handoff::run(scope, arguments),
        HandoffVerb::Continue(arguments) => verbs::continue_now::run(scope, arguments),
        HandoffVerb::Typed(arguments) => verbs::typed::run(scope, arguments),
        HandoffVerb::Pause(arguments) => verbs::pause::run(scope, arguments),
        HandoffVerb::Resume(arguments) => verbs::resume::run(scope, arguments),
        HandoffVerb::Tmux(arguments) => verbs::tmux::run(scope, arguments),
        HandoffVerb::Context(arguments) => verbs::context::run(scope, arguments),
        HandoffVerb::Trim(arguments) => verbs::trim::run(scope, arguments),
        HandoffVerb::Repair(arguments) => verbs::repair::run(scope, arguments),
    }
}

fn look_back(verb: &ArchiveVerb, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        ArchiveVerb::Detail(arguments) => verbs::detail::run(scope, arguments),
        ArchiveVerb::Turns(arguments) => verbs::turns::run(scope, arguments),
        ArchiveVerb::Sessions(arguments) => verbs::sessions::run(scope, arguments),
        ArchiveVerb::Show(arguments) => verbs::show::run(scope, arguments),
        ArchiveVerb::Search(arguments) => verbs::search::run(scope, arguments),
        ArchiveVerb::Reindex(arguments) => verbs::reindex::run(scope, arguments),
        ArchiveVerb::Model(arguments) => verbs::model::run(scope, arguments),
        ArchiveVerb::Mcp(arguments) => verbs::mcp::run(scope, arguments),
        ArchiveVerb::Serve(arguments) => verbs::serve::run(scope, arguments),
        ArchiveVerb::Open(arguments) => verbs::open::run(scope, arguments),
        ArchiveVerb::Remember(arguments) => verbs::remember::run(scope, arguments),
        ArchiveVerb::Memories(arguments) => verbs::memories::run(scope, arguments),
        ArchiveVerb::Timeline(arguments) => verbs::timeline::run(scope, arguments),
        ArchiveVerb::Edit(arguments) => verbs::edit::run(scope, arguments),
        ArchiveVerb::Pin(arguments) => verbs::pin::run(scope, arguments),
        ArchiveVerb::Supersede(arguments) => verbs::supersede::run(scope, arguments),
        ArchiveVerb::Undo(arguments) => verbs::undo::run(scope, arguments),
        ArchiveVerb::Hold(arguments) => verbs::hold::run(scope, arguments),
        ArchiveVerb::Release(arguments) => verbs::release::run(scope, arguments),
        ArchiveVerb::Forget(arguments) => verbs::forget::run(scope, arguments),
        ArchiveVerb::Scrub(arguments) => verbs::scrub::run(scope, arguments),
        ArchiveVerb::Import(arguments) => verbs::import::run(scope, arguments),
        ArchiveVerb::Export(arguments) => verbs::export::run(scope, arguments),
        ArchiveVerb::Hub(arguments) => verbs::hub::run(scope, arguments),
    }
}

fn keep(verb: &OwnVerb, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        OwnVerb::Config(arguments) => verbs::config::run(scope, arguments),
        OwnVerb::Work(arguments) => verbs::work::run(scope, arguments),
        OwnVerb::Jobs(arguments) => verbs::jobs::run(scope, arguments),
        OwnVerb::Demo(arguments) => verbs::demo::run(scope, arguments),
        OwnVerb::Completions(arguments) => verbs::completions::run(scope, arguments, Cli::command()),
    }
}

fn serve_ourselves(verb: &InternalVerb, scope: &Scope) -> Result<ExitCode, Failure> {
    match verb {
        InternalVerb::Capture(arguments) => verbs::capture::run(scope, arguments),
        InternalVerb::GiveBack(arguments) => verbs::give_back::run(scope, arguments),
        InternalVerb::Alert(arguments) => verbs::alert::run(scope, arguments),
        InternalVerb::Type(arguments) => verbs::type_in::run(scope, arguments),
        InternalVerb::Wake(arguments) => verbs::wake::run(scope, arguments),
        InternalVerb::BenchSeed(arguments) => verbs::bench_seed::run(scope, arguments),
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
