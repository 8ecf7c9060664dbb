//! The wall clock and the monotonic clock, each read by one system call.
//!
//! Not for code that reads a clock often: `std::time` is faster from the third call on. Its first call is dear, because it looks
//! up a function in the vDSO and maps two pages of it: 8 of the 450 µs of a `/bin/true`, and most hooks read a clock twice.
#![expect(unsafe_code, reason = "a clock is read without the vDSO by a bare system call only")]

use std::time::Duration;

/// Time since 1970.
pub fn wall() -> Duration {
    read(libc::CLOCK_REALTIME)
}

/// Time since an arbitrary moment before this process began. It stops while the machine sleeps.
pub fn monotonic() -> Duration {
    read(libc::CLOCK_MONOTONIC)
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes.
    unsafe { system_call(clock, &raw mut time) };
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
unsafe fn system_call(clock: libc::clockid_t, time: *mut libc::timespec) {
    // SAFETY: the caller's pointer is valid for writes.
    unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
}

/// The system call of other systems may know a `timespec` of another size.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
unsafe fn system_call(clock: libc::clockid_t, time: *mut libc::timespec) {
    // SAFETY: the caller's pointer is valid for writes.
    unsafe { libc::clock_gettime(clock, time) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "compares with the clocks of the standard library")]
    fn clocks_are_those_of_the_standard_library() {
        let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let read = wall();
        let after = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        assert!(before <= read && read <= after, "{before:?} {read:?} {after:?}");
        let (outer, start) = (Instant::now(), monotonic());
        let inner = Instant::now();
        while inner.elapsed() < Duration::from_millis(2) {}
        let (at_least, passed) = (inner.elapsed(), monotonic() - start);
        assert!(at_least <= passed && passed <= outer.elapsed(), "{at_least:?} {passed:?}");
    }
}
