//! The notification of a change in a seat: placeholder values for commands, one line for people, terminal sequences.
//!
//! Every value is a single line without control characters, regardless of its source. A value is substituted as it is:
//! never split, never expanded again, and never part of shell text.

use crate::bar::BarStyle;
use crate::escape::{escape_for_terminal, fit_to_width};
use crate::session::SessionState;
use crate::shown::SeatView;
use crate::text::clip;

/// Every placeholder. The environment variable is `TOWLINE_` and the name in capitals.
pub const PLACEHOLDERS: [&str; 12] = [
    "agent", "project", "branch", "from", "to", "state", "reason", "prompt", "session", "seat", "pane",
    "summary",
];

/// A value becomes an argument and a variable, which have a size limit of their own.
const LONGEST_VALUE: usize = 4096;

/// Columns of a prompt in a line with other content.
const PROMPT_COLUMNS: usize = 80;

named_enum! {
    /// How the agent's own terminal signals a change.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TerminalSignal as named {
        Off = "off",
        Bell = "bell",
        /// A terminal notification of one line.
        Osc9 = "osc9",
        /// A terminal notification with a heading and a body.
        Osc777 = "osc777",
    }
}

/// One change of one seat, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub to: SessionState,
    icon: String,
    values: [String; PLACEHOLDERS.len()],
}

impl Notification {
    pub fn of(seat: &SeatView, from: Option<SessionState>, to: SessionState) -> Notification {
        let light = SeatView { state: to, seen: false, ..seat.clone() }.light();
        let text =
            |value: Option<&str>| clip(&escape_for_terminal(value.unwrap_or("")), LONGEST_VALUE).to_owned();
        let state = to.name().to_owned();
        let values = [
            text(Some(&seat.agent)),
            text(seat.project.as_deref()),
            text(seat.branch.as_deref()),
            text(from.map(SessionState::name)),
            state.clone(),
            state,
            text(to.reason()),
            text(seat.prompt.as_deref()),
            text(seat.session.as_deref()),
            text(Some(&seat.seat)),
            text(seat.pane.as_deref()),
            summary(seat, to),
        ];
        Notification { to, icon: escape_for_terminal(&BarStyle::default().light_style(light).icon), values }
    }

    /// A look of the user at a session that had stopped in this state; where it leads is called `seen`.
    pub fn of_look(seat: &SeatView, from: SessionState) -> Notification {
        let mut look = Notification::of(seat, Some(from), from);
        for (name, value) in PLACEHOLDERS.iter().zip(&mut look.values) {
            if matches!(*name, "to" | "state") {
                "seen".clone_into(value);
            }
        }
        look
    }

    /// Empty for a placeholder that does not exist.
    pub fn value(&self, placeholder: &str) -> &str {
        let at = PLACEHOLDERS.iter().position(|name| *name == placeholder);
        at.map_or("", |at| self.values[at].as_str())
    }

    /// Replaces the placeholders in a command; the number of words never changes.
    pub fn fill(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.fill_word(word)).collect()
    }

    fn fill_word(&self, word: &str) -> String {
        let mut filled = String::with_capacity(word.len());
        let mut rest = word;
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            filled.push_str(before);
            rest = match placeholder(from) {
                Some((name, after)) if PLACEHOLDERS.contains(&name) => {
                    filled.push_str(self.value(name));
                    after
                }
                Some(_) | None => {
                    filled.push('{');
                    &from[1..]
                }
            };
        }
        filled + rest
    }

    /// The same values for the environment of a command.
    pub fn variables(&self) -> Vec<(String, String)> {
        let named = PLACEHOLDERS.iter().zip(&self.values);
        named.map(|(name, value)| (format!("TOWLINE_{}", name.to_uppercase()), value.clone())).collect()
    }

    /// The project and its state.
    pub fn heading(&self) -> String {
        let (project, state) = (or(self.value("project"), "an agent"), self.value("state"));
        match self.value("reason") {
            "" => format!("{project}: {state}"),
            reason => format!("{project}: {state} ({reason})"),
        }
    }

    /// The agent and its prompt.
    pub fn body(&self) -> String {
        let parts = [
            self.value("agent").to_owned(),
            self.value("branch").to_owned(),
            fit_to_width(self.value("prompt"), PROMPT_COLUMNS),
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    }

    /// The sequence that makes the agent's terminal signal the change.
    pub fn terminal_sequence(&self, sign: TerminalSignal) -> String {
        match sign {
            TerminalSignal::Off => String::new(),
            TerminalSignal::Bell => "\x07".to_owned(),
            // Some terminals interpret a body that begins with a digit as a command.
            TerminalSignal::Osc9 => format!("\x1b]9;towline: {}\x07", self.value("summary")),
            TerminalSignal::Osc777 => {
                // The heading ends at the first semicolon.
                format!("\x1b]777;notify;{};{}\x07", self.heading().replace(';', ","), self.body())
            }
        }
    }

    /// The sequence that sets the terminal's title: the state's icon and the project.
    pub fn title(&self) -> String {
        format!("\x1b]2;{} {}\x07", self.icon, or(self.value("project"), self.value("agent")))
    }
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// The whole change in one line, most important first.
fn summary(seat: &SeatView, to: SessionState) -> String {
    let place = seat.project_and_branch();
    let reason = to.reason().map_or(String::new(), |reason| format!(" ({reason})"));
    let prompt = fit_to_width(&escape_for_terminal(seat.prompt.as_deref().unwrap_or("")), PROMPT_COLUMNS);
    let prompt = if prompt.is_empty() { prompt } else { format!(": {prompt}") };
    escape_for_terminal(&format!("{} in {place}: {}{reason}{prompt}", seat.agent, to.name()))
}

/// The first name in braces that looks like a placeholder but is not one.
pub fn unknown_placeholder(words: &[String]) -> Option<String> {
    words.iter().find_map(|word| {
        let named = word.match_indices('{').filter_map(|(at, _)| placeholder(&word[at..]));
        named.map(|(name, _)| name).find(|name| !PLACEHOLDERS.contains(name)).map(str::to_owned)
    })
}

/// The name in braces at the start of the text, and the rest. Braces of JSON and the like are not placeholders.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.strip_prefix('{')?.split_once('}')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((name, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::BlockReason;
    use crate::time::Timestamp;

    const BLOCKED: SessionState = SessionState::Blocked(BlockReason::Permission);

    fn seat(prompt: &str) -> SeatView {
        SeatView {
            session: Some("agent:id".into()),
            state: BLOCKED,
            seen: false,
            project: Some("app; core".into()),
            branch: Some("main".into()),
            prompt: Some(prompt.into()),
            pane: Some("%2".into()),
            ..SeatView::at("tmux:/s:1:%2", "agent", Timestamp(0))
        }
    }

    fn telling(prompt: &str) -> Notification {
        Notification::of(&seat(prompt), Some(SessionState::Working), BLOCKED)
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_value_is_one_word_and_is_never_expanded_again() {
        let filled =
            telling("{project} $(touch x) 'y' -z\n\u{1b}[1m").fill(&words(&["say", "<{prompt}>", "-{to}"]));
        assert_eq!(filled, ["say", "<{project} $(touch x) 'y' -z [1m>", "-blocked"]);
    }

    #[test]
    fn braces_that_hold_no_placeholder_are_text() {
        let filled = telling("p").fill(&words(&[r#"{"text":"{pane}","a":{}}"#, "{", "{{to}}"]));
        assert_eq!(filled, [r#"{"text":"%2","a":{}}"#, "{", "{blocked}"]);
    }

    #[test]
    fn a_placeholder_that_does_not_exist_is_named() {
        assert_eq!(unknown_placeholder(&words(&["a", "{project}{projekt}"])).as_deref(), Some("projekt"));
        assert_eq!(unknown_placeholder(&words(&[r#"{"a": 1}"#, "${HOME}", "{}"])), None);
    }

    #[test]
    fn every_placeholder_is_a_variable_too() {
        let variables = telling("p").variables();
        let value =
            |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!((value("TOWLINE_FROM"), value("TOWLINE_TO")), (Some("working"), Some("blocked")));
        assert_eq!(value("TOWLINE_SUMMARY"), Some("agent in app; core/main: blocked (permission): p"));
        assert_eq!(variables.len(), PLACEHOLDERS.len());
    }

    #[test]
    fn a_sign_ends_where_it_should_whatever_it_tells() {
        let telling = telling("do\u{7} this");
        assert_eq!(telling.terminal_sequence(TerminalSignal::Off), "");
        assert_eq!(telling.terminal_sequence(TerminalSignal::Bell), "\x07");
        assert_eq!(
            telling.terminal_sequence(TerminalSignal::Osc9),
            "\x1b]9;towline: agent in app; core/main: blocked (permission): do this\x07"
        );
        assert_eq!(
            telling.terminal_sequence(TerminalSignal::Osc777),
            "\x1b]777;notify;app, core: blocked (permission);agent · main · do this\x07"
        );
        assert_eq!(telling.title(), "\x1b]2;! app; core\x07");
    }

    #[test]
    fn a_long_prompt_is_bounded_wherever_it_goes() {
        let telling = telling(&"é".repeat(10_000));
        assert_eq!(telling.value("prompt").len(), LONGEST_VALUE);
        assert!(
            telling.value("summary").len() < 300
                && telling.terminal_sequence(TerminalSignal::Osc777).len() < 400
        );
    }
}
