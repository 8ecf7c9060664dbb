//! Where SQLite takes its memory from: the allocator that everything else in this program uses.
//!
//! The C library that the released program is linked with asks the kernel for small pieces one by one and gives them back
//! one by one, which would be a fifth of a hook. No memory of SQLite's is used here, only lent and taken back.
#![expect(unsafe_code, reason = "SQLite asks for memory by C functions")]

use rusqlite::ffi;
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Once;

/// Before each piece stands how large it is: SQLite asks for that, and tells nobody when it gives one back.
const HEAD: usize = size_of::<usize>();

/// What every piece begins at a multiple of.
const ALIGNMENT: usize = 8;

/// Lends memory to SQLite from now on. Does nothing once SQLite has begun to work.
pub(crate) fn lend() {
    static ONCE: Once = Once::new();
    let methods = ffi::sqlite3_mem_methods {
        xMalloc: Some(lend_piece),
        xFree: Some(take_back),
        xRealloc: Some(exchange),
        xSize: Some(size),
        xRoundup: Some(round_up),
        xInit: Some(begin),
        xShutdown: Some(end),
        pAppData: ptr::null_mut(),
    };
    ONCE.call_once(|| {
        // SAFETY: the functions keep SQLite's contract, and it copies the table of them. An answer other than OK leaves
        // it with the C library's memory, which is only slower.
        unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
    });
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEAD)?, ALIGNMENT).ok()
}

unsafe extern "C" fn lend_piece(bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return ptr::null_mut() };
    let Some(layout) = layout(bytes) else { return ptr::null_mut() };
    // SAFETY: the layout has a head, so that it is not empty.
    unsafe { headed(alloc(layout), bytes) }
}

/// Writes the size before a piece, and returns where the piece begins.
///
/// # Safety
/// `start` is null, or the start of a piece that was made by [`layout`] of these bytes.
unsafe fn headed(start: *mut u8, bytes: usize) -> *mut c_void {
    if start.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: there is room for the head, and the start is aligned for it.
    unsafe {
        start.cast::<usize>().write(bytes);
        start.add(HEAD).cast()
    }
}

/// # Safety
/// `piece` was lent and not taken back.
unsafe fn start_of(piece: *mut c_void) -> (*mut u8, usize) {
    // SAFETY: the head stands before every piece that was lent.
    unsafe {
        let start = piece.cast::<u8>().sub(HEAD);
        (start, start.cast::<usize>().read())
    }
}

unsafe extern "C" fn take_back(piece: *mut c_void) {
    if piece.is_null() {
        return;
    }
    // SAFETY: SQLite gives back what it was lent, once, and the layout is made of the size that it was lent with.
    unsafe {
        let (start, bytes) = start_of(piece);
        if let Some(layout) = layout(bytes) {
            dealloc(start, layout);
        }
    }
}

unsafe extern "C" fn exchange(piece: *mut c_void, bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return ptr::null_mut() };
    // SAFETY: SQLite exchanges only what it was lent; what cannot be exchanged stays as it is.
    unsafe {
        let (start, before) = start_of(piece);
        match (layout(before), layout(bytes)) {
            (Some(before), Some(after)) => headed(realloc(start, before, after.size()), bytes),
            _ => ptr::null_mut(),
        }
    }
}

unsafe extern "C" fn size(piece: *mut c_void) -> c_int {
    if piece.is_null() {
        return 0;
    }
    // SAFETY: SQLite asks only about what it was lent.
    let (_, bytes) = unsafe { start_of(piece) };
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

unsafe extern "C" fn round_up(bytes: c_int) -> c_int {
    const MULTIPLE: c_int = ALIGNMENT as c_int;
    bytes.saturating_add(MULTIPLE - 1) / MULTIPLE * MULTIPLE
}

unsafe extern "C" fn begin(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn end(_: *mut c_void) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_keeps_what_is_in_it_and_knows_its_size() {
        // SAFETY: pieces are used as SQLite uses them.
        unsafe {
            let piece = lend_piece(24);
            assert_eq!((size(piece), piece.addr() % ALIGNMENT), (24, 0));
            piece.cast::<u8>().write_bytes(7, 24);
            let larger = exchange(piece, 4096);
            assert_eq!(size(larger), 4096);
            assert_eq!(std::slice::from_raw_parts(larger.cast::<u8>(), 24), [7; 24]);
            let smaller = exchange(larger, 8);
            assert_eq!((size(smaller), *smaller.cast::<u8>()), (8, 7));
            take_back(smaller);
            take_back(ptr::null_mut());
            assert_eq!(size(ptr::null_mut()), 0);
            assert!(lend_piece(-1).is_null());
        }
    }

    #[test]
    fn sizes_are_rounded_up_to_whole_words() {
        // SAFETY: it only reckons.
        let rounded = [0, 1, 8, 9, c_int::MAX].map(|bytes| unsafe { round_up(bytes) });
        assert_eq!(rounded, [0, 8, 8, 16, c_int::MAX / 8 * 8]);
    }
}
