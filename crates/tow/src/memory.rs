//! Where the program's memory comes from: one heap behind a lock that costs next to nothing while nobody else wants it.
//!
//! The C library that the released program is linked with takes several times as long for small pieces, and so does a
//! mutex around each. Does nothing before `main`, and never gives memory to more than one owner.

use dlmalloc::Dlmalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a thread looks before it lets others run: whoever holds the heap is done within a few hundred steps.
const PATIENCE: u32 = 100;

pub struct Heap {
    is_taken: AtomicBool,
    pieces: UnsafeCell<Dlmalloc>,
}

impl Heap {
    pub const fn new() -> Heap {
        Heap { is_taken: AtomicBool::new(false), pieces: UnsafeCell::new(Dlmalloc::new()) }
    }

    #[expect(unsafe_code, reason = "the heap is handed to one thread at a time, which is what the flag says")]
    fn with<T>(&self, use_it: impl FnOnce(&mut Dlmalloc) -> T) -> T {
        let mut looks = 0;
        while self.is_taken.swap(true, Ordering::Acquire) {
            looks += 1;
            if looks < PATIENCE { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        // SAFETY: the flag was free and is ours until it is cleared below; nothing in between can panic or come back here.
        let result = use_it(unsafe { &mut *self.pieces.get() });
        self.is_taken.store(false, Ordering::Release);
        result
    }
}

#[expect(unsafe_code, reason = "whoever shares it goes through `with`")]
// SAFETY: the heap is only reached by `with`, one thread at a time.
unsafe impl Sync for Heap {}

#[expect(unsafe_code, reason = "an allocator is unsafe by its nature; each call passes its promises on")]
// SAFETY: all four pass on what they are promised to an allocator that asks for the same.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        self.with(|heap| unsafe { heap.free(piece, layout.size(), layout.align()) });
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.with(|heap| unsafe { heap.realloc(piece, layout.size(), layout.align(), size) })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    #[test]
    fn what_many_threads_take_and_give_back_at_once_is_nobody_elses() {
        let work = |seed: usize| {
            let mut held: Vec<Vec<u8>> = vec![];
            for round in 0..20_000_usize {
                let size = (round * 7919 + seed * 104_729) % 3000 + 1;
                let mark = u8::try_from((round + seed) % 251).unwrap();
                held.push(vec![mark; size]);
                if held.len() > 64 {
                    let piece = held.swap_remove(round % 64);
                    assert!(piece.iter().all(|byte| *byte == piece[0]));
                }
            }
            held.iter().all(|piece| piece.iter().all(|byte| *byte == piece[0]))
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || work(seed))).collect();
            assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
        });
    }
}
