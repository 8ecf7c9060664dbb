//! The `limits` section: whether a session resumes by itself when its usage limit ends.
//!
//! Pure. Off until the user enables it.

use toml_edit::Value;
use towline_core::typing::LONGEST_BYTES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub resume: bool,
    /// The prompt typed on resume.
    pub words: String,
}

impl Limits {
    pub fn compiled_in() -> Limits {
        Limits { resume: false, words: "Continue where you left off.".to_owned() }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Limits {
        let usual = Limits::compiled_in();
        let words = value("limits.words").and_then(|value| value.as_str().map(str::to_owned));
        Limits {
            resume: value("limits.resume").and_then(|value| value.as_bool()).unwrap_or(false),
            words: words.unwrap_or(usual.words),
        }
    }
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let is_prompt = |words: &str| {
        let is_command = words.starts_with(['/', '$', '!', '#', '@']);
        !words.trim().is_empty() && !words.contains('\n') && !is_command && words.len() <= LONGEST_BYTES
    };
    match value.as_str() {
        Some(words) if key == "limits.words" && !is_prompt(words) => {
            Err("one line that no agent takes for a command".to_owned())
        }
        Some(_) | None => Ok(()),
    }
}
