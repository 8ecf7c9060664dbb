//! Per-turn data of a Codex rollout, and whether a change of the thread has reached the file.
//!
//! Uses only the client's own numbers, and never estimates: a turn without a number has none.

use super::entry::{RolloutEvent, RolloutLine, SessionMeta, TokenUsage, UsageRecord};
use crate::json::RawValue;
use std::collections::BTreeMap;
use towline_core::id::{SessionId, TurnId};

/// The context size after each turn in the file.
pub fn tokens_by_turn(rollout: &[u8]) -> BTreeMap<TurnId, u64> {
    let mut tokens = BTreeMap::new();
    for (kind, payload) in lines(rollout).filter_map(|line| Some((line.kind.0?, line.payload))) {
        if kind != "token_usage_record" {
            continue;
        }
        let record: UsageRecord<'_> = payload.parse_as().unwrap_or_default();
        let turn = record.turn_id.as_deref().and_then(|id| TurnId::parse(id).ok());
        if let (Some(turn), Some(count)) = (turn, total(record.usage)) {
            tokens.insert(turn, count);
        }
    }
    tokens
}

/// The number of a turn's first line in the file that contains it.
pub fn beginning_of(rollout: &[u8], turn: &TurnId) -> Option<u64> {
    lines(rollout).find_map(|line| {
        let is_event = line.kind.is("event_msg");
        let event: RolloutEvent<'_> = is_event.then(|| line.payload.parse_as())??;
        let is_it = event.kind.is("task_started") && event.turn_id.is(turn.as_str());
        is_it.then(|| line.ordinal.number())?
    })
}

/// Whether this thread continues in the file after a revert, with nothing from number `before` on.
pub fn is_reverted(rollout: &[u8], thread: &SessionId, before: u64) -> bool {
    let Some(first) = lines(rollout).next().filter(|line| line.kind.is("session_meta")) else { return false };
    let meta: SessionMeta<'_> = first.payload.parse_as().unwrap_or_default();
    meta.id.is(thread.as_str()) && first.ordinal.number().is_some_and(|number| number <= before)
}

/// Whether the file contains exactly this text as a developer message.
pub fn holds_injected(rollout: &[u8], text: &str) -> bool {
    lines(rollout).filter(|line| line.kind.is("response_item")).any(|line| {
        let item: super::entry::Item<'_> = line.payload.parse_as().unwrap_or_default();
        let mut parts = item.content.0.iter().filter_map(|part| part.text.as_deref());
        item.role.is("developer") && parts.any(|part| part == text)
    })
}

fn lines(rollout: &[u8]) -> impl Iterator<Item = RolloutLine<'_>> {
    let texts = rollout.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
    texts.filter_map(|line| serde_json::from_str(line).ok())
}

/// Next context size = input + output tokens.
fn total(usage: RawValue<'_>) -> Option<u64> {
    let usage: TokenUsage<'_> = usage.parse_as()?;
    let sum = usage.input_tokens.number()?.saturating_add(usage.output_tokens.number()?);
    (sum > 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn recorded(name: &str) -> Vec<u8> {
        let path = format!("{}/transcripts/codex-0.166.0-{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        fs::read(path).unwrap()
    }

    fn turn(number: u32) -> TurnId {
        TurnId::parse(&format!("00000000-0000-7000-8000-000000000{number}")).unwrap()
    }

    #[test]
    fn each_turns_tokens_are_the_clients_own() {
        let tokens = tokens_by_turn(&recorded("before-revert"));
        assert_eq!(tokens.get(&turn(123)), Some(&1020));
        assert_eq!(tokens.len(), 3);
        assert!(tokens_by_turn(b"not a rollout\n{}\n").is_empty());
    }

    #[test]
    fn a_revert_is_known_by_the_file_that_goes_on_before_the_turn_that_was_cut() {
        let (before, after) = (recorded("before-revert"), recorded("after-revert"));
        let thread = SessionId::parse("00000000-0000-7000-8000-000000000011").unwrap();
        let last = beginning_of(&before, &turn(123)).unwrap();
        assert!(is_reverted(&after, &thread, last));
        assert!(!is_reverted(&after, &thread, 13), "it goes on at 14");
        assert!(!is_reverted(&after, &SessionId::parse("another").unwrap(), last));
        assert!(!is_reverted(b"", &thread, last));
        assert_eq!(beginning_of(&before, &TurnId::parse("unknown").unwrap()), None);
    }

    #[test]
    fn only_the_whole_text_given_to_the_model_counts_as_injected() {
        let line = |role: &str, text: &str| {
            format!(
                r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
            )
        };
        assert!(holds_injected(line("developer", "a\\nb").as_bytes(), "a\nb"));
        assert!(!holds_injected(line("developer", "a\\nb").as_bytes(), "a"));
        assert!(!holds_injected(line("user", "a").as_bytes(), "a"));
    }
}
