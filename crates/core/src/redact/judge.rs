//! Whether a value is a secret, given what its name says and how the two stand to each other.
//!
//! The more the place says, the less the value has to: behind `DB_PASSWORD=` anything counts, behind `token:` in code
//! only what chance made. Knows nothing of where in a text it is.

use super::family::Family;
use super::makeup::Makeup;
use super::stand_in::{is_code, is_stand_in};

/// How a value stands to its name, from the surest place to the least sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `NAME=value`, as in the environment.
    Assigned,
    /// `"name": "value"`.
    Quoted,
    /// `name: value` that fills its line, or a field of a query.
    WholeLine,
    /// `name("value")`, `"name", "value"`.
    Argument,
    /// Anywhere else without quotes: in code, as like as not.
    Bare,
}

/// Whether `value` is a secret; `after` is the byte that ends a bare one.
pub fn is_secret(family: Family, setting: Setting, value: &[u8], after: Option<u8>) -> bool {
    let is_bare = match setting {
        Setting::Bare | Setting::WholeLine => true,
        Setting::Assigned | Setting::Quoted | Setting::Argument => false,
    };
    if value.len() < 4 || is_stand_in(value) || ((is_bare || after.is_some()) && is_code(value, after)) {
        return false;
    }
    let makeup = Makeup::of(value);
    match family {
        Family::Password => is_password(setting, value, &makeup),
        Family::Phrase => value.len() >= 8 && (makeup.has_spaces() || is_password(setting, value, &makeup)),
        Family::Token | Family::Authorization | Family::Value => is_token(setting, value, &makeup),
        Family::Signature => match setting {
            Setting::Assigned => is_token(setting, value, &makeup),
            Setting::Quoted | Setting::WholeLine | Setting::Argument | Setting::Bare => {
                makeup.is_random() || makeup.is_digest()
            }
        },
        Family::Weak => {
            setting != Setting::Bare && value.len() >= 20 && makeup.is_random() && !holds_digest(value)
        }
        Family::Cookie | Family::Lines => false,
    }
}

fn is_password(setting: Setting, value: &[u8], makeup: &Makeup) -> bool {
    let is_file = value.contains(&b'/') && !makeup.is_random();
    if makeup.has_spaces() || makeup.is_foreign() || makeup.is_version() {
        return false;
    }
    match setting {
        // The working folder is in `PWD`.
        Setting::Assigned | Setting::Quoted => !(is_file && value[0] == b'/'),
        Setting::WholeLine => !is_type(value, makeup),
        Setting::Argument => value.len() >= 6 && makeup.is_mixed() && !is_file,
        Setting::Bare => value.len() >= 5 && makeup.is_mixed(),
    }
}

fn is_token(setting: Setting, value: &[u8], makeup: &Makeup) -> bool {
    let length = value.len();
    let by_chance = makeup.is_random() || makeup.is_digest();
    let is_mixed = makeup.is_well_mixed() && !makeup.is_path();
    match setting {
        Setting::Assigned => {
            by_chance
                || (length >= 6 && is_mixed)
                || (length >= 8 && !makeup.has_spaces() && !makeup.is_number() && !makeup.is_path())
        }
        Setting::Quoted | Setting::WholeLine => {
            by_chance || (length >= 8 && (is_mixed || makeup.is_jumbled()))
        }
        Setting::Argument => by_chance || (length >= 12 && is_mixed),
        Setting::Bare => by_chance || (length >= 8 && is_mixed && makeup.is_alnum()),
    }
}

/// Keys of caches end in the digest of what they are for.
fn holds_digest(value: &[u8]) -> bool {
    value.split(|byte| !byte.is_ascii_hexdigit()).any(|part| part.len() >= 20)
}

/// `String`, `SecretStr`: a type behind a name.
fn is_type(value: &[u8], makeup: &Makeup) -> bool {
    makeup.is_word() && value.first().is_some_and(u8::is_ascii_uppercase)
}
