//! The hook's own deadline: a timer that ends the process with success, whatever it is doing.
//!
//! The only unsafe code of the binary. Everything that is cut off in the middle is made to be: a torn journal record is
//! skipped, a transaction is rolled back, a lock dies with its holder.

use std::ptr;

/// Before the configuration is read.
const DEFAULT_MS: u64 = 1200;

/// Starts the timer.
#[expect(unsafe_code, reason = "a signal handler and a timer exist only as system calls")]
pub fn arm() {
    extern "C" fn give_up(_: libc::c_int) {
        // SAFETY: `_exit` is async-signal-safe and does not return.
        unsafe { libc::_exit(0) }
    }
    let handler: extern "C" fn(libc::c_int) = give_up;
    // SAFETY: the handler is a plain function that calls nothing but `_exit`.
    unsafe { libc::signal(libc::SIGALRM, handler as libc::sighandler_t) };
    set(DEFAULT_MS);
}

/// Sets the timer to so many milliseconds from now.
#[expect(unsafe_code, reason = "a timer exists only as a system call")]
pub fn set(ms: u64) {
    let (whole, rest) = (ms / 1000, ms % 1000 * 1000);
    let once = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval {
            tv_sec: whole.try_into().unwrap_or(1),
            tv_usec: rest.try_into().unwrap_or(0),
        },
    };
    // SAFETY: `once` is a valid timer value and no old value is asked for.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const once, ptr::null_mut()) };
}
