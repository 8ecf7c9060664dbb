//! Counts the bytes inspected, so that tests can prove linear time without a clock.
//!
//! Compiles to nothing outside of tests.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static SPENT: Cell<usize> = const { Cell::new(0) };
}

/// Counts `bytes` as inspected.
#[inline(always)]
pub fn spend(bytes: usize) {
    #[cfg(test)]
    SPENT.set(SPENT.get() + bytes);
    #[cfg(not(test))]
    let _ = bytes;
}

/// The number of bytes inspected during `work`.
#[cfg(test)]
pub fn spent_on(work: impl FnOnce()) -> usize {
    let before = SPENT.get();
    work();
    SPENT.get() - before
}
