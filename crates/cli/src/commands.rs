//! The tree of commands: one row per command, with its names, its grammar and its code.
//!
//! Help, completions, man page, dispatch and suggestions all read this table. Contains no behaviour of a command.

use crate::help;
use crate::scope::Scope;
use crate::verbs;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::process::{ExitCode, Termination};
use towline_engine::runtime::Failure;

pub struct CommandRow {
    /// The words after `tow`: `status`, or `memory list`.
    pub path: &'static str,
    /// Its earlier name, which installed skills, hooks and scripts may still use.
    pub old: Option<&'static str>,
    pub grammar: fn(Command) -> Command,
    pub run: fn(&Scope, &ArgMatches) -> Result<ExitCode, Failure>,
}

macro_rules! row {
    ($path:literal, $($module:ident)::+) => {
        row!(@ $path, None, $($module)::+)
    };
    ($path:literal was $old:literal, $($module:ident)::+) => {
        row!(@ $path, Some($old), $($module)::+)
    };
    (@ $path:literal, $old:expr, $($module:ident)::+) => {
        CommandRow {
            path: $path,
            old: $old,
            grammar: verbs::$($module)::+::Arguments::augment_args,
            run: |scope, matches| {
                let arguments = verbs::$($module)::+::Arguments::from_arg_matches(matches);
                let arguments = arguments.map_err(|error| Failure::new(&error))?;
                verbs::$($module)::+::run(scope, &arguments).map(Termination::report)
            },
        }
    };
}

/// The commands that `tow --help` lists, under their headings. A command of one word that is neither here nor a group is
/// hidden: agents, hooks and tmux run it.
pub const SECTIONS: [(&str, &[&str]); 3] = [
    ("Your agents", &["status", "next", "goto", "why", "new", "monitor", "usage"]),
    ("What they did and learnt", &["search", "show", "remember", "open"]),
    ("Towline itself", &["setup", "doctor", "config", "uninstall", "demo"]),
];

/// Groups of commands, each with what it is about.
pub const GROUPS: [(&str, &str); 7] = [
    ("session", "Past and running sessions: list, resume, hand on, trim"),
    ("memory", "What was learnt: list, edit, pin, supersede, undo"),
    ("bookmark", "Points to come back to: set, list, show, rewind"),
    ("data", "The archive: import, export, forget, reindex, serve"),
    ("typing", "What Towline types for you: list, pause, resume"),
    ("tmux", "The bar, the menu and the popup"),
    ("hub", "Share with your other machines and your team"),
];

/// A row whose path is a group's name has commands of its own there, beside those of other rows.
pub const COMMANDS: &[CommandRow] = &[
    row!("status", status),
    row!("next", next),
    row!("goto", goto),
    row!("why", why),
    row!("new", new),
    row!("monitor", monitor),
    row!("usage", usage),
    row!("search", search),
    row!("show", show),
    row!("remember", remember),
    row!("open", open),
    row!("setup", setup),
    row!("doctor", doctor),
    row!("config", config),
    row!("config notify" was "notify", notify),
    row!("config completions" was "completions", completions),
    row!("uninstall", uninstall),
    row!("demo", demo),
    row!("session list" was "sessions", sessions),
    row!("session resume", session_resume),
    row!("session turns" was "turns", turns),
    row!("session detail" was "detail", detail),
    row!("session context" was "context", context),
    row!("session meter" was "meter", meter),
    row!("session continue" was "continue", continue_now),
    row!("session baton" was "baton", baton),
    row!("session fresh" was "fresh", fresh),
    row!("session inherit" was "inherit", inherit),
    row!("session handoff" was "handoff", handoff),
    row!("session trim" was "trim", trim),
    row!("session repair" was "repair", repair),
    row!("session waits" was "report", report),
    row!("session scan" was "scan", scan),
    row!("session cleanup" was "cleanup", cleanup),
    row!("memory list" was "memories", memories),
    row!("memory timeline" was "timeline", timeline),
    row!("memory edit" was "edit", edit),
    row!("memory pin" was "pin", pin),
    row!("memory proposals" was "proposals", proposals),
    row!("memory supersede" was "supersede", supersede),
    row!("memory undo" was "undo", undo),
    row!("memory hold" was "hold", hold),
    row!("memory release" was "release", release),
    row!("bookmark set" was "bookmark", bookmark),
    row!("bookmark list" was "bookmarks", bookmarks),
    row!("bookmark show", bookmarks::show),
    row!("bookmark delete", bookmarks::delete),
    row!("bookmark rewind" was "rewind", rewind),
    row!("data import" was "import", import),
    row!("data export" was "export", export),
    row!("data forget" was "forget", forget),
    row!("data scrub" was "scrub", scrub),
    row!("data reindex" was "reindex", reindex),
    row!("data model" was "model", model),
    row!("data jobs" was "jobs", jobs),
    row!("data work" was "work", work),
    row!("data serve" was "serve", serve),
    row!("typing list" was "typed", typed),
    row!("typing pause" was "pause", pause),
    row!("typing resume" was "resume", resume),
    row!("tmux", tmux),
    row!("tmux menu" was "menu", menu),
    row!("tmux popup" was "popup", popup),
    row!("hub", hub),
    row!("install", install),
    row!("hook", hook),
    row!("statusline", statusline),
    row!("bar", bar),
    row!("mcp", mcp),
    row!("complete", complete),
    row!("capture", capture),
    row!("give-back", give_back),
    row!("alert", alert),
    row!("type", type_in),
    row!("wake", wake),
];

/// Which names a grammar knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Those that users see.
    Shown,
    /// Also those that programs run.
    All,
}

impl CommandRow {
    /// The first word, and the second of a command in a group.
    pub fn words(&self) -> (&'static str, Option<&'static str>) {
        self.path.split_once(' ').map_or((self.path, None), |(group, name)| (group, Some(name)))
    }

    pub fn is_shown(&self) -> bool {
        let (first, _) = self.words();
        let listed = SECTIONS.iter().flat_map(|(_, names)| names.iter());
        listed.chain(GROUPS.iter().map(|(group, _)| group)).any(|name| *name == first)
    }

    fn command(&self, name: &'static str) -> Command {
        help::fitted((self.grammar)(Command::new(name)))
    }

    /// The grammar of this command alone: programs and agents call some of them many times a day.
    pub fn grammar_alone(&self) -> Command {
        match self.words() {
            (name, None) => root().subcommand(self.command(name)),
            (group, Some(name)) => root().subcommand(Command::new(group).subcommand(self.command(name))),
        }
    }
}

pub fn find(path: &str) -> Option<&'static CommandRow> {
    COMMANDS.iter().find(|row| row.path == path)
}

pub fn is_group(name: &str) -> bool {
    COMMANDS.iter().any(|row| matches!(row.words(), (group, Some(_)) if group == name))
}

/// The row that was called so, while all commands had one word.
pub fn find_old(name: &str) -> Option<&'static CommandRow> {
    COMMANDS.iter().find(|row| row.old == Some(name))
}

/// `tow` without commands. The width is fixed, so that examples look the same everywhere.
fn root() -> Command {
    Command::new("tow").version(env!("TOWLINE_VERSION")).about(env!("CARGO_PKG_DESCRIPTION")).term_width(80)
}

pub fn grammar(names: Names) -> Command {
    let wanted = |row: &&CommandRow| names == Names::All || row.is_shown();
    let mut tow = COMMANDS.iter().filter(wanted).fold(root(), |tow, row| match row.words() {
        (name, None) => tow.subcommand(row.command(name).hide(!row.is_shown())),
        (_, Some(_)) => tow,
    });
    for (group, about) in GROUPS.iter().filter(|(group, _)| find(group).is_none()) {
        let group = Command::new(*group).about(*about).subcommand_required(true).arg_required_else_help(true);
        tow = tow.subcommand(group);
    }
    for row in COMMANDS {
        if let (group, Some(name)) = row.words() {
            tow = tow.mut_subcommand(group, |group| group.subcommand(row.command(name)));
        }
    }
    help::with_overview(tow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        grammar(Names::All).debug_assert();
        grammar(Names::Shown).debug_assert();
    }

    #[test]
    fn every_listed_command_exists() {
        let listed = SECTIONS.iter().flat_map(|(_, names)| names.iter());
        assert_eq!(listed.filter(|name| find(name).is_none()).collect::<Vec<_>>(), Vec::<&&str>::new());
        assert!(GROUPS.iter().all(|(group, _)| is_group(group) || find(group).is_some()));
    }
}
