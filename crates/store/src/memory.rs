//! SQLite's allocator: the one that the rest of this program uses.
//!
//! The C library that releases are linked with requests small blocks from the kernel and returns them one by one, which
//! would take a fifth of a hook. This module only allocates and frees blocks; it never reads or writes their content.
#![expect(unsafe_code, reason = "SQLite asks for memory by C functions")]

use rusqlite::ffi;
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Once;

/// Each block is preceded by its size: SQLite asks for it (`xSize`), and does not pass it when it frees a block.
const HEADER: usize = size_of::<usize>();

/// The alignment of every block.
const ALIGNMENT: usize = 8;

/// Pages that a connection allocates at once, and writes to. A prompt uses as many; SQLite's 20 would take 4 more from the
/// kernel, each for 2 µs of a prompt's 1,000.
const FIRST_PAGES: c_int = 16;
const NO_BUFFER: *const c_void = ptr::null();

/// Installs the allocator. Has no effect once SQLite is initialized.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    let methods = ffi::sqlite3_mem_methods {
        xMalloc: Some(allocate),
        xFree: Some(free),
        xRealloc: Some(reallocate),
        xSize: Some(size),
        xRoundup: Some(round_up),
        xInit: Some(init),
        xShutdown: Some(shutdown),
        pAppData: ptr::null_mut(),
    };
    ONCE.call_once(|| {
        // SAFETY: the functions keep SQLite's contract, and it copies the table of them. On a result other than OK it
        // keeps using the C library's allocator, which is only slower.
        unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
        // SAFETY: without a buffer the call only sets how many pages a connection allocates at once.
        unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_PAGECACHE, NO_BUFFER, 0 as c_int, FIRST_PAGES) };
    });
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEADER)?, ALIGNMENT).ok()
}

unsafe extern "C" fn allocate(bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return ptr::null_mut() };
    let Some(layout) = layout(bytes) else { return ptr::null_mut() };
    // SAFETY: the layout includes the header, so its size is not zero.
    unsafe { write_header(alloc(layout), bytes) }
}

/// Writes the size in front of a block, and returns the block's address.
///
/// # Safety
/// `start` is null, or was allocated with the [`layout`] of these bytes.
unsafe fn write_header(start: *mut u8, bytes: usize) -> *mut c_void {
    if start.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: there is room for the header, and the start is aligned for it.
    unsafe {
        start.cast::<usize>().write(bytes);
        start.add(HEADER).cast()
    }
}

/// # Safety
/// `block` was allocated by this module and not freed.
unsafe fn allocation_of(block: *mut c_void) -> (*mut u8, usize) {
    // SAFETY: every block that we allocate has the header in front of it.
    unsafe {
        let start = block.cast::<u8>().sub(HEADER);
        (start, start.cast::<usize>().read())
    }
}

unsafe extern "C" fn free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: SQLite frees each block once, and the layout is built from the size it was allocated with.
    unsafe {
        let (start, bytes) = allocation_of(block);
        if let Some(layout) = layout(bytes) {
            dealloc(start, layout);
        }
    }
}

unsafe extern "C" fn reallocate(block: *mut c_void, bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return ptr::null_mut() };
    // SAFETY: SQLite reallocates only our blocks; on failure the old block stays as it is.
    unsafe {
        let (start, before) = allocation_of(block);
        match (layout(before), layout(bytes)) {
            (Some(before), Some(after)) => write_header(realloc(start, before, after.size()), bytes),
            _ => ptr::null_mut(),
        }
    }
}

unsafe extern "C" fn size(block: *mut c_void) -> c_int {
    if block.is_null() {
        return 0;
    }
    // SAFETY: SQLite asks only about our blocks.
    let (_, bytes) = unsafe { allocation_of(block) };
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

unsafe extern "C" fn round_up(bytes: c_int) -> c_int {
    const MULTIPLE: c_int = ALIGNMENT as c_int;
    bytes.saturating_add(MULTIPLE - 1) / MULTIPLE * MULTIPLE
}

unsafe extern "C" fn init(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn shutdown(_: *mut c_void) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reallocated_block_keeps_its_content_and_size() {
        // SAFETY: blocks are used as SQLite uses them.
        unsafe {
            let block = allocate(24);
            assert_eq!((size(block), block.addr() % ALIGNMENT), (24, 0));
            block.cast::<u8>().write_bytes(7, 24);
            let larger = reallocate(block, 4096);
            assert_eq!(size(larger), 4096);
            assert_eq!(std::slice::from_raw_parts(larger.cast::<u8>(), 24), [7; 24]);
            let smaller = reallocate(larger, 8);
            assert_eq!((size(smaller), *smaller.cast::<u8>()), (8, 7));
            free(smaller);
            free(ptr::null_mut());
            assert_eq!(size(ptr::null_mut()), 0);
            assert!(allocate(-1).is_null());
        }
    }

    #[test]
    fn sizes_are_rounded_up_to_whole_words() {
        // SAFETY: `round_up` only computes.
        let rounded = [0, 1, 8, 9, c_int::MAX].map(|bytes| unsafe { round_up(bytes) });
        assert_eq!(rounded, [0, 8, 8, 16, c_int::MAX / 8 * 8]);
    }
}
