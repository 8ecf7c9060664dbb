//! Starts a hook before the standard library prepares anything.
//!
//! Its runtime maps a stack for reports about stack overflows and asks for the present handlers: 10 of a tool result's 60 system
//! calls, and a page. The linker gives the C library this function instead of `main` (`--wrap`, see build.rs). Decides only
//! whether this is a hook; everything else starts as usual.
#![expect(unsafe_code, reason = "the C library calls it with C strings")]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use towline_engine::ingest::hook;

unsafe extern "C" {
    /// `main` as the compiler makes it.
    fn __real_main(count: c_int, values: *const *const c_char) -> c_int;
}

/// # Safety
/// The C library calls it once, with the arguments of the process.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_main(count: c_int, values: *const *const c_char) -> c_int {
    // SAFETY: there are as many strings as counted, and they live as long as the process.
    let word = |at: usize| unsafe {
        let is_there = at < usize::try_from(count).unwrap_or(0);
        is_there.then(|| OsStr::from_bytes(CStr::from_ptr(*values.add(at)).to_bytes()))
    };
    // The unit tests of this crate are linked in the same way, and `hook` may be the name of some.
    let is_hook = !cfg!(test) && word(1).is_some_and(|verb| verb == "hook");
    if is_hook && !word(2).is_some_and(super::is_question) {
        prepare();
        hook::run(word(2), word(3));
    }
    // SAFETY: the arguments are those of this call.
    unsafe { __real_main(count, values) }
}

/// The two parts of the runtime that a hook needs: writing to a closed output is an error instead of a signal, and a closed
/// standard stream does not give its number to the next file.
fn prepare() {
    const NOTHING: libc::pollfd = libc::pollfd { fd: 0, events: 0, revents: 0 };
    let mut usual = [0, 1, 2].map(|fd| libc::pollfd { fd, ..NOTHING });
    // SAFETY: the array has three entries, and no handler is replaced but the default one.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        libc::poll(usual.as_mut_ptr(), 3, 0);
        for closed in usual.iter().filter(|file| file.revents & libc::POLLNVAL != 0) {
            let opened = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
            debug_assert_eq!(opened, closed.fd, "the lowest number that is free");
        }
    }
}
