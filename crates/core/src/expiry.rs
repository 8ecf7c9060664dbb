//! Decides whether old data may be deleted now: not while the clock may be wrong.
//!
//! A date years ahead makes all data look old. A jump holds deletion back for a week, in which the user is told and the
//! date can be corrected; a date that was right deletes a week later.

use crate::time::Timestamp;

const DAY_MS: i64 = 86_400_000;
/// A longer time without a look at the clock counts as a jump: deletion is due every few hours of work.
const LONGEST_GAP_MS: i64 = 14 * DAY_MS;
const HOLD_MS: i64 = 7 * DAY_MS;

/// The clock as deletion saw it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockWatch {
    pub seen: Timestamp,
    /// No deletion before this time.
    pub held_until: Option<Timestamp>,
}

impl ClockWatch {
    /// Looks at the clock again.
    pub fn look(self, now: Timestamp) -> ClockWatch {
        let has_jumped = now.0.saturating_sub(self.seen.0) > LONGEST_GAP_MS;
        // A clock that was set back ends the hold that its jump caused.
        let still = self.held_until.filter(|until| (1..=HOLD_MS).contains(&until.0.saturating_sub(now.0)));
        let held_until = if has_jumped { Some(now.plus_ms(HOLD_MS)) } else { still };
        ClockWatch { seen: now, held_until }
    }

    /// The days between two looks.
    pub fn days_since(self, earlier: ClockWatch) -> i64 {
        self.seen.0.saturating_sub(earlier.seen.0) / DAY_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_holds_deletion_back_for_a_week_or_until_the_clock_is_set_back() {
        let days = |days: i64| Timestamp(1_000 * DAY_MS + days * DAY_MS);
        let watch = ClockWatch { seen: days(0), held_until: None };
        assert_eq!(watch.look(days(13)).held_until, None);
        let jumped = watch.look(days(1_095));
        assert_eq!((jumped.held_until, jumped.days_since(watch)), (Some(days(1_102)), 1_095));
        assert_eq!(jumped.look(days(1_098)).held_until, Some(days(1_102)));
        assert_eq!(jumped.look(days(1_098)).look(days(1_102)).held_until, None);
        assert_eq!(jumped.look(days(1)).held_until, None, "set back");
        assert_eq!(jumped.look(days(1)).look(days(2)).held_until, None);
    }
}
