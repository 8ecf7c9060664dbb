//! The command-line grammar, and the dispatch from a verb to its file.
//!
//! Each command is declared once, in `commands!`, and has one file. Help, completions and the man page derive
//! from the grammar.

use crate::output::{Output, complain};
use crate::scope::Scope;
use crate::verbs;
use clap::{Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::{ExitCode, Termination};
use towline_engine::index::damage::recover_from_damage;
use towline_engine::runtime::{Env, Failure, Kind, env};
use towline_terminal::child::collect_children;

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
#[command(name = "tow", version = env!("TOWLINE_VERSION"), about, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

type Grammar = fn(Command) -> Command;

/// Declares each command once, as `Name = module`: the enum that clap parses, the dispatch to the module's
/// `run` (with extra arguments after `with`), which returns nothing or an exit code, and the table `OFTEN` of the commands marked `often`.
macro_rules! commands {
    ($($(#[$attribute:meta])* $command:ident = $module:ident
        $(with $extra:expr)? $(, often $name:literal)?;)*) => {
        #[derive(Debug, Subcommand)]
        enum Verb {
            $($(#[$attribute])* $command(verbs::$module::Arguments),)*
        }

        /// Commands that programs and agents call many times a day. Parsing one builds only its own grammar.
        const OFTEN: &[(&str, Grammar)] =
            &[$($(($name, verbs::$module::Arguments::augment_args as Grammar),)?)*];

        fn run_command(cli: &Cli, scope: &Scope) -> Result<ExitCode, Failure> {
            match &cli.verb {
                $(Verb::$command(arguments) =>
                    verbs::$module::run(scope, arguments $(, $extra)?).map(Termination::report),)*
            }
        }
    };
}

commands! {
    // Setup and health checks.
    Hook = hook;
    Setup = setup with Cli::command();
    Install = install;
    Uninstall = uninstall;
    Doctor = doctor;

    // Agent status and usage.
    Status = status, often "status";
    Monitor = monitor;
    Statusline = statusline;
    Bar = bar, often "bar";
    Menu = menu;
    Meter = meter, often "meter";
    Goto = goto;
    Why = why;
    Next = next;
    Scan = scan;
    Cleanup = cleanup;
    Popup = popup;
    Report = report;
    Usage = usage;

    // Handing work on: to the next session, from a bookmark, automatically.
    Baton = baton;
    Fresh = fresh;
    Inherit = inherit;
    Bookmark = bookmark;
    Bookmarks = bookmarks;
    Rewind = rewind;
    Notify = notify;
    Handoff = handoff;
    Continue = continue_now;
    Typed = typed;
    Pause = pause;
    Resume = resume;
    Tmux = tmux;
    Context = context, often "context";
    Trim = trim;
    Repair = repair;

    // The archive: conversations, memories, search, and the hub.
    Detail = detail, often "detail";
    Turns = turns, often "turns";
    Sessions = sessions;
    Show = show, often "show";
    Search = search, often "search";
    Reindex = reindex;
    Model = model;
    Mcp = mcp;
    Serve = serve;
    Open = open;
    Remember = remember;
    Memories = memories;
    Timeline = timeline;
    Edit = edit;
    Pin = pin;
    Proposals = proposals;
    Supersede = supersede;
    Undo = undo;
    Hold = hold;
    Release = release;
    Forget = forget;
    Scrub = scrub;
    Import = import;
    Export = export;
    Hub = hub;

    // The program's own configuration and background work.
    Config = config;
    Work = work, often "work";
    Jobs = jobs;
    Demo = demo;
    Completions = completions with Cli::command();

    // Verbs that only the program itself starts.
    #[command(hide = true)]
    Capture = capture, often "capture";
    #[command(hide = true)]
    GiveBack = give_back;
    #[command(hide = true)]
    Alert = alert, often "alert";
    #[command(hide = true)]
    Type = type_in, often "type";
    #[command(hide = true)]
    Wake = wake;
}

pub fn run() -> ExitCode {
    collect_children();
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
    let (name, grammar) = OFTEN.iter().find(|(name, _)| *name == verb)?;
    let only = Command::new("tow").subcommand(grammar(Command::new(*name)));
    Cli::from_arg_matches(&only.try_get_matches_from(env::arguments()).ok()?).ok()
}

fn dispatch(cli: &Cli) -> Result<ExitCode, Failure> {
    let env = Env::new().ok_or_else(no_home)?;
    recover_from_damage(!matches!(cli.verb, Verb::Mcp(_)));
    run_command(cli, &Scope { env, out: Output::new() })
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
            assert_eq!(names(&grammar(Command::new(*name))), names(among_all), "{name}");
        }
    }
}
