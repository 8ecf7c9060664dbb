//! Byte search in chunks of eight bytes.
//!
//! Meant for short inputs only, where `memchr` takes longer to set up than this takes to finish.

/// Bytes compared at once.
pub(crate) const CHUNK: usize = 8;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The offset of the first byte equal to `needle`.
#[inline]
pub(crate) fn first_byte(bytes: &[u8; CHUNK], needle: u8) -> Option<usize> {
    let differs = u64::from_le_bytes(*bytes) ^ (ONES * u64::from(needle));
    // The lowest set bit marks an equal byte; higher ones may be false positives.
    let matches = differs.wrapping_sub(ONES) & !differs & HIGHS;
    (matches != 0).then(|| (matches.trailing_zeros() / 8) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_matching_byte_is_found(bytes in any::<[u8; CHUNK]>(), near in any::<[bool; CHUNK]>(), needle: u8) {
            let mut bytes = bytes;
            for (byte, near) in bytes.iter_mut().zip(near) {
                *byte = if near { needle ^ (*byte & 0x81) } else { *byte };
            }
            prop_assert_eq!(first_byte(&bytes, needle), bytes.iter().position(|byte| *byte == needle));
        }
    }
}
