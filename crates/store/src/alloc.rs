//! The global allocator: dlmalloc, behind a lock only if the process may start threads.
//!
//! A hook starts none, and the lock would cost it 110 of the 2,100 thousand instructions of a Stop. dlmalloc's own global
//! allocator takes a pthread mutex, which costs twice as much; musl's malloc costs more than that. It is here because SQLite
//! is its heaviest user and this crate is built for speed, unlike the binary's. Knows nothing of what is allocated.
#![expect(unsafe_code, reason = "a global allocator is an unsafe trait")]

use dlmalloc::Dlmalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub struct Allocator {
    heap: UnsafeCell<Dlmalloc>,
    lock: Mutex<()>,
    is_shared: AtomicBool,
}

// SAFETY: the heap is used under the lock, or by the only thread of the process (see `share`).
unsafe impl Sync for Allocator {}

#[expect(clippy::new_without_default, reason = "a static needs a constant")]
impl Allocator {
    /// An allocator for one thread.
    pub const fn new() -> Self {
        Self {
            heap: UnsafeCell::new(Dlmalloc::new()),
            lock: Mutex::new(()),
            is_shared: AtomicBool::new(false),
        }
    }

    /// Takes the lock from now on. Must be called before the process starts its first thread.
    pub fn share(&self) {
        self.is_shared.store(true, Ordering::Relaxed);
    }

    /// Calls `use_heap` while no other thread uses the heap.
    fn with<T>(&self, use_heap: impl FnOnce(&mut Dlmalloc) -> T) -> T {
        let _guard: Option<MutexGuard<'_, ()>> = self
            .is_shared
            .load(Ordering::Relaxed)
            .then(|| self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: this is the only thread, or it holds the lock; dlmalloc does not call back.
        use_heap(unsafe { &mut *self.heap.get() })
    }
}

// SAFETY: every call is handed to dlmalloc as it is, one at a time.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.with(|heap| unsafe { heap.free(block, layout.size(), layout.align()) });
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.with(|heap| unsafe { heap.realloc(block, layout.size(), layout.align(), size) })
    }
}
