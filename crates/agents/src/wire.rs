//! Shared parts of all agents' payloads: lenient fields for input, one JSON object as output.
//!
//! A field of an unexpected type counts as absent: a newer agent may change fields we do not rely on.
//! Does not interpret events.

use crate::{PayloadError, StopDetails, json};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use towline_core::continuing::form;
use towline_core::reply::{Reply, ReplyVerdict};
use towline_core::text::{SafeText, TextPolicy, clip, clip_start};

/// Parses a whole payload, borrowing from it and skipping unrequested values.
pub(crate) fn parse<'a, T: Deserialize<'a>>(payload: &'a str) -> Result<T, PayloadError> {
    if payload.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(PayloadError::Empty);
    }
    json::read(payload).map_err(|_| PayloadError::NotJson)
}

/// The payload as text. Invalid UTF-8 is most likely tool output, which is not read: the event still counts.
pub(crate) fn payload_text(payload: &[u8]) -> Cow<'_, str> {
    str::from_utf8(payload).map_or_else(|_| String::from_utf8_lossy(payload), Cow::Borrowed)
}

/// A string; any other type counts as absent.
#[derive(Debug, Default)]
pub(crate) struct OptText<'a>(pub Option<Cow<'a, str>>);

impl OptText<'_> {
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

/// A type built from a JSON value by its shape; unexpected shapes yield the default.
pub(crate) trait Lenient<'de>: Default {
    fn of_text(_: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn of_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// Deserializes a value of any shape in place.
pub(crate) fn lenient<'de, T: Lenient<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct AnyShape<T>(PhantomData<T>);
    impl<'de, T: Lenient<'de>> Visitor<'de> for AnyShape<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any value")
        }
        fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
            Ok(T::of_text(Cow::Borrowed(text)))
        }
        fn visit_str<E>(self, text: &str) -> Result<T, E> {
            Ok(T::of_text(Cow::Owned(text.to_owned())))
        }
        fn visit_string<E>(self, text: String) -> Result<T, E> {
            Ok(T::of_text(Cow::Owned(text)))
        }
        fn visit_bool<E>(self, _: bool) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_i64<E>(self, _: i64) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_u64<E>(self, _: u64) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_f64<E>(self, _: f64) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_unit<E>(self) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
            T::of_list(list)
        }
        fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
            T::of_object(object)
        }
    }
    deserializer.deserialize_any(AnyShape(PhantomData))
}

impl<'de: 'a, 'a> Lenient<'de> for OptText<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        OptText(Some(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for OptText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}

/// An object deserialized in place.
#[derive(Default)]
pub(crate) struct Nested<T>(pub T);

impl<'de, T: Default + Deserialize<'de>> Lenient<'de> for Nested<T> {
    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Nested)
    }
}

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Nested<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}

/// An element of a list that may also hold plain strings.
pub(crate) trait ListPart<'de>: Default + Deserialize<'de> {
    fn of_text(text: Cow<'de, str>) -> Self;
}

/// The elements of a list; a single string is a list of one.
pub(crate) struct PartList<T>(pub Vec<T>);

impl<T> Default for PartList<T> {
    fn default() -> Self {
        PartList(vec![])
    }
}

impl<'de, T: ListPart<'de>> Lenient<'de> for PartList<T> {
    fn of_text(text: Cow<'de, str>) -> Self {
        PartList(vec![T::of_text(text)])
    }

    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut parts = vec![];
        while let Some(Nested(part)) = list.next_element()? {
            parts.push(part);
        }
        Ok(PartList(parts))
    }
}

impl<'de, T: ListPart<'de>> Deserialize<'de> for PartList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}

/// The last message of a turn, clipped as `keeping` says; `None` if the user disabled keeping it.
pub(crate) fn last_message(message: &OptText<'_>, keeping: TextPolicy) -> Option<SafeText> {
    let message =
        message.as_deref().filter(|message| keeping.longest_bytes > 0 && !message.trim().is_empty())?;
    Some(SafeText::new(message, keeping))
}

/// Enough of a last message to recognise it.
const WORDS_BYTES: usize = 160;

/// The details of a stop event. Up to twice the longest handoff is kept, so that an overlong one is recognised.
pub(crate) fn turn_ending(message: &OptText<'_>, stop_hook_active: &LooseValue) -> StopDetails {
    let handoff = message.as_deref().and_then(|message| Some(&message[message.rfind(form::OPENING)?..]));
    let words = message.as_deref().map(|message| clip_start(message.trim_end(), WORDS_BYTES));
    StopDetails {
        was_blocked: stop_hook_active.0.as_bool() == Some(true),
        words: words.filter(|words| !words.is_empty()).map(str::to_owned),
        handoff: handoff.map(|handoff| clip(handoff, 2 * form::LONGEST_BYTES).to_owned()),
    }
}

/// Any small value, for fields that matter only in one shape.
/// Never used for large values: tool input and output are skipped, not parsed.
#[derive(Debug, Default)]
pub(crate) struct LooseValue(pub Value);

impl<'de> Deserialize<'de> for LooseValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(LooseValue)
    }
}

/// The events from which an agent accepts each part of a reply.
pub(crate) struct ReplySupport {
    /// Accept `systemMessage`.
    pub notices: &'static [&'static str],
    /// Accept `hookSpecificOutput.additionalContext`.
    pub context: &'static [&'static str],
    /// Accept `decision: "block"`.
    pub block: &'static [&'static str],
    /// Accept `hookSpecificOutput.permissionDecision: "deny"`.
    pub deny: &'static [&'static str],
    /// Accept `terminalSequence`, and pass it on to the terminal.
    pub terminal: &'static [&'static str],
}

/// Composes the one JSON object that a hook prints. No other function does.
pub(crate) fn answer(support: &ReplySupport, event: &str, reply: &Reply) -> Option<String> {
    let mut answer = Map::new();
    if !reply.notices.is_empty() && support.notices.contains(&event) {
        answer.insert("systemMessage".into(), json!(reply.notices.join("\n")));
    }
    if let Some(specific) = specific(support, event, reply) {
        answer.insert("hookSpecificOutput".into(), specific);
    }
    if !reply.terminal.is_empty() && support.terminal.contains(&event) {
        answer.insert("terminalSequence".into(), json!(reply.terminal));
    }
    if let ReplyVerdict::Block { reason } = &reply.verdict
        && support.block.contains(&event)
    {
        answer.insert("decision".into(), json!("block"));
        answer.insert("reason".into(), json!(reason));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

/// The event-specific output: context for the model, or the denial of a tool.
fn specific(support: &ReplySupport, event: &str, reply: &Reply) -> Option<Value> {
    let mut specific = Map::new();
    if let ReplyVerdict::Block { reason } = &reply.verdict
        && support.deny.contains(&event)
    {
        specific.insert("permissionDecision".into(), json!("deny"));
        specific.insert("permissionDecisionReason".into(), json!(reason));
    } else if !reply.context.is_empty() && support.context.contains(&event) {
        // A denied tool needs no context beside the reason.
        specific.insert("additionalContext".into(), json!(reply.context.join("\n\n")));
    }
    if specific.is_empty() {
        return None;
    }
    specific.insert("hookEventName".into(), json!(event));
    Some(Value::Object(specific))
}

/// The complete entries in the last part of a JSONL file, newest first.
pub(crate) fn newest_first<'a, T: Deserialize<'a>>(text: &'a [u8]) -> impl Iterator<Item = T> {
    text.rsplit(|byte| *byte == b'\n').filter_map(|line| json::read(str::from_utf8(line).ok()?).ok())
}
