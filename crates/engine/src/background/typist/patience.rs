//! Polls a condition that sends no event: with a deadline and growing pauses.
//!
//! Checks nothing itself: the caller looks again after each pause.

use std::time::Duration;
use towline_core::time::Timestamp;

/// Short pauses first, since most things happen at once, then longer ones.
pub(super) struct Patience {
    until: Timestamp,
    pause: Duration,
}

impl Patience {
    pub fn until(until: Timestamp) -> Patience {
        Patience { until, pause: Duration::from_millis(10) }
    }

    /// Pauses before the next look; false if the deadline has passed.
    pub fn waits(&mut self, now: Timestamp) -> bool {
        if now >= self.until {
            return false;
        }
        let left = Duration::from_millis(self.until.since_ms(now).unsigned_abs());
        nap(self.pause.min(left));
        self.pause = (self.pause * 3 / 2).min(LONGEST_PAUSE);
        true
    }
}

const LONGEST_PAUSE: Duration = Duration::from_millis(200);

#[expect(clippy::disallowed_methods, reason = "screens cannot be waited for, only looked at again")]
pub(super) fn nap(pause: Duration) {
    std::thread::sleep(pause);
}
