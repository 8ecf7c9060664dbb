//! Small blocks: taken from the end of a reserve, and kept in a list per size once they are freed.
//!
//! For one thread. Never splits or joins blocks, and gives nothing back: a hook lives for a millisecond.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr;

/// The sizes of blocks are multiples of this, and so are their addresses.
const STEP: usize = 16;
const LARGEST: usize = 512;
const RESERVED: usize = 128 * 1024;
/// As much of it as a prompt's hook uses. Each page that is mapped for nothing costs 1.5 µs.
const FILLED: usize = 64 * 1024;

/// A range of memory whose pages the kernel brings when they are used.
#[repr(align(4096))]
pub(super) struct Reserve(UnsafeCell<[u8; RESERVED]>);

// SAFETY: only its addresses are used here; the blocks in it belong to those who took them.
unsafe impl Sync for Reserve {}

impl Reserve {
    pub const fn new() -> Reserve {
        Reserve(UnsafeCell::new([0; RESERVED]))
    }

    /// The part that is worth mapping at once.
    pub fn filled(&self) -> (*mut u8, usize) {
        (self.0.get().cast(), FILLED)
    }

    pub fn holds(&self, block: *const u8) -> bool {
        block.addr().wrapping_sub(self.0.get().addr()) < RESERVED
    }
}

pub(super) struct SmallBlocks {
    reserve: &'static Reserve,
    /// Bytes of the reserve that were taken at least once.
    used: usize,
    /// The first free block of each size; each holds the address of the next one.
    free: [*mut u8; LARGEST / STEP + 1],
}

impl SmallBlocks {
    pub const fn of(reserve: &'static Reserve) -> SmallBlocks {
        SmallBlocks { reserve, used: 0, free: [ptr::null_mut(); LARGEST / STEP + 1] }
    }

    /// A block for this layout; null if it is not small, or if the reserve is used up.
    pub fn take(&mut self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > STEP {
            return ptr::null_mut();
        }
        let class = class(layout.size());
        let first = self.free[class];
        if !first.is_null() {
            // SAFETY: a block in a list begins with the address of the next one.
            self.free[class] = unsafe { first.cast::<*mut u8>().read() };
            return first;
        }
        let bytes = class * STEP;
        if RESERVED - self.used < bytes {
            return ptr::null_mut();
        }
        let block = self.reserve.0.get().cast::<u8>().wrapping_add(self.used);
        self.used += bytes;
        block
    }

    /// # Safety
    /// The block was taken for this layout, and nobody uses it any more.
    pub unsafe fn put_back(&mut self, block: *mut u8, layout: Layout) {
        let first = &mut self.free[class(layout.size())];
        // SAFETY: every block has room for an address, and is aligned for it.
        unsafe { block.cast::<*mut u8>().write(*first) };
        *first = block;
    }

    /// Whether a block of one size serves for the other.
    pub fn is_as_large(size: usize, other: usize) -> bool {
        other <= LARGEST && class(size) == class(other)
    }
}

/// The number of the list with blocks of this size; there are no blocks of no bytes.
fn class(size: usize) -> usize {
    size.div_ceil(STEP).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    static RESERVE: Reserve = Reserve::new();

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn a_freed_block_is_taken_again_for_its_size_only() {
        let mut blocks = SmallBlocks::of(&RESERVE);
        let [first, second] = [24, 24].map(|size| blocks.take(layout(size)));
        assert_eq!((second.addr() - first.addr(), first.addr() % STEP), (32, 0));
        // SAFETY: nothing uses the block.
        unsafe { blocks.put_back(first, layout(24)) };
        assert_ne!(blocks.take(layout(40)), first);
        assert_eq!(blocks.take(layout(32)), first);
        assert_ne!(blocks.take(layout(32)), first);
        assert!(SmallBlocks::is_as_large(17, 32) && !SmallBlocks::is_as_large(17, 33));
    }

    #[test]
    fn large_blocks_and_those_after_the_reserve_are_left_to_others() {
        static SPENT: Reserve = Reserve::new();
        let mut blocks = SmallBlocks::of(&SPENT);
        assert!(blocks.take(layout(513)).is_null());
        assert!(blocks.take(Layout::from_size_align(32, 64).unwrap()).is_null());
        let taken = std::iter::from_fn(|| Some(blocks.take(layout(500))).filter(|block| !block.is_null()));
        let taken: Vec<*mut u8> = taken.collect();
        assert_eq!(taken.len(), RESERVED / 512);
        assert!(taken.iter().all(|block| SPENT.holds(*block)));
    }
}
