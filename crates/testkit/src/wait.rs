//! Waits for a condition, with a deadline.
//!
//! The only file of the testkit that may sleep or read a clock.
#![expect(clippy::disallowed_methods, reason = "the owner of pause and clock")]

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for a real client. Generous: a loaded machine is slow, not wrong.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Pauses between two looks grow: a look at a screen starts a process, which the awaited client could use.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(80);

/// Polls `probe` until it returns a value; panics with `what` after the deadline.
#[track_caller]
pub fn until<T>(what: &str, deadline: Duration, mut probe: impl FnMut() -> Option<T>) -> T {
    until_evident(what, deadline, || probe().ok_or_else(String::new))
}

/// Like [`until`], for a probe that returns evidence on failure: the panic shows the last one.
#[track_caller]
pub fn until_evident<T>(what: &str, deadline: Duration, mut probe: impl FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + deadline;
    let mut pause = FIRST_PAUSE;
    loop {
        match probe() {
            Ok(found) => return found,
            Err(evidence) if Instant::now() >= end => {
                panic!("waited {deadline:?} in vain for {what}\n--- last evidence ---\n{evidence}")
            }
            Err(_) => pause = sleep_and_grow(pause),
        }
    }
}

/// Whether the condition became true before the deadline. For clean-up, which must not panic.
pub fn holds_within(deadline: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + deadline;
    let mut pause = FIRST_PAUSE;
    while !condition() {
        if Instant::now() >= end {
            return false;
        }
        pause = sleep_and_grow(pause);
    }
    true
}

fn sleep_and_grow(pause: Duration) -> Duration {
    thread::sleep(pause);
    (pause + pause / 4).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_the_first_answer_is_given() {
        let mut asked = 0;
        let third = until("the third answer", PATIENCE, || {
            asked += 1;
            (asked == 3).then_some(asked)
        });
        assert_eq!(third, 3);
    }

    #[test]
    #[should_panic(expected = "in vain for a miracle\n--- last evidence ---\nonly rain")]
    fn a_missed_deadline_names_the_wish_and_the_last_evidence() {
        until_evident::<()>("a miracle", Duration::ZERO, || Err("only rain".into()));
    }
}
