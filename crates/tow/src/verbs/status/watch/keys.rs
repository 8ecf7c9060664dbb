//! What a person presses, from the bytes that their terminal sends.
//!
//! Knows what keys mean here and nothing of what they do. What it does not know is passed over.

use crate::canvas::ESCAPE;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Quit,
    Up,
    Down,
    /// To the chosen seat.
    Go,
    /// To the one that has waited longest.
    Next,
    Help,
}

/// Reads what was typed. An Escape with nothing behind it is the key; else it begins the name of another one.
pub fn pressed(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = vec![];
    while let [first, rest @ ..] = bytes {
        let (key, rest) = if *first == ESCAPE { escaped(rest) } else { (plain(*first), rest) };
        keys.extend(key);
        bytes = rest;
    }
    keys
}

fn plain(byte: u8) -> Option<Key> {
    match byte {
        // Control-C and control-D are bytes like any other in raw mode.
        b'q' | 0x03 | 0x04 => Some(Key::Quit),
        b'k' => Some(Key::Up),
        b'j' => Some(Key::Down),
        b'\r' | b'\n' => Some(Key::Go),
        b'n' => Some(Key::Next),
        b'?' => Some(Key::Help),
        _ => None,
    }
}

/// What follows an Escape: arrows come as `[A` or `OA`, other keys with numbers in between.
fn escaped(bytes: &[u8]) -> (Option<Key>, &[u8]) {
    match bytes {
        [] => (Some(Key::Quit), bytes),
        [ESCAPE, ..] => (Some(Key::Quit), bytes),
        [b'[' | b'O', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            match end.map(|at| (rest[at], &rest[at + 1..])) {
                Some((b'A', rest)) => (Some(Key::Up), rest),
                Some((b'B', rest)) => (Some(Key::Down), rest),
                Some((_, rest)) => (None, rest),
                None => (None, &[]),
            }
        }
        [_, rest @ ..] => (None, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &[Key]) {
        assert_eq!(pressed(bytes), expected, "{bytes:?}");
    }

    #[test]
    fn letters_and_arrows_mean_the_same() {
        check(b"jk\r", &[Key::Down, Key::Up, Key::Go]);
        check(b"\x1b[B\x1b[A\x1bOB", &[Key::Down, Key::Up, Key::Down]);
        check(b"n?q", &[Key::Next, Key::Help, Key::Quit]);
    }

    #[test]
    fn escape_is_a_key_of_its_own_only_if_nothing_follows() {
        check(b"\x1b", &[Key::Quit]);
        check(b"\x1b\x1b", &[Key::Quit, Key::Quit]);
        check(b"\x1b[A", &[Key::Up]);
    }

    #[test]
    fn control_c_quits() {
        check(b"\x03", &[Key::Quit]);
    }

    #[test]
    fn unknown_keys_are_passed_over_whole() {
        check(b"\x1b[15~j\x1b[1;5Dxk\x1bq", &[Key::Down, Key::Up]);
        check("é漢\x1b[200".as_bytes(), &[]);
    }
}
