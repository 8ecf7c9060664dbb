//! From the arguments to a command: earlier names, parsing, suggestions, dispatch.
//!
//! `commands` has the names and the grammar. Knows nothing about any command but `mcp`, whose output is a protocol.

use crate::commands::{self, CommandRow, Names};
use crate::output::{Output, complain};
use crate::scope::Scope;
use crate::{progress, stray, suggest, verbs};
use clap::{ArgMatches, Command};
use rustix::process::geteuid;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use towline_core::escape::lines_for_terminal;
use towline_engine::index::damage::recover_from_damage;
use towline_engine::runtime::config::mistakes;
use towline_engine::runtime::{Env, Failure, Kind, env, variable};
use towline_terminal::child::collect_children;

pub fn run() -> ExitCode {
    collect_children();
    let typed: Vec<OsString> = env::arguments().collect();
    let arguments = by_present_names(typed.clone());
    let done = match arguments.len() {
        0 | 1 if stray::is_hook_call() => Ok(ExitCode::SUCCESS),
        0 | 1 => scope().and_then(|scope| {
            warn_of_config(&scope.env);
            verbs::bare::run(&scope)
        }),
        _ => match grammar_for(&arguments).try_get_matches_from(&arguments) {
            Ok(matches) => dispatch(&matches),
            Err(_) if stray::is_hook_call() => Ok(ExitCode::SUCCESS),
            Err(error) => return explain(&error, &typed),
        },
    };
    done.unwrap_or_else(|failure| complain_about(&failure))
}

/// Replaces an earlier name by the words that name the command now.
fn by_present_names(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let word = |index: usize| arguments.get(index).and_then(|word| word.to_str());
    let Some(row) = word(1).and_then(commands::find_old) else { return arguments };
    let (group, _) = row.words();
    // `tow bookmark set LABEL` was a command, and `bookmark` is a group now.
    let in_group =
        |second: &str| is_question(second) || commands::find(&format!("{group} {second}")).is_some();
    if word(1) == Some(group) && word(2).is_some_and(in_group) {
        return arguments;
    }
    arguments.splice(1..2, row.path.split(' ').map(OsString::from));
    arguments
}

fn is_question(word: &str) -> bool {
    matches!(word, "-h" | "--help" | "help")
}

/// The grammar of one command if the first words name one, else the whole grammar.
fn grammar_for(arguments: &[OsString]) -> Command {
    let word = |index: usize| arguments.get(index).and_then(|word| word.to_str()).unwrap_or_default();
    let row = match commands::is_group(word(1)) {
        true => commands::find(&format!("{} {}", word(1), word(2))),
        false => commands::find(word(1)),
    };
    row.map_or_else(|| commands::grammar(Names::All), CommandRow::grammar_alone)
}

fn dispatch(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let unknown = || Failure::input("no command was named").hint("Run `tow --help`.");
    let (name, own) = matches.subcommand().ok_or_else(unknown)?;
    let nested = own
        .subcommand()
        .and_then(|(second, inner)| Some((commands::find(&format!("{name} {second}"))?, inner)));
    let (row, own) = match nested {
        Some(nested) => nested,
        None => (commands::find(name).ok_or_else(unknown)?, own),
    };
    let scope = scope()?;
    recover_from_damage(row.path != "mcp");
    // These two report it themselves; hidden commands are run by programs, and hooks tell the agent's user.
    if row.is_shown() && !["config", "doctor"].contains(&row.path) {
        warn_of_config(&scope.env);
    }
    let _shown = activity_of(row.path).map(progress::activity);
    (row.run)(&scope, own)
}

/// The words that are shown while a command is silent: its work. `None` if it waits for the user or for events, or
/// if programs run it.
fn activity_of(path: &str) -> Option<&'static str> {
    Some(match path {
        "search" => "searching",
        "usage" => "adding up usage",
        "doctor" => "checking",
        "data import" => "importing",
        "data export" => "exporting",
        "data forget" => "looking for what to forget, and erasing it",
        "data scrub" => "looking for secrets",
        "data reindex" => "indexing",
        "data work" => "working on what no agent waits for",
        "data model" => "looking at the model",
        "hub" => "talking to the hub",
        "session trim" | "session repair" | "bookmark rewind" => "reading the session",
        "uninstall" | "install" => "changing settings",
        "status" | "session scan" | "session cleanup" | "why" => "looking at the agents",
        "monitor" | "open" | "setup" | "demo" | "goto" | "next" | "new" | "data serve" => return None,
        path if path.starts_with("tmux") || path.starts_with("config") => return None,
        path if commands::find(path).is_some_and(CommandRow::is_shown) => "reading what was kept",
        _ => return None,
    })
}

/// Prints help where it was asked for, else what is wrong and the next command.
fn explain(error: &clap::Error, typed: &[OsString]) -> ExitCode {
    if error.kind() == clap::error::ErrorKind::InvalidSubcommand {
        return complain_about(&suggest::unknown_command(typed));
    }
    drop(error.print());
    // `tow resume SESSION`: a word where the command of that name takes none.
    let has_word = typed.get(2).is_some_and(|word| !word.to_string_lossy().starts_with('-'));
    if let Some(hint) = suggest::instead(typed).filter(|_| error.use_stderr() && has_word) {
        complain(&format!("hint: {hint}\n"));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Says what is wrong in the configuration file, and that the defaults apply instead.
fn warn_of_config(env: &Env) {
    let mistakes = mistakes(env);
    for mistake in &mistakes {
        let line = format!("warning: {}: {mistake}; the default applies\n", env.config_file.display());
        complain(&lines_for_terminal(&line));
    }
    if !mistakes.is_empty() {
        complain("hint: Run `tow config edit`, then `tow config` to check it.\n");
    }
}

fn complain_about(failure: &Failure) -> ExitCode {
    complain(&failure.render());
    failure.kind.exit_code()
}

fn scope() -> Result<Scope, Failure> {
    let env = Env::new().ok_or_else(no_home)?;
    refuse_foreign(env.home.folder())?;
    Ok(Scope { env, out: Output::new() })
}

/// Refuses the data folder of another user: nothing of it could be read, and every list would look empty.
fn refuse_foreign(folder: &Path) -> Result<(), Failure> {
    let (user, shown) = (geteuid(), folder.display());
    let what = match folder.metadata() {
        Ok(found) if found.uid() == user.as_raw() || user.is_root() => return Ok(()),
        Ok(found) => format!("the data folder {shown} belongs to another user (number {})", found.uid()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            format!("the data folder {shown} cannot be reached by this user: permission denied")
        }
        Err(_) => return Ok(()),
    };
    let failure = Failure { kind: Kind::Failed, ..Failure::input(what) };
    Err(match variable("TOWLINE_HOME") {
        Some(_) => failure.hint("Unset TOWLINE_HOME, or set it to a folder of your own."),
        None => failure.hint("Set HOME to your own home folder, or run this as its owner."),
    })
}

fn no_home() -> Failure {
    let what = match variable("HOME") {
        Some(home) => format!("there is no home folder: HOME is `{home}`, which is not an absolute path"),
        None => "there is no home folder: HOME is not set and the user has no entry".to_owned(),
    };
    Failure { kind: Kind::Failed, ..Failure::input(what) }
        .hint("Set HOME, or TOWLINE_HOME to an absolute path.")
}
