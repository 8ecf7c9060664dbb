//! Takes the bulk out of a large payload before it is read: a tool's output may have megabytes that nobody asks for, and that
//! need not even be text.
//!
//! Looks at the outermost object alone, and checks nothing: what it does not understand it leaves as it is, for whoever reads
//! it to refuse.

use crate::json::{skip_space, string_end, value_end};
use std::borrow::Cow;

/// Smaller payloads are parsed as they are.
const WORTH_IT: usize = 16 * 1024;

/// A value longer than this is bulk,
const BULK: usize = 4 * 1024;

/// unless it is one of these.
const WANTED: [&[u8]; 3] = [b"\"prompt\"", b"\"background_tasks\"", b"\"last_assistant_message\""];

/// The payload with every bulky value of its outermost object replaced by `null`. What it is shorter by was bulk.
pub(crate) fn without_bulk(payload: &[u8]) -> Cow<'_, [u8]> {
    if payload.len() < WORTH_IT {
        return Cow::Borrowed(payload);
    }
    slimmed(payload).map_or(Cow::Borrowed(payload), Cow::Owned)
}

fn slimmed(payload: &[u8]) -> Option<Vec<u8>> {
    let mut slim = Vec::with_capacity(WORTH_IT);
    let mut at = skip_space(payload, 0);
    (payload.get(at) == Some(&b'{')).then_some(())?;
    slim.push(b'{');
    at = skip_space(payload, at + 1);
    while payload.get(at) == Some(&b'"') {
        let key_end = string_end(payload, at)?;
        let colon = skip_space(payload, key_end);
        (payload.get(colon) == Some(&b':')).then_some(())?;
        let value = skip_space(payload, colon + 1);
        let value_end = value_end(payload, value)?;
        let key = &payload[at..key_end];
        let bulky = value_end - value > BULK && !WANTED.contains(&key);
        slim.extend_from_slice(key);
        slim.push(b':');
        slim.extend_from_slice(if bulky { b"null" } else { &payload[value..value_end] });
        at = skip_space(payload, value_end);
        if payload.get(at) != Some(&b',') {
            break;
        }
        slim.push(b',');
        at = skip_space(payload, at + 1);
    }
    // The end is kept as it is, so that a payload which is cut off or goes on is still refused.
    slim.extend_from_slice(&payload[at..]);
    Some(slim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(payload: &str, expected: &str) {
        let slim = slimmed(payload.as_bytes()).map(|slim| String::from_utf8(slim).unwrap());
        assert_eq!(slim.as_deref().unwrap_or(payload), expected);
    }

    #[test]
    fn bulk_is_cut_out_wherever_it_stands() {
        let bulk = "x\\\"]}".repeat(2000);
        check(&format!(r#"{{ "a" : "{bulk}", "b":[1,{{"c":"]"}}] }}"#), r#"{"a":null,"b":[1,{"c":"]"}]}"#);
        check(&format!(r#"{{"a":{{"deep":[["{bulk}"]]}},"b":true}}"#), r#"{"a":null,"b":true}"#);
        check(&format!(r#"{{"a":[["{bulk}"],[]],"b":-1.5e3}}"#), r#"{"a":null,"b":-1.5e3}"#);
    }

    #[test]
    fn what_is_wanted_stays_whole() {
        let payload = format!(r#"{{"prompt":"{}"}}"#, "y".repeat(9000));
        check(&payload, &payload);
    }

    #[test]
    fn what_is_cut_off_or_goes_on_is_left_for_the_parser() {
        for payload in ["", "[1]", "{", r#"{"a"#, r#"{"a":"#, r#"{"a":"x"#, r#"{"a":[1"#, r#"{"a":1"#] {
            check(payload, payload);
        }
        check(r#"{"a":1} trailing"#, r#"{"a":1} trailing"#);
        check(r#"{"a":1,}"#, r#"{"a":1,}"#);
    }
}
