//! A shared byte budget for the texts of a result, and texts clipped to it.
//!
//! Every clipped byte is counted.

use towline_core::text::clip;

/// Bytes that may still be shown; `None` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    left: Option<usize>,
}

/// A text clipped to the available room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clipped {
    pub text: String,
    pub left_out: usize,
}

impl Room {
    /// 0 is unlimited.
    pub fn of(bytes: usize) -> Room {
        Room { left: (bytes > 0).then_some(bytes) }
    }

    /// An equal share for each of `number` texts.
    pub fn shared_by(self, number: usize) -> Room {
        Room { left: self.left.map(|left| left / number.max(1)) }
    }

    pub fn is_exhausted(&self) -> bool {
        self.left == Some(0)
    }

    /// The beginning of a text: at most `longest` bytes and the room left. Unlimited room returns all.
    pub fn take(&mut self, text: String, longest: usize) -> Clipped {
        let Some(left) = &mut self.left else { return Clipped { text, left_out: 0 } };
        let kept = clip(&text, longest.min(*left)).len();
        let left_out = text.len() - kept;
        let is_last = left_out > 0 && *left <= longest;
        *left = if is_last { 0 } else { *left - kept };
        let text = if left_out == 0 { text } else { text[..kept].to_owned() };
        Clipped { text, left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_the_room_there_is_and_what_is_missing_is_counted() {
        let mut room = Room::of(10);
        assert_eq!(room.take("漢字".into(), 4), Clipped { text: "漢".into(), left_out: 3 });
        assert_eq!(room.take("abc".into(), 100), Clipped { text: "abc".into(), left_out: 0 });
        assert_eq!(room.take("abcdef".into(), 100), Clipped { text: "abcd".into(), left_out: 2 });
        assert!(room.is_exhausted());
        assert_eq!(Room::of(0).take("x".repeat(100), 10).left_out, 0, "0 is without bounds");
    }

    #[test]
    fn room_without_bounds_stays_so_when_it_is_shared() {
        assert_eq!(Room::of(0).shared_by(7).take("x".repeat(100), 10).left_out, 0);
        assert_eq!(Room::of(70).shared_by(7).take("x".repeat(100), 100).left_out, 90);
    }
}
