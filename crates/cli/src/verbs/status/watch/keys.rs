//! Key bindings of `tow status --watch`.
//!
//! Maps keys to commands and does not run them. The monitor crate decodes the bytes.

use towline_monitor as keys;

/// The command of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchKey {
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
pub fn pressed(bytes: &[u8]) -> Vec<WatchKey> {
    keys::pressed(bytes).into_iter().filter_map(meaning).collect()
}

fn meaning(key: keys::KeyPress) -> Option<WatchKey> {
    use keys::KeyPress::{
        Backspace, Control, Down, End, Enter, Escape, Home, Letter, PageDown, PageUp, Tab, Up,
    };
    match key {
        // In raw mode, control-C and control-D arrive as ordinary keys.
        Letter('q') | Escape | Control('c' | 'd') => Some(WatchKey::Quit),
        Letter('k') | Up => Some(WatchKey::Up),
        Letter('j') | Down => Some(WatchKey::Down),
        Enter => Some(WatchKey::Go),
        Letter('n') => Some(WatchKey::Next),
        Letter('?') => Some(WatchKey::Help),
        Letter(_) | Control(_) | Tab | Backspace | PageUp | PageDown | Home | End => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &[WatchKey]) {
        assert_eq!(pressed(bytes), expected, "{bytes:?}");
    }

    #[test]
    fn letters_and_arrows_mean_the_same() {
        check(b"jk\r", &[WatchKey::Down, WatchKey::Up, WatchKey::Go]);
        check(b"\x1b[B\x1b[A\x1bOB", &[WatchKey::Down, WatchKey::Up, WatchKey::Down]);
        check(b"n?q", &[WatchKey::Next, WatchKey::Help, WatchKey::Quit]);
    }

    #[test]
    fn escape_is_a_key_of_its_own_only_if_nothing_follows() {
        check(b"\x1b", &[WatchKey::Quit]);
        check(b"\x1b\x1b", &[WatchKey::Quit, WatchKey::Quit]);
        check(b"\x1b[A", &[WatchKey::Up]);
    }

    #[test]
    fn control_c_quits() {
        check(b"\x03", &[WatchKey::Quit]);
    }

    #[test]
    fn unknown_keys_are_passed_over_whole() {
        check(b"\x1b[15~j\x1b[1;5Dxk\x1bq", &[WatchKey::Down, WatchKey::Up]);
        check("é漢\x1b[200".as_bytes(), &[]);
    }
}
