//! The static table: a vector for each piece of a word, compiled in and read where it lies.
//!
//! Nothing is parsed or copied at start: a process that does not search pays nothing for it. How the table was made:
//! `recipes/static-table`.

mod pieces;

pub use pieces::pieces;

/// The number of a piece of a word.
pub type Piece = u16;

/// Numbers in each row.
pub const DIMENSIONS: usize = 128;

/// How many pieces there are.
pub const PIECES: usize = 30_522;

const SLOTS: usize = 1 << 16;
const EMPTY: u16 = u16::MAX;

static BYTES: &[u8] = include_bytes!("../../table.bin");

// The parts, one after another: see `recipes/static-table/distil.py`.
const HEAD: usize = 20;
const ROWS: usize = HEAD;
const SCALES: usize = ROWS + PIECES * DIMENSIONS;
const SHARES: usize = SCALES + PIECES * 2;
const ENDS: usize = SHARES + PIECES * 2;
const HASHES: usize = ENDS + PIECES * 4;
const SPELLINGS: usize = HASHES + SLOTS * 2;

/// A piece's row; each number is to be multiplied by the scale.
pub fn row(piece: Piece) -> (&'static [u8], f32) {
    let at = ROWS + usize::from(piece) * DIMENSIONS;
    let scale = f32::from_bits(u32::from(half(SCALES, usize::from(piece))) << 16);
    (&BYTES[at..at + DIMENSIONS], scale)
}

/// The share of ordinary texts that hold the piece.
pub fn share(piece: Piece) -> f32 {
    f32::from(half(SHARES, usize::from(piece))) / 65_535.0
}

/// The piece that is spelled so; the rest of a word is spelled with `##` before it.
fn spelled(bytes: &[u8]) -> Option<Piece> {
    let mut slot = usize::from(hashed(bytes));
    loop {
        let piece = half(HASHES, slot);
        if piece == EMPTY {
            return None;
        }
        if spelling(piece) == bytes {
            return Some(piece);
        }
        slot = (slot + 1) % SLOTS;
    }
}

fn spelling(piece: Piece) -> &'static [u8] {
    let number = usize::from(piece);
    let start = if number == 0 { 0 } else { end(number - 1) };
    &BYTES[SPELLINGS + start..SPELLINGS + end(number)]
}

fn end(number: usize) -> usize {
    let at = ENDS + number * 4;
    u32::from_le_bytes([BYTES[at], BYTES[at + 1], BYTES[at + 2], BYTES[at + 3]]) as usize
}

fn half(part: usize, number: usize) -> u16 {
    u16::from_le_bytes([BYTES[part + number * 2], BYTES[part + number * 2 + 1]])
}

/// FNV-1a of 32 bits, folded to 16.
fn hashed(bytes: &[u8]) -> u16 {
    let whole = bytes
        .iter()
        .fold(0x811C_9DC5_u32, |value, byte| (value ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    ((whole >> 16) ^ whole) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(at: usize) -> usize {
        u32::from_le_bytes(BYTES[at..at + 4].try_into().unwrap()) as usize
    }

    #[test]
    fn table_has_the_form_that_is_read() {
        assert_eq!(&BYTES[..4], b"TOWT");
        assert_eq!((number(4), number(8), number(12)), (1, PIECES, DIMENSIONS));
        assert_eq!(BYTES.len(), SPELLINGS + number(16));
    }

    #[test]
    fn every_piece_is_found_by_its_spelling() {
        for piece in 0..PIECES as Piece {
            assert_eq!(spelled(spelling(piece)), Some(piece));
        }
        assert_eq!(spelled(b"no such piece"), None);
    }

    #[test]
    fn words_of_like_meaning_are_near() {
        let near = cosine("database", "sql");
        let far = cosine("database", "banana");
        assert!(near > far + 0.1, "{near} {far}");
    }

    fn cosine(a: &str, b: &str) -> f32 {
        let (a, b) = (vector(a), vector(b));
        let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
        dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
    }

    fn vector(word: &str) -> Vec<f32> {
        let (row, scale) = row(spelled(word.as_bytes()).unwrap());
        row.iter().map(|byte| f32::from(*byte as i8) * scale).collect()
    }
}
