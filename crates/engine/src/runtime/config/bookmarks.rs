//! The `bookmarks` section of the configuration: when bookmarks are set, and how.
//!
//! Pure: validates and interprets values, sets no bookmark.

use super::layer::one_of;
use toml_edit::Value;
use towline_core::bookmark::{BookmarkMode, BookmarkRules, MARKER};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmarks {
    pub rules: BookmarkRules,
    pub marker: String,
}

/// More than any session reaches; setting a threshold to it disables the rule.
const MOST: i64 = 1_000_000_000;

/// Long enough for a word, too short for a prompt.
const LONGEST_MARKER: usize = 16;

impl Bookmarks {
    pub fn compiled_in() -> Bookmarks {
        Bookmarks { rules: BookmarkRules::USUAL, marker: MARKER.to_owned() }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Bookmarks {
        let usual = BookmarkRules::USUAL;
        let text = |key: &str| value(key).and_then(|value| value.as_str().map(str::to_owned));
        let number = |key: &str| value(key).and_then(|value| value.as_integer()).unwrap_or(0).unsigned_abs();
        let small = |key: &str| u32::try_from(number(key)).unwrap_or(u32::MAX);
        let rules = BookmarkRules {
            mode: text("bookmarks.mode").and_then(|name| BookmarkMode::parse(&name)).unwrap_or(usual.mode),
            min_tokens: number("bookmarks.min_tokens"),
            min_tool_calls: small("bookmarks.min_tool_calls"),
            min_seconds: small("bookmarks.min_seconds"),
            agent_burst: small("bookmarks.agent_burst"),
            cooldown_seconds: small("bookmarks.cooldown_seconds"),
        };
        Bookmarks { rules, marker: text("bookmarks.marker").unwrap_or_else(|| MARKER.to_owned()) }
    }

    pub fn is_marker(&self, prompt: &str) -> bool {
        prompt.trim() == self.marker
    }
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    match key {
        "bookmarks.mode" => one_of(value, &BookmarkMode::ALL.map(BookmarkMode::name)),
        "bookmarks.marker" => is_marker(value.as_str().unwrap_or("")),
        _ => match value.as_integer() {
            Some(number) if !(0..=MOST).contains(&number) => Err(format!("from 0 to {MOST}")),
            Some(_) | None => Ok(()),
        },
    }
}

/// A marker must reach the agent as a prompt: agents treat some first characters as commands.
fn is_marker(marker: &str) -> Result<(), String> {
    let is_word = !marker.is_empty() && marker.chars().all(|c| !c.is_whitespace() && !c.is_control());
    let is_command = marker.starts_with(['/', '$', '!', '#', '@', '<', '?']);
    if is_word && !is_command && marker.len() <= LONGEST_MARKER {
        return Ok(());
    }
    Err(format!("one word of at most {LONGEST_MARKER} bytes that no agent takes for a command"))
}
