//! Finds values next to a name that announces a secret: assignments, JSON, YAML, XML, queries, arguments, pairs.
//!
//! Locates the name, the value and their relation; `judge` decides whether the value is a secret.

use super::bytes::{
    ScanText, byte_at, contains, ends_with, is_gap, is_quote, is_word, length_of, start_of, starts_with,
};
use super::extent::{Quoting, ValueExtent};
use super::family::{Family, Name, name_before};
use super::judge::{ValueContext, is_secret};
use super::kind::{SecretKind, SecretMatch};
use super::makeup::Makeup;
use super::{armour, bytes, header, wrapped};

/// Words allowed before a name at the start of a line.
const PREFIXES: [&str; 8] = ["export", "set", "env", "-e", "declare", "local", "readonly", "arg"];

/// A mnemonic has at least twelve words.
const MNEMONIC_GAPS: usize = 11;

/// Maximum length of a type between a name and its value: `token: Option<&str> = …`.
const LONGEST_TYPE: usize = 40;

/// Finds the value after the `=` or `:` at `here`.
pub fn value(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let (this, next) = (text.bytes[here], byte_at(text.bytes, here + 1)?);
    let before = here.checked_sub(1).map_or(b' ', |before| text.bytes[before]);
    let is_operator = matches!((before, this), (b'=' | b'!' | b'<' | b'>' | b'~', b'=') | (b':', b':'))
        || matches!((this, next), (b'=', b'=' | b'~') | (b':', b':' | b'='));
    if is_operator {
        return None;
    }
    // `**name:** value` in Markdown.
    let bold = if starts_with(text.bytes, here + 1, "**") { 2 } else { 0 };
    let from = here + 1 + bold + usize::from((this, next) == (b'=', b'>'));
    if let Some(name) = name_before(text, here) {
        return value_at(text, name, from);
    }
    let name = (this == b'=').then(|| annotated(text, here, from))??;
    judged(text, name, ValueExtent::in_quotes(text.bytes, from)?, ValueContext::Quoted)
}

/// Finds the value after a percent-encoded `=` or `:`.
pub fn value_after_encoded(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let rest = &text.bytes[here..];
    let sign = ["%253d", "%253a", "%3d", "%3a"].iter().find(|sign| starts_with(rest, 0, sign))?;
    value_at(text, name_before(text, here)?, here + sign.len())
}

/// Finds the content of `<password>…</password>`. `here` is the `>` of the opening tag.
pub fn element(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let last = here.checked_sub(1).map(|last| text.bytes[last])?;
    let is_attribute = is_quote(last);
    if !last.is_ascii_alphanumeric() && !is_attribute {
        return None;
    }
    let name = name_before(text, here)?;
    let open = name.start.checked_sub(1).map(|open| text.bytes[open])?;
    let extent = ValueExtent::after(text.bytes, here + 1, Quoting::Fenced { close: "<" });
    let is_closed = starts_with(text.bytes, extent.probed, "</");
    // `<property name="password">…</property>` has the name in an attribute.
    let is_element =
        (matches!(open, b'<' | b':') || is_attribute && is_quote(open)) && is_closed && says_enough(name);
    is_element.then(|| judged(text, name, extent, ValueContext::Quoted))?
}

/// Finds the first argument of `setPassword("…")`.
pub fn argument(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let next = byte_at(text.bytes, here + 1)?;
    if !is_quote(next) && next != b'\\' {
        return None;
    }
    let name = name_before(text, here).filter(|name| says_enough(*name))?;
    judged(text, name, ValueExtent::in_quotes(text.bytes, here + 1)?, ValueContext::Argument)
}

/// Finds the second string of `"GITHUB_TOKEN", "…"`.
pub fn pair(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let before = here.checked_sub(1).map(|before| text.bytes[before])?;
    if !is_quote(before) {
        return None;
    }
    let name = name_before(text, here).filter(|name| says_enough(*name))?;
    judged(text, name, ValueExtent::in_quotes(text.bytes, here + 1)?, ValueContext::Argument)
}

/// Finds the string of `#define API_KEY "…"` and of `IDENTIFIED BY '…'`. `here` is the opening quote.
pub fn after_blank(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let is_sql = ends_with(text.bytes, text.floor, here, " by ") && {
        let words = start_of(text.bytes, text.floor, here, 64, |byte| is_word(byte) || byte == b' ');
        contains(&text.bytes[words..here], "identified ")
    };
    let name = Name { family: Family::Password, start: here, end: here };
    let name = if is_sql { name } else { name_before(text, here).filter(|name| says_enough(*name))? };
    let context = if is_sql { ValueContext::Quoted } else { ValueContext::Argument };
    judged(text, name, ValueExtent::in_quotes(text.bytes, here)?, context)
}

/// Whether the name is strong enough without a separator after it.
pub fn says_enough(name: Name) -> bool {
    matches!(name.family, Family::Password | Family::Phrase | Family::Token | Family::Signature)
}

/// Finds the value at `from` that belongs to `name`.
fn value_at(text: ScanText<'_>, name: Name, from: usize) -> Option<SecretMatch> {
    match name.family {
        Family::Authorization => header::authorization(text, from),
        Family::Cookie => header::cookie(text, from),
        Family::Lines => lines(text, from),
        Family::Value => labelled(text, name, from),
        Family::Phrase => phrase(text, name, from),
        Family::Password | Family::Token | Family::Signature | Family::Weak => {
            let extent = ValueExtent::after(text.bytes, from, bare_quoting(text, name, from));
            judged(text, name, extent, context(text, name, extent))
        }
    }
}

/// The twelve or more short words at `start`, which are the key of a wallet.
pub fn mnemonic(bytes: &[u8], start: usize) -> Option<SecretMatch> {
    let length = length_of(bytes, start, 256, |byte| byte.is_ascii_lowercase() || byte == b' ');
    let words = bytes[start..start + length].trim_ascii_end();
    let is_mnemonic = words.split(|byte| *byte == b' ').all(|word| (3..=8).contains(&word.len()))
        && words.iter().filter(|byte| **byte == b' ').count() >= MNEMONIC_GAPS;
    is_mnemonic.then(|| SecretKind::PASSWORD.at(start, start + words.len()))
}

/// Quoted words, a mnemonic up to the end of the line, or one word like any password.
fn phrase(text: ScanText<'_>, name: Name, from: usize) -> Option<SecretMatch> {
    let line = ValueExtent::after(text.bytes, from, Quoting::ToLineEnd);
    if !line.is_bare() {
        return judged(text, name, line, ValueContext::Quoted);
    }
    if let Some(mnemonic) = mnemonic(text.bytes, line.start) {
        return Some(mnemonic);
    }
    value_at(text, Name { family: Family::Password, ..name }, from)
}

/// The name before a type annotation: `token: &str = "…"`, `password: str = "…"`.
fn annotated(text: ScanText<'_>, here: usize, from: usize) -> Option<Name> {
    let quote = from + length_of(text.bytes, from, 4, is_gap);
    if !byte_at(text.bytes, quote).is_some_and(|byte| is_quote(byte) || byte == b'\\') {
        return None;
    }
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b" _&<>'.?|".contains(&byte);
    let start = start_of(text.bytes, text.floor, here, LONGEST_TYPE, is_type);
    match start.checked_sub(1).filter(|colon| *colon > text.floor && text.bytes[*colon] == b':') {
        Some(colon) => name_before(text, colon),
        // `var token string = …`
        None => name_before(text, start_of(text.bytes, text.floor, here.saturating_sub(1), 24, is_word)),
    }
}

/// Finds the lines of a PuTTY key, below the line that counts them.
fn lines(text: ScanText<'_>, from: usize) -> Option<SecretMatch> {
    let count = length_of(text.bytes, from, 16, |byte| byte.is_ascii_digit() || is_gap(byte));
    let start = from + count;
    let end = armour::body_end(text.bytes, start)?;
    Some(SecretKind::PRIVATE_KEY.at(start, end))
}

/// Finds the `value: …` of a label given before it: `name: DB_PASSWORD`.
fn labelled(text: ScanText<'_>, name: Name, from: usize) -> Option<SecretMatch> {
    let is_between =
        |byte: u8| byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b',' | b'\\' | b'-' | b'+');
    let end = start_of(text.bytes, text.floor, name.start, 32, is_between);
    let is_escape = ends_with(text.bytes, text.floor, end, "\\n");
    let label =
        name_before(text, end - if is_escape { 2 } else { 0 }).or_else(|| variable(text, name, from))?;
    let extent = ValueExtent::after(text.bytes, from, Quoting::Bare);
    let context = if extent.is_bare() { ValueContext::WholeLine } else { ValueContext::Quoted };
    let name = Name { family: label.family, ..name };
    says_enough(label).then(|| judged(text, name, extent, context))?
}

/// The variable of Terraform whose `default` is at `name`.
fn variable(text: ScanText<'_>, name: Name, from: usize) -> Option<Name> {
    const OPENING: &[u8] = b"variable ";
    if text.bytes[from - 1] != b'=' || !ends_with(text.bytes, text.floor, name.end, "default") {
        return None;
    }
    let block = start_of(text.bytes, text.floor, name.start, 400, |byte| byte != b'}');
    let opening = text.bytes[block..name.start].windows(OPENING.len()).rposition(|word| word == OPENING)?;
    let quote = block + opening + OPENING.len();
    let quote = quote + length_of(text.bytes, quote, 4, |byte| matches!(byte, b'\\' | b'"'));
    let end = quote + length_of(text.bytes, quote, 64, is_word);
    name_before(text, end)
}

/// In settings files a bare value ends at a blank; elsewhere at any byte that ends an expression.
fn bare_quoting(text: ScanText<'_>, name: Name, from: usize) -> Quoting {
    let is_tight = !byte_at(text.bytes, from).is_some_and(is_gap) && text.bytes[from - 1] == b'=';
    let in_record = ends_with(text.bytes, text.floor, name.start, ";");
    let is_setting = is_capitals(text, name) && begins_line(text, name.start);
    if is_tight && (in_record || is_setting) { Quoting::ToBlank } else { Quoting::Bare }
}

fn context(text: ScanText<'_>, name: Name, extent: ValueExtent) -> ValueContext {
    let bytes = text.bytes;
    let is_tight = bytes[extent.start - 1] == b'=';
    let ends = || ends_line(bytes, extent.probed);
    let in_query = || name.start > text.floor && matches!(bytes[name.start - 1], b'&' | b'?' | b';');
    match (extent.is_bare(), is_capitals(text, name)) {
        (false, true) => ValueContext::Assigned,
        (false, false) => ValueContext::Quoted,
        (true, true) if is_tight || ends() => ValueContext::Assigned,
        (true, _) if is_tight && in_query() => ValueContext::WholeLine,
        (true, _) if ends() && begins_line(text, name.start) => ValueContext::WholeLine,
        (true, _) => ValueContext::Bare,
    }
}

/// `DB_PASSWORD`: the spelling of environment variables.
fn is_capitals(text: ScanText<'_>, name: Name) -> bool {
    let name = &text.bytes[name.start..name.end];
    !name.iter().any(u8::is_ascii_lowercase) && name.iter().any(u8::is_ascii_uppercase)
}

/// Whether only indentation, list and diff markers, or a word like `export` precede `start` on its line.
fn begins_line(text: ScanText<'_>, start: usize) -> bool {
    let ScanText { bytes, floor } = text;
    let is_mark =
        |byte: u8| is_gap(byte) || is_quote(byte) || matches!(byte, b'+' | b'-' | b'>' | b'*' | b'#' | b'\\');
    let line = start_of(bytes, floor, start, 40, is_mark);
    line == 0
        || (line > floor && bytes[line - 1] == b'\n')
        || ends_with(bytes, floor, start, "\\n")
        || PREFIXES
            .iter()
            .any(|prefix| ends_with(bytes, floor, line, prefix) || ends_with(bytes, floor, start - 1, prefix))
}

/// Whether the line ends at `end`, ignoring a comment.
fn ends_line(bytes: &[u8], end: usize) -> bool {
    let next = end + length_of(bytes, end, 8, is_gap);
    match byte_at(bytes, next) {
        None | Some(b'\n' | b'\r') => true,
        Some(b'#') => next > end,
        Some(b'\\') => matches!(byte_at(bytes, next + 1), Some(b'n' | b'r')),
        Some(_) => false,
    }
}

/// The match, if the value is a secret.
pub fn judged(
    text: ScanText<'_>,
    name: Name,
    extent: ValueExtent,
    context: ValueContext,
) -> Option<SecretMatch> {
    let value = extent.probe(text.bytes);
    let after = if extent.is_bare() { byte_at(text.bytes, extent.probed) } else { None };
    if !is_secret(name.family, context, value, after) {
        return None;
    }
    let kind = match name.family {
        Family::Password | Family::Phrase => SecretKind::PASSWORD,
        Family::Token | Family::Signature | Family::Weak | Family::Value => SecretKind::SECRET,
        Family::Authorization | Family::Cookie | Family::Lines => SecretKind::AUTHORIZATION,
    };
    let end = extent.end(text.bytes);
    let is_wrapped = extent.is_bare() && Makeup::of(value).is_random();
    let end = if is_wrapped { wrapped::joined(text.bytes, end, bytes::is_base64) } else { end };
    Some(kind.at(extent.start, end))
}
