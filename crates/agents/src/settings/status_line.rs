//! The command that draws the agent's status line: puts ours in front of the user's own, and restores it.
//!
//! Keeps no record of the original: our command carries it as an argument, so that it can be restored from the file
//! alone. Changes nothing of the setting but the command.

use serde_json::Value;

use super::change::{EntryChange, NextEdit};
use super::edit::{self, Addition};
use super::json::{self, ByteSpan};
use super::layout::{Layout, Node};
use super::ours::is_tow;
use super::refusal::{EditRefusal, RefusalCause};
use super::subject::ManagedContent;
use super::target::{StatusLineMode, Target};
use super::words::{self, quote};

/// The setting, under the agent's own name.
pub(super) const KEY: &str = "statusLine";
const VERB: &str = "statusline";
/// Precedes the original command.
const OVER: &str = "--over";

/// The setting in a file: `Unknown` is one without a command.
enum LineSetting {
    Nothing,
    Ours { command: ByteSpan, over: Option<String> },
    Theirs { command: ByteSpan, text: String },
    Unknown,
}

/// The owner of the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusLineState {
    Missing,
    Ours,
    /// Ours, which also draws the user's.
    Composed {
        theirs: String,
    },
    Theirs,
    /// Ours, with another path of the program.
    Outdated,
    /// The setting runs no command.
    Unknown,
}

/// The state of the status line, if the agent has one.
pub(super) fn standing(target: &Target, text: &str) -> Option<StatusLineState> {
    let (program, _) = target.status_line()?;
    let is_right = |over: Option<&str>, command: &ByteSpan| {
        let written: Option<String> = serde_json::from_str(&text[command.clone()]).ok();
        written == Some(line(program, over))
    };
    Some(match line_setting(text) {
        LineSetting::Nothing => StatusLineState::Missing,
        LineSetting::Theirs { .. } => StatusLineState::Theirs,
        LineSetting::Unknown => StatusLineState::Unknown,
        LineSetting::Ours { command, over } if !is_right(over.as_deref(), &command) => {
            StatusLineState::Outdated
        }
        LineSetting::Ours { over: Some(theirs), .. } => StatusLineState::Composed { theirs },
        LineSetting::Ours { over: None, .. } => StatusLineState::Ours,
    })
}

/// The next edit towards the wanted setting.
pub(super) fn step(target: &Target, text: &str, layout: &Layout) -> NextEdit<String, EditRefusal> {
    let Some((program, showing)) = target.status_line() else { return Ok(None) };
    let replaced_by = |command: &ByteSpan, over: Option<&str>| {
        edit::replace(text, command, &Node::Text(line(program, over)), layout)
    };
    Ok(match (line_setting(text), showing) {
        (
            LineSetting::Nothing | LineSetting::Theirs { .. } | LineSetting::Unknown,
            StatusLineMode::AsItIs,
        ) => None,
        (LineSetting::Unknown, StatusLineMode::Wanted) => {
            return Err(target.refuse(RefusalCause::StatusLineUnknown));
        }
        (LineSetting::Nothing, StatusLineMode::Wanted) => {
            Some((added(text, program, layout), change(text, None)))
        }
        (LineSetting::Theirs { command, text: theirs }, StatusLineMode::Wanted) => {
            Some((replaced_by(&command, Some(&theirs)), change(text, Some(&command))))
        }
        (LineSetting::Ours { command, over }, StatusLineMode::AsItIs | StatusLineMode::Wanted) => {
            let edited = replaced_by(&command, over.as_deref());
            (edited != text).then(|| (edited, change(text, Some(&command))))
        }
    })
}

/// The text with the user's original command, or without the setting.
pub(super) fn removed(text: &str) -> Option<(String, EntryChange)> {
    let LineSetting::Ours { command, over } = line_setting(text) else { return None };
    let was = text[command.clone()].to_owned();
    let edited = match over {
        Some(theirs) => edit::replace(text, &command, &Node::Text(theirs), &Layout::of(text)),
        None => {
            let root = json::root(text);
            let place =
                json::elements(text, &root).iter().rposition(|member| member.key.as_deref() == Some(KEY));
            edit::remove(text, &root, place?)
        }
    };
    Some((edited, EntryChange::Removed { event: KEY.to_owned(), was }))
}

fn added(text: &str, program: &str, layout: &Layout) -> String {
    let setting = Node::Object(vec![
        ("type", Node::Text("command".to_owned())),
        ("command", Node::Text(line(program, None))),
    ]);
    edit::append(text, &json::root(text), &Addition::Member(KEY, &setting), layout)
}

fn change(text: &str, replaced: Option<&ByteSpan>) -> EntryChange {
    let event = KEY.to_owned();
    match replaced {
        None => EntryChange::Added { event },
        Some(span) => EntryChange::Upgraded { event, was: text[span.clone()].to_owned() },
    }
}

fn line(program: &str, over: Option<&str>) -> String {
    let own = format!("{} {VERB}", quote(program));
    over.map_or_else(|| own.clone(), |theirs| format!("{own} {OVER} {}", quote(theirs)))
}

fn line_setting(text: &str) -> LineSetting {
    let Some(setting) = json::member(text, &json::root(text), KEY) else { return LineSetting::Nothing };
    let Some(command) = json::member(text, &setting.value, "command") else { return LineSetting::Unknown };
    let Ok(Value::String(line)) = serde_json::from_str(&text[command.value.clone()]) else {
        return LineSetting::Unknown;
    };
    match words::split(&line).as_deref() {
        Some([program, verb]) if is_tow(program) && verb == VERB => {
            LineSetting::Ours { command: command.value, over: None }
        }
        Some([program, verb, over, theirs]) if is_tow(program) && verb == VERB && over == OVER => {
            LineSetting::Ours { command: command.value, over: Some(theirs.clone()) }
        }
        Some(_) | None => LineSetting::Theirs { command: command.value, text: line },
    }
}

#[cfg(test)]
mod tests {
    use super::super::change::Containers;
    use super::super::target::EntryOrder;
    use super::*;
    use std::path::PathBuf;

    fn target(showing: StatusLineMode) -> Target {
        Target::new("claude", PathBuf::from("/x/settings.json"), EntryOrder::Free)
            .with_status_line("/opt/tow".to_owned(), showing)
    }

    fn installed(text: &str, showing: StatusLineMode) -> String {
        let plan = target(showing).plan(Some(text.as_bytes())).unwrap();
        let after = plan.after.unwrap();
        assert!(target(showing).plan(Some(&after)).unwrap().is_empty(), "a second run changes nothing");
        String::from_utf8(after).unwrap()
    }

    fn given_back(text: &str) -> String {
        let plan = target(StatusLineMode::AsItIs)
            .plan_removal(Some(text.as_bytes()), &Containers::default())
            .unwrap();
        String::from_utf8(plan.after.unwrap()).unwrap()
    }

    #[track_caller]
    fn check(before: &str, expected: &str) {
        let after = installed(before, StatusLineMode::Wanted);
        assert_eq!(after, expected);
        assert_eq!(given_back(&after), before);
        assert_eq!(installed(before, StatusLineMode::AsItIs), before, "only whoever asks for it gets it");
        assert_eq!(installed(&after, StatusLineMode::AsItIs), after, "it stays where it is");
    }

    #[test]
    fn a_line_of_the_users_own_goes_on_behind_ours_and_is_given_back() {
        check(
            r#"{"statusLine": {"type": "command", "command": "~/line.sh | head -1", "padding": 0}, "x": 1}"#,
            r#"{"statusLine": {"type": "command", "command": "/opt/tow statusline --over '~/line.sh | head -1'", "padding": 0}, "x": 1}"#,
        );
        check(
            r#"{"statusLine": {"type": "command", "command": "echo 'it'\"s\" $(date)"}}"#,
            r#"{"statusLine": {"type": "command", "command": "/opt/tow statusline --over 'echo '\\''it'\\''\"s\" $(date)'"}}"#,
        );
    }

    #[test]
    fn a_missing_setting_is_added_and_removed_again() {
        check(
            r#"{"x": 1}"#,
            r#"{"x": 1, "statusLine": {"type": "command", "command": "/opt/tow statusline"}}"#,
        );
        check(
            "{\n  \"x\": 1\n}\n",
            "{\n  \"x\": 1,\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"/opt/tow statusline\"\n  }\n}\n",
        );
    }

    #[test]
    fn a_program_that_moved_is_found_at_its_new_place_with_what_it_stood_in_front_of() {
        let old = r#"{"statusLine": {"command": "'/old place/tow' statusline --over 'a b'"}}"#;
        let new = r#"{"statusLine": {"command": "/opt/tow statusline --over 'a b'"}}"#;
        assert_eq!(installed(old, StatusLineMode::AsItIs), new);
        assert_eq!(given_back(new), r#"{"statusLine": {"command": "a b"}}"#);
    }

    #[test]
    fn the_owner_of_the_status_line_is_detected() {
        let check = |text: &str, expected: StatusLineState| {
            let found = target(StatusLineMode::AsItIs).inspect(Some(text.as_bytes())).unwrap().line;
            assert_eq!(found, Some(expected), "{text}");
        };
        let theirs = r#"{"statusLine": {"command": "a b"}}"#;
        check("{}", StatusLineState::Missing);
        check(theirs, StatusLineState::Theirs);
        check(r#"{"statusLine": 1}"#, StatusLineState::Unknown);
        check(&installed("{}", StatusLineMode::Wanted), StatusLineState::Ours);
        check(
            &installed(theirs, StatusLineMode::Wanted),
            StatusLineState::Composed { theirs: "a b".to_owned() },
        );
        check(r#"{"statusLine": {"command": "/old/tow statusline"}}"#, StatusLineState::Outdated);
        let without = Target::new("claude", PathBuf::from("/x/settings.json"), EntryOrder::Free);
        assert_eq!(without.inspect(Some(b"{}")).unwrap().line, None);
    }

    #[test]
    fn a_setting_without_a_command_is_refused_and_left_alone() {
        for text in [
            r#"{"statusLine": null}"#,
            r#"{"statusLine": {"type": "static"}}"#,
            r#"{"statusLine": {"command": 3}}"#,
        ] {
            let refused = target(StatusLineMode::Wanted).plan(Some(text.as_bytes())).unwrap_err();
            assert!(matches!(refused.cause, RefusalCause::StatusLineUnknown), "{text}");
            assert_eq!(installed(text, StatusLineMode::AsItIs), text);
            assert_eq!(given_back(text), text);
        }
    }
}
