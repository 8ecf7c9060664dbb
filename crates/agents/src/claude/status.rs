//! What Claude Code tells its status line, as far as it says something about the context.
//!
//! The client counts what it sent with its newest request, and not what came back: so does the meter.

use crate::wire::{Loose, Nested, Text, parse, text_of};
use crate::{Agent, Status};
use serde::Deserialize;
use serde_json::Value;
use towline_core::meter::Fill;
use towline_core::status_line::{Limit, Span};
use towline_core::time::Timestamp;
use towline_core::usage::Cost;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wire<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    model: Nested<Model<'a>>,
    #[serde(borrow)]
    workspace: Nested<Workspace<'a>>,
    context_window: Nested<Window>,
    cost: Nested<Spent>,
    rate_limits: Nested<Limits>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Model<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    display_name: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Workspace<'a> {
    #[serde(borrow)]
    current_dir: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Window {
    context_window_size: Loose,
    current_usage: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spent {
    total_cost_usd: Loose,
}

/// Only a subscription has them, and only after the first answer.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Limits {
    five_hour: Nested<Used>,
    seven_day: Nested<Used>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Used {
    used_percentage: Loose,
    resets_at: Loose,
}

/// `None` for what is no payload of this client.
pub(crate) fn status(payload: &[u8]) -> Option<Status> {
    let text = text_of(payload);
    let wire: Wire<'_> = parse(&text).ok()?;
    let model = wire.model.0;
    Some(Status {
        session: Agent::Claude.session(wire.session_id.0).ok()?,
        model: model.display_name.into_owned().or_else(|| model.id.into_owned()),
        folder: wire.workspace.0.current_dir.into_owned().or_else(|| wire.cwd.into_owned()),
        fill: fill(&wire.context_window.0),
        cost: wire.cost.0.total_cost_usd.0.as_f64().and_then(Cost::of_dollars),
        limits: limits(&wire.rate_limits.0),
    })
}

/// Nothing is known before the first answer, and after a compaction.
fn fill(window: &Window) -> Option<Fill> {
    let parts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let usage = window.current_usage.0.as_object()?;
    let counts = parts.into_iter().map(|name| usage.get(name).and_then(Value::as_u64).unwrap_or(0));
    let tokens = counts.fold(0, u64::saturating_add);
    Fill::shown(tokens, window.context_window_size.0.as_u64()?).filter(|fill| fill.tokens > 0)
}

fn limits(wire: &Limits) -> Vec<Limit> {
    let both = [(Span::FiveHours, &wire.five_hour.0), (Span::Week, &wire.seven_day.0)];
    both.into_iter().filter_map(|(span, used)| limit(span, used)).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share from 0 to 100")]
fn limit(span: Span, used: &Used) -> Option<Limit> {
    let share = used.used_percentage.0.as_f64().filter(|share| share.is_finite())?;
    let percent = share.clamp(0.0, 100.0).round() as u8;
    let resets_at = used.resets_at.0.as_i64().map(|seconds| Timestamp(seconds.saturating_mul(1000)));
    Some(Limit { span, percent, resets_at })
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
    fn the_clients_own_numbers_are_read_from_what_it_tells_its_status_line() {
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
    fn what_was_sent_counts_and_what_came_back_does_not() {
        let text = r#"{"session_id":"s","cwd":"/c","context_window":{"context_window_size":200000,"current_usage":
            {"input_tokens":1,"output_tokens":9000,"cache_creation_input_tokens":20,"cache_read_input_tokens":300}}}"#;
        assert_eq!(status(text.as_bytes()).unwrap().fill, Fill::shown(321, 200_000));
    }

    #[test]
    fn what_the_session_cost_is_what_the_client_says() {
        for (version, cost) in [("2.1.197", "$0.0066"), ("2.1.325", "$0.0053")] {
            let status = status(&recorded(version, "")).unwrap();
            assert_eq!(status.cost.map(Cost::spelt).as_deref(), Some(cost), "{version}");
            assert_eq!(status.limits, []);
        }
    }

    #[test]
    fn the_limits_of_a_subscription_are_read_with_their_ends() {
        let text = r#"{"session_id":"s","rate_limits":{"five_hour":{"used_percentage":23.5,"resets_at":1738425600},
            "seven_day":{"used_percentage":141.2}}}"#;
        let week = Limit { span: Span::Week, percent: 100, resets_at: None };
        let five =
            Limit { span: Span::FiveHours, percent: 24, resets_at: Some(Timestamp(1_738_425_600_000)) };
        assert_eq!(status(text.as_bytes()).unwrap().limits, [five, week]);
    }

    #[test]
    fn what_makes_no_sense_says_nothing() {
        for text in ["", "{", "[]", "{}", r#"{"session_id":"../x"}"#] {
            assert!(status(text.as_bytes()).is_none(), "{text}");
        }
        let odd = r#"{"session_id":"s","model":3,"workspace":[],"context_window":{"context_window_size":"x","current_usage":7}}"#;
        let status = status(odd.as_bytes()).unwrap();
        assert_eq!((status.model, status.folder, status.fill), (None, None, None));
    }
}
