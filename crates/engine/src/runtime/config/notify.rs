//! The `notify` section: which changes notify the user, and how. All of it is off until the user enables it.
//!
//! Pure: validates and interprets values, sends nothing.

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

impl Notify {
    pub fn compiled_in() -> Notify {
        Notify {
            states: ["blocked", "completed", "limited", "interrupted"].map(str::to_owned).into(),
            terminal: TerminalSignal::Off,
            title: false,
            desktop_after: None,
            phone_after: None,
            phone: vec![],
            debounce: Duration::from_secs(2),
            mute_projects: vec![],
            commands: Commands::new(),
        }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Notify {
        let words = |key: &str| value(key).map(|list| words(&list)).unwrap_or_default();
        let seconds = |key: &str| value(key).and_then(|value| value.as_integer()).unwrap_or(-1);
        let after = |key: &str| u64::try_from(seconds(key)).ok().map(Duration::from_secs);
        let commands = OCCASIONS.iter().map(|name| ((*name).to_owned(), words(&format!("notify.on_{name}"))));
        Notify {
            states: words("notify.states"),
            terminal: value("notify.terminal").and_then(|value| sign(&value)).unwrap_or(TerminalSignal::Off),
            title: value("notify.title").and_then(|value| value.as_bool()).unwrap_or(false),
            desktop_after: after("notify.desktop_after_s"),
            phone_after: after("notify.phone_after_s"),
            phone: words("notify.phone"),
            debounce: after("notify.debounce_s").unwrap_or_default(),
            mute_projects: words("notify.mute_projects"),
            commands: commands.filter(|(_, words)| !words.is_empty()).collect(),
        }
    }

    /// Whether entering this state causes a notification.
    pub fn tells(&self, state: SessionState) -> bool {
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

    pub fn mutes(&self, project: Option<&str>) -> bool {
        project.is_some_and(|project| self.mute_projects.iter().any(|muted| muted == project))
    }
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let within = |from: i64, to: i64| match value.as_integer() {
        Some(number) if !(from..=to).contains(&number) => Err(format!("from {from} to {to}")),
        Some(_) | None => Ok(()),
    };
    match key {
        "notify.states" => known_states(value),
        "notify.terminal" => match sign(value) {
            Some(_) => Ok(()),
            None => Err(format!("one of {}", TerminalSignal::ALL.map(TerminalSignal::name).join(", "))),
        },
        "notify.desktop_after_s" | "notify.phone_after_s" => within(-1, 86_400),
        "notify.debounce_s" => within(0, 3_600),
        "notify.mute_projects" => texts(value),
        "notify.title" => Ok(()),
        _ => command(value),
    }
}

fn known_states(value: &Value) -> Result<(), String> {
    texts(value)?;
    match words(value).iter().find(|state| !SessionState::SITTING.contains(&state.as_str())) {
        Some(state) => {
            Err(format!("made of {}; there is no state `{state}`", SessionState::SITTING.join(", ")))
        }
        None => Ok(()),
    }
}

fn command(value: &Value) -> Result<(), String> {
    texts(value)?;
    let words = words(value);
    if words.first().is_some_and(|program| program.trim().is_empty()) {
        return Err("a command whose first word is a program".into());
    }
    match unknown_placeholder(&words) {
        Some(name) => {
            let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(" ");
            Err(format!("a command of known placeholders; there is no `{{{name}}}`, there are {known}"))
        }
        None => Ok(()),
    }
}

fn texts(value: &Value) -> Result<(), String> {
    let all = value.as_array().into_iter().flatten().all(|item| item.is_str());
    if all { Ok(()) } else { Err("a list of texts in quotes".into()) }
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn sign(value: &Value) -> Option<TerminalSignal> {
    TerminalSignal::named(value.as_str()?)
}

#[cfg(test)]
mod tests {
    use super::super::layered;
    use super::*;

    #[track_caller]
    fn check_mistake(user: &str, expected: &str) {
        let found = layered(&format!("[notify]\n{user}"));
        let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(mistakes, [format!("line 2: {expected}")]);
        assert_eq!(found.config.notify, Notify::compiled_in(), "the default is used");
    }

    #[test]
    fn everything_can_be_set() {
        let notify = layered(
            "[notify]\nstates = ['blocked']\nterminal = 'osc9'\ntitle = true\ndesktop_after_s = 0\nphone_after_s = 600\n\
             phone = ['curl', '-d', '{summary}']\ndebounce_s = 0\nmute_projects = ['noise']\non_blocked = ['beep']\n",
        )
        .config
        .notify;
        assert!(notify.tells(SessionState::Blocked(towline_core::event::BlockReason::Question)));
        assert!(!notify.tells(SessionState::Completed) && notify.escalates() && notify.title);
        assert_eq!((notify.terminal, notify.debounce), (TerminalSignal::Osc9, Duration::ZERO));
        assert_eq!(
            (notify.desktop_after, notify.phone_after.map(|after| after.as_secs())),
            (Some(Duration::ZERO), Some(600))
        );
        assert!(notify.mutes(Some("noise")) && !notify.mutes(Some("work")) && !notify.mutes(None));
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
