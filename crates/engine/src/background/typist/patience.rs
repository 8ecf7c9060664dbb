//! Waiting for what cannot be waited for, only looked at again: with a deadline, and ever less often.
//!
//! Never waits for time to pass: whoever asks looks again after each pause.

use std::time::Duration;
use towline_core::time::Timestamp;

/// Looks often at first, since most things happen at once, and seldom later.
pub(super) struct Patience {
    until: Timestamp,
    pause: Duration,
}

impl Patience {
    pub fn until(until: Timestamp) -> Patience {
        Patience { until, pause: Duration::from_millis(10) }
    }

    /// Pauses before the next look; false if there is no time for one.
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
fn nap(pause: Duration) {
    std::thread::sleep(pause);
}
