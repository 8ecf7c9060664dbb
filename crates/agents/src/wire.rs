//! What the payloads of all agents have in common: lenient fields going in, one JSON object coming out.
//!
//! A field of an unexpected type counts as absent: a newer agent may change what we do not rely on.
//! Nothing here knows what an event means.

use crate::PayloadError;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;
use towline_core::reply::{Reply, Verdict};
use towline_core::text::{Keeping, Kept};

/// Parses a whole payload, borrowing from it; what no field asks for is skipped, not kept.
pub(crate) fn parse<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Result<T, PayloadError> {
    if payload.iter().all(u8::is_ascii_whitespace) {
        return Err(PayloadError::Empty);
    }
    serde_json::from_slice(payload).map_err(|_| PayloadError::NotJson)
}

/// A string, or nothing.
#[derive(Debug, Default)]
pub(crate) struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    pub fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub fn is(&self, expected: &str) -> bool {
        self.as_deref() == Some(expected)
    }

    pub fn into_owned(self) -> Option<String> {
        self.0.map(Cow::into_owned)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyText;
        impl<'de> Visitor<'de> for AnyText {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Text<'de>, E> {
                Ok(Text(None))
            }
            fn visit_i64<E>(self, _: i64) -> Result<Text<'de>, E> {
                Ok(Text(None))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Text<'de>, E> {
                Ok(Text(None))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Text<'de>, E> {
                Ok(Text(None))
            }
            fn visit_unit<E>(self) -> Result<Text<'de>, E> {
                Ok(Text(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text<'de>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Text(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text<'de>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Text(None))
            }
        }
        deserializer.deserialize_any(AnyText)
    }
}

/// The last words of a turn, as much of them as is kept; none where the user wants none kept.
pub(crate) fn last_words(said: &Text<'_>, keeping: Keeping) -> Option<Kept> {
    let said = said.as_deref().filter(|said| keeping.longest_bytes > 0 && !said.trim().is_empty())?;
    Some(Kept::new(said, keeping))
}

/// Any small value, for fields whose shape matters only when it is the expected one.
/// Never used for what may be large: tool input and output are skipped, not parsed.
#[derive(Debug, Default)]
pub(crate) struct Loose(pub Value);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Loose)
    }
}

/// Which parts of a reply an agent takes from which event.
pub(crate) struct Room {
    /// Takes `systemMessage`.
    pub notices: &'static [&'static str],
    /// Takes `hookSpecificOutput.additionalContext`.
    pub context: &'static [&'static str],
    /// Takes `decision: "block"`.
    pub block: &'static [&'static str],
    /// Takes `terminalSequence`, and passes it on to its terminal.
    pub terminal: &'static [&'static str],
}

/// Composes the one JSON object that a hook prints. The only place that does.
pub(crate) fn answer(room: &Room, event: &str, reply: &Reply) -> Option<String> {
    let mut answer = Map::new();
    if !reply.notices.is_empty() && room.notices.contains(&event) {
        answer.insert("systemMessage".into(), json!(reply.notices.join("\n")));
    }
    if !reply.context.is_empty() && room.context.contains(&event) {
        let context = json!({"hookEventName": event, "additionalContext": reply.context.join("\n\n")});
        answer.insert("hookSpecificOutput".into(), context);
    }
    if !reply.terminal.is_empty() && room.terminal.contains(&event) {
        answer.insert("terminalSequence".into(), json!(reply.terminal));
    }
    if let Verdict::Block { reason } = &reply.verdict
        && room.block.contains(&event)
    {
        answer.insert("decision".into(), json!("block"));
        answer.insert("reason".into(), json!(reason));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

/// The entries of the last part of a file of lines, as far as they are whole.
pub(crate) fn newest_first<'a, T: Deserialize<'a>>(text: &'a [u8]) -> impl Iterator<Item = T> {
    text.rsplit(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}
