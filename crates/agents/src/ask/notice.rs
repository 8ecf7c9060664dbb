//! Classifies provider notices by status and message.
//!
//! A message is kept as one short line, never with secrets: some quote the key that they refuse.

use super::AskError;
use towline_core::phrases::Phrases;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};

/// Longer texts are prose, not notices.
const LONGEST_NOTICE: usize = 600;
const LONGEST_KEPT: usize = 160;

const LOGIN: Phrases = Phrases(
    "not logged in|please run /login|please log in|invalid api key|invalid x-api-key|incorrect api key|\
    unauthorized|authentication_error|token has expired|no api key",
);
const QUOTA: Phrases = Phrases(
    "usage limit|insufficient_quota|exceeded your current quota|credit balance|spend limit|spending limit|\
    limit reached|out of credits",
);
const DOWN: Phrases = Phrases(
    "overloaded|high demand|unable to connect|connection refused|connection failed|stream disconnected|\
    service unavailable",
);

/// Classifies a failure by status and message.
pub fn classify_error(status: Option<u16>, message: &str) -> AskError {
    let said = short(message);
    match (notice_kind(message), status) {
        (Some(NoticeKind::Quota), _) | (None, Some(402)) => AskError::Quota { said, until: None },
        (Some(NoticeKind::Login), _) | (None, Some(401 | 403)) => AskError::NotLoggedIn(said),
        (_, Some(429)) => AskError::RateLimited { said, after_s: None },
        (_, Some(404 | 405)) => AskError::Misconfigured(said),
        (None, Some(400 | 413 | 422)) => AskError::Invalid(said),
        (Some(NoticeKind::Down) | None, _) => AskError::Unavailable(said),
    }
}

/// Classifies text in place of an answer: a provider's notice, or the model's prose.
pub fn prose(text: &str) -> AskError {
    match notice_kind(text) {
        Some(_) => classify_error(None, text),
        None => AskError::NotJson(short(text)),
    }
}

/// Classifies the output of a program that should have printed JSON: a notice, or a complaint about its arguments.
pub(crate) fn complaint(text: &str) -> AskError {
    match (notice_kind(text), text.trim()) {
        (Some(_), _) => classify_error(None, text),
        (None, "") => AskError::Unavailable("it said nothing".to_owned()),
        (None, _) => AskError::Misconfigured(short(text)),
    }
}

enum NoticeKind {
    Login,
    Quota,
    Down,
}

fn notice_kind(message: &str) -> Option<NoticeKind> {
    if message.len() > LONGEST_NOTICE {
        return None;
    }
    let lower = message.to_lowercase().replace('’', "'");
    let holds = |marks: Phrases| marks.any(|mark| lower.contains(mark));
    match () {
        () if holds(QUOTA) => Some(NoticeKind::Quota),
        () if holds(LOGIN) => Some(NoticeKind::Login),
        () if holds(DOWN) => Some(NoticeKind::Down),
        () => None,
    }
}

/// The message as one short, redacted line.
pub fn short(message: &str) -> String {
    let keeping = |longest_bytes| TextPolicy { longest_bytes, secrets: SecretPolicy::Redacted };
    let safe = SafeText::new(message, keeping(8 * LONGEST_KEPT));
    let line = safe.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    let plain: String = line.chars().filter(|c| !c.is_control()).collect();
    SafeText::new(&plain, keeping(LONGEST_KEPT)).as_str().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: Option<u16>, message: &str, cause: &str) {
        assert_eq!(classify_error(status, message).cause(), cause, "{status:?} {message}");
    }

    #[test]
    fn failures_are_classified_by_status_and_message() {
        check(Some(401), "whatever", "login");
        check(None, "Not logged in · Please run /login", "login");
        check(Some(429), "slow down", "rate");
        check(Some(429), "You exceeded your current quota (insufficient_quota)", "quota");
        check(None, "You’ve hit your usage limit. Try again later.", "quota");
        check(Some(400), "Your credit balance is too low", "quota");
        check(Some(400), "max_tokens is too large", "invalid");
        check(Some(404), "model not found", "configuration");
        check(Some(500), "boom", "unavailable");
        check(Some(529), "overloaded", "unavailable");
        check(None, "API Error: Unable to connect to API (ConnectionRefused)", "unavailable");
    }

    #[test]
    fn a_notice_in_an_answers_place_is_no_prose_of_the_model() {
        assert_eq!(prose("Please run /login").cause(), "login");
        assert_eq!(prose("I looked at the turn and found nothing.").cause(), "prose");
        let long = format!("{} usage limit", "word ".repeat(200));
        assert_eq!(prose(&long).cause(), "prose", "an account of a turn about limits");
    }

    #[test]
    fn a_message_is_kept_as_one_short_line_without_the_key() {
        let key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let said = short(&format!("bad\nkey {key}\x1b {}", "x ".repeat(900)));
        assert!(!said.contains(key) && said.len() < 200 && !said.contains(['\n', '\x1b']), "{said}");
    }
}
