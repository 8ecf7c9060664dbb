//! The heap's pages: anonymous mappings from the kernel, populated in bulk.
//!
//! The first touch of a page costs a page fault, and a process that lives for two milliseconds touches nearly
//! all of its pages for the first time. Returns only zeroed memory.
#![expect(unsafe_code, reason = "memory that nobody has yet is asked for by its address")]

use dlmalloc::Allocator;
use std::ptr;

const PAGE: usize = 4096;

/// Larger mappings may never be used whole, so they are not populated.
const PROBABLY_USED: usize = 256 << 10;

/// Populates a mapping on creation, if the system supports it.
#[cfg(target_os = "linux")]
const AT_ONCE: libc::c_int = libc::MAP_POPULATE;
#[cfg(not(target_os = "linux"))]
const AT_ONCE: libc::c_int = 0;

pub struct Pages;

// SAFETY: every block is a mapping of its own that belongs to the caller.
unsafe impl Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANON | if size <= PROBABLY_USED { AT_ONCE } else { 0 };
        // SAFETY: a mapping at an address of the kernel's choice touches no other.
        let piece = unsafe { libc::mmap(ptr::null_mut(), size, access, kind, -1, 0) };
        if piece == libc::MAP_FAILED { (ptr::null_mut(), 0, 0) } else { (piece.cast(), size, 0) }
    }

    /// Unsupported: the heap copies instead.
    fn remap(&self, _piece: *mut u8, _size: usize, _wanted: usize, _can_move: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, piece: *mut u8, size: usize, kept: usize) -> bool {
        // SAFETY: the block came from `alloc`, has this size, and nothing uses its tail.
        unsafe { libc::munmap(piece.add(kept).cast(), size - kept) == 0 }
    }

    fn free(&self, piece: *mut u8, size: usize) -> bool {
        // SAFETY: the block came from `alloc`, has this size, and is no longer in use.
        unsafe { libc::munmap(piece.cast(), size) == 0 }
    }

    fn can_release_part(&self, _flags: u32) -> bool {
        true
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}
