//! An upper estimate of a text's tokens, without a tokenizer.
//!
//! Takes the larger of two counts: the client's own, which divides bytes, and one by character classes. The latter was
//! fitted to a byte-pair vocabulary of 200,000 tokens: words, digits in threes, punctuation, scripts by how well the
//! vocabulary covers them. Random letters of a covered script may take more; written language does not.

use std::ops::Range;

/// The client's fixed ratio, whatever the bytes are (`e2e_budget` measures it).
pub const BYTES_PER_TOKEN: usize = 4;

/// Costs are counted in quarters of a token.
const TOKEN: usize = 4;

/// Alphanumeric runs from this length on are checked for being a key instead of a name.
const MIN_KEY_BYTES: usize = 8;

/// An upper estimate for one line, with its line break.
pub fn of_line(line: &str) -> usize {
    line.len().div_ceil(BYTES_PER_TOKEN).max(by_characters(line))
}

fn by_characters(line: &str) -> usize {
    let (mut quarters, mut rest) = (0, line);
    while let Some(first) = rest.chars().next() {
        let length = run_length(rest, first);
        let (run, after) = rest.split_at(length);
        quarters += cost(run, first, after);
        rest = after;
    }
    quarters.div_ceil(TOKEN)
}

/// Bytes of the run that begins with `first`: characters of one class, or one repeated symbol.
fn run_length(rest: &str, first: char) -> usize {
    match first {
        'a'..='z' | 'A'..='Z' | '0'..='9' => bytes_while(rest, |byte| byte.is_ascii_alphanumeric()),
        ' ' | '\t' => bytes_while(rest, |byte| matches!(byte, b' ' | b'\t')),
        '\0'..='\x7f' => bytes_while(rest, |byte| char::from(byte) == first),
        _ => first.len_utf8(),
    }
}

fn bytes_while(rest: &str, is_in: impl Fn(u8) -> bool) -> usize {
    rest.bytes().position(|byte| !is_in(byte)).unwrap_or(rest.len())
}

fn cost(run: &str, first: char, after: &str) -> usize {
    match first {
        'a'..='z' | 'A'..='Z' | '0'..='9' => cost_of_name(run),
        // A single space is part of the token of the following word.
        ' ' | '\t' if run.len() == 1 && after.starts_with(|c: char| !c.is_ascii_digit() && c != '\n') => 0,
        ' ' | '\t' => TOKEN,
        '\0'..='\x7f' => TOKEN * (1 + (run.len() - 1) / 4),
        _ => cost_of_character(first),
    }
}

/// Cost of an alphanumeric run: split as a tokenizer splits it, and more expensive if it looks like a key.
fn cost_of_name(run: &str) -> usize {
    let cost = if run.len() >= MIN_KEY_BYTES && looks_like_key(run) { cost_in_key } else { cost_of_word };
    pieces(run.as_bytes()).map(|within| cost(&run[within])).sum()
}

fn looks_like_key(run: &str) -> bool {
    let is_word = |within: &Range<usize>| !run.as_bytes()[within.start].is_ascii_digit();
    let (number, words) = pieces(run.as_bytes())
        .fold((0, 0), |(all, words), piece| (all + 1, words + usize::from(is_word(&piece))));
    let is_mixed = words >= 2 && words < number;
    let is_choppy = run.len() >= 12 && number * 3 > run.len();
    is_mixed || is_choppy
}

fn cost_in_key(piece: &str) -> usize {
    match piece.len() {
        _ if piece.as_bytes()[0].is_ascii_digit() => TOKEN,
        length @ 0..=8 => TOKEN.max(length * 3),
        length => 2 + length * 2,
    }
}

fn cost_of_word(piece: &str) -> usize {
    let capitals = piece.bytes().take_while(u8::is_ascii_uppercase).count();
    match piece.len() {
        _ if piece.as_bytes()[0].is_ascii_digit() => TOKEN,
        length if length > 16 => length * 5 / 2,
        length if capitals > 2 => TOKEN.max(length * 2),
        length => TOKEN + length.saturating_sub(5),
    }
}

/// Capitals with the lower-case letters after them, and digits in threes.
fn pieces(run: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let count =
            |start: usize, is_in: fn(&u8) -> bool| run[start..].iter().take_while(|byte| is_in(byte)).count();
        let start = from;
        from += match run.get(start)? {
            b'0'..=b'9' => count(start, u8::is_ascii_digit).min(3),
            _ => {
                let capitals = count(start, u8::is_ascii_uppercase);
                capitals + count(start + capitals, u8::is_ascii_lowercase)
            }
        };
        Some(start..from)
    })
}

/// Cost outside ASCII: never more than the bytes, to which a byte-pair vocabulary can always fall back.
fn cost_of_character(c: char) -> usize {
    match c {
        // Latin, Greek, Cyrillic, Hebrew, Arabic.
        '\u{80}'..'\u{180}' | '\u{370}'..'\u{530}' | '\u{590}'..'\u{700}' => 3,
        // India, Thailand, Georgia, Korea, China, Japan; signs, arrows, boxes.
        '\u{900}'..'\u{f00}' | '\u{10a0}'..'\u{1200}' | '\u{1e00}'..'\u{2c00}' | '\u{3000}'..'\u{3400}' => 5,
        '\u{4e00}'..'\u{a000}' | '\u{ac00}'..'\u{d7b0}' | '\u{ff00}'..'\u{fff0}' => 5,
        '\u{1f300}'..'\u{1fb00}' => 12,
        _ => TOKEN * c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts by a real tokenizer with 200,000 tokens, for texts of every kind.
    const COUNTED: &[(&str, usize)] = &[
        (
            "The client cuts what is longer than its limit, and the model then sees no more than the beginning of it.",
            23,
        ),
        (
            "I moved the retry loop behind the lock, ran the tests twice, and both runs were green. Shall I commit?",
            24,
        ),
        ("let Some(rest) = left.checked_sub(room.size_of(&line)) else { break };", 18),
        ("pub fn cut_blocks<'a>(text: &'a str, open: &str, close: &str) -> Cow<'a, str> {", 31),
        ("for (const entry of Object.entries(await response.json())) { map.set(entry[0], entry[1]); }", 23),
        (r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text"}]},"uuid":"1"}"#, 24),
        ("2026-11-14T14:05:10.123Z ERROR [worker-3] connection refused: 10.0.0.12:5432 (attempt 3 of 5)", 43),
        ("error[E0502]: cannot borrow `*self` as mutable because it is also borrowed as immutable", 20),
        ("/usr/lib/x86_64-linux-gnu/libssl.so.3 => /opt/harbour/lib/libssl.so.3.0.13", 30),
        ("引き継ぎの文脈が大きすぎると、クライアントはそれを切り捨てて、モデルには先頭しか届かない。", 40),
        ("上下文太大时，客户端会把它截断，模型只能看到开头的一部分。请检查测试是否全部通过，然后提交。", 30),
        ("컨텍스트가 너무 크면 클라이언트가 잘라내고 모델은 앞부분만 보게 됩니다. 테스트를 확인하세요.", 30),
        ("Если контекст слишком велик, клиент обрезает его, и модель видит только начало.", 19),
        ("إذا كان السياق كبيرا جدا، يقطعه العميل ولا يرى النموذج إلا البداية.", 19),
        (
            "Wenn der Kontext zu groß ist, schneidet der Client ihn ab: Übertragungsgeschwindigkeiten zählen nicht.",
            24,
        ),
        ("TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz", 47),
        ("k7Gq2xVbN0pLzR9sWtYcHf3mJdQeUa5iTo8E1vXrKgBh6nMwPyC4DuSjZlFIOA", 52),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 43),
        ("0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d", 35),
        ("🚀🔥✅ done 🎉 next 👩‍💻 → 🧪🧪", 20),
        ("31415926535897932384626433832795028841971693993751058209749445923", 22),
        ("┌──────────────┬─────────┐ │ name │ value │", 16),
        ("ዐውዱ በጣም ትልቅ ከሆነ ደንበኛው ይቆርጠዋል", 51),
    ];

    #[test]
    fn no_text_of_any_kind_takes_more_than_estimated() {
        for (text, real) in COUNTED {
            assert!(of_line(text) >= *real, "{text}: {} < {real}", of_line(text));
        }
    }

    #[test]
    fn the_estimate_for_english_prose_is_the_clients_count() {
        for (text, real) in &COUNTED[..2] {
            assert_eq!(of_line(text), text.len().div_ceil(BYTES_PER_TOKEN), "{text}");
            assert!(of_line(text) * 4 <= real * 5, "{text}: {}", of_line(text));
        }
    }

    #[test]
    fn no_estimate_is_below_the_clients_count() {
        assert_eq!(of_line(&"a".repeat(16)), 4);
        assert_eq!(of_line("é漢🚀\n"), 6);
        assert_eq!(of_line(""), 0);
    }

    proptest! {
        #[test]
        fn more_lines_never_take_less(text in "\\PC{0,60}", more in "\\PC{1,60}") {
            let lines = format!("{text}\n{more}");
            let sum: usize = lines.split_inclusive('\n').map(of_line).sum();
            prop_assert!(sum >= of_line(&text) && sum >= of_line(&more));
        }

        #[test]
        fn a_line_never_takes_more_than_its_bytes(text in any::<String>()) {
            prop_assert!(of_line(&text) <= text.len().max(1));
        }
    }
}
