//! Children that are started and not waited for.
//!
//! A process that ends soon leaves them to init. One that lives long must collect them itself: until then each stays in
//! the process table.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static LIVES_LONG: AtomicBool = AtomicBool::new(false);

/// Says that this process lives long: from now on a thread waits for each child that is left. A hook must not call this,
/// because it starts no thread.
pub fn collect_children() {
    LIVES_LONG.store(true, Ordering::Relaxed);
}

/// Leaves a child to itself.
pub fn leave(mut child: Child) {
    if LIVES_LONG.load(Ordering::Relaxed) {
        // If no thread can be started, the child is collected when this process ends.
        let _ = thread::Builder::new().spawn(move || child.wait());
    }
}
