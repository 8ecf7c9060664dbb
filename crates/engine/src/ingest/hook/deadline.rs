//! The hook's deadline: a timer that ends the process with exit code 0, whatever it is doing.
//!
//! Everything it may interrupt is crash-safe: a torn journal record is skipped, a transaction is rolled back,
//! a lock dies with its holder.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;
use towline_core::patience::stretch;

/// Applies until the event is in the journal. It is the largest deadline that can be configured, because an event
/// that is not written yet would be lost: a process may get no CPU for more than a second on a starved machine.
const UNTIL_APPENDED_MS: u64 = 2500;

/// Path and line of the fault record, built beforehand: a signal handler may not allocate.
static TRACE: OnceLock<(CString, Vec<u8>)> = OnceLock::new();

/// The reply to the agent when the hook runs out of time. Rendered beforehand; setting another one leaks the last.
static LAST_WORDS: AtomicPtr<String> = AtomicPtr::new(ptr::null_mut());

/// Sets what is printed if the time runs out from here on.
pub fn say_at_last(words: String) {
    LAST_WORDS.store(Box::into_raw(Box::new(words)), Ordering::Release);
}

/// Starts the timer. When it expires, `line` is appended to `log`.
#[expect(unsafe_code, reason = "a signal handler and a timer exist only as system calls")]
pub fn arm(log: &Path, line: String) {
    if let Ok(path) = CString::new(log.as_os_str().as_bytes()) {
        let _ = TRACE.set((path, line.into_bytes()));
    }
    let handler: extern "C" fn(libc::c_int) = give_up;
    // SAFETY: the handler is a plain function that calls only async-signal-safe functions.
    unsafe { libc::signal(libc::SIGALRM, handler as libc::sighandler_t) };
    set(UNTIL_APPENDED_MS);
}

#[expect(unsafe_code, reason = "only system calls are allowed in a signal handler")]
extern "C" fn give_up(_: libc::c_int) {
    if let Some((path, line)) = TRACE.get() {
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
        // SAFETY: `open` and `write` are async-signal-safe, the path ends in NUL, the length is the line's.
        unsafe {
            let log = libc::open(path.as_ptr(), flags, 0o600);
            libc::write(log, line.as_ptr().cast(), line.len());
        }
    }
    // SAFETY: the pointer is null or was leaked by `say_at_last`; nothing changes the string afterwards.
    if let Some(words) = unsafe { LAST_WORDS.load(Ordering::Acquire).as_ref() } {
        // SAFETY: `write` is async-signal-safe, the length is the text's.
        unsafe { libc::write(libc::STDOUT_FILENO, words.as_ptr().cast(), words.len()) };
    }
    // SAFETY: `_exit` is async-signal-safe and does not return.
    unsafe { libc::_exit(0) }
}

/// Ends the process, with nothing left to flush, free or take down.
#[expect(unsafe_code, reason = "ending without clean-up exists only as a system call")]
pub fn end() -> ! {
    // SAFETY: nothing of this process has to be written or handed back: hooks write without buffers.
    unsafe { libc::_exit(0) }
}

/// Restarts the timer with this many milliseconds, stretched on a slow machine.
#[expect(unsafe_code, reason = "a timer exists only as a system call")]
pub fn set(ms: u64) {
    let ms = stretch(Duration::from_millis(ms)).as_millis();
    let (whole, rest) = (ms / 1000, ms % 1000 * 1000);
    let once = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval {
            tv_sec: whole.try_into().unwrap_or(1),
            tv_usec: rest.try_into().unwrap_or(0),
        },
    };
    // SAFETY: `once` is a valid timer value and no old value is requested.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const once, ptr::null_mut()) };
}
