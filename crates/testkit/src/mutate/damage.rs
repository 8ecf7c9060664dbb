//! The kinds of damage done to a payload.
//!
//! Each must work on any bytes: a payload that is no JSON object is damaged as text.

use serde_json::{Map, Value, json};

use super::dice::Dice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Truncated,
    FlippedBytes,
    OneWrongType,
    AllWrongTypes,
    MissingField,
    OddText,
    DeepNesting,
    HugeText,
    NotUtf8,
    NulBytes,
    DuplicateKeys,
    SwappedEvent,
    UnknownEvent,
    SeveralObjects,
    ByteOrderMark,
    WhiteSpace,
    Empty,
    ClosedInput,
}

/// Relative frequencies. Damage that costs megabytes, or that has only one form, is rare.
const WEIGHTS: [(Damage, usize); 18] = [
    (Damage::Truncated, 20),
    (Damage::FlippedBytes, 12),
    (Damage::OneWrongType, 20),
    (Damage::AllWrongTypes, 6),
    (Damage::MissingField, 6),
    (Damage::OddText, 10),
    (Damage::DeepNesting, 4),
    (Damage::HugeText, 2),
    (Damage::NotUtf8, 6),
    (Damage::NulBytes, 4),
    (Damage::DuplicateKeys, 6),
    (Damage::SwappedEvent, 8),
    (Damage::UnknownEvent, 4),
    (Damage::SeveralObjects, 4),
    (Damage::ByteOrderMark, 2),
    (Damage::WhiteSpace, 4),
    (Damage::Empty, 1),
    (Damage::ClosedInput, 1),
];

/// Event names of both clients, for payloads that claim to be another event.
const EVENTS: [&str; 20] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "CwdChanged",
    "TaskCompleted",
    "Interrupt",
    "PostModelRequest",
    "ElicitationResult",
];

/// Strings that have broken a parser, a path, a terminal or a database before.
const ODDITIES: [&str; 14] = [
    "",
    " ",
    "../../../etc/passwd",
    "/dev/full",
    "a/b\\c:d",
    "'; drop everything; --",
    "\u{0}\u{1}\u{7f}\u{9b}31m\u{1b}]0;title\u{7}",
    "\u{202e}gnirts desrever",
    "👩‍👩‍👧‍👦é\u{301}\u{fffd}\u{feff}",
    "TOW1\u{4}\u{0}\u{0}\u{0}",
    "$(touch made) `touch made` #{pane_id} %s %n {0}",
    "null",
    "\r\n\r\n",
    "<private>never closed",
];

/// Separators between two objects, valid and invalid.
const BETWEEN: [&[u8]; 4] = [b"", b"\n", b",", b"\0"];

/// White space that JSON allows, and some that it does not.
const SPACES: [&[u8]; 5] = [b" \t\r\n", b"\n\n\n", b"\x0b\x0c", b"\xc2\xa0", b"\xe2\x80\xa8"];

const DEEP: usize = 10_000;

/// Placeholder, replaced later by text that JSON would escape or a parser would refuse.
const PLACE: &str = "\u{e000}place\u{e000}";

impl Damage {
    pub fn thrown(dice: &mut Dice) -> Self {
        let mut left = dice.below(WEIGHTS.iter().map(|(_, weight)| weight).sum());
        for (damage, weight) in WEIGHTS {
            if left < weight {
                return damage;
            }
            left -= weight;
        }
        Self::Truncated
    }

    pub fn inflict(self, payload: &[u8], dice: &mut Dice) -> Vec<u8> {
        match self {
            Self::Truncated => payload[..dice.below(payload.len())].to_vec(),
            Self::FlippedBytes => flipped(payload, dice),
            Self::OneWrongType => edited(payload, |fields| one_wrong_type(fields, dice)),
            Self::AllWrongTypes => edited(payload, |fields| all_wrong_types(fields, dice)),
            Self::MissingField => edited(payload, |fields| missing_field(fields, dice)),
            Self::OddText => edited(payload, |fields| odd_text(fields, dice)),
            Self::DeepNesting => with_raw(payload, &nested(dice), dice),
            Self::HugeText => with_raw(payload, &huge(dice), dice),
            Self::NotUtf8 => spliced(payload, &[0xc3, 0x28, 0xff, 0xfe], dice),
            Self::NulBytes => spliced(payload, &[0; 3], dice),
            Self::DuplicateKeys => with_duplicate(payload, dice),
            Self::SwappedEvent => with_event(payload, dice.pick::<&str>(&EVENTS)),
            Self::UnknownEvent => with_event(payload, &format!("PreDream{}", dice.below(100))),
            Self::SeveralObjects => several(payload, dice),
            Self::ByteOrderMark => [b"\xef\xbb\xbf", payload].concat(),
            Self::WhiteSpace => spaced(payload, dice),
            Self::Empty | Self::ClosedInput => Vec::new(),
        }
    }
}

fn flipped(payload: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    for _ in 0..=dice.below(8) {
        let at = dice.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << dice.below(8);
        }
    }
    bytes
}

fn spliced(payload: &[u8], foreign: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    for byte in foreign {
        bytes.insert(dice.below(bytes.len() + 1), *byte);
    }
    bytes
}

/// Edits the outermost object of the payload; a payload that is no object stays as it is.
fn edited(payload: &[u8], edit: impl FnOnce(&mut Map<String, Value>)) -> Vec<u8> {
    let Ok(mut fields) = serde_json::from_slice::<Map<String, Value>>(payload) else {
        return payload.to_vec();
    };
    edit(&mut fields);
    Value::Object(fields).to_string().into_bytes()
}

/// Damages a field of the object, or of an object nested in it.
fn one_wrong_type(fields: &mut Map<String, Value>, dice: &mut Dice) {
    let Some(key) = some_key(fields, dice) else { return };
    match fields.get_mut(&key) {
        Some(Value::Object(inner)) if !inner.is_empty() && !dice.one_in(3) => one_wrong_type(inner, dice),
        Some(value) => *value = wrong(value, dice),
        None => {}
    }
}

fn all_wrong_types(fields: &mut Map<String, Value>, dice: &mut Dice) {
    for (key, value) in fields {
        // Without these two the payload is refused at once, and the rest is never parsed.
        if !matches!(key.as_str(), "session_id" | "hook_event_name") || dice.one_in(8) {
            *value = wrong(value, dice);
        }
    }
}

fn missing_field(fields: &mut Map<String, Value>, dice: &mut Dice) {
    if let Some(key) = some_key(fields, dice) {
        fields.remove(&key);
    }
}

fn odd_text(fields: &mut Map<String, Value>, dice: &mut Dice) {
    if let Some(key) = some_key(fields, dice) {
        fields.insert(key, json!(dice.pick(&ODDITIES)));
    }
}

/// A value of another type, as far as the dice allow.
fn wrong(value: &Value, dice: &mut Dice) -> Value {
    let others = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e308),
        json!("text"),
        json!([]),
        json!([1, "two", null, [3]]),
        json!({}),
        json!({"status": {"status": []}, "": ""}),
        json!([value, value]),
        json!({ "inside": value }),
    ];
    dice.pick(&others).clone()
}

fn some_key(fields: &Map<String, Value>, dice: &mut Dice) -> Option<String> {
    fields.keys().nth(dice.below(fields.len())).cloned()
}

/// The payload with `raw` as the value of an existing or a new field.
fn with_raw(payload: &[u8], raw: &str, dice: &mut Dice) -> Vec<u8> {
    let placed = edited(payload, |fields| {
        let key =
            some_key(fields, dice).filter(|_| !dice.one_in(3)).unwrap_or_else(|| "unheard_of".to_owned());
        fields.insert(key, json!(PLACE));
    });
    let placed = String::from_utf8_lossy(&placed).into_owned();
    placed.replacen(&format!("\"{PLACE}\""), raw, 1).into_bytes()
}

fn nested(dice: &mut Dice) -> String {
    let depth = 1 + dice.below(2 * DEEP);
    match dice.below(4) {
        0 => format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
        1 => format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
        2 => format!("{}{}", "[{\"a\":".repeat(depth), "}]".repeat(depth)),
        // Never closed.
        _ => "[".repeat(depth),
    }
}

/// Text, keys or lists of up to three megabytes; most are much smaller, since each is built and sent.
fn huge(dice: &mut Dice) -> String {
    let largest = if dice.one_in(4) { 3 << 20 } else { 200 << 10 };
    let bytes = dice.below(largest);
    match dice.below(6) {
        0 => format!("\"{}\"", "x".repeat(bytes)),
        1 => format!("\"{}\"", "\\u0000".repeat(bytes / 6)),
        2 => format!("\"{}\"", "\\\"]}".repeat(bytes / 4)),
        3 => format!("\"{}\"", "é👍".repeat(bytes / 6)),
        4 => format!("[{}0]", "1e9,".repeat(bytes / 4)),
        _ => format!("{{\"{}\":1}}", "k".repeat(bytes)),
    }
}

fn with_duplicate(payload: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Ok(fields) = serde_json::from_slice::<Map<String, Value>>(payload) else { return payload.to_vec() };
    let Some(key) = some_key(&fields, dice) else { return payload.to_vec() };
    let again = if dice.one_in(2) { fields[&key].clone() } else { wrong(&fields[&key], dice) };
    let text = Value::Object(fields).to_string();
    format!("{{{}:{again},{}", json!(key), &text[1..]).into_bytes()
}

fn with_event(payload: &[u8], event: &str) -> Vec<u8> {
    edited(payload, |fields| drop(fields.insert("hook_event_name".to_owned(), json!(event))))
}

fn several(payload: &[u8], dice: &mut Dice) -> Vec<u8> {
    let between = *dice.pick::<&[u8]>(&BETWEEN);
    match dice.below(3) {
        0 => [payload, payload].join(between),
        1 => [b"[".as_slice(), payload, b",", payload, b"]"].concat(),
        _ => [payload, b"}".as_slice()].join(between),
    }
}

fn spaced(payload: &[u8], dice: &mut Dice) -> Vec<u8> {
    let much = dice.pick::<&[u8]>(&SPACES).repeat(1 + dice.below(2000));
    if dice.one_in(4) { much } else { [much.as_slice(), payload, &much].concat() }
}
