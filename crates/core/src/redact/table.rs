//! Finds secrets in Markdown tables: in the cell after a telling one, and in the column below a telling header.
//!
//! In a column, one finding reaches from the first secret to the last, with the cells between them.

use super::bytes::{ScanText, byte_at, is_gap, is_quote, length_of, start_of};
use super::extent::{Quoting, ValueExtent};
use super::family::{Name, name_before};
use super::judge::ValueContext;
use super::kind::SecretMatch;
use super::named::{judged, says_enough};

/// Longer lines are not written by hand.
const LONGEST_LINE: usize = 400;

/// Columns with more rows are data.
const MOST_ROWS: usize = 64;

/// Finds the secret after the cell that ends with the bar at `here`.
pub fn cell(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let name = name_before(text, here).filter(|name| says_enough(*name))?;
    let line = start_of(text.bytes, text.floor, here, LONGEST_LINE, |byte| !matches!(byte, b'\n' | b'\\'));
    let (_, rows) = line_end(text.bytes, here);
    let is_rule = |byte: u8| matches!(byte, b'-' | b':' | b'|' | b' ');
    let rule = length_of(text.bytes, rows, LONGEST_LINE, is_rule);
    let (end, mut row) = line_end(text.bytes, rows);
    if rule < 3 || rows + rule != end {
        return value(text, name, here + 1);
    }
    let column = text.bytes[line..here].iter().filter(|byte| **byte == b'|').count();
    let mut found: Option<SecretMatch> = None;
    for _ in 0..MOST_ROWS {
        let (end, next) = line_end(text.bytes, row);
        let Some(bar) = bar_before(text.bytes, row, end, column) else { break };
        let cell = value(text, name, bar + 1);
        found = match (found, cell) {
            (Some(first), Some(last)) => Some(SecretMatch { end: last.end, ..first }),
            (first, last) => first.or(last),
        };
        row = next;
    }
    found
}

/// The value of the cell at `from`, if it is a secret and fills its cell.
fn value(text: ScanText<'_>, name: Name, from: usize) -> Option<SecretMatch> {
    if !byte_at(text.bytes, from).is_some_and(is_gap) {
        return None;
    }
    let extent = ValueExtent::after(text.bytes, from, Quoting::Bare);
    let quote = usize::from(byte_at(text.bytes, extent.probed).is_some_and(is_quote));
    let after = extent.probed + quote;
    let bar = after + length_of(text.bytes, after, 64, is_gap);
    let is_filled = byte_at(text.bytes, bar) == Some(b'|');
    let context = if extent.is_bare() { ValueContext::Bare } else { ValueContext::Argument };
    is_filled.then(|| judged(text, name, extent, context))?
}

/// The end of the line at `from`, and the start of the next one; the line break may be escaped.
fn line_end(bytes: &[u8], from: usize) -> (usize, usize) {
    let length = length_of(bytes, from, LONGEST_LINE, |byte| !matches!(byte, b'\n' | b'\\'));
    let is_escape = byte_at(bytes, from + length) == Some(b'\\');
    (from + length, from + length + 1 + usize::from(is_escape))
}

/// The bar that opens the cell of `column` in the row from `row` to `end`.
fn bar_before(bytes: &[u8], row: usize, end: usize, column: usize) -> Option<usize> {
    let is_bar = |index: &usize| bytes[*index] == b'|';
    (row..end.min(bytes.len())).filter(is_bar).nth(column.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn secrets_in_tables_are_cut() {
        check("| API key | q8Zt3vLw0X |", "| API key | [redacted:secret] |");
        check("| `DB_PASSWORD` | `q8Zt3vLw` |", "| `DB_PASSWORD` | `[redacted:password]` |");
        check(
            "| user | password |\n|---|---|\n| a | q8Zt3v |\n| b | x7Rt2p |\n",
            "| user | password |\n|---|---|\n| a | [redacted:password] |\n",
        );
    }

    #[test]
    fn tables_about_secrets_stay() {
        for text in [
            "| `token` | string | the token to use |",
            "| name | password |\n|---|---|\n| a | yes |\n",
            "| password | varchar(255) | |",
            "let all = Token | Secret | Key;",
        ] {
            check(text, text);
        }
    }
}
