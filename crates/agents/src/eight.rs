//! Eight bytes at a time: where one of them is what is looked for.
//!
//! For what is mostly short: a search that is made for long texts takes longer to begin than this to end.

/// How many bytes are looked at at once.
pub(crate) const EIGHT: usize = 8;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The place of the first such byte.
#[inline]
pub(crate) fn first_in(bytes: &[u8; EIGHT], wanted: u8) -> Option<usize> {
    let differs = u64::from_le_bytes(*bytes) ^ (ONES * u64::from(wanted));
    // The lowest bit is that of a byte that does not differ; those above it may be wrong.
    let found = differs.wrapping_sub(ONES) & !differs & HIGHS;
    (found != 0).then(|| (found.trailing_zeros() / 8) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_found(bytes in any::<[u8; EIGHT]>(), near in any::<[bool; EIGHT]>(), wanted: u8) {
            let mut bytes = bytes;
            for (byte, near) in bytes.iter_mut().zip(near) {
                *byte = if near { wanted ^ (*byte & 0x81) } else { *byte };
            }
            prop_assert_eq!(first_in(&bytes, wanted), bytes.iter().position(|byte| *byte == wanted));
        }
    }
}
