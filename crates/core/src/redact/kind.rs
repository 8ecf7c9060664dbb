//! The kinds of secrets, their matches in a text, and the placeholders that replace them.
//!
//! A placeholder names the kind and reveals nothing of the secret: no length, no hash, no first characters.

use std::fmt;

/// The prefix of every placeholder, including those of older versions.
const OPENING: &str = "[redacted";

/// The kind of a secret: the provider of a key, or the context it was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKind(&'static str);

impl SecretKind {
    pub const PRIVATE: SecretKind = SecretKind("private");
    pub const PRIVATE_KEY: SecretKind = SecretKind("private-key");
    pub const PASSWORD: SecretKind = SecretKind("password");
    pub const SECRET: SecretKind = SecretKind("secret");
    pub const AUTHORIZATION: SecretKind = SecretKind("authorization");
    pub const COOKIE: SecretKind = SecretKind("cookie");
    pub const ADDRESS: SecretKind = SecretKind("address");
    pub const JWT: SecretKind = SecretKind("jwt");

    /// The key of a provider. The label is part of the placeholder: lower-case letters, digits and hyphens.
    pub(super) const fn of_provider(label: &'static str) -> SecretKind {
        SecretKind(label)
    }

    /// A secret of this kind.
    pub(super) fn at(self, start: usize, end: usize) -> SecretMatch {
        SecretMatch { kind: self, start, end }
    }

    /// The word between `[redacted:` and `]`.
    pub fn label(self) -> &'static str {
        self.0
    }

    pub(super) fn write_placeholder(self, out: &mut String) {
        for part in [OPENING, ":", self.0, "]"] {
            out.push_str(part);
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A secret: its kind and byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    pub kind: SecretKind,
    pub start: usize,
    pub end: usize,
}

/// Whether `value` contains a placeholder.
pub(super) fn holds_placeholder(value: &[u8]) -> bool {
    value.windows(OPENING.len()).any(|window| window == OPENING.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_tells_the_kind_alone() {
        let mut out = String::new();
        SecretKind::of_provider("github").write_placeholder(&mut out);
        assert_eq!(out, "[redacted:github]");
        assert!(holds_placeholder(out.as_bytes()) && holds_placeholder(b"x[redacted]"));
    }
}
