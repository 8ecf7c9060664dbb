//! Parses the input of Claude Code's status line command.
//!
//! Context usage never includes output tokens, as in the client's own count.

use super::context::sent_tokens;
use crate::agent::{Agent, StatusLineInput};
use crate::json::RawValue;
use crate::wire::{parse, payload_text};
use std::borrow::Cow;
use towline_core::meter::ContextUsage;
use towline_core::status_line::{LimitPeriod, UsageLimit};
use towline_core::time::Timestamp;
use towline_core::usage::Cost;

/// `None` if it is not a payload of this client.
pub(crate) fn status(payload: &[u8]) -> Option<StatusLineInput> {
    let text = payload_text(payload);
    let wire: RawValue<'_> = parse(&text).ok()?;
    // Other clients send the same fields, but name a folder.
    let transcript = wire.get("transcript_path").text();
    if transcript.is_some_and(|path| !path.ends_with(".jsonl")) {
        return None;
    }
    let text = |part: &str, name: &str| wire.get(part).get(name).text().map(Cow::into_owned);
    Some(StatusLineInput {
        session: Agent::Claude.session(wire.get("session_id").text()).ok()?,
        model: text("model", "display_name").or_else(|| text("model", "id")),
        folder: text("workspace", "current_dir").or_else(|| wire.get("cwd").text().map(Cow::into_owned)),
        fill: fill(wire.get("context_window")),
        cost: wire.get("cost").get("total_cost_usd").parse_as().and_then(Cost::of_dollars),
        limits: limits(wire.get("rate_limits")),
    })
}

/// Unknown before the first answer and after a compaction.
fn fill(window: RawValue<'_>) -> Option<ContextUsage> {
    let tokens = sent_tokens(window.get("current_usage"));
    let size = window.get("context_window_size").number()?;
    ContextUsage::from_display(tokens, size).filter(|fill| fill.tokens > 0)
}

/// Only present for subscriptions, after the first answer.
fn limits(wire: RawValue<'_>) -> Vec<UsageLimit> {
    let both = [(LimitPeriod::FiveHours, "five_hour"), (LimitPeriod::Week, "seven_day")];
    both.into_iter().filter_map(|(span, name)| limit(span, wire.get(name))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share from 0 to 100")]
fn limit(span: LimitPeriod, used: RawValue<'_>) -> Option<UsageLimit> {
    let share: f64 = used.get("used_percentage").parse_as().filter(|share: &f64| share.is_finite())?;
    let percent = share.clamp(0.0, 100.0).round() as u8;
    let resets_at: Option<i64> = used.get("resets_at").parse_as();
    let resets_at = resets_at.map(|seconds| Timestamp(seconds.saturating_mul(1000)));
    Some(UsageLimit { span, percent, resets_at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn recorded(version: &str, name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("status");
        std::fs::read(folder.join(format!("claude-{version}{name}.json"))).unwrap()
    }

    #[test]
    fn context_usage_is_read_from_the_status_line_payload() {
        for version in ["2.1.197", "2.1.325"] {
            let status = status(&recorded(version, "")).unwrap();
            assert!(status.model.is_some() && status.folder.is_some(), "{version}");
            assert_eq!(status.fill.unwrap().window, 1_000_000, "{version}");
            assert!(status.fill.unwrap().tokens > 0, "{version}");
            let before = super::status(&recorded(version, "-before-first-turn")).unwrap();
            assert_eq!(before.fill, None, "{version}");
        }
    }

    #[test]
    fn input_tokens_count_and_output_tokens_do_not() {
        let text = r#"{"session_id":"s","cwd":"/c","context_window":{"context_window_size":200000,"current_usage":
            {"input_tokens":1,"output_tokens":9000,"cache_creation_input_tokens":20,"cache_read_input_tokens":300}}}"#;
        assert_eq!(status(text.as_bytes()).unwrap().fill, ContextUsage::from_display(321, 200_000));
    }

    #[test]
    fn the_cost_is_the_clients_own() {
        for (version, cost) in [("2.1.197", "$0.0066"), ("2.1.325", "$0.0053")] {
            let status = status(&recorded(version, "")).unwrap();
            assert_eq!(status.cost.map(Cost::display).as_deref(), Some(cost), "{version}");
            assert_eq!(status.limits, []);
        }
    }

    #[test]
    fn the_limits_of_a_subscription_are_read_with_their_ends() {
        let text = r#"{"session_id":"s","rate_limits":{"five_hour":{"used_percentage":23.5,"resets_at":1738425600},
            "seven_day":{"used_percentage":141.2}}}"#;
        let week = UsageLimit { span: LimitPeriod::Week, percent: 100, resets_at: None };
        let five = UsageLimit {
            span: LimitPeriod::FiveHours,
            percent: 24,
            resets_at: Some(Timestamp(1_738_425_600_000)),
        };
        assert_eq!(status(text.as_bytes()).unwrap().limits, [five, week]);
    }

    #[test]
    fn malformed_payloads_are_ignored() {
        for text in ["", "{", "[]", "{}", r#"{"session_id":"../x"}"#] {
            assert!(status(text.as_bytes()).is_none(), "{text}");
        }
        let odd = r#"{"session_id":"s","model":3,"workspace":[],"context_window":{"context_window_size":"x","current_usage":7}}"#;
        let status = status(odd.as_bytes()).unwrap();
        assert_eq!((status.model, status.folder, status.fill), (None, None, None));
    }
}
