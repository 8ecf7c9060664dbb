//! Recognises values that replace a secret: a variable, a piece of code, a type, an example, a mask.
//!
//! Looks at the value alone. In doubt it is a secret.

use super::bytes::{contains, starts_with};
use super::kind::holds_placeholder;
use super::makeup::Makeup;

/// Values that are never a secret.
const WORDS: &str = "\
    string str text number boolean bool bytes any none null nil undefined true false empty required \
    optional default auto yes no on off hidden disabled enabled invalid missing incorrect wrong \
    unknown expired password passwd passphrase pass pwd secret token credentials apikey api_key \
    api-key key value bearer basic self this field input label name user username email login \
    object function unset todo redacted masked private public new old current confirm prompt env \
    file path stdin keyring keychain never always the not and for has was pass passed fail failed \
    failure error ok anonymous";

/// The longest of these words.
const LONGEST_WORD: usize = longest(WORDS);

/// Parts of values that are meant to be replaced; they count only in values made of letters.
const PARTS: &str = "\
    your example placeholder changeme change-me change_me insert replace dummy sample redacted \
    secret-here goes-here fill-in todo password passwd secret token apikey api_key api-key \
    credential";

/// Types that end in their number of bits.
const TYPES: &str = "u i f s int uint float char utf ptr word";

const fn longest(words: &str) -> usize {
    let words = words.as_bytes();
    let (mut at, mut length, mut longest) = (0, 0, 0);
    while at < words.len() {
        length = if words[at] == b' ' { 0 } else { length + 1 };
        longest = if length > longest { length } else { longest };
        at += 1;
    }
    longest
}

/// Whether `value` is a stand-in, however it is written.
pub fn is_placeholder(value: &[u8]) -> bool {
    let Some(first) = value.first() else { return true };
    let makeup = Makeup::of(value);
    let is_variable = match first {
        // `$2b$` and the like are hashes.
        b'$' => !value.get(1).is_some_and(u8::is_ascii_digit),
        b'%' => value.get(1).is_some_and(|byte| byte.is_ascii_lowercase() || matches!(byte, b'(' | b'{')),
        b'<' | b'{' | b'[' | b'(' => true,
        b'&' => value.starts_with(b"&lt"),
        b':' | b'!' => makeup.is_word(),
        _ => false,
    };
    is_variable
        || holds_placeholder(value)
        || is_mask(value)
        || is_number_of_code(value)
        || value.len() <= LONGEST_WORD
            && WORDS.split(' ').any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
        || (makeup.is_word() && PARTS.split(' ').any(|part| contains(value, part)))
        || ["${", "#{", "{{", "$(", "%(", "{0}", "{}"].iter().any(|open| contains(value, open))
}

/// Whether a bare `value`, followed by `after`, is code or prose.
pub fn is_code(value: &[u8], after: Option<u8>) -> bool {
    let is_operator = |byte: &u8| b"&*@|>~^+=?.,/!#\\-".contains(byte);
    let is_chance = Makeup::of(value).is_chance();
    value.first().is_none_or(is_operator) && !is_chance
        || matches!(after, Some(b'(' | b'[' | b'<' | b'{')) && value.iter().all(is_identifier_part)
        || contains(value, "::")
        || contains(value, "->")
        || is_access(value)
        || is_type(value)
        || is_constant(value) && !is_chance
        || starts_with(value, 0, "http")
}

/// `0x0804_8000`: at most as many digits as a machine word has.
fn is_number_of_code(value: &[u8]) -> bool {
    value.len() <= 18
        && value
            .strip_prefix(b"0x")
            .is_some_and(|digits| digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'_'))
}

/// `u32`, `__u64`, `uint8_t`.
fn is_type(value: &[u8]) -> bool {
    let value = value.strip_suffix(b"_t").unwrap_or(value);
    let underscores = value.iter().take_while(|byte| **byte == b'_').count();
    let Some(digits) = value.iter().position(u8::is_ascii_digit) else { return false };
    let (name, bits) = value.split_at(digits);
    let name = &name[underscores..];
    bits.len() <= 3
        && bits.iter().all(u8::is_ascii_digit)
        && TYPES.split(' ').any(|word| word.as_bytes() == name)
}

/// `WIN32_ERROR`: capitals with an underscore among them.
fn is_constant(value: &[u8]) -> bool {
    value.contains(&b'_')
        && value.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && value[0].is_ascii_uppercase()
}

fn is_identifier_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-' | b'!' | b'?' | b'$')
}

/// `config.token`, `self.secret2`, `user?.password`: names joined by dots.
fn is_access(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'.');
    let is_name_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_name = |part: &[u8]| {
        part.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && part.strip_suffix(b"?").or(part.strip_suffix(b"!")).unwrap_or(part).iter().all(is_name_part)
            && !Makeup::of(part).is_chance()
    };
    value.contains(&b'.') && parts.all(is_name)
}

/// One character repeated, or an ellipsis.
fn is_mask(value: &[u8]) -> bool {
    let is_filler = |byte: &u8| matches!(byte, b'x' | b'X' | b'*' | b'.' | b'-' | b'_' | b'#' | b'0' | b'?');
    value.iter().all(is_filler)
        || value.iter().all(|byte| *byte == value[0])
        || contains(value, "...")
        || contains(value, "***")
        || contains(value, "xxxx")
        || contains(value, "\u{2022}\u{2022}")
        || contains(value, "\u{2026}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_masks_and_examples_stand_in() {
        for text in [
            "$TOKEN",
            "${TOKEN}",
            "<your-api-key>",
            "{{ secret }}",
            "%s",
            "%(password)s",
            ":password",
            "********",
            "sk-...",
            "xxxx-xxxx",
            "your_password_here",
            "Password",
            "null",
            "abc${X}",
            "[redacted:github]",
        ] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        for text in ["hunter2", "$2b$10$abcdefgh", "correcthorse", "s3cret", "%21abc", "Password1!"] {
            assert!(!is_placeholder(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn code_is_recognised_by_its_dots_and_brackets() {
        let code = |text: &str, after: Option<u8>| is_code(text.as_bytes(), after);
        assert!(
            code("process.env.TOKEN", None) && code("get_secret", Some(b'(')) && code("Token::Ident", None)
        );
        assert!(code("&str", None) && code("Vec", Some(b'<')) && code("...", None));
        assert!(!code("hunter2", None) && !code("a.b3$c", None) && !code("hunter2", Some(b')')));
    }
}
