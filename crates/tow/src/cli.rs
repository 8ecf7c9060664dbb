//! The grammar of the command line, and from a verb to its file.
//!
//! One variant per verb, one file per verb. The grammar is also the source of help, completions and the man page.

use crate::edge::Edge;
use crate::failure::{Failure, Kind};
use crate::output::{Output, complain};
use crate::scope::Scope;
use crate::verbs;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tow install               hook into every agent that is found
  tow install --tmux        the same, and the bar in tmux
  tow install --dry-run     show what would be changed
  tow status                what every agent is doing, and which one waits for you
  tow doctor                check everything, with the command that mends it
  tow config set keep.events_days 30";

/// Keeps the work of coding agents in one line.
#[derive(Debug, Parser)]
#[command(name = "tow", version, about, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Hook(verbs::hook::Arguments),
    Install(verbs::install::Arguments),
    Uninstall(verbs::uninstall::Arguments),
    Doctor(verbs::doctor::Arguments),
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
    Config(verbs::config::Arguments),
    Work(verbs::work::Arguments),
    Jobs(verbs::jobs::Arguments),
    Demo(verbs::demo::Arguments),
    Completions(verbs::completions::Arguments),
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

pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(&cli) {
        Ok(code) => code,
        Err(failure) => {
            complain(&failure.render());
            failure.kind.exit_code()
        }
    }
}

/// What a command would print; its failure is told as such. For those who are asked by another way than the command line.
pub fn answer(arguments: &[String]) -> Result<String, Failure> {
    let words = std::iter::once("tow").chain(arguments.iter().map(String::as_str));
    let cli = Cli::try_parse_from(words).map_err(|error| Failure::input(error.to_string()))?;
    let scope = Scope { edge: Edge::new().ok_or_else(no_home)?, out: Output::kept() };
    carry_out(&cli, &scope)?;
    Ok(scope.out.into_text())
}

fn dispatch(cli: &Cli) -> Result<ExitCode, Failure> {
    let edge = Edge::new().ok_or_else(no_home)?;
    carry_out(cli, &Scope { edge, out: Output::new() })
}

fn carry_out(cli: &Cli, scope: &Scope) -> Result<ExitCode, Failure> {
    match &cli.verb {
        Verb::Hook(_) => Err(Failure::input("an agent's name is missing").hint("Run `tow hook --help`.")),
        Verb::Install(arguments) => verbs::install::run(scope, arguments),
        Verb::Uninstall(arguments) => verbs::uninstall::run(scope, arguments),
        Verb::Doctor(arguments) => verbs::doctor::run(scope, arguments),
        Verb::Status(arguments) => verbs::status::run(scope, arguments),
        Verb::Monitor(arguments) => verbs::monitor::run(scope, arguments),
        Verb::Bar(arguments) => verbs::bar::run(scope, arguments),
        Verb::Meter(arguments) => verbs::meter::run(scope, arguments),
        Verb::Statusline(_) => {
            Err(Failure::input("the agents call this").hint("Run `tow statusline --help`."))
        }
        Verb::Menu(arguments) => verbs::menu::run(scope, arguments),
        Verb::Goto(arguments) => verbs::goto::run(scope, arguments),
        Verb::Why(arguments) => verbs::why::run(scope, arguments),
        Verb::Next(arguments) => verbs::next::run(scope, arguments),
        Verb::Scan(arguments) => verbs::scan::run(scope, arguments),
        Verb::Cleanup(arguments) => verbs::cleanup::run(scope, arguments),
        Verb::Popup(arguments) => verbs::popup::run(scope, arguments),
        Verb::Report(arguments) => verbs::report::run(scope, arguments),
        Verb::Usage(arguments) => verbs::usage::run(scope, arguments),
        Verb::Baton(arguments) => verbs::baton::run(scope, arguments),
        Verb::Fresh(arguments) => verbs::fresh::run(scope, arguments),
        Verb::Inherit(arguments) => verbs::inherit::run(scope, arguments),
        Verb::Bookmark(arguments) => verbs::bookmark::run(scope, arguments),
        Verb::Bookmarks(arguments) => verbs::bookmarks::run(scope, arguments),
        Verb::Rewind(arguments) => verbs::rewind::run(scope, arguments),
        Verb::Notify(arguments) => verbs::notify::run(scope, arguments),
        Verb::Handoff(arguments) => verbs::handoff::run(scope, arguments),
        Verb::Continue(arguments) => verbs::continue_now::run(scope, arguments),
        Verb::Typed(arguments) => verbs::typed::run(scope, arguments),
        Verb::Pause(arguments) => verbs::pause::run(scope, arguments),
        Verb::Resume(arguments) => verbs::resume::run(scope, arguments),
        Verb::Tmux(arguments) => verbs::tmux::run(scope, arguments),
        Verb::Context(arguments) => verbs::context::run(scope, arguments),
        Verb::Trim(arguments) => verbs::trim::run(scope, arguments),
        Verb::Repair(arguments) => verbs::repair::run(scope, arguments),
        Verb::Detail(arguments) => verbs::detail::run(scope, arguments),
        Verb::Turns(arguments) => verbs::turns::run(scope, arguments),
        Verb::Sessions(arguments) => verbs::sessions::run(scope, arguments),
        Verb::Show(arguments) => verbs::show::run(scope, arguments),
        Verb::Search(arguments) => verbs::search::run(scope, arguments),
        Verb::Reindex(arguments) => verbs::reindex::run(scope, arguments),
        Verb::Model(arguments) => verbs::model::run(scope, arguments),
        Verb::Mcp(arguments) => verbs::mcp::run(scope, arguments),
        Verb::Export(arguments) => verbs::export::run(scope, arguments),
        Verb::Forget(arguments) => verbs::forget::run(scope, arguments),
        Verb::Scrub(arguments) => verbs::scrub::run(scope, arguments),
        Verb::Import(arguments) => verbs::import::run(scope, arguments),
        Verb::Config(arguments) => verbs::config::run(scope, arguments),
        Verb::Work(arguments) => verbs::work::run(scope, arguments),
        Verb::Demo(arguments) => verbs::demo::run(scope, arguments),
        Verb::Completions(arguments) => verbs::completions::run(scope, arguments, Cli::command()),
        Verb::Capture(arguments) => verbs::capture::run(scope, arguments),
        Verb::GiveBack(arguments) => verbs::give_back::run(scope, arguments),
        Verb::Alert(arguments) => verbs::alert::run(scope, arguments),
        Verb::Type(arguments) => verbs::type_in::run(scope, arguments),
        Verb::Wake(arguments) => verbs::wake::run(scope, arguments),
        Verb::BenchSeed(arguments) => verbs::bench_seed::run(scope, arguments),
        Verb::Serve(arguments) => verbs::serve::run(scope, arguments),
        Verb::Open(arguments) => verbs::open::run(scope, arguments),
        Verb::Remember(arguments) => verbs::remember::run(scope, arguments),
        Verb::Memories(arguments) => verbs::memories::run(scope, arguments),
        Verb::Timeline(arguments) => verbs::timeline::run(scope, arguments),
        Verb::Edit(arguments) => verbs::edit::run(scope, arguments),
        Verb::Pin(arguments) => verbs::pin::run(scope, arguments),
        Verb::Supersede(arguments) => verbs::supersede::run(scope, arguments),
        Verb::Undo(arguments) => verbs::undo::run(scope, arguments),
        Verb::Hold(arguments) => verbs::hold::run(scope, arguments),
        Verb::Release(arguments) => verbs::release::run(scope, arguments),
        Verb::Jobs(arguments) => verbs::jobs::run(scope, arguments),
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
}
