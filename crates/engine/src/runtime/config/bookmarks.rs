//! The `bookmarks` section of the configuration: when bookmarks are set, and how.
//!
//! Pure: validates and interprets values, sets no bookmark.

use super::rules::require;
use super::values::{Values, key};
use towline_core::bookmark::{BookmarkMode, BookmarkRules};
use towline_core::event::PromptOrigin;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmarks {
    pub rules: BookmarkRules,
    pub marker: String,
}

/// Long enough for a word, too short for a prompt.
const LONGEST_MARKER: usize = 16;

impl Bookmarks {
    pub(super) fn read(values: &Values) -> Bookmarks {
        let rules = BookmarkRules {
            mode: values
                .named(key!("bookmarks.mode"), BookmarkMode::named)
                .unwrap_or(BookmarkRules::USUAL.mode),
            min_tokens: values.get(key!("bookmarks.min_tokens")),
            min_tool_calls: values.get(key!("bookmarks.min_tool_calls")),
            min_seconds: values.get(key!("bookmarks.min_seconds")),
            agent_burst: values.get(key!("bookmarks.agent_burst")),
            cooldown_seconds: values.get(key!("bookmarks.cooldown_seconds")),
        };
        Bookmarks { rules, marker: values.get(key!("bookmarks.marker")) }
    }

    /// The origin of a prompt from the input box: the agents' adapters know only the default marker.
    pub fn origin(&self, said: PromptOrigin, prompt: &str) -> PromptOrigin {
        match (said, prompt.trim() == self.marker) {
            (PromptOrigin::Human | PromptOrigin::Bookmark, true) => PromptOrigin::Bookmark,
            (PromptOrigin::Bookmark, false) => PromptOrigin::Human,
            (said, _) => said,
        }
    }
}

/// A marker must reach the agent as a prompt: agents treat some first characters as commands.
pub(super) fn is_marker(marker: &str) -> Result<(), String> {
    let is_word = !marker.is_empty() && marker.chars().all(|c| !c.is_whitespace() && !c.is_control());
    let is_command = marker.starts_with(['/', '$', '!', '#', '@', '<', '?']);
    let expected = format!("one word of at most {LONGEST_MARKER} bytes that no agent takes for a command");
    require(is_word && !is_command && marker.len() <= LONGEST_MARKER, &expected)
}
