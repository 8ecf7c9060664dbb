//! SQLite's memory, taken from where the program takes its own.
//!
//! The C library that the released program is linked with is slow with small pieces, and a database asks for many. Knows
//! nothing of what is kept in them; SQLite asks how large a piece is, so its size stands before it.

use rusqlite::ffi;
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ffi::{c_int, c_void};
use std::sync::Once;

/// What SQLite wants a piece to begin at a multiple of; its size takes as much before it.
const WORD: usize = 8;

/// Before the first database is opened; later it changes nothing.
#[expect(unsafe_code, reason = "SQLite is told by a call of C")]
pub(crate) fn is_ours() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let methods = ffi::sqlite3_mem_methods {
            xMalloc: Some(take),
            xFree: Some(give_back),
            xRealloc: Some(change),
            xSize: Some(size),
            xRoundup: Some(rounded),
            xInit: Some(begin),
            xShutdown: Some(end),
            pAppData: std::ptr::null_mut(),
        };
        // SAFETY: SQLite copies the methods, which keep what it promises. If it was used before, it refuses and goes on
        // with the memory that it has.
        unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
    });
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(WORD)?, WORD).ok()
}

/// # Safety
/// `whole` is null or begins a piece of `bytes` behind its size.
#[expect(unsafe_code, reason = "a piece is a pointer to C")]
unsafe fn begun(whole: *mut u8, bytes: usize) -> *mut c_void {
    if whole.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the piece is larger than its size by one word, and begins at one.
    unsafe {
        whole.cast::<usize>().write(bytes);
        whole.add(WORD).cast()
    }
}

/// # Safety
/// `piece` came from `take` or `change`.
#[expect(unsafe_code, reason = "a piece is a pointer to C")]
unsafe fn whole(piece: *mut c_void) -> (*mut u8, usize) {
    // SAFETY: each such piece has its size one word before it.
    unsafe {
        let whole = piece.cast::<u8>().sub(WORD);
        (whole, whole.cast::<usize>().read())
    }
}

#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn take(bytes: c_int) -> *mut c_void {
    let bytes = usize::try_from(bytes).unwrap_or(0);
    let Some(layout) = layout(bytes) else { return std::ptr::null_mut() };
    // SAFETY: the layout is never empty.
    unsafe { begun(alloc(layout), bytes) }
}

#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn give_back(piece: *mut c_void) {
    if piece.is_null() {
        return;
    }
    // SAFETY: SQLite gives back what it took, once.
    unsafe {
        let (whole, bytes) = whole(piece);
        if let Some(layout) = layout(bytes) {
            dealloc(whole, layout);
        }
    }
}

#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn change(piece: *mut c_void, bytes: c_int) -> *mut c_void {
    let bytes = usize::try_from(bytes).unwrap_or(0);
    // SAFETY: SQLite changes what it took; a new size that does not fit leaves the piece as it is.
    unsafe {
        let (whole, before) = whole(piece);
        match (layout(before), layout(bytes)) {
            (Some(before), Some(after)) => begun(realloc(whole, before, after.size()), bytes),
            _ => std::ptr::null_mut(),
        }
    }
}

#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn size(piece: *mut c_void) -> c_int {
    if piece.is_null() {
        return 0;
    }
    // SAFETY: SQLite asks about what it took.
    c_int::try_from(unsafe { whole(piece) }.1).unwrap_or(c_int::MAX)
}

#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn rounded(bytes: c_int) -> c_int {
    bytes.saturating_add(7) & !7
}

#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn begin(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn end(_: *mut c_void) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "what SQLite would do")]
    fn a_piece_keeps_its_words_and_knows_its_size_when_it_grows_and_shrinks() {
        // SAFETY: every piece is used within its size and given back once.
        unsafe {
            let piece = take(10);
            piece.cast::<u8>().write_bytes(7, 10);
            assert_eq!((size(piece), piece as usize % WORD), (10, 0));
            let larger = change(piece, 5000);
            assert_eq!((size(larger), larger.cast::<u8>().add(9).read()), (5000, 7));
            let smaller = change(larger, 4);
            assert_eq!((size(smaller), smaller.cast::<u8>().add(3).read()), (4, 7));
            give_back(smaller);
            give_back(std::ptr::null_mut());
            assert_eq!((size(std::ptr::null_mut()), rounded(13)), (0, 16));
        }
    }
}
