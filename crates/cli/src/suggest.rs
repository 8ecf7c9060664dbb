//! Suggestions for a command that does not exist: by meaning, else by spelling.
//!
//! Pure. Names the next command; runs nothing.

use crate::commands::{COMMANDS, CommandRow};
use std::ffi::OsString;
use towline_engine::runtime::Failure;
use towline_engine::runtime::config::nearest;
use towline_engine::runtime::text::plain_text;

/// Words that other programs use, and the command that does it here.
const MEANINGS: &[(&[&str], &str)] = &[
    (&["ls", "list", "ps", "agents", "st", "state"], "tow status"),
    (&["log", "history", "ls-sessions", "recent"], "tow session list"),
    (&["version", "about"], "tow --version"),
    (&["cd", "switch", "attach", "jump", "go", "focus", "select", "pick"], "tow goto"),
    (&["find", "grep", "query", "ask", "recall"], "tow search"),
    (&["view", "cat", "read", "inspect", "get"], "tow show"),
    (&["add", "note", "save", "learn", "memo", "store"], "tow remember"),
    (&["start", "run", "launch", "create", "spawn", "fork"], "tow new"),
    (&["top", "watch", "dashboard", "tui"], "tow monitor"),
    (&["cost", "costs", "tokens", "stats", "spend", "price"], "tow usage"),
    (&["web", "ui", "viewer", "browser", "gui"], "tow open"),
    (&["init", "enable", "hooks", "bootstrap"], "tow setup"),
    (&["check", "health", "fix", "diagnose", "debug"], "tow doctor"),
    (&["settings", "set", "options", "preferences", "configure"], "tow config"),
    (&["remove", "disable", "purge"], "tow uninstall"),
    (&["rm", "delete", "del", "erase"], "tow data forget"),
    (&["reload", "unpause"], "tow session resume"),
    (&["resume", "reopen", "continue-session", "restore"], "tow session resume"),
    (&["stop", "halt"], "tow typing pause"),
    (&["waiting", "wait"], "tow next"),
    (&["mark", "tag", "checkpoint", "snapshot"], "tow bookmark set"),
    (&["sync", "login", "team", "share"], "tow hub --help"),
    (&["backup", "dump"], "tow data export"),
    (&["completion", "man"], "tow config completions"),
    (&["clear", "reset"], "tow session fresh"),
];

/// Towline does not replace its own binary.
const UPDATING: &[&str] = &["update", "upgrade", "self-update"];

/// The command to run instead of these words, if they name something that has another name here.
pub fn instead(arguments: &[OsString]) -> Option<String> {
    let word = arguments.get(1)?.to_str()?;
    if UPDATING.contains(&word) {
        return Some("To update, run `install.sh` of the new release, then `tow doctor`.".to_owned());
    }
    let (_, command) = MEANINGS.iter().find(|(words, _)| words.contains(&word))?;
    Some(format!("Did you mean `{command}`?"))
}

pub fn unknown_command(arguments: &[OsString]) -> Failure {
    let word = |index: usize| arguments.get(index).and_then(|word| word.to_str()).unwrap_or_default();
    let in_group: Vec<&CommandRow> = COMMANDS.iter().filter(|row| row.words().0 == word(1)).collect();
    if in_group.is_empty() {
        let failure = Failure::input(format!("there is no command `tow {}`", plain_text(word(1))));
        return failure.hint(instead(arguments).unwrap_or_else(|| by_spelling(word(1))));
    }
    let failure = Failure::input(format!("there is no command `tow {} {}`", word(1), plain_text(word(2))));
    // The word may be a command outside the group: `tow memory search`.
    let outside = COMMANDS.iter().find(|row| row.path == word(2) && row.is_shown());
    let names = in_group.iter().filter_map(|row| row.words().1);
    let path = match (outside, nearest(word(2), names)) {
        (Some(row), _) => row.path.to_owned(),
        (None, Some(near)) => format!("{} {near}", word(1)),
        (None, None) => return failure.hint(format!("Run `tow {} --help`.", word(1))),
    };
    failure.hint(format!("Did you mean `tow {path}`?"))
}

fn by_spelling(word: &str) -> String {
    let shown = || COMMANDS.iter().filter(|row| row.is_shown());
    let names = shown().flat_map(|row| [Some(row.words().0), row.words().1, row.old]).flatten();
    let Some(near) = nearest(word, names) else { return "Run `tow --help` for all commands.".to_owned() };
    let exact = shown().find(|row| row.path == near || row.old == Some(near) || row.words().1 == Some(near));
    let path = exact.map_or(near.to_owned(), |row| row.path.to_owned());
    format!("Did you mean `tow {path}`?")
}
