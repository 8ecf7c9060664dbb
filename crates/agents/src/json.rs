//! Lenient JSON fields for payloads and transcripts, on `serde_json`.
//!
//! Strings are borrowed from the input where they hold no escape, and large values stay unparsed until requested. A
//! field of an unexpected type counts as absent, because a newer agent may change fields we do not rely on. Half a
//! surrogate pair becomes `\u{fffd}`: agents cut their texts anywhere. `serde_json` validates a line once, and values
//! inside it are read without validating them again: with it alone, reading takes 1.5 times as many instructions.

use crate::skim::{find, skip_space, value_end};
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;
use std::iter;
use towline_core::text::{clip, clip_start};

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
        T::deserialize(Validated(self.present()?)).ok()
    }

    /// A field of an object; empty if there is none. A struct reads several fields at once.
    pub fn get(self, name: &str) -> RawValue<'a> {
        let mut found = RawValue::default();
        if self.0.starts_with('{') {
            let mut parts = Parts::of(self.0);
            while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                if RawValue(key).text().is_some_and(|key| key == name) {
                    found = RawValue::written(value);
                }
            }
        }
        found
    }

    fn written(raw: &'a str) -> Self {
        RawValue(if raw == "null" { "" } else { raw })
    }

    /// The fields of an object; those of any other value are empty.
    pub fn fields<T: Default + Deserialize<'a>>(self) -> T {
        if self.0.starts_with('{') { self.parse_as().unwrap_or_default() } else { T::default() }
    }

    pub fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if !inner.as_bytes().contains(&b'\\') {
            return Some(Cow::Borrowed(inner));
        }
        Some(Cow::Owned(unescaped(inner)))
    }

    /// The beginning and the end of a text, of about `limit` bytes each and in whole lines at the end: most of a long one
    /// need not be copied. A text shorter than that is both.
    pub fn text_edges(self, limit: usize) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        let (start, tail) = (clip(inner, limit), clip_start(inner, limit));
        let end = if tail.len() == inner.len() {
            tail
        } else {
            tail.split_once("\\n").map_or("", |(_, rest)| rest)
        };
        Some((Cow::Owned(unescaped(start)), Cow::Owned(unescaped(end))))
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
        <&'de serde_json::value::RawValue>::deserialize(deserializer).map(|raw| RawValue::written(raw.get()))
    }
}

/// The text of a valid string, written without its quotes.
fn unescaped(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = find(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let (character, length) = match escape.as_bytes().first() {
            Some(b'n') => ('\n', 1),
            Some(b't') => ('\t', 1),
            Some(b'r') => ('\r', 1),
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'u') => unit(escape),
            first => (first.copied().map_or('\u{fffd}', char::from), 1),
        };
        text.push(character);
        rest = escape.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// The character of an escape `uXXXX`, or of two for a surrogate pair, and how many bytes it is written in.
fn unit(escape: &str) -> (char, usize) {
    let code = |from: usize| u32::from_str_radix(escape.get(from..from + 4)?, 16).ok();
    let first = code(1).unwrap_or(0xfffd);
    let second = if escape.get(5..7) == Some("\\u") { code(7) } else { None };
    match (first, second) {
        (0xd800..0xdc00, Some(second @ 0xdc00..0xe000)) => {
            let pair = 0x1_0000 + ((first - 0xd800) << 10 | (second - 0xdc00));
            (char::from_u32(pair).unwrap_or('\u{fffd}'), 11)
        }
        _ => (char::from_u32(first).unwrap_or('\u{fffd}'), 5),
    }
}

/// Deserializes a value that `serde_json` has already validated: what nobody requests is skipped by its quotes and
/// brackets, and nothing is checked again. A text is scanned once for each value around it, at several bytes a cycle.
struct Validated<'de>(&'de str);

impl<'de> Deserializer<'de> for Validated<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0.as_bytes().first() {
            Some(b'{') => visitor.visit_map(Parts::of(self.0)),
            Some(b'[') => visitor.visit_seq(Parts::of(self.0)),
            _ => serde_json::Deserializer::from_str(self.0).deserialize_any(visitor),
        }
    }

    /// Only `serde_json`'s raw value is one: a map from that name to the text.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_map(MapDeserializer::new(iter::once((name, BorrowedStrDeserializer::new(self.0)))))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if self.0 == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct enum identifier
    }
}

/// The elements of a valid list, or the keys and values of a valid object in turn, each as it is written.
struct Parts<'de> {
    text: &'de str,
    offset: usize,
}

impl<'de> Parts<'de> {
    fn of(text: &'de str) -> Self {
        Parts { text, offset: 1 }
    }

    fn next(&mut self) -> Option<&'de str> {
        let bytes = self.text.as_bytes();
        let mut start = skip_space(bytes, self.offset);
        if matches!(bytes.get(start), Some(b',' | b':')) {
            start = skip_space(bytes, start + 1);
        }
        self.offset = value_end(bytes, start)?;
        self.text.get(start..self.offset)
    }
}

impl<'de> MapAccess<'de> for Parts<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        let Some(key) = self.next() else { return Ok(None) };
        match key.get(1..key.len() - 1).filter(|key| !key.contains('\\')) {
            Some(plain) => seed.deserialize(BorrowedStrDeserializer::new(plain)).map(Some),
            None => seed.deserialize(Validated(key)).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        seed.deserialize(Validated(self.next().unwrap_or("null")))
    }
}

impl<'de> SeqAccess<'de> for Parts<'de> {
    type Error = serde_json::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Self::Error> {
        self.next().map(|element| seed.deserialize(Validated(element))).transpose()
    }
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
    use serde_json::Value;
    use std::collections::BTreeMap;

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

    #[test]
    fn the_edges_of_a_long_text_are_read_without_the_rest() {
        let edges = |written: &str| {
            let json = serde_json::to_string(written).unwrap();
            let (start, end) = RawValue(&json).text_edges(12).unwrap();
            (start.into_owned(), end.into_owned())
        };
        assert_eq!(edges("one\ntwo"), ("one\ntwo".to_owned(), "one\ntwo".to_owned()));
        assert_eq!(edges("first line\nsecond line\nlast"), ("first line\n".to_owned(), "last".to_owned()));
        assert_eq!(edges("é\"ünïcode all the way, no line ends"), ("é\"ünïcod".to_owned(), String::new()));
        assert_eq!(RawValue("[1]").text_edges(12), None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = "(\\PC|[\n\"\\\\{}\\[\\],:😀]){0,80}";
        let plain = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        plain.prop_recursive(4, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(text, inner, 0..6)
                    .prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_validated_value_reads_as_serde_json_reads_it(value in any_json()) {
            for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let raw: RawValue<'_> = serde_json::from_str(&json).unwrap();
                let read = raw.present().map(|_| raw.parse_as::<Value>().unwrap());
                let expected = serde_json::from_str::<Value>(&json).unwrap();
                for (key, field) in expected.as_object().into_iter().flatten() {
                    let found = raw.get(key).present().map_or(Value::Null, |raw| serde_json::from_str(raw).unwrap());
                    prop_assert_eq!(&found, field);
                }
                prop_assert_eq!(read.unwrap_or_default(), expected);
            }
        }

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
