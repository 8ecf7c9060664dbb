//! Key bindings of `tow status --watch`.
//!
//! Maps keys to commands and does not run them. The monitor crate decodes the bytes.

use towline_monitor as keys;

/// The command of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Quit,
    Up,
    Down,
    /// Go to the selected agent.
    Go,
    /// Go to the agent that has waited longest.
    Next,
    Help,
}

/// The commands of the typed bytes.
pub fn pressed(bytes: &[u8]) -> Vec<Key> {
    keys::pressed(bytes).into_iter().filter_map(meaning).collect()
}

fn meaning(key: keys::Key) -> Option<Key> {
    use keys::Key::{Backspace, Control, Down, End, Enter, Escape, Home, Letter, PageDown, PageUp, Tab, Up};
    match key {
        // In raw mode, control-C and control-D arrive as ordinary keys.
        Letter('q') | Escape | Control('c' | 'd') => Some(Key::Quit),
        Letter('k') | Up => Some(Key::Up),
        Letter('j') | Down => Some(Key::Down),
        Enter => Some(Key::Go),
        Letter('n') => Some(Key::Next),
        Letter('?') => Some(Key::Help),
        Letter(_) | Control(_) | Tab | Backspace | PageUp | PageDown | Home | End => None,
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
