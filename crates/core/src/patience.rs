//! The factor by which every limit on waiting is multiplied on a slow machine: an emulator, a build server, a test run.
//!
//! Limits are written for an ordinary machine. The functions that wait (locks, tmux, git, the hook's deadline) stretch them.
//! The process sets the factor once, at its start; this module reads no environment.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static FACTOR: AtomicU32 = AtomicU32::new(1);

/// A larger factor would hide a program that hangs.
const LARGEST: u32 = 100;

/// Sets the factor for this process; 0 counts as 1.
pub fn set_factor(factor: u32) {
    FACTOR.store(factor.clamp(1, LARGEST), Ordering::Relaxed);
}

/// The time to wait on this machine for what may take `limit` on an ordinary one.
pub fn stretch(limit: Duration) -> Duration {
    limit.saturating_mul(FACTOR.load(Ordering::Relaxed))
}

/// The time that an ordinary machine would have taken for what took `spent` on this one.
pub fn shrink(spent: Duration) -> Duration {
    spent / FACTOR.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test only: the factor belongs to the process.
    #[test]
    fn a_factor_stretches_limits_and_shrinks_the_time_spent() {
        let second = Duration::from_secs(1);
        assert_eq!((stretch(second), shrink(second)), (second, second));
        set_factor(4);
        assert_eq!((stretch(second), shrink(second)), (4 * second, second / 4));
        set_factor(0);
        assert_eq!(stretch(second), second, "no limit becomes zero");
        set_factor(u32::MAX);
        assert_eq!(stretch(second), 100 * second);
        set_factor(1);
    }
}
