//! Recognises an agent that runs `tow` as a hook but drops the hook's arguments.
//!
//! Some agents run the hooks that are registered for another one, and leave out `args`. Help on stdout or a failing exit
//! code would block their prompts, so `cli` ends silently. Never waits for a pipe to end: a user's may stay open.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use std::io::stdin;

/// An agent writes the payload before it waits for the hook.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// The event's name is a short field; long ones may come before it.
const READ: usize = 64 * 1024;
const EVENT_NAMES: [&str; 3] = ["\"hook_event_name\"", "\"hookEventName\"", "\"hookName\""];

/// Whether stdin brings the payload of a hook. Reads it.
pub fn is_hook_call() -> bool {
    let stdin = stdin();
    let brings_data = fstat(&stdin).is_ok_and(|status| {
        matches!(
            FileType::from_raw_mode(status.st_mode),
            FileType::Fifo | FileType::Socket | FileType::RegularFile
        )
    });
    if !brings_data || !matches!(poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&PATIENCE)), Ok(1)) {
        return false;
    }
    let mut payload = vec![0; READ];
    let length = rustix::io::read(&stdin, &mut payload).unwrap_or(0);
    let payload = String::from_utf8_lossy(&payload[..length]);
    payload.trim_start().starts_with('{') && EVENT_NAMES.iter().any(|name| payload.contains(name))
}
