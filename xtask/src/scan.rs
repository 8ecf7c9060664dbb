//! Separates code from comments and literals in Rust source, byte by byte.
//!
//! A scanner, not a parser: it knows the bounds of comments and literals, and nothing about the code's
//! meaning. It never fails; invalid source is scanned as far as it makes sense.

/// The kind of a span. Delimiters belong to what they delimit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Text,
    Char,
}

#[derive(Clone, Copy)]
struct Span {
    kind: Kind,
    start: usize,
    end: usize,
}

/// A string literal: its content as written, escapes included, and the line it starts on.
#[derive(Debug, PartialEq, Eq)]
pub struct Literal<'a> {
    pub line: usize,
    pub text: &'a str,
}

/// A word or one punctuation character of code, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub line: usize,
    pub text: &'a str,
}

/// Scanned source.
pub struct Source<'a> {
    text: &'a str,
    spans: Vec<Span>,
    line_starts: Vec<usize>,
}

impl<'a> Source<'a> {
    pub fn scan(text: &'a str) -> Source<'a> {
        let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, spans: Vec::new() };
        while scanner.at < text.len() {
            scanner.advance();
        }
        let after_newlines = text.match_indices('\n').map(|(at, _)| at + 1);
        Source { text, spans: scanner.spans, line_starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the words and punctuation of the code, without comments and literals.
    pub fn tokens(&self) -> Vec<Token<'a>> {
        let mut tokens = Vec::new();
        for Span { start, end, .. } in self.spans_of(Kind::Code) {
            let mut at = start;
            while let Some(character) = self.text[at..end].chars().next() {
                let length = word_length(&self.text[at..end]).max(character.len_utf8());
                if !character.is_whitespace() {
                    tokens.push(Token { line: self.line_of(at), text: &self.text[at..at + length] });
                }
                at += length;
            }
        }
        tokens
    }

    /// Returns the string literals, raw ones included.
    pub fn strings(&self) -> Vec<Literal<'a>> {
        let mut strings = Vec::new();
        for Span { start, end, .. } in self.spans_of(Kind::Text) {
            let literal = &self.text[start..end];
            let content = literal.trim_start_matches(['b', 'c', 'r']).trim_matches('#');
            let content = content.strip_prefix('"').unwrap_or(content);
            let content = content.strip_suffix('"').unwrap_or(content);
            strings.push(Literal { line: self.line_of(start), text: content });
        }
        strings
    }

    /// Returns the lines of every comment.
    pub fn comment_lines(&self) -> Vec<Literal<'a>> {
        let mut lines = Vec::new();
        for Span { start, end, .. } in self.spans_of(Kind::Comment) {
            let first = self.line_of(start);
            let numbered = self.text[start..end].lines().enumerate();
            lines.extend(numbered.map(|(offset, text)| Literal { line: first + offset, text }));
        }
        lines
    }

    fn spans_of(&self, kind: Kind) -> impl Iterator<Item = Span> {
        self.spans.iter().copied().filter(move |span| span.kind == kind)
    }

    fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }
}

/// Returns the length of the word at the start of `text`, zero if there is none.
fn word_length(text: &str) -> usize {
    text.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(text.len())
}

/// Walks the bytes and collects spans.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    spans: Vec<Span>,
}

impl Scanner<'_> {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn mark(&mut self, kind: Kind, length: usize) {
        let end = (self.at + length).min(self.bytes.len());
        match self.spans.last_mut() {
            Some(last) if kind == Kind::Code && last.kind == Kind::Code => last.end = end,
            _ => self.spans.push(Span { kind, start: self.at, end }),
        }
        self.at = end;
    }

    /// Marks the next comment, literal, or single byte of code.
    fn advance(&mut self) {
        match *self.rest() {
            [b'/', b'/', ..] => self.mark(Kind::Comment, line_length(self.rest())),
            [b'/', b'*', ..] => self.mark(Kind::Comment, block_comment_length(self.rest())),
            [b'"', ..] => self.mark(Kind::Text, text_length(self.rest())),
            [b'\'', ..] => self.mark_quote(),
            [b'r' | b'b' | b'c', ..] => self.mark_prefixed(),
            _ => self.mark(Kind::Code, 1),
        }
    }

    /// A quote opens a character literal or a lifetime.
    fn mark_quote(&mut self) {
        match char_length(self.rest()) {
            Some(length) => self.mark(Kind::Char, length),
            None => self.mark(Kind::Code, 1),
        }
    }

    /// `r`, `b` or `c` may be a literal's prefix, or just a letter of a word.
    fn mark_prefixed(&mut self) {
        let in_word = self.at > 0 && is_word(self.bytes[self.at - 1]);
        match raw_text_length(self.rest()) {
            Some(length) if !in_word => self.mark(Kind::Text, length),
            _ => self.mark(Kind::Code, 1),
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn line_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len())
}

/// Block comments nest.
fn block_comment_length(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

fn text_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns `None` if the quote belongs to a lifetime or a label.
fn char_length(bytes: &[u8]) -> Option<usize> {
    if bytes.get(1) == Some(&b'\\') {
        // The byte after the backslash may itself be a quote.
        let close = bytes.get(3..)?.iter().position(|byte| *byte == b'\'')?;
        return Some(3 + close + 1);
    }
    let first = *bytes.get(1)?;
    let width = match first {
        0x00..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    };
    (bytes.get(1 + width) == Some(&b'\'')).then_some(width + 2)
}

/// Returns the length of a raw string that starts here, prefix and hashes included.
fn raw_text_length(bytes: &[u8]) -> Option<usize> {
    let prefix = match bytes {
        [b'b' | b'c', b'r', ..] => 2,
        [b'r', ..] => 1,
        _ => return None,
    };
    let hashes = bytes[prefix..].iter().take_while(|byte| **byte == b'#').count();
    let open = prefix + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let content = bytes[open + 1..].windows(close.len()).position(|window| window == close);
    Some(content.map_or(bytes.len(), |length| open + 1 + length + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        Source::scan(text).tokens().into_iter().map(|token| token.text).collect()
    }

    fn strings(text: &str) -> Vec<&str> {
        Source::scan(text).strings().into_iter().map(|literal| literal.text).collect()
    }

    fn comments(text: &str) -> Vec<&str> {
        Source::scan(text).comment_lines().into_iter().map(|literal| literal.text).collect()
    }

    #[test]
    fn code_is_split_into_words_and_punctuation() {
        assert_eq!(words("let größe_2=a::b;"), ["let", "größe_2", "=", "a", ":", ":", "b", ";"]);
    }

    #[test]
    fn line_comment_ends_with_its_line() {
        assert_eq!(words("a // b \"c\n d"), ["a", "d"]);
        assert_eq!(comments("a // b\n/// c\nd"), ["// b", "/// c"]);
    }

    #[test]
    fn block_comments_nest() {
        assert_eq!(words("a /* b /* c */ d */ e"), ["a", "e"]);
    }

    #[test]
    fn unclosed_comment_or_string_runs_to_the_end() {
        assert_eq!(words("a /* b"), ["a"]);
        assert_eq!(words("a \"b"), ["a"]);
        assert_eq!(words("a r#\"b\""), ["a"]);
    }

    #[test]
    fn escaped_quote_does_not_close_a_string() {
        assert_eq!(strings(r#"f("a \" b", "c")"#), [r#"a \" b"#, "c"]);
        assert_eq!(words(r#"f("a \\", b)"#), ["f", "(", ",", "b", ")"]);
    }

    #[test]
    fn raw_strings_close_at_their_own_hashes() {
        assert_eq!(
            strings(r###"x(r#"a "b" c"#, br"\", cr##"d"# e"##)"###),
            [r#"a "b" c"#, r"\", r##"d"# e"##]
        );
    }

    #[test]
    fn raw_identifier_is_code() {
        assert_eq!(words("r#type r b"), ["r", "#", "type", "r", "b"]);
    }

    #[test]
    fn word_that_ends_in_a_prefix_letter_is_code() {
        assert_eq!(words("for bar\"x\""), ["for", "bar"]);
    }

    #[test]
    fn strings_that_touch_are_told_apart() {
        assert_eq!(strings("m!(\"a\"\"b\")"), ["a", "b"]);
    }

    #[test]
    fn characters_are_not_lifetimes() {
        assert_eq!(
            words("f::<'a>('\"', '\\'', 'é', b'x') 'outer: loop"),
            words("f::<'a>( , , , b) 'outer: loop")
        );
    }

    #[test]
    fn lines_are_counted_from_one() {
        let source = Source::scan("a\n\"b\nc\" // d\ne");
        assert_eq!(source.tokens().last(), Some(&Token { line: 4, text: "e" }));
        assert_eq!(source.strings(), [Literal { line: 2, text: "b\nc" }]);
        assert_eq!(source.comment_lines(), [Literal { line: 3, text: "// d" }]);
    }
}
