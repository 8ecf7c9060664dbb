//! Decides whether a value is a secret, from its name's family and its position relative to the name.
//!
//! The stronger the context, the weaker the value may be: after `DB_PASSWORD=` anything counts, after `token:` in code
//! only random-looking text. Does not know the position in the text.

use super::family::Family;
use super::makeup::Makeup;
use super::stand_in::{is_code, is_placeholder};

/// How a value is written next to its name, from the strongest context to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueContext {
    /// `NAME=value`, as in the environment.
    Assigned,
    /// `"name": "value"`.
    Quoted,
    /// `name: value` on a line of its own, or a field of a query.
    WholeLine,
    /// `name("value")`, `"name", "value"`.
    Argument,
    /// Anywhere else without quotes, most likely code.
    Bare,
}

/// Whether `value` is a secret; `after` is the byte that ends a bare one.
pub fn is_secret(family: Family, context: ValueContext, value: &[u8], after: Option<u8>) -> bool {
    let is_bare = matches!(context, ValueContext::Bare | ValueContext::WholeLine);
    if value.len() < 4 || is_placeholder(value) || ((is_bare || after.is_some()) && is_code(value, after)) {
        return false;
    }
    let makeup = Makeup::of(value);
    match family {
        Family::Password => is_password(context, value, &makeup),
        Family::Phrase => value.len() >= 8 && (makeup.has_spaces() || is_password(context, value, &makeup)),
        Family::Token | Family::Authorization | Family::Value => is_token(context, value, &makeup),
        Family::Signature => match context {
            ValueContext::Assigned => is_token(context, value, &makeup),
            ValueContext::Quoted | ValueContext::WholeLine | ValueContext::Argument | ValueContext::Bare => {
                makeup.is_random() || makeup.is_digest()
            }
        },
        Family::Weak => {
            context != ValueContext::Bare && value.len() >= 20 && makeup.is_random() && !holds_digest(value)
        }
        Family::Cookie | Family::Lines => false,
    }
}

fn is_password(context: ValueContext, value: &[u8], makeup: &Makeup) -> bool {
    let is_file = value.contains(&b'/') && !makeup.is_chance();
    if makeup.has_spaces() || makeup.is_foreign() || makeup.is_version() {
        return false;
    }
    match context {
        // `PWD` holds the working folder.
        ValueContext::Assigned | ValueContext::Quoted => !(is_file && value[0] == b'/'),
        ValueContext::WholeLine => !is_type(value, makeup) || makeup.is_gibberish(),
        ValueContext::Argument => value.len() >= 6 && makeup.is_mixed() && !is_file || makeup.is_gibberish(),
        ValueContext::Bare => value.len() >= 5 && makeup.is_mixed() || makeup.is_gibberish(),
    }
}

fn is_token(context: ValueContext, value: &[u8], makeup: &Makeup) -> bool {
    let length = value.len();
    let by_chance = makeup.is_chance();
    let is_mixed = makeup.has_digits_or_symbols() && !makeup.is_path();
    match context {
        ValueContext::Assigned => {
            by_chance
                || (length >= 6 && is_mixed)
                || (length >= 8 && !makeup.has_spaces() && !makeup.is_number() && !makeup.is_path())
        }
        ValueContext::Quoted | ValueContext::WholeLine => {
            by_chance || (length >= 8 && (is_mixed || makeup.has_random_case()))
        }
        ValueContext::Argument => by_chance || (length >= 12 && is_mixed),
        ValueContext::Bare => by_chance || (length >= 8 && is_mixed && makeup.is_alnum()),
    }
}

/// Cache keys end in a digest of the cached content.
fn holds_digest(value: &[u8]) -> bool {
    value.split(|byte| !byte.is_ascii_hexdigit()).any(|part| part.len() >= 20)
}

/// `String`, `SecretStr`: a type after a name.
fn is_type(value: &[u8], makeup: &Makeup) -> bool {
    makeup.is_word() && value.first().is_some_and(u8::is_ascii_uppercase)
}
