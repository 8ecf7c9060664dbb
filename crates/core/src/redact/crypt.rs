//! Finds hashes of passwords: crypt strings (`$2b$`, `$6$`, `$argon2id$`), `{SSHA}` and the records of frameworks.
//!
//! A hash of a weak password gives it away within hours. Digests of files have no such prefix and are kept.

use super::bytes::{ScanText, byte_at, contains, is_base64, is_word, length_of, start_of, starts_with};
use super::kind::{SecretKind, SecretMatch};

/// The first fields of crypt strings.
const SCHEMES: [&str; 15] = [
    "$1$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$p$", "$h$", "$apr1$", "$argon2",
    "$scrypt$", "$pbkdf2",
];

/// Schemes in braces, as in directories.
const BRACED: [&str; 6] = ["{sha}", "{ssha}", "{ssha256}", "{ssha512}", "{smd5}", "{sha512}"];

/// Names of frameworks before the first field.
const NAMES: [&str; 4] = ["pbkdf2_sha", "scram-sha-", "bcrypt_sha256", "scrypt:"];

/// Minimum length of the last field.
const LEAST_HASH: usize = 20;

/// Whether a hash may begin at the mark that ends at `here`.
pub fn begins(text: ScanText<'_>, here: usize) -> bool {
    start(text, here).is_some()
}

/// Finds the hash whose first three bytes, or whose first `$` in the middle of three, end at `here`.
pub fn hash(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let bytes = text.bytes;
    let start = start(text, here)?;
    let is_record = bytes[start].is_ascii_alphabetic();
    let is_part = |byte: u8| {
        is_base64(byte) || matches!(byte, b'.' | b'$' | b',' | b'{' | b'}') || is_record && byte == b':'
    };
    let length = length_of(bytes, start, 512, is_part);
    let value = &bytes[start..start + length];
    let last = value.rsplit(|byte| matches!(byte, b'$' | b'}')).next()?;
    let has_fields = bytes[start] == b'{' || value.iter().filter(|byte| **byte == b'$').count() >= 2;
    (has_fields && last.len() >= LEAST_HASH).then(|| SecretKind::PASSWORD.at(start, start + length))
}

fn start(text: ScanText<'_>, here: usize) -> Option<usize> {
    let bytes = text.bytes;
    let first = here.checked_sub(2).filter(|first| *first >= text.floor)?;
    let is_at = |names: &[&str]| names.iter().any(|name| starts_with(bytes, first, name));
    match bytes[first] {
        b'$' if is_at(&SCHEMES) => Some(first),
        b'{' if is_at(&BRACED) => Some(first),
        b'0'..=b'9' if byte_at(bytes, here - 1) == Some(b'$') => {
            let start = start_of(bytes, text.floor, here - 1, 24, |byte| is_word(byte) || byte == b':');
            NAMES.iter().any(|name| contains(&bytes[start..here], name)).then_some(start)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn hashes_of_passwords_are_cut() {
        let hash = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
        check(&format!("bob:$2y$10${hash}\n"), "bob:[redacted:password]\n");
        check(&format!("root:$6$abcdefgh${hash}:19000:0"), "root:[redacted:password]:19000:0");
        check(&format!("x = pbkdf2_sha256$600000$salt${hash}="), "x = [redacted:password]");
        check("{SSHA}0c4RQaNdm3TvDQ6GvyX2u3ZcWmc", "[redacted:password]");
    }

    #[test]
    fn shell_variables_stay() {
        for text in
            ["echo $1$2$3", "$argon2_parameters_of_this_test", "awk '{print $1}'", "costs $10, or $2b"]
        {
            check(text, text);
        }
    }
}
