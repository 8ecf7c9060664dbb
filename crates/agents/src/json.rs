//! A serde deserializer that borrows from its input and skips unrequested values without validating them.
//!
//! A transcript consists mostly of long strings, each needed whole or not at all: a parser that checks every byte of
//! them spends most of its time there. This one validates the structure it walks through, but not the inside of skipped
//! values and strings. It descends only into requested values, at most 128 levels deep. Supports structs, lists and
//! strings with optional fields; no `Option`, no enums.

use crate::eight::{CHUNK, first_byte};
use crate::unescape::unescaped;
use memchr::{memchr, memchr3};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Number;
use std::borrow::Cow;
use std::fmt::Display;

/// A newtype of this name receives any value as it is written.
pub(crate) const RAW: &str = "a value as it is written";

/// Carries no details: the text may hold anything.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the JSON that was expected")]
pub(crate) struct NotJson;

impl de::Error for NotJson {
    fn custom<T: Display>(_: T) -> Self {
        NotJson
    }
}

/// Parses a text that holds exactly one value.
pub(crate) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, NotJson> {
    let mut json = Json { text, offset: 0, depth: 0 };
    let value = T::deserialize(&mut json)?;
    if json.peek().is_none() { Ok(value) } else { Err(NotJson) }
}

/// The nesting limit, since each level costs stack.
const DEEPEST: usize = 128;

/// A text, the read offset, and the nesting depth there.
struct Json<'a> {
    text: &'a str,
    offset: usize,
    depth: usize,
}

impl<'a> Json<'a> {
    /// The next byte that is not whitespace.
    fn peek(&mut self) -> Option<u8> {
        self.offset = skip_space(self.text.as_bytes(), self.offset);
        self.text.as_bytes().get(self.offset).copied()
    }

    fn expect(&mut self, expected: u8) -> Result<(), NotJson> {
        if self.peek() != Some(expected) {
            return Err(NotJson);
        }
        self.offset += 1;
        Ok(())
    }

    /// Skips the next value and returns it as written.
    fn raw(&mut self) -> Result<&'a str, NotJson> {
        self.peek();
        let end = value_end(self.text.as_bytes(), self.offset).ok_or(NotJson)?;
        let raw = self.text.get(self.offset..end).ok_or(NotJson)?;
        self.offset = end;
        Ok(raw)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, NotJson> {
        inner(self.raw()?).map(unescaped).ok_or(NotJson)
    }

    /// Enters an object or a list that closes with `end`.
    fn open(&mut self, end: u8) -> Result<Items<'_, 'a>, NotJson> {
        self.offset += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            Err(NotJson)
        } else {
            Ok(Items { json: self, end, state: ItemState::First })
        }
    }

    fn scalar<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, NotJson> {
        match self.raw()? {
            "null" => visitor.visit_unit(),
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            number => {
                let number: Number = serde_json::from_str(number).map_err(|_| NotJson)?;
                match (number.as_u64(), number.as_i64(), number.as_f64()) {
                    (Some(number), _, _) => visitor.visit_u64(number),
                    (_, Some(number), _) => visitor.visit_i64(number),
                    (_, _, Some(number)) => visitor.visit_f64(number),
                    (None, None, None) => Err(NotJson),
                }
            }
        }
    }
}

impl<'de> Deserializer<'de> for &mut Json<'de> {
    type Error = NotJson;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotJson> {
        match self.peek() {
            Some(b'"') => match self.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Some(b'{') => {
                let mut items = self.open(b'}')?;
                let value = visitor.visit_map(&mut items)?;
                items.close().map(|()| value)
            }
            Some(b'[') => {
                let mut items = self.open(b']')?;
                let value = visitor.visit_seq(&mut items)?;
                items.close().map(|()| value)
            }
            _ => self.scalar(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &str,
        visitor: V,
    ) -> Result<V::Value, NotJson> {
        if name == RAW { visitor.visit_borrowed_str(self.raw()?) } else { visitor.visit_newtype_struct(self) }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotJson> {
        self.raw()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        option seq tuple tuple_struct map struct identifier
    }

    fn deserialize_enum<V: Visitor<'de>>(self, _: &str, _: &[&str], _: V) -> Result<V::Value, NotJson> {
        Err(NotJson)
    }
}

/// The elements of an object or a list.
struct Items<'j, 'a> {
    json: &'j mut Json<'a>,
    end: u8,
    state: ItemState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemState {
    First,
    Later,
    Closed,
}

impl Items<'_, '_> {
    /// Fails if elements remain: every visitor reads all of them.
    fn close(mut self) -> Result<(), NotJson> {
        if self.next()? { Err(NotJson) } else { Ok(()) }
    }

    /// Advances to the next element; `false` after the closing bracket.
    fn next(&mut self) -> Result<bool, NotJson> {
        if self.state == ItemState::Closed {
            return Ok(false);
        }
        if self.json.peek() == Some(self.end) {
            self.json.offset += 1;
            self.json.depth -= 1;
            self.state = ItemState::Closed;
            return Ok(false);
        }
        if self.state == ItemState::Later {
            self.json.expect(b',')?;
        }
        self.state = ItemState::Later;
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = NotJson;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, NotJson> {
        if self.next()? { seed.deserialize(&mut *self.json).map(Some) } else { Ok(None) }
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = NotJson;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, NotJson> {
        if !self.next()? {
            return Ok(None);
        }
        let key = self.json.string()?;
        self.json.expect(b':')?;
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, NotJson> {
        seed.deserialize(&mut *self.json)
    }
}

/// The text between the quotes, if the value is a string.
pub(crate) fn inner(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

pub(crate) fn skip_space(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count()
}

/// The offset after the value that begins at `offset`.
pub(crate) fn value_end(bytes: &[u8], offset: usize) -> Option<usize> {
    match bytes.get(offset)? {
        b'"' => string_end(bytes, offset),
        b'{' => nested_end(bytes, offset, b'{', b'}'),
        b'[' => nested_end(bytes, offset, b'[', b']'),
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            Some(bytes[offset..].iter().position(is_end).map_or(bytes.len(), |length| offset + length))
        }
        _ => None,
    }
}

/// The offset after the string whose opening quote is at `offset`. Searches for quotes and then counts the backslashes
/// before each one: quotes are rarer than escaped line ends.
pub(crate) fn string_end(bytes: &[u8], offset: usize) -> Option<usize> {
    if let Some(end) = short_end(bytes, offset) {
        return Some(end);
    }
    let mut from = offset + 1;
    loop {
        let rest = bytes.get(from..)?;
        let quote = memchr(b'"', rest)?;
        let escapes = rest[..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        from += quote + 1;
        if escapes % 2 == 0 {
            return Some(from);
        }
    }
}

/// Fast path for strings of under 16 bytes without escapes: most strings are names and short values.
fn short_end(bytes: &[u8], offset: usize) -> Option<usize> {
    let (steps, _) = bytes.get(offset + 1..)?.as_chunks::<CHUNK>();
    for (number, step) in steps.iter().take(2).enumerate() {
        let quote = first_byte(step, b'"');
        if first_byte(step, b'\\').is_some_and(|escape| quote.is_none_or(|quote| escape < quote)) {
            return None;
        }
        if let Some(quote) = quote {
            return Some(offset + 1 + number * CHUNK + quote + 1);
        }
    }
    None
}

/// The offset after the bracket that closes the one at `offset`. Brackets of the other kind need no counting:
/// in valid JSON they are balanced in between.
fn nested_end(bytes: &[u8], offset: usize, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0usize;
    let mut from = offset;
    loop {
        let found = from + memchr3(open, close, b'"', bytes.get(from..)?)?;
        from = match bytes[found] {
            b'"' => string_end(bytes, found)?,
            byte => {
                depth = if byte == open { depth + 1 } else { depth - 1 };
                found + 1
            }
        };
        if depth == 0 {
            return Some(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::RawValue;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    /// Compares the result with that of `serde_json`.
    #[track_caller]
    fn check(text: &str) {
        let theirs = serde_json::from_str::<Value>(text).ok();
        assert_eq!(read::<Value>(text).ok(), theirs, "{text}");
    }

    #[test]
    fn requested_values_are_read_as_serde_json_reads_them() {
        for text in [
            r#" {"a" : [1, -2, 3.5, 1e3], "b\"\\" : {"c":null,"d":true , "e":false}, "f":"\u00e9\n\\" , "g":"" } "#,
            "[]",
            "{}",
            "[ ]",
            "{ }",
            "7",
            "\"x\"",
            "null",
            "[[],[{}]]",
            r#""\\""#,
            r#"["\\\"", "\\"]"#,
        ] {
            assert!(read::<Value>(text).is_ok(), "{text}");
            check(text);
        }
        for text in [
            "",
            " ",
            "{",
            "}",
            "[1",
            "[1,]",
            "[,1]",
            "[1 2]",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a" 1}"#,
            r#"{"a":1 "b":2}"#,
            "{} {}",
            "[] x",
            r#""x"#,
            r#""x\""#,
            "bogus",
            "nan",
            "-inf",
            "1.",
            "-.5",
            "007",
            "1e999",
            "[0x1]",
            "[nul]",
            "-",
            r#"{a:1}"#,
            "[1]]",
        ] {
            assert!(read::<Value>(text).is_err(), "{text}");
            check(text);
        }
    }

    #[test]
    fn a_raw_value_is_returned_as_written() {
        let text = r#"{"a": {"x":"}\"{", "y":[1,{"z":"]"}]} ,"b":null,"c":"\\"}"#;
        let fields: std::collections::BTreeMap<String, RawValue<'_>> = read(text).unwrap();
        let raw: Vec<&str> = fields.values().map(|value| value.raw()).collect();
        assert_eq!(raw, [r#"{"x":"}\"{", "y":[1,{"z":"]"}]}"#, "", r#""\\""#]);
        let deep = format!("{}{}", "[".repeat(DEEPEST), "]".repeat(DEEPEST));
        check(&format!("[{deep}]"));
        assert!(read::<Value>(&deep).is_ok() && read::<Value>(&format!("[[],{deep}]")).is_err());
        assert!(read::<RawValue<'_>>(&format!("[{deep}]")).is_ok());
        for cut in 0..text.len() {
            assert!(read::<de::IgnoredAny>(&text[..cut]).is_err(), "{}", &text[..cut]);
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9).prop_map(Value::from),
            "(\\PC|[\n\t\"\\\\{}\\[\\],:]){0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let entries = prop::collection::vec(("[a-c\"\\\\]{0,3}", inner.clone()), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Value::from),
                entries.prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whole_and_truncated_values_are_read_as_serde_json_reads_them(
            value in any_json(),
            cut in any::<prop::sample::Index>(),
        ) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                prop_assert_eq!(read::<Value>(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
                let whole: RawValue<'_> = read(&text).unwrap();
                prop_assert_eq!(whole.raw(), if value.is_null() { "" } else { &*text });
                let half: String = text.chars().take(cut.index(text.chars().count())).collect();
                prop_assert_eq!(read::<Value>(&half).ok(), serde_json::from_str::<Value>(&half).ok());
            }
        }
    }
}
