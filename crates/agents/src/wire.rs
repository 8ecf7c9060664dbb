//! What the payloads of all agents have in common: lenient fields going in, one JSON object coming out.
//!
//! A field of an unexpected type counts as absent: a newer agent may change what we do not rely on.
//! Nothing here knows what an event means.

use crate::{Ending, PayloadError, json};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use towline_core::continuing::form;
use towline_core::reply::{Reply, Verdict};
use towline_core::text::{Keeping, Kept, clip, clip_start};

/// Parses a whole payload, borrowing from it; what no field asks for is skipped, not kept.
pub(crate) fn parse<'a, T: Deserialize<'a>>(payload: &'a str) -> Result<T, PayloadError> {
    if payload.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(PayloadError::Empty);
    }
    json::read(payload).map_err(|_| PayloadError::NotJson)
}

/// A payload as text. What is none in it is most likely in what a tool gave, which nobody reads: the event counts.
pub(crate) fn text_of(payload: &[u8]) -> Cow<'_, str> {
    str::from_utf8(payload).map_or_else(|_| String::from_utf8_lossy(payload), Cow::Borrowed)
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

/// What is made of a value by its shape; of any other shape it counts as absent.
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

/// Reads a value of any shape, in place.
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

impl<'de: 'a, 'a> Lenient<'de> for Text<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        Text(Some(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}

/// An object that is read where it stands.
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

/// What a list may hold beside plain texts.
pub(crate) trait Part<'de>: Default + Deserialize<'de> {
    fn of_text(text: Cow<'de, str>) -> Self;
}

/// Parts that stand in a list; one text alone is a list of one.
pub(crate) struct Parts<T>(pub Vec<T>);

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Parts(vec![])
    }
}

impl<'de, T: Part<'de>> Lenient<'de> for Parts<T> {
    fn of_text(text: Cow<'de, str>) -> Self {
        Parts(vec![T::of_text(text)])
    }

    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut parts = vec![];
        while let Some(Nested(part)) = list.next_element()? {
            parts.push(part);
        }
        Ok(Parts(parts))
    }
}

impl<'de, T: Part<'de>> Deserialize<'de> for Parts<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient(deserializer)
    }
}

/// The last words of a turn, as much of them as is kept; none where the user wants none kept.
pub(crate) fn last_words(said: &Text<'_>, keeping: Keeping) -> Option<Kept> {
    let said = said.as_deref().filter(|said| keeping.longest_bytes > 0 && !said.trim().is_empty())?;
    Some(Kept::new(said, keeping))
}

/// Enough to know a turn's last words again.
const WORDS_BYTES: usize = 160;

/// What a stop says about how its turn ended: more of a handoff than one may be long, so that a longer one is known.
pub(crate) fn ending(said: &Text<'_>, stop_hook_active: &Loose) -> Ending {
    let handoff = said.as_deref().and_then(|said| Some(&said[said.rfind(form::OPENING)?..]));
    let words = said.as_deref().map(|said| clip_start(said.trim_end(), WORDS_BYTES));
    Ending {
        was_blocked: stop_hook_active.0.as_bool() == Some(true),
        words: words.filter(|words| !words.is_empty()).map(str::to_owned),
        handoff: handoff.map(|handoff| clip(handoff, 2 * form::LONGEST_BYTES).to_owned()),
    }
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
    /// Takes `hookSpecificOutput.permissionDecision: "deny"`.
    pub deny: &'static [&'static str],
    /// Takes `terminalSequence`, and passes it on to its terminal.
    pub terminal: &'static [&'static str],
}

/// Composes the one JSON object that a hook prints. The only place that does.
pub(crate) fn answer(room: &Room, event: &str, reply: &Reply) -> Option<String> {
    let mut answer = Map::new();
    if !reply.notices.is_empty() && room.notices.contains(&event) {
        answer.insert("systemMessage".into(), json!(reply.notices.join("\n")));
    }
    if let Some(specific) = specific(room, event, reply) {
        answer.insert("hookSpecificOutput".into(), specific);
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

/// What stands under the event's own name: text for the model, and that a tool may not run.
fn specific(room: &Room, event: &str, reply: &Reply) -> Option<Value> {
    let mut specific = Map::new();
    if let Verdict::Block { reason } = &reply.verdict
        && room.deny.contains(&event)
    {
        specific.insert("permissionDecision".into(), json!("deny"));
        specific.insert("permissionDecisionReason".into(), json!(reason));
    } else if !reply.context.is_empty() && room.context.contains(&event) {
        // A tool that does not run needs no word beside the reason.
        specific.insert("additionalContext".into(), json!(reply.context.join("\n\n")));
    }
    if specific.is_empty() {
        return None;
    }
    specific.insert("hookEventName".into(), json!(event));
    Some(Value::Object(specific))
}

/// The entries of the last part of a file of lines, as far as they are whole.
pub(crate) fn newest_first<'a, T: Deserialize<'a>>(text: &'a [u8]) -> impl Iterator<Item = T> {
    text.rsplit(|byte| *byte == b'\n').filter_map(|line| json::read(str::from_utf8(line).ok()?).ok())
}
