//! Counts the bytes that are looked at, so that tests can prove the work to be linear without a clock.
//!
//! Outside of tests nothing is counted and nothing is left of it.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static SPENT: Cell<usize> = const { Cell::new(0) };
}

/// Says that so many bytes were looked at.
#[inline(always)]
pub fn spend(bytes: usize) {
    #[cfg(test)]
    SPENT.set(SPENT.get() + bytes);
    #[cfg(not(test))]
    let _ = bytes;
}

/// How many bytes were looked at during `work`.
#[cfg(test)]
pub fn spent_on(work: impl FnOnce()) -> usize {
    let before = SPENT.get();
    work();
    SPENT.get() - before
}
