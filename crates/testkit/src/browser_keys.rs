//! Key presses in the form of the browser's debugging protocol: name, key code and text.
//!
//! Contains only the keys that tests press, and no keyboard layout.

use serde_json::{Value, json};

const ALT: u32 = 1;
const CONTROL: u32 = 2;
const SHIFT: u32 = 8;

/// Keys that produce no text, with their key codes.
const NAMED: [(&str, u32); 11] = [
    ("Enter", 13),
    ("Escape", 27),
    ("Tab", 9),
    ("Backspace", 8),
    ("Delete", 46),
    ("ArrowLeft", 37),
    ("ArrowUp", 38),
    ("ArrowRight", 39),
    ("ArrowDown", 40),
    ("Home", 36),
    ("End", 35),
];

/// One key press, with the modifiers held.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stroke {
    key: String,
    number: u32,
    text: Option<String>,
    held: u32,
}

impl Stroke {
    /// Parses `a`, `?`, `Enter`, `Shift+Tab`, `Control+a`.
    pub(crate) fn of(name: &str) -> Stroke {
        let (held, key) = match name.split_once('+').filter(|(_, key)| !key.is_empty()) {
            Some(("Shift", key)) => (SHIFT, key),
            Some(("Control", key)) => (CONTROL, key),
            Some(("Alt", key)) => (ALT, key),
            Some((other, _)) => panic!("`{other}` is no key that can be held"),
            None => (0, name),
        };
        let number = NAMED.iter().find(|(named, _)| *named == key).map(|(_, number)| *number);
        let letters = if held & (ALT | CONTROL) == 0 { Some(key.to_owned()) } else { None };
        let text = match key {
            "Enter" => Some("\r".to_owned()),
            _ if number.is_some() => None,
            _ => letters,
        };
        let letter = key.to_uppercase().chars().next().map_or(0, u32::from);
        Stroke { key: key.to_owned(), number: number.unwrap_or(letter), text, held }
    }

    /// The key-down and the key-up event.
    pub(crate) fn events(&self) -> [Value; 2] {
        let down = if self.text.is_some() { "keyDown" } else { "rawKeyDown" };
        let mut press = json!({
            "type": down, "key": self.key, "modifiers": self.held, "windowsVirtualKeyCode": self.number,
        });
        let mut release = press.clone();
        release["type"] = json!("keyUp");
        if let Some(text) = &self.text {
            press["text"] = json!(text);
        }
        [press, release]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_make_text_and_named_keys_make_none() {
        assert_eq!(Stroke::of("é").text.as_deref(), Some("é"));
        assert_eq!(Stroke::of("+").text.as_deref(), Some("+"));
        assert_eq!(Stroke::of("Enter").text.as_deref(), Some("\r"));
        assert_eq!(Stroke::of("Shift+Tab"), Stroke { key: "Tab".into(), number: 9, text: None, held: SHIFT });
        assert_eq!(Stroke::of("Control+a").text, None);
    }
}
