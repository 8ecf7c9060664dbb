//! The `guard` and `statusline` sections: the reaction to a filling context, and the status line's content.
//!
//! Pure: validates and interprets values, measures nothing.

use super::patterns::covers;
use super::rules::{one_of, require};
use super::values::{Values, key, section};
use std::collections::BTreeMap;
use toml_edit::Value;
use towline_core::meter::{ContextStrategy, PLACEHOLDERS, unknown_placeholder};

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

section! {
    /// The content of `tow statusline`.
    pub struct StatusLine in "statusline" {
        /// A shell command whose output is shown first; empty means none.
        command: String,
        /// Whether our own line is drawn.
        own: bool,
        /// The validated template of our line.
        template: String,
        /// The maximum width; 0 means the width the terminal reports.
        columns: usize,
    }
}

impl Guard {
    pub(super) fn read(values: &Values) -> Guard {
        let thresholds = values.entries("guard.thresholds").into_iter();
        let projects = values.entries("guard.projects").into_iter();
        Guard {
            strategy: values.named(key!("guard.strategy"), ContextStrategy::named).unwrap_or_default(),
            thresholds: thresholds
                .filter_map(|(percent, message)| Some((percent.parse().ok()?, message)))
                .collect(),
            refuse_helpers_at: values.get(key!("guard.refuse_helpers_at")),
            projects: projects
                .filter_map(|(folder, name)| Some((folder, ContextStrategy::named(&name)?)))
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

/// `Err` completes "must be", here and below.
pub(super) fn thresholds_are_valid(value: &Value) -> Result<(), String> {
    let Some(table) = value.as_inline_table() else { return Ok(()) };
    let expected = "at least one share with its message; for none, set `guard.strategy` to \"off\"";
    require(!table.is_empty(), expected)?;
    table.iter().try_for_each(|(percent, message)| threshold(percent, message))
}

pub(super) fn projects_are_valid(value: &Value) -> Result<(), String> {
    let table = || value.as_inline_table().into_iter().flatten();
    let is_whole = table().all(|(folder, _)| folder.starts_with('/'));
    require(is_whole, "made of whole paths that begin with `/`")?;
    let names = ContextStrategy::ALL.map(ContextStrategy::name);
    table().try_for_each(|(_, name)| one_of(name.as_str().unwrap_or(""), &names))
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

#[cfg(test)]
mod tests {
    use super::super::{Config, layered};
    use super::*;

    #[track_caller]
    fn check_mistake(user: &str, expected: &str) {
        let found = layered(user);
        let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(mistakes, [expected]);
        assert_eq!(found.config.guard, Config::compiled_in().guard, "the default is used");
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
        let line = StatusLine {
            command: "line | head".into(),
            own: false,
            ..Config::compiled_in().statusline.into_inner()
        };
        assert_eq!(*config.statusline, line);
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
