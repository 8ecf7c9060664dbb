//! Finds the ends of JSON values, and cuts large ones out of a payload before parsing: tool output may be megabytes and
//! not even valid UTF-8.
//!
//! Validates nothing: malformed input stays unchanged for the parser to refuse. Hand-written because `serde_json` validates
//! every byte that it skips: it takes 1.67 ms for a payload of 2 MB, and this takes 0.12 ms.

use memchr::memchr3;
use std::borrow::Cow;

/// Smaller payloads are parsed as they are.
const MIN_PAYLOAD: usize = 16 * 1024;

/// Values longer than this are cut,
const MAX_VALUE: usize = 4 * 1024;

/// unless their key is one of these.
const KEPT_KEYS: [&[u8]; 3] = [b"\"prompt\"", b"\"background_tasks\"", b"\"last_assistant_message\""];

/// The payload with every large value of its top-level object replaced by `null`.
pub(crate) fn without_bulk(payload: &[u8]) -> Cow<'_, [u8]> {
    if payload.len() < MIN_PAYLOAD {
        return Cow::Borrowed(payload);
    }
    slimmed(payload).map_or(Cow::Borrowed(payload), Cow::Owned)
}

fn slimmed(payload: &[u8]) -> Option<Vec<u8>> {
    let mut slim = Vec::with_capacity(MIN_PAYLOAD);
    let mut offset = skip_space(payload, 0);
    (payload.get(offset) == Some(&b'{')).then_some(())?;
    slim.push(b'{');
    offset = skip_space(payload, offset + 1);
    while payload.get(offset) == Some(&b'"') {
        let key_end = string_end(payload, offset)?;
        let colon = skip_space(payload, key_end);
        (payload.get(colon) == Some(&b':')).then_some(())?;
        let value = skip_space(payload, colon + 1);
        let value_end = value_end(payload, value)?;
        let key = &payload[offset..key_end];
        let bulky = value_end - value > MAX_VALUE && !KEPT_KEYS.contains(&key);
        slim.extend_from_slice(key);
        slim.push(b':');
        slim.extend_from_slice(if bulky { b"null" } else { &payload[value..value_end] });
        offset = skip_space(payload, value_end);
        if payload.get(offset) != Some(&b',') {
            break;
        }
        slim.push(b',');
        offset = skip_space(payload, offset + 1);
    }
    // The end is copied unchanged, so that a truncated payload or one with trailing data is still refused.
    slim.extend_from_slice(&payload[offset..]);
    Some(slim)
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

/// The offset after the string whose opening quote is at `offset`. Takes 64 bytes at a time: a search for each quote
/// takes four times as many instructions in the output of tools, which is full of escaped ones.
pub(crate) fn string_end(bytes: &[u8], offset: usize) -> Option<usize> {
    let mut from = offset + 1;
    let mut is_escaped = 0;
    let (blocks, rest) = bytes.get(from..)?.as_chunks::<BLOCK>();
    for block in blocks {
        let quotes = places(block, b'"') & !escaped(places(block, b'\\'), &mut is_escaped);
        if quotes != 0 {
            return Some(from + quotes.trailing_zeros() as usize + 1);
        }
        from += BLOCK;
    }
    let mut is_escaped = is_escaped != 0;
    for (at, byte) in rest.iter().enumerate() {
        if *byte == b'"' && !is_escaped {
            return Some(from + at + 1);
        }
        is_escaped = *byte == b'\\' && !is_escaped;
    }
    None
}

/// The first place of a byte. Unlike `memchr`, it does not ask for the processor's abilities: on a virtual machine the
/// answer takes 20 µs, a tenth of a tool result's hook.
pub(crate) fn find(wanted: u8, bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let in_block = |block| Some(places(block, wanted).trailing_zeros() as usize).filter(|at| *at < BLOCK);
    let found = blocks.iter().enumerate().find_map(|(index, block)| Some(index * BLOCK + in_block(block)?));
    found.or_else(|| Some(bytes.len() - rest.len() + rest.iter().position(|byte| *byte == wanted)?))
}

const BLOCK: usize = 64;

/// One bit for each byte of the block that is `wanted`.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "only the processor's own instructions make one bit of each byte")]
fn places(block: &[u8; BLOCK], wanted: u8) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    block.as_chunks::<16>().0.iter().rev().fold(0, |places, part| {
        // SAFETY: every x86-64 processor has SSE2, and the part has the 16 bytes that are read.
        let equal = unsafe {
            let bytes = _mm_loadu_si128(part.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted.cast_signed())))
        };
        places << 16 | u64::from(equal.cast_unsigned())
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn places(block: &[u8; BLOCK], wanted: u8) -> u64 {
    block.iter().rev().fold(0, |places, byte| places << 1 | u64::from(*byte == wanted))
}

/// The places that a backslash escapes: those after an odd number of backslashes. `is_escaped` is 1 if the previous block
/// escapes the first place of this one, and becomes 1 if this block escapes the first of the next.
fn escaped(backslashes: u64, is_escaped: &mut u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    // A subtraction carries through each run of backslashes and leaves every second place (simdjson's method).
    let starting = backslashes & !*is_escaped;
    let alternating = ((starting << 1) | ODD).wrapping_sub(starting) ^ ODD;
    let escaped = alternating ^ (backslashes | *is_escaped);
    *is_escaped = (alternating & backslashes) >> 63;
    escaped
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
    use proptest::prelude::*;

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

    /// The same byte by byte.
    fn plain_end(text: &[u8]) -> Option<usize> {
        let mut bytes = text.iter().enumerate().skip(1);
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'"' => return Some(at + 1),
                _ => {}
            }
        }
        None
    }

    proptest! {
        #[test]
        fn a_string_ends_at_its_first_unescaped_quote(text in "(\\\\{1,70}|[a-zü]{1,70}|\"){0,6}") {
            let text = format!("\"{text}");
            prop_assert_eq!(string_end(text.as_bytes(), 0), plain_end(text.as_bytes()));
            prop_assert_eq!(find(b'\\', text.as_bytes()), text.find('\\'));
        }
    }

    #[test]
    fn values_of_kept_keys_stay_whole() {
        let payload = format!(r#"{{"prompt":"{}"}}"#, "y".repeat(9000));
        check(&payload, &payload);
    }

    #[test]
    fn truncated_input_and_trailing_data_are_left_for_the_parser() {
        for payload in ["", "[1]", "{", r#"{"a"#, r#"{"a":"#, r#"{"a":"x"#, r#"{"a":[1"#, r#"{"a":1"#] {
            check(payload, payload);
        }
        check(r#"{"a":1} trailing"#, r#"{"a":1} trailing"#);
        check(r#"{"a":1,}"#, r#"{"a":1,}"#);
    }
}
