//! The `guard` and `statusline` sections: the reaction to a filling context, and the status line's content.
//!
//! Pure: validates and interprets values, measures nothing.

use super::covers;
use std::collections::BTreeMap;
use toml_edit::Value;
use towline_core::meter::{ContextStrategy, PLACEHOLDERS, unknown_placeholder};
use towline_core::status_line::StatusTemplate;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    pub strategy: ContextStrategy,
    /// The message shown from each percentage on.
    pub thresholds: BTreeMap<u8, String>,
    /// The percentage from which no subagent is started; 0 disables the limit.
    pub refuse_helpers_at: u8,
    /// Folders with a strategy of their own.
    pub projects: BTreeMap<String, ContextStrategy>,
}

/// The content of `tow statusline`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// A shell command whose output is shown first; empty means none.
    pub command: String,
    /// Whether our own line is drawn.
    pub own: bool,
    /// The validated template of our line.
    pub template: String,
    /// The maximum width; 0 means the width the terminal reports.
    pub columns: usize,
}

/// The default template.
const TEMPLATE: &str = "{model}[  {context}][  {place}][  {cost}][  {limits}][  {agents}]";

impl Guard {
    pub fn compiled_in() -> Guard {
        let message = |(percent, message): (u8, &str)| (percent, message.to_owned());
        Guard {
            strategy: ContextStrategy::Notify,
            thresholds: [
                (40, "Consider preparing a handoff soon."),
                (50, "Handoff recommended."),
                (60, "Handoff strongly recommended."),
                (70, "Auto-compaction risk: {remaining} tokens are left. Handoff advised."),
            ]
            .map(message)
            .into(),
            refuse_helpers_at: 85,
            projects: BTreeMap::new(),
        }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Guard {
        let entries = |key: &str| -> Vec<(String, String)> {
            let table = value(key).and_then(|value| value.as_inline_table().cloned()).unwrap_or_default();
            let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
            table.iter().map(|(name, value)| (name.to_owned(), text(value))).collect()
        };
        let limit = value("guard.refuse_helpers_at").and_then(|value| value.as_integer()).unwrap_or(0);
        Guard {
            strategy: value("guard.strategy").and_then(|value| strategy(&value)).unwrap_or_default(),
            thresholds: entries("guard.thresholds")
                .into_iter()
                .filter_map(|(percent, message)| Some((percent.parse().ok()?, message)))
                .collect(),
            refuse_helpers_at: u8::try_from(limit).unwrap_or(0),
            projects: entries("guard.projects")
                .into_iter()
                .filter_map(|(folder, name)| Some((folder, ContextStrategy::parse(&name)?)))
                .collect(),
        }
    }

    /// Whether any configured strategy types into a terminal.
    pub fn types(&self) -> bool {
        self.strategy.types() || self.projects.values().any(|strategy| strategy.types())
    }

    /// The strategy of a session in this folder; the nearest configured folder decides.
    pub fn strategy_in(&self, folder: Option<&str>) -> ContextStrategy {
        let own = self.projects.iter().filter(|(path, _)| folder.is_some_and(|folder| covers(path, folder)));
        own.max_by_key(|(path, _)| path.len()).map_or(self.strategy, |(_, strategy)| *strategy)
    }
}

impl StatusLine {
    pub fn compiled_in() -> StatusLine {
        StatusLine { command: String::new(), own: true, template: TEMPLATE.to_owned(), columns: 0 }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> StatusLine {
        let command = value("statusline.command").and_then(|value| value.as_str().map(str::to_owned));
        let own = value("statusline.own").and_then(|value| value.as_bool());
        let template = value("statusline.template").and_then(|value| value.as_str().map(str::to_owned));
        let columns = value("statusline.columns").and_then(|value| value.as_integer()).unwrap_or(0);
        StatusLine {
            command: command.unwrap_or_default(),
            own: own.unwrap_or(true),
            template: template.unwrap_or_else(|| TEMPLATE.to_owned()),
            columns: usize::try_from(columns).unwrap_or(0),
        }
    }
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    match (key, value) {
        ("guard.strategy", _) => strategy(value).map(drop).ok_or_else(one_of_the_strategies),
        ("guard.thresholds", Value::InlineTable(table)) => {
            if table.is_empty() {
                return Err(
                    "at least one share with its message; for none, set `guard.strategy` to \"off\"".into()
                );
            }
            table.iter().try_for_each(|(percent, message)| threshold(percent, message))
        }
        ("guard.projects", Value::InlineTable(table)) => {
            let is_whole = table.iter().all(|(folder, _)| folder.starts_with('/'));
            let is_known = table.iter().all(|(_, name)| strategy(name).is_some());
            match (is_whole, is_known) {
                (true, true) => Ok(()),
                (false, _) => Err("made of whole paths that begin with `/`".into()),
                (true, false) => Err(one_of_the_strategies()),
            }
        }
        ("guard.refuse_helpers_at", Value::Integer(limit)) if !(0..=100).contains(limit.value()) => {
            Err("from 0 to 100".into())
        }
        ("statusline.template", Value::String(template)) => {
            StatusTemplate::parse(template.value()).map(drop).map_err(|error| format!("a template: {error}"))
        }
        ("statusline.columns", Value::Integer(columns)) if !(0..=1000).contains(columns.value()) => {
            Err("from 0 to 1000".into())
        }
        (_, _) => Ok(()),
    }
}

fn threshold(percent: &str, message: &Value) -> Result<(), String> {
    let is_share = percent.parse::<u8>().is_ok_and(|percent| (1..=100).contains(&percent));
    if !is_share {
        return Err(format!("made of shares from 1 to 100; `{percent}` is none"));
    }
    let Some(message) = message.as_str().filter(|message| !message.trim().is_empty()) else {
        return Err(format!("made of messages in quotes; that of {percent} is none"));
    };
    match unknown_placeholder(message) {
        Some(name) => {
            let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(" ");
            Err(format!("made of known placeholders; there is no `{{{name}}}`, there are {known}"))
        }
        None => Ok(()),
    }
}

fn strategy(value: &Value) -> Option<ContextStrategy> {
    ContextStrategy::parse(value.as_str()?)
}

fn one_of_the_strategies() -> String {
    format!("one of {}", ContextStrategy::ALL.map(ContextStrategy::name).join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::layered;
    use super::*;

    #[track_caller]
    fn check_mistake(user: &str, expected: &str) {
        let found = layered(user);
        let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(mistakes, [expected]);
        assert_eq!(found.config.guard, Guard::compiled_in(), "the default is used");
    }

    #[test]
    fn everything_can_be_set() {
        let config = layered(
            "[guard]\nstrategy = 'off'\nrefuse_helpers_at = 0\n[guard.thresholds]\n80 = 'Now: {percent}, {remaining}'\n\
             [guard.projects]\n'/a' = 'notify'\n'/a/b' = 'handoff'\n[statusline]\ncommand = 'line | head'\nown = false\n",
        )
        .config;
        assert_eq!(config.guard.thresholds, BTreeMap::from([(80, "Now: {percent}, {remaining}".to_owned())]));
        assert_eq!(config.guard.refuse_helpers_at, 0);
        let strategies =
            [Some("/a/b/c"), Some("/a/x"), Some("/z"), None].map(|folder| config.guard.strategy_in(folder));
        assert_eq!(
            strategies,
            [ContextStrategy::Handoff, ContextStrategy::Notify, ContextStrategy::Off, ContextStrategy::Off]
        );
        let line = StatusLine { command: "line | head".into(), own: false, ..StatusLine::compiled_in() };
        assert_eq!(config.statusline, line);
    }

    #[test]
    fn ctx_3_what_makes_no_sense_is_named() {
        check_mistake(
            "[guard]\nstrategy = 'panic'",
            "line 2: `guard.strategy` must be one of off, notify, compact, handoff",
        );
        check_mistake(
            "guard.thresholds = { 140 = 'x' }",
            "line 1: `guard.thresholds` must be made of shares from 1 to 100; `140` is none",
        );
        check_mistake(
            "guard.thresholds = { 40 = ' ' }",
            "line 1: `guard.thresholds` must be made of messages in quotes; that of 40 is none",
        );
        check_mistake(
            "guard.thresholds = {}",
            "line 1: `guard.thresholds` must be at least one share with its message; for none, set `guard.strategy` to \"off\"",
        );
        check_mistake(
            "guard.thresholds = { 40 = '{tokens}' }",
            "line 1: `guard.thresholds` must be made of known placeholders; there is no `{tokens}`, there are {percent} \
             {remaining} {session}",
        );
        let wrong = layered("[statusline]\ntemplate = '{modle}'").mistakes[0].to_string();
        assert!(
            wrong.starts_with("line 2: `statusline.template` must be a template: there is no `{modle}`"),
            "{wrong}"
        );
        check_mistake(
            "[guard]\nrefuse_helpers_at = 101",
            "line 2: `guard.refuse_helpers_at` must be from 0 to 100",
        );
        check_mistake(
            "guard.projects = { 'a' = 'off' }",
            "line 1: `guard.projects` must be made of whole paths that begin with `/`",
        );
        check_mistake(
            "guard.projects = { '/a' = 'x' }",
            "line 1: `guard.projects` must be one of off, notify, compact, handoff",
        );
    }
}
