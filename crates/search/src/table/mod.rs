//! The static table: a vector for each word piece, compiled in and read in place.
//!
//! Startup parses and copies nothing: a process that does not search pays nothing for it. `recipes/static-table`
//! documents how the table was made.

mod pieces;

pub use pieces::pieces;

/// The number of a word piece.
pub type WordPiece = u16;

/// Numbers per row.
pub const DIMENSIONS: usize = 128;

/// The number of pieces.
pub const PIECES: usize = 30_522;

const SLOTS: usize = 1 << 16;
const EMPTY: u16 = u16::MAX;

static BYTES: &[u8] = include_bytes!("../../table.bin");

// The sections in file order: see `recipes/static-table/distil.py`.
const HEADER: usize = 20;
const ROWS: usize = HEADER;
const SCALES: usize = ROWS + PIECES * DIMENSIONS;
const SHARES: usize = SCALES + PIECES * 2;
const ENDS: usize = SHARES + PIECES * 2;
const HASHES: usize = ENDS + PIECES * 4;
const SPELLINGS: usize = HASHES + SLOTS * 2;

/// A piece's row and the scale to multiply its numbers by.
pub fn row(piece: WordPiece) -> (&'static [u8], f32) {
    let at = ROWS + usize::from(piece) * DIMENSIONS;
    let scale = f32::from_bits(u32::from(half(SCALES, usize::from(piece))) << 16);
    (&BYTES[at..at + DIMENSIONS], scale)
}

/// The share of ordinary texts that contain the piece.
pub fn share(piece: WordPiece) -> f32 {
    f32::from(half(SHARES, usize::from(piece))) / 65_535.0
}

/// The piece with this spelling; a continuation is spelled with a leading `##`.
fn find_piece(hash: PieceHash, bytes: &[u8]) -> Option<WordPiece> {
    let mut slot = hash.slot();
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

fn spelling(piece: WordPiece) -> &'static [u8] {
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

/// The 32-bit FNV-1a hash of a spelling.
#[derive(Clone, Copy)]
struct PieceHash(u32);

impl PieceHash {
    const EMPTY: PieceHash = PieceHash(0x811C_9DC5);

    fn with(self, byte: u8) -> PieceHash {
        PieceHash((self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    fn slot(self) -> usize {
        usize::from(((self.0 >> 16) ^ self.0) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(bytes: &[u8]) -> Option<WordPiece> {
        let hash = bytes.iter().fold(PieceHash::EMPTY, |hash, byte| hash.with(*byte));
        find_piece(hash, bytes)
    }

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
        for piece in 0..PIECES as WordPiece {
            assert_eq!(find(spelling(piece)), Some(piece));
        }
        assert_eq!(find(b"no such piece"), None);
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
        let (row, scale) = row(find(word.as_bytes()).unwrap());
        row.iter().map(|byte| f32::from(*byte as i8) * scale).collect()
    }
}
