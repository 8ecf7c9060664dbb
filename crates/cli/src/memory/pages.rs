//! Where the heap's pages come from: the kernel, made ready many at a time.
//!
//! A page that is touched for the first time costs a trap into the kernel, and a process that lives for two milliseconds
//! touches nearly all that it has for the first time. Gives only memory that is all zeros.
#![expect(unsafe_code, reason = "memory that nobody has yet is asked for by its address")]

use dlmalloc::Allocator;
use std::ptr;

const PAGE: usize = 4096;

/// What is larger is perhaps never used whole.
const PROBABLY_USED: usize = 256 << 10;

/// Has a mapping's pages made ready with it, where that can be asked.
#[cfg(target_os = "linux")]
const AT_ONCE: libc::c_int = libc::MAP_POPULATE;
#[cfg(not(target_os = "linux"))]
const AT_ONCE: libc::c_int = 0;

pub struct Pages;

// SAFETY: every piece is a mapping of its own that belongs to whoever asked for it, as the kernel promises.
unsafe impl Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANON | if size <= PROBABLY_USED { AT_ONCE } else { 0 };
        // SAFETY: a mapping at a place of the kernel's choice touches no other.
        let piece = unsafe { libc::mmap(ptr::null_mut(), size, access, kind, -1, 0) };
        if piece == libc::MAP_FAILED { (ptr::null_mut(), 0, 0) } else { (piece.cast(), size, 0) }
    }

    /// Never done: the heap copies instead.
    fn remap(&self, _piece: *mut u8, _size: usize, _wanted: usize, _can_move: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, piece: *mut u8, size: usize, kept: usize) -> bool {
        // SAFETY: the piece came from here, has this size, and nobody uses what lies behind what is kept.
        unsafe { libc::munmap(piece.add(kept).cast(), size - kept) == 0 }
    }

    fn free(&self, piece: *mut u8, size: usize) -> bool {
        // SAFETY: the piece came from here, has this size, and nobody uses it any more.
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
