//! The global allocator: one dlmalloc heap for all threads, and a per-thread cache of small blocks.
//!
//! musl's malloc takes several times as long for small blocks, and so does a mutex around each call. Does
//! nothing before `main`, and never gives a block to more than one owner.
#![expect(unsafe_code, reason = "an allocator is unsafe by its nature")]

#[cfg(all(target_arch = "x86_64", any(test, all(target_env = "musl", not(debug_assertions)))))]
mod bytes;
mod pages;

use dlmalloc::Dlmalloc;
use pages::Pages;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Spins before a thread yields: the holder of the heap finishes within a few hundred instructions, unless
/// the heap has to grow.
const PATIENCE: u32 = 100;

/// Small blocks are a multiple of this size, and aligned to it.
const STEP: usize = 16;

/// Number of size classes.
const SIZES: usize = 128;

/// Limits of a thread's cache per size class: blocks, and bytes.
const MOST: usize = 64;
const MOST_BYTES: usize = 8 << 10;

pub struct Heap {
    is_taken: AtomicBool,
    pieces: UnsafeCell<Dlmalloc<Pages>>,
}

/// Free list of one size class. Each block holds the pointer to the next one.
#[derive(Clone, Copy)]
struct Shelf {
    first: *mut u8,
    count: usize,
}

thread_local! {
    /// Cached blocks leak when a thread ends: a megabyte at most, and few threads end.
    static SHELVES: [Cell<Shelf>; SIZES] = const { [const { Cell::new(Shelf { first: ptr::null_mut(), count: 0 }) }; SIZES] };
}

/// A size class.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SizeClass(usize);

impl SizeClass {
    fn of(layout: Layout) -> Option<SizeClass> {
        let number = layout.size().div_ceil(STEP);
        (layout.align() <= STEP && (1..=SIZES).contains(&number)).then_some(SizeClass(number))
    }

    fn bytes(self) -> usize {
        self.0 * STEP
    }

    /// Capacity of the free list.
    fn most(self) -> usize {
        MOST.min(MOST_BYTES / self.bytes())
    }

    /// Pops a block from this thread's free list; null if it is empty.
    fn take(self) -> *mut u8 {
        SHELVES.with(|shelves| {
            let Shelf { first, count } = shelves[self.0 - 1].get();
            if !first.is_null() {
                // SAFETY: every block on a free list holds the pointer to the next one.
                let next = unsafe { first.cast::<*mut u8>().read() };
                shelves[self.0 - 1].set(Shelf { first: next, count: count - 1 });
            }
            first
        })
    }

    /// Pushes a block onto this thread's free list, if there is room.
    ///
    /// # Safety
    /// The block is of this size class, and no longer in use.
    unsafe fn put(self, piece: *mut u8) -> bool {
        SHELVES.with(|shelves| {
            let Shelf { first, count } = shelves[self.0 - 1].get();
            let has_room = count < self.most();
            if has_room {
                // SAFETY: every block is large enough and aligned for a pointer.
                unsafe { piece.cast::<*mut u8>().write(first) };
                shelves[self.0 - 1].set(Shelf { first: piece, count: count + 1 });
            }
            has_room
        })
    }
}

impl Heap {
    pub const fn new() -> Heap {
        Heap {
            is_taken: AtomicBool::new(false),
            pieces: UnsafeCell::new(Dlmalloc::new_with_allocator(Pages)),
        }
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut Dlmalloc<Pages>) -> T) -> T {
        let mut looks = 0;
        while self.is_taken.swap(true, Ordering::Acquire) {
            looks += 1;
            if looks < PATIENCE { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        // SAFETY: we hold the flag until the store below; nothing in between can panic or re-enter.
        let result = use_it(unsafe { &mut *self.pieces.get() });
        self.is_taken.store(false, Ordering::Release);
        result
    }
}

// SAFETY: the heap is only reached through `with`, one thread at a time.
unsafe impl Sync for Heap {}

// SAFETY: every block comes from one allocator, is freed with its size, and lies on one free list at most.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(size) = SizeClass::of(layout) else {
            return self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) });
        };
        let piece = size.take();
        if piece.is_null() { self.with(|heap| unsafe { heap.malloc(size.bytes(), STEP) }) } else { piece }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if SizeClass::of(layout).is_none() {
            return self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) });
        }
        let piece = unsafe { self.alloc(layout) };
        if !piece.is_null() {
            unsafe { piece.write_bytes(0, layout.size()) };
        }
        piece
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        let Some(size) = SizeClass::of(layout) else {
            return self.with(|heap| unsafe { heap.free(piece, layout.size(), layout.align()) });
        };
        if !unsafe { size.put(piece) } {
            self.with(|heap| unsafe { heap.free(piece, size.bytes(), STEP) });
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller of `realloc` guarantees a valid layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(bytes, layout.align()) };
        match (SizeClass::of(layout), SizeClass::of(wanted)) {
            (Some(before), Some(after)) if before == after => piece,
            (None, None) => {
                self.with(|heap| unsafe { heap.realloc(piece, layout.size(), layout.align(), bytes) })
            }
            (_, _) => unsafe {
                let other = self.alloc(wanted);
                if !other.is_null() {
                    ptr::copy_nonoverlapping(piece, other, layout.size().min(bytes));
                    self.dealloc(piece, layout);
                }
                other
            },
        }
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
                // Blocks that grow and shrink across all size classes keep their content.
                let grown = round % held.len();
                let first = held[grown][0];
                held[grown].resize(size * 7 % 5000 + 1, first);
                held[grown].shrink_to_fit();
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
