//! Separates code, comments and string literals of Rust source, with their lines.
//!
//! It knows nothing about the code's meaning. Source that does not lex has no tokens: the compiler refuses it.

use std::ops::Range;

use proc_macro2::{Span, TokenStream, TokenTree};

/// A piece of source and its first line: a word or one punctuation character of code, the content of a string
/// literal as written, or a line of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub line: usize,
    pub text: &'a str,
}

pub struct Source<'a> {
    pub text: &'a str,
    /// The words and punctuation of the code.
    pub tokens: Vec<Token<'a>>,
    /// The string literals, raw ones included.
    pub strings: Vec<Token<'a>>,
    /// The lines of every comment.
    pub comments: Vec<Token<'a>>,
    /// The end of the last token, and its line.
    end: usize,
    line: usize,
}

impl<'a> Source<'a> {
    pub fn scan(text: &'a str) -> Source<'a> {
        let mut source = Source { text, tokens: vec![], strings: vec![], comments: vec![], end: 0, line: 1 };
        source.add_all(text.parse().unwrap_or_default());
        source.add_comments(text.len());
        source
    }

    fn add_all(&mut self, stream: TokenStream) {
        // A doc comment becomes an attribute whose tokens all have the place of the comment.
        let text = self.text;
        let is_doc = |tree: &TokenTree| {
            let text = &text[tree.span().byte_range()];
            text.starts_with("//") || text.starts_with("/*")
        };
        for tree in stream.into_iter().filter(|tree| !is_doc(tree)) {
            match tree {
                TokenTree::Group(group) => {
                    self.add_token(group.span_open());
                    self.add_all(group.stream());
                    self.add_token(group.span_close());
                }
                TokenTree::Literal(literal) => self.add_literal(literal.span()),
                TokenTree::Ident(_) | TokenTree::Punct(_) => self.add_token(tree.span()),
            }
        }
    }

    fn add_token(&mut self, span: Span) {
        let text = self.pass(span);
        self.tokens.push(Token { line: span.start().line, text });
    }

    fn add_literal(&mut self, span: Span) {
        let literal = self.pass(span).trim_start_matches(['b', 'c', 'r']).trim_matches('#');
        let content = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        self.strings.extend(content.map(|text| Token { line: span.start().line, text }));
    }

    /// Takes the comments before a token, and returns its text.
    fn pass(&mut self, span: Span) -> &'a str {
        let Range { start, end } = span.byte_range();
        self.add_comments(start);
        (self.end, self.line) = (end, span.end().line);
        &self.text[start..end]
    }

    /// Between two tokens there are only blanks and comments.
    fn add_comments(&mut self, start: usize) {
        let lines = self.text[self.end..start].lines().zip(self.line..);
        let comments = lines.map(|(text, line)| Token { line, text: text.trim() });
        self.comments.extend(comments.filter(|comment| !comment.text.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        Source::scan(text).tokens.into_iter().map(|token| token.text).collect()
    }

    fn strings(text: &str) -> Vec<&str> {
        Source::scan(text).strings.into_iter().map(|literal| literal.text).collect()
    }

    fn comments(text: &str) -> Vec<&str> {
        Source::scan(text).comments.into_iter().map(|literal| literal.text).collect()
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
    fn source_that_does_not_lex_has_no_tokens() {
        assert_eq!(words("a \"b"), [""; 0]);
        assert_eq!(words("a ( b"), [""; 0]);
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
        assert_eq!(words("r#type r b"), ["r#type", "r", "b"]);
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
            words("f::<'a>( , , , ) 'outer: loop")
        );
    }

    #[test]
    fn lines_are_counted_from_one() {
        let source = Source::scan("a\n\"b\nc\" // d\ne");
        assert_eq!(source.tokens.last(), Some(&Token { line: 4, text: "e" }));
        assert_eq!(source.strings, [Token { line: 2, text: "b\nc" }]);
        assert_eq!(source.comments, [Token { line: 3, text: "// d" }]);
    }
}
