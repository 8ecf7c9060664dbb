//! `memcpy`, `memmove`, `memcmp` and `bcmp`, in place of the C library's.
//!
//! musl copies with an instruction that is slow to start and compares byte by byte, while most copies here
//! are short. Reads and writes nothing outside the given ranges, and calls no other function.
#![expect(unsafe_code, reason = "these are what safe copying is made of")]

use std::arch::asm;
use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_storeu_si128};

const SIXTEEN: usize = size_of::<__m128i>();

/// Bytes per iteration of a long copy.
const STRIDE: usize = 4 * SIXTEEN;

/// The C symbols, called by C code and by code the compiler generates for Rust. Not in debug builds: without
/// optimisation, these functions would compile to calls of themselves.
#[cfg(all(target_env = "musl", not(debug_assertions)))]
mod names {
    #[unsafe(no_mangle)]
    unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
        // SAFETY: `memcpy` promises more than `copy` requires.
        unsafe { super::copy(to, from, count) };
        to
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
        // SAFETY: the caller promises the same.
        unsafe { super::copy(to, from, count) };
        to
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
        // SAFETY: the caller promises the same.
        unsafe { super::compare(one, other, count) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
        // SAFETY: the caller promises the same.
        unsafe { super::compare(one, other, count) }
    }
}

/// Copies between ranges that may overlap. Reads all of a short range before it writes any of it.
///
/// # Safety
/// `count` bytes must be readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn copy(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: touches at most `count` bytes of each.
    unsafe {
        match count {
            0 => {}
            1 => to.write(from.read()),
            2..=3 => ends::<u16>(to, from, count),
            4..=7 => ends::<u32>(to, from, count),
            8..=15 => ends::<u64>(to, from, count),
            16..=32 => ends::<__m128i>(to, from, count),
            33..=STRIDE => {
                let half = 2 * SIXTEEN;
                let (first, last) = (load::<2>(from), load::<2>(from.add(count - half)));
                store(to, first);
                store(to.add(count - half), last);
            }
            // `to` begins inside the source: copy from the end.
            _ if to.addr().wrapping_sub(from.addr()) < count => backwards(to, from, count),
            _ => forwards(to, from, count),
        }
    }
}

/// Copies the first and the last `T`, which overlap if `count` is less than twice its size.
#[inline(always)]
unsafe fn ends<T>(to: *mut u8, from: *const u8, count: usize) {
    let behind = count - size_of::<T>();
    // SAFETY: `count` is at least the size of `T`.
    unsafe {
        let first = from.cast::<T>().read_unaligned();
        let last = from.add(behind).cast::<T>().read_unaligned();
        to.cast::<T>().write_unaligned(first);
        to.add(behind).cast::<T>().write_unaligned(last);
    }
}

#[inline(always)]
unsafe fn forwards(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: `count` exceeds a stride; the bytes still to be read lie behind those written.
    unsafe {
        let behind = count - STRIDE;
        let last = load::<4>(from.add(behind));
        let mut at = 0;
        while at < behind {
            store(to.add(at), load::<4>(from.add(at)));
            at += STRIDE;
            keep_loop();
        }
        store(to.add(behind), last);
    }
}

#[inline(always)]
unsafe fn backwards(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: `count` exceeds a stride; the bytes still to be read lie before those written.
    unsafe {
        let first = load::<4>(from);
        let mut left = count;
        while left > STRIDE {
            left -= STRIDE;
            store(to.add(left), load::<4>(from.add(left)));
            keep_loop();
        }
        store(to, first);
    }
}

#[inline(always)]
unsafe fn load<const N: usize>(from: *const u8) -> [__m128i; N] {
    // SAFETY: the caller guarantees N times sixteen bytes there.
    std::array::from_fn(|at| unsafe { _mm_loadu_si128(from.add(at * SIXTEEN).cast()) })
}

#[inline(always)]
unsafe fn store<const N: usize>(to: *mut u8, bytes: [__m128i; N]) {
    for (at, sixteen) in bytes.into_iter().enumerate() {
        // SAFETY: the caller guarantees N times sixteen bytes there.
        unsafe { _mm_storeu_si128(to.add(at * SIXTEEN).cast(), sixteen) };
    }
}

/// Keeps the compiler from replacing a copy loop by a call to `memcpy`, which would recurse.
#[inline(always)]
fn keep_loop() {
    // SAFETY: emits no instruction.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

/// Negative, zero or positive, like `memcmp`.
///
/// # Safety
/// `count` bytes must be readable at both.
#[inline(always)]
unsafe fn compare(one: *const u8, other: *const u8, count: usize) -> i32 {
    // SAFETY: touches at most `count` bytes of each.
    unsafe {
        match count {
            0 => 0,
            1..=3 => {
                let differs = |at: &usize| one.add(*at).read() != other.add(*at).read();
                (0..count).find(differs).map_or(0, |at| difference(one.add(at), other.add(at)))
            }
            4..=7 => {
                let value = |from: *const u8| {
                    let (first, last) = (word::<4>(from), word::<4>(from.add(count - 4)));
                    u64::from(u32::from_be_bytes(first)) << 32 | u64::from(u32::from_be_bytes(last))
                };
                value(one).cmp(&value(other)) as i32
            }
            8..=15 => {
                let value = |from: *const u8| {
                    let (first, last) = (word::<8>(from), word::<8>(from.add(count - 8)));
                    (u64::from_be_bytes(first), u64::from_be_bytes(last))
                };
                value(one).cmp(&value(other)) as i32
            }
            _ => compare_long(one, other, count),
        }
    }
}

#[inline(always)]
unsafe fn word<const N: usize>(from: *const u8) -> [u8; N] {
    // SAFETY: the caller guarantees N bytes there.
    unsafe { from.cast::<[u8; N]>().read_unaligned() }
}

/// Compares sixteen bytes at a time; the last sixteen may overlap with those before.
#[inline(always)]
unsafe fn compare_long(one: *const u8, other: *const u8, count: usize) -> i32 {
    let mut at = 0;
    loop {
        // SAFETY: there are sixteen bytes from `at` on.
        unsafe {
            let ([left], [right]) = (load::<1>(one.add(at)), load::<1>(other.add(at)));
            let differs = !_mm_movemask_epi8(_mm_cmpeq_epi8(left, right)) & 0xffff;
            if differs != 0 {
                let at = at + differs.trailing_zeros() as usize;
                return difference(one.add(at), other.add(at));
            }
        }
        if at + SIXTEEN == count {
            return 0;
        }
        at = (at + SIXTEEN).min(count - SIXTEEN);
    }
}

#[inline(always)]
unsafe fn difference(one: *const u8, other: *const u8) -> i32 {
    // SAFETY: the caller guarantees a byte at each.
    unsafe { i32::from(one.read()) - i32::from(other.read()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    /// Every length around a change of strategy, and some long ones.
    fn lengths() -> impl Iterator<Item = usize> {
        (0..300).chain([511, 512, 513, 1000, 4096, 65_537])
    }

    fn some_bytes(count: usize) -> Vec<u8> {
        (0..count).map(|at| u8::try_from((at * 7 + at / 251) % 256).unwrap()).collect()
    }

    #[test]
    fn all_is_copied_and_nothing_beside_it() {
        for count in lengths() {
            for (from, to) in [(0, 0), (1, 0), (0, 3), (5, 14), (15, 1)] {
                let source = some_bytes(from + count);
                let mut target = vec![0xAA; to + count + 16];
                // SAFETY: both are long enough.
                unsafe { copy(target[to..].as_mut_ptr(), source[from..].as_ptr(), count) };
                assert_eq!(target[to..to + count], source[from..], "{count} bytes");
                let beside = target[..to].iter().chain(&target[to + count..]);
                assert!(beside.into_iter().all(|byte| *byte == 0xAA), "{count} bytes");
            }
        }
    }

    #[test]
    fn what_overlaps_arrives_as_it_was() {
        for count in lengths() {
            for distance in [0, 1, 2, 7, 15, 16, 17, 63, 64, 65, 200] {
                let before = some_bytes(count + distance);
                let mut up = before.clone();
                // SAFETY: the vector has `count + distance` bytes.
                unsafe { copy(up.as_mut_ptr().add(distance), up.as_ptr(), count) };
                assert_eq!(up[distance..], before[..count], "{count} bytes up by {distance}");
                let mut down = before.clone();
                // SAFETY: the same.
                unsafe { copy(down.as_mut_ptr(), down.as_ptr().add(distance), count) };
                assert_eq!(down[..count], before[distance..], "{count} bytes down by {distance}");
            }
        }
    }

    #[test]
    fn the_first_byte_that_differs_decides() {
        for count in lengths().filter(|count| *count > 0) {
            let one = some_bytes(count);
            // SAFETY: both are long enough, here and below.
            assert_eq!(unsafe { compare(one.as_ptr(), one.clone().as_ptr(), count) }, 0);
            for at in (0..count).step_by(1 + count / 40).chain([count - 1]) {
                let mut other = one.clone();
                other[at] = one[at].wrapping_add(128);
                other[at + 1..].reverse();
                let found = unsafe { compare(one.as_ptr(), other.as_ptr(), count) }.cmp(&0);
                assert_eq!(found, one.cmp(&other), "{count} bytes, {at}");
                let found = unsafe { compare(other.as_ptr(), one.as_ptr(), count) }.cmp(&0);
                assert_eq!(found, other.cmp(&one), "{count} bytes, {at}");
                assert_ne!(found, Ordering::Equal);
            }
        }
    }
}
