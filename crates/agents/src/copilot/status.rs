//! Parses the input of Copilot's status line command.
//!
//! The client runs it from launch on, before a session has begun. It names no cost in money.

use crate::agent::{Agent, StatusLineInput};
use crate::json::RawValue;
use crate::wire::{parse, payload_text};
use std::borrow::Cow;
use towline_core::meter::ContextUsage;

/// `None` if it is not a payload of this client.
pub(crate) fn status(payload: &[u8]) -> Option<StatusLineInput> {
    let text = payload_text(payload);
    let wire: RawValue<'_> = parse(&text).ok()?;
    let window = wire.get("context_window");
    let tokens = window.get("current_context_tokens").number()?;
    let size = window.get("context_window_size").number()?;
    Some(StatusLineInput {
        session: Agent::Copilot.session(wire.get("session_id").text()).ok()?,
        model: wire.get("model").get("display_name").text().map(Cow::into_owned),
        folder: wire.get("cwd").text().map(Cow::into_owned),
        fill: ContextUsage::from_display(tokens, size).filter(|fill| fill.tokens > 0),
        cost: None,
        limits: vec![],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn recorded(name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("status");
        std::fs::read(folder.join(format!("copilot-1.0.102{name}.json"))).unwrap()
    }

    #[test]
    fn context_usage_is_read_from_the_status_line_payload() {
        let status = status(&recorded("")).unwrap();
        assert_eq!(status.model.as_deref(), Some("gpt-4.1"));
        assert_eq!(status.fill, ContextUsage::from_display(12_515, 64_000));
        assert_eq!(super::status(&recorded("-before-first-turn")).unwrap().fill, None);
    }

    #[test]
    fn a_status_line_belongs_to_one_agent() {
        let of = |payload: &[u8]| {
            Agent::ALL.into_iter().filter(|agent| agent.status(payload).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(of(&recorded("")), [Agent::Copilot]);
        assert_eq!(of(&recorded("-before-first-turn")), [Agent::Copilot]);
        let claude = Path::new(env!("CARGO_MANIFEST_DIR")).join("status/claude-2.1.325.json");
        assert_eq!(of(&std::fs::read(claude).unwrap()), [Agent::Claude]);
    }
}
