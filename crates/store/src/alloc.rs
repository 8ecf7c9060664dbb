//! The global allocator: lists of small blocks for a process with one thread, and dlmalloc, behind a lock only if the process
//! may start threads.
//!
//! A prompt's hook allocates a thousand small blocks, most of them for SQLite's parser: with dlmalloc alone they took 230 of
//! its 1,490 thousand instructions.
//!
//! A hook starts none, and the lock would cost it 110 of the 2,100 thousand instructions of a Stop. dlmalloc's own global
//! allocator takes a pthread mutex, which costs twice as much; musl's malloc costs more than that. It is here because SQLite
//! is its heaviest user and this crate is built for speed, unlike the binary's. Knows nothing of what is allocated.
//!
//! A hook that outgrows the first region of memory uses nearly every page of the next ones. They are mapped with their pages,
//! which costs half as much as 300 page faults of a session's first prompt: a prompt took 2.40 × `/bin/true` instead of 2.58.
//! A hook that opens a database uses the rest of the first region too (`fill`): 20 page faults of a prompt's 134, each twice
//! as dear as a page mapped with others.
#![expect(unsafe_code, reason = "a global allocator is an unsafe trait")]

mod small;

use dlmalloc::Dlmalloc;
use small::SmallBlocks;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub struct Allocator {
    small: UnsafeCell<SmallBlocks>,
    heap: UnsafeCell<Dlmalloc<Regions>>,
    lock: Mutex<()>,
    is_shared: AtomicBool,
}

// SAFETY: the heap is used under the lock, or by the only thread of the process (see `share`).
unsafe impl Sync for Allocator {}

#[expect(clippy::new_without_default, reason = "a static needs a constant")]
impl Allocator {
    /// An allocator for one thread. A process has only one: its small blocks lie in the same reserve.
    pub const fn new() -> Self {
        let regions = Regions { is_first: AtomicBool::new(true) };
        Self {
            small: UnsafeCell::new(SmallBlocks::of(&RESERVE)),
            heap: UnsafeCell::new(Dlmalloc::new_with_allocator(regions)),
            lock: Mutex::new(()),
            is_shared: AtomicBool::new(false),
        }
    }

    /// Takes the lock from now on. Must be called before the process starts its first thread.
    pub fn share(&self) {
        self.is_shared.store(true, Ordering::Relaxed);
        RUNS_LONG.store(true, Ordering::Relaxed);
    }

    /// Calls `use_heap` while no other thread uses the heap.
    fn with<T>(&self, use_heap: impl FnOnce(&mut Dlmalloc<Regions>) -> T) -> T {
        let _guard: Option<MutexGuard<'_, ()>> = self
            .is_shared
            .load(Ordering::Relaxed)
            .then(|| self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: this is the only thread, or it holds the lock; dlmalloc does not call back.
        use_heap(unsafe { &mut *self.heap.get() })
    }

    /// A small block, or null if the process has threads, or if the block is not small or the reserve is used up.
    fn small(&self, layout: Layout) -> *mut u8 {
        if self.is_shared.load(Ordering::Relaxed) {
            return ptr::null_mut();
        }
        // SAFETY: this is the only thread, and `take` does not call back.
        unsafe { &mut *self.small.get() }.take(layout)
    }
}

// SAFETY: a small block belongs to the lists of its size until it is freed, and what lies outside the reserve is handed to
// dlmalloc as it is, one call at a time.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let small = self.small(layout);
        if !small.is_null() {
            return small;
        }
        self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let small = self.small(layout);
        if !small.is_null() {
            unsafe { small.write_bytes(0, layout.size()) };
            return small;
        }
        self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if RESERVE.holds(block) {
            // A process that has started threads leaves the few blocks from before unused.
            if !self.is_shared.load(Ordering::Relaxed) {
                unsafe { (*self.small.get()).put_back(block, layout) };
            }
            return;
        }
        self.with(|heap| unsafe { heap.free(block, layout.size(), layout.align()) });
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.holds(block) {
            return self.with(|heap| unsafe { heap.realloc(block, layout.size(), layout.align(), size) });
        }
        if SmallBlocks::is_as_large(layout.size(), size) {
            return block;
        }
        // SAFETY: the caller's size is valid for this alignment; the new block does not overlap the old one.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

/// Where small blocks lie.
static RESERVE: small::Reserve = small::Reserve::new();

/// A larger region holds one block, of which a part may stay unused.
const LARGEST_FILLED: usize = 256 * 1024;

/// Whether the process may run for long, and so takes pages only as it needs them.
static RUNS_LONG: AtomicBool = AtomicBool::new(false);

/// The first region, until it is filled.
static FIRST: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static FIRST_SIZE: AtomicUsize = AtomicUsize::new(0);

/// Maps the pages that opening a database is about to use: small blocks, the first region, and the stack below the caller.
#[cfg(target_os = "linux")]
pub(crate) fn fill() {
    let first = FIRST.swap(ptr::null_mut(), Ordering::Relaxed);
    if first.is_null() || RUNS_LONG.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: the ranges are this process's own, and mapping pages changes no content. A kernel that does not know the
    // advice refuses it, and the pages come by faults.
    let (reserve, filled) = RESERVE.filled();
    unsafe {
        libc::madvise(reserve.cast(), filled, libc::MADV_POPULATE_WRITE);
        libc::madvise(first.cast(), FIRST_SIZE.load(Ordering::Relaxed), libc::MADV_POPULATE_WRITE);
    }
    fill_stack(10);
}

/// Maps this many pages of the stack below the caller: five faults of a tool result cost 4 µs more. Beyond the end of the stack,
/// and with a kernel that does not know the advice, nothing happens.
pub fn fill_stack(pages: usize) {
    #[cfg(target_os = "linux")]
    {
        let here = 0u8;
        let top = (&raw const here).map_addr(|address| address & !(PAGE - 1));
        let bytes = pages * PAGE;
        // SAFETY: mapping pages changes no content, and an address outside the stack is not one that anything else uses:
        // below a stack lies a gap.
        unsafe { libc::madvise(top.wrapping_sub(bytes).cast_mut().cast(), bytes, libc::MADV_POPULATE_WRITE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pages;
}

/// Maps the pages that lie wholly within `room`, before they are written to. With them a tool result of 2 MB takes 4.7 to
/// 5.0 × `/bin/true`; each page by a fault of its own, 6.7.
pub fn fill_room(room: &mut [MaybeUninit<u8>]) {
    #[cfg(target_os = "linux")]
    {
        let start = room.as_mut_ptr().map_addr(|address| address.next_multiple_of(PAGE));
        let bytes = room.as_mut_ptr_range().end.addr().saturating_sub(start.addr()) & !(PAGE - 1);
        // SAFETY: mapping pages changes no content, and all of them belong to `room`.
        unsafe { libc::madvise(start.cast(), bytes, libc::MADV_POPULATE_WRITE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = room;
}

const PAGE: usize = 4096;

/// Memory from the kernel.
struct Regions {
    is_first: AtomicBool,
}

impl Regions {
    /// Whether to map a region together with its pages.
    fn fills(&self, size: usize) -> bool {
        !self.is_first.load(Ordering::Relaxed) && size <= LARGEST_FILLED && !RUNS_LONG.load(Ordering::Relaxed)
    }
}

#[cfg(target_os = "linux")]
const FILLED: libc::c_int = libc::MAP_POPULATE;
#[cfg(not(target_os = "linux"))]
const FILLED: libc::c_int = 0;

// SAFETY: every region is a mapping of its own, of at least the size asked for; parts are handed back to the kernel only if
// dlmalloc says that they are unused.
unsafe impl dlmalloc::Allocator for Regions {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let flags = libc::MAP_ANON | libc::MAP_PRIVATE | if self.fills(size) { FILLED } else { 0 };
        let region =
            unsafe { libc::mmap(ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if region == libc::MAP_FAILED {
            return (ptr::null_mut(), 0, 0);
        }
        if self.is_first.swap(false, Ordering::Relaxed) && size <= LARGEST_FILLED {
            FIRST_SIZE.store(size, Ordering::Relaxed);
            FIRST.store(region.cast(), Ordering::Relaxed);
        }
        (region.cast(), size, 0)
    }

    #[cfg(target_os = "linux")]
    fn remap(&self, region: *mut u8, size: usize, new_size: usize, can_move: bool) -> *mut u8 {
        let flags = if can_move { libc::MREMAP_MAYMOVE } else { 0 };
        let moved = unsafe { libc::mremap(region.cast(), size, new_size, flags) };
        if moved == libc::MAP_FAILED { ptr::null_mut() } else { moved.cast() }
    }

    #[cfg(not(target_os = "linux"))]
    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, region: *mut u8, size: usize, new_size: usize) -> bool {
        unsafe { libc::munmap(region.add(new_size).cast(), size - new_size) == 0 }
    }

    fn free(&self, region: *mut u8, size: usize) -> bool {
        unsafe { libc::munmap(region.cast(), size) == 0 }
    }

    fn can_release_part(&self, _: u32) -> bool {
        true
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}
