//! Finds base64 of `user:password`, as `Basic` authorization and registries use it, without a name before it.
//!
//! Decoded text must be one user name, a colon and printable characters: JSON, addresses and times are kept.

use std::ops::Range;

use super::bytes::{byte_at, length_of};
use super::kind::{SecretKind, SecretMatch};
use super::makeup::Makeup;

/// Longer texts are data.
const LONGEST: usize = 160;

/// Finds the pair whose base64 is exactly `run`, with its padding.
pub fn encoded(bytes: &[u8], run: Range<usize>) -> Option<SecretMatch> {
    if run.len() > LONGEST {
        return None;
    }
    let padding = length_of(bytes, run.end, 2, |byte| byte == b'=');
    let mut decoded = [0; LONGEST];
    let length = decode(&bytes[run.clone()], &mut decoded)?;
    let pair = &decoded[..length];
    let colon = pair.iter().position(|byte| *byte == b':')?;
    let (user, password) = (&pair[..colon], &pair[colon + 1..]);
    let is_user =
        user.len() >= 2 && user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@$".contains(byte));
    let is_padded = (run.len() + padding).is_multiple_of(4);
    let is_pair = is_padded && is_user && password.len() >= 6 && Makeup::of(password).is_mixed();
    let is_other = matches!(byte_at(password, 0), Some(b'/' | b':')) || password.contains(&b'\n');
    (is_pair && !is_other).then(|| SecretKind::PASSWORD.at(run.start, run.end + padding))
}

/// The number of bytes that `text` decodes to; `None` at the first that is not printable.
fn decode(text: &[u8], out: &mut [u8; LONGEST]) -> Option<usize> {
    let (mut bits, mut count, mut length) = (0_u32, 0, 0);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            let byte = (bits >> count) as u8;
            if !(b' '..0x7f).contains(&byte) {
                return None;
            }
            out[length] = byte;
            length += 1;
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn base64_of_a_user_and_a_password_is_cut() {
        check("auth Ym9iOkh1bnRlcjIyMjIy now", "auth [redacted:password] now");
        check("echo Ym9iOnM0Y3JldHMxMg== |", "echo [redacted:password] |");
    }

    #[test]
    fn other_base64_stays() {
        for text in ["dGhpcyBpcyBwbGFpbiB0ZXh0IDEy", "eyJhIjogMSwgImIiOiAyfQ1234", "getElementById2AndMore"] {
            check(text, text);
        }
    }
}
