//! The `notify` section: which changes notify the user, and how. All of it is off until the user enables it.
//!
//! Pure: validates and interprets values, sends nothing.

use super::rules::{all, require};
use super::values::{Key, Values, key};
use std::collections::BTreeMap;
use std::time::Duration;
use toml_edit::Value;
use towline_core::session::SessionState;
use towline_core::telling::{PLACEHOLDERS, TerminalSignal, unknown_placeholder};

/// The words of each command by occasion: the name of a state, or `transition`.
pub type Commands = BTreeMap<String, Vec<String>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notify {
    pub states: Vec<String>,
    pub terminal: TerminalSignal,
    pub title: bool,
    /// How long a change stays unseen before the desktop notification; `None` disables it.
    pub desktop_after: Option<Duration>,
    pub phone_after: Option<Duration>,
    pub phone: Vec<String>,
    pub debounce: Duration,
    pub mute_projects: Vec<String>,
    pub commands: Commands,
}

/// The occasions a command can be configured for.
pub const OCCASIONS: [&str; 8] =
    ["idle", "working", "blocked", "completed", "interrupted", "limited", "ended", "transition"];

/// The command of each occasion.
const COMMANDS: [Key; 8] = [
    key!("notify.on_idle"),
    key!("notify.on_working"),
    key!("notify.on_blocked"),
    key!("notify.on_completed"),
    key!("notify.on_interrupted"),
    key!("notify.on_limited"),
    key!("notify.on_ended"),
    key!("notify.on_transition"),
];

impl Notify {
    pub(super) fn read(values: &Values) -> Notify {
        let after = |key: Key| u64::try_from(values.get::<i64>(key)).ok().map(Duration::from_secs);
        let commands = OCCASIONS
            .into_iter()
            .zip(COMMANDS)
            .map(|(name, key)| (name.to_owned(), values.get::<Vec<String>>(key)));
        Notify {
            states: values.get(key!("notify.states")),
            terminal: values
                .named(key!("notify.terminal"), TerminalSignal::named)
                .unwrap_or(TerminalSignal::Off),
            title: values.get(key!("notify.title")),
            desktop_after: after(key!("notify.desktop_after_s")),
            phone_after: after(key!("notify.phone_after_s")),
            phone: values.get(key!("notify.phone")),
            debounce: after(key!("notify.debounce_s")).unwrap_or_default(),
            mute_projects: values.get(key!("notify.mute_projects")),
            commands: commands.filter(|(_, words)| !words.is_empty()).collect(),
        }
    }

    /// Whether entering this state causes a notification.
    pub fn notifies_on(&self, state: SessionState) -> bool {
        self.states.iter().any(|name| name == state.name())
    }

    /// Whether an agent's hook writes to the agent's terminal.
    pub fn speaks_by_terminal(&self) -> bool {
        self.terminal != TerminalSignal::Off || self.title
    }

    /// Whether delayed notifications are enabled.
    pub fn escalates(&self) -> bool {
        self.desktop_after.is_some() || self.phone_after.is_some()
    }

    pub fn is_muted(&self, project: Option<&str>) -> bool {
        project.is_some_and(|project| self.mute_projects.iter().any(|muted| muted == project))
    }
}

pub(super) const TEXTS: &str = "a list of texts in quotes";

/// `Err` completes "must be", here and below.
pub(super) fn are_states(value: &Value) -> Result<(), String> {
    all(value, |_| true, TEXTS)?;
    let states = SessionState::SITTING;
    words(value).try_for_each(|state| {
        let expected = format!("made of {}; there is no state `{state}`", states.join(", "));
        require(states.contains(&state), &expected)
    })
}

pub(super) fn is_command(value: &Value) -> Result<(), String> {
    all(value, |_| true, TEXTS)?;
    let is_program = words(value).next().is_none_or(|program| !program.trim().is_empty());
    require(is_program, "a command whose first word is a program")?;
    match unknown_placeholder(&words(value).map(str::to_owned).collect::<Vec<_>>()) {
        Some(name) => {
            let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(" ");
            Err(format!("a command of known placeholders; there is no `{{{name}}}`, there are {known}"))
        }
        None => Ok(()),
    }
}

fn words(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::{Config, layered};
    use super::*;

    #[track_caller]
    fn check_mistake(user: &str, expected: &str) {
        let found = layered(&format!("[notify]\n{user}"));
        let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(mistakes, [format!("line 2: {expected}")]);
        assert_eq!(found.config.notify, Config::compiled_in().notify, "the default is used");
    }

    #[test]
    fn everything_can_be_set() {
        let notify = layered(
            "[notify]\nstates = ['blocked']\nterminal = 'osc9'\ntitle = true\ndesktop_after_s = 0\nphone_after_s = 600\n\
             phone = ['curl', '-d', '{summary}']\ndebounce_s = 0\nmute_projects = ['noise']\non_blocked = ['beep']\n",
        )
        .config
        .notify;
        assert!(notify.notifies_on(SessionState::Blocked(towline_core::event::BlockReason::Question)));
        assert!(!notify.notifies_on(SessionState::Completed) && notify.escalates() && notify.title);
        assert_eq!((notify.terminal, notify.debounce), (TerminalSignal::Osc9, Duration::ZERO));
        assert_eq!(
            (notify.desktop_after, notify.phone_after.map(|after| after.as_secs())),
            (Some(Duration::ZERO), Some(600))
        );
        assert!(notify.is_muted(Some("noise")) && !notify.is_muted(Some("work")) && !notify.is_muted(None));
        assert_eq!(notify.commands, Commands::from([("blocked".to_owned(), vec!["beep".to_owned()])]));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        check_mistake(
            "states = ['asleep']",
            "`notify.states` must be made of idle, working, blocked, completed, interrupted, limited; \
             there is no state `asleep`",
        );
        check_mistake("terminal = 'gong'", "`notify.terminal` must be one of off, bell, osc9, osc777");
        check_mistake("desktop_after_s = -2", "`notify.desktop_after_s` must be from -1 to 86400");
        check_mistake("phone = 'curl'", "`notify.phone` must be an array and is a string");
        check_mistake("phone = ['curl', 1]", "`notify.phone` must be a list of texts in quotes");
        check_mistake(
            "on_idle = ['', 'x']",
            "`notify.on_idle` must be a command whose first word is a program",
        );
    }

    #[test]
    fn a_placeholder_that_does_not_exist_is_named() {
        let found = layered("[notify]\non_blocked = ['say', '{projekt}']\n");
        let said = found.mistakes[0].to_string();
        assert!(said.contains("`notify.on_blocked`") && said.contains("there is no `{projekt}`"), "{said}");
        assert!(found.config.notify.commands.is_empty());
    }
}
