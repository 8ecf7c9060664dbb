//! Decodes key presses from the bytes a terminal sends.
//!
//! Knows keys, not their meaning here. Unknown sequences are skipped whole.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPress {
    Letter(char),
    Control(char),
    Enter,
    Escape,
    Tab,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
}

const ESCAPE: u8 = 0x1b;

/// Decodes typed bytes. An Escape followed by nothing is the key itself; otherwise it starts a sequence.
pub fn pressed(mut bytes: &[u8]) -> Vec<KeyPress> {
    let mut keys = vec![];
    while let Some(first) = bytes.first() {
        let (key, rest) = if *first == ESCAPE { escaped(&bytes[1..]) } else { plain(bytes) };
        keys.extend(key);
        bytes = rest;
    }
    keys
}

fn plain(bytes: &[u8]) -> (Option<KeyPress>, &[u8]) {
    let (first, rest) = bytes.split_at(1);
    match first {
        [b'\r' | b'\n'] => (Some(KeyPress::Enter), rest),
        [b'\t'] => (Some(KeyPress::Tab), rest),
        [0x7f | 0x08] => (Some(KeyPress::Backspace), rest),
        [byte @ 1..=26] => (Some(KeyPress::Control(char::from(byte + b'a' - 1))), rest),
        _ => letter(bytes),
    }
}

/// One UTF-8 character.
fn letter(bytes: &[u8]) -> (Option<KeyPress>, &[u8]) {
    let decoded = (1..=bytes.len().min(4)).find_map(|end| {
        let text = std::str::from_utf8(&bytes[..end]).ok()?;
        Some((text.chars().next()?, end))
    });
    match decoded {
        Some((letter, end)) if !letter.is_control() => (Some(KeyPress::Letter(letter)), &bytes[end..]),
        Some((_, end)) => (None, &bytes[end..]),
        None => (None, &bytes[1..]),
    }
}

/// An escape sequence: `[` or `O`, parameters, and one final letter or `~`.
fn escaped(bytes: &[u8]) -> (Option<KeyPress>, &[u8]) {
    match bytes {
        [] | [ESCAPE, ..] => (Some(KeyPress::Escape), bytes),
        [b'[' | b'O', rest @ ..] => {
            let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
                return (None, &[]);
            };
            (named(&rest[..end], rest[end]), &rest[end + 1..])
        }
        [_, rest @ ..] => (None, rest),
    }
}

fn named(numbers: &[u8], end: u8) -> Option<KeyPress> {
    match (numbers, end) {
        (_, b'A') => Some(KeyPress::Up),
        (_, b'B') => Some(KeyPress::Down),
        (_, b'H') | (b"1" | b"7", b'~') => Some(KeyPress::Home),
        (_, b'F') | (b"4" | b"8", b'~') => Some(KeyPress::End),
        (b"5", b'~') => Some(KeyPress::PageUp),
        (b"6", b'~') => Some(KeyPress::PageDown),
        // Shift-Tab.
        (_, b'Z') => Some(KeyPress::Tab),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &[KeyPress]) {
        assert_eq!(pressed(bytes), expected, "{bytes:?}");
    }

    #[test]
    fn letters_of_any_length_are_letters() {
        check("aé漢🚀".as_bytes(), &['a', 'é', '漢', '🚀'].map(KeyPress::Letter));
        check(b"\xff\xc3a", &[KeyPress::Letter('a')]);
    }

    #[test]
    fn keys_with_names_are_told_apart() {
        check(
            b"\r\t\x7f\x03",
            &[KeyPress::Enter, KeyPress::Tab, KeyPress::Backspace, KeyPress::Control('c')],
        );
        check(
            b"\x1b[A\x1bOB\x1b[5~\x1b[6~",
            &[KeyPress::Up, KeyPress::Down, KeyPress::PageUp, KeyPress::PageDown],
        );
        check(b"\x1b[H\x1b[4~\x1b[Z", &[KeyPress::Home, KeyPress::End, KeyPress::Tab]);
    }

    #[test]
    fn escape_is_a_key_of_its_own_only_if_nothing_follows() {
        check(b"\x1b", &[KeyPress::Escape]);
        check(b"\x1b\x1b[A", &[KeyPress::Escape, KeyPress::Up]);
    }

    #[test]
    fn unknown_keys_are_passed_over_whole() {
        check(b"\x1b[15~j\x1b[1;5Dk\x1bx", &[KeyPress::Letter('j'), KeyPress::Letter('k')]);
        check(b"\x1b[200", &[]);
    }
}
