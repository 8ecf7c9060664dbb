//! Parses licence expressions as far as crates use them: `OR`, `AND`, `WITH`, parentheses, and the old slash
//! for `OR`.
//!
//! Licence ids are compared literally: `GPL-2.0-only` does not satisfy `GPL-2.0-or-later`, and a licence with
//! an exception is satisfied only by that licence with that exception.

/// A parsed expression.
#[derive(Debug, PartialEq, Eq)]
pub enum Expression {
    Licence(String),
    Any(Vec<Expression>),
    All(Vec<Expression>),
}

impl Expression {
    /// Whether the allowed licences satisfy the expression.
    pub fn is_met_by(&self, allowed: &[String]) -> bool {
        match self {
            Expression::Licence(id) => allowed.contains(id),
            Expression::Any(options) => options.iter().any(|option| option.is_met_by(allowed)),
            Expression::All(parts) => parts.iter().all(|part| part.is_met_by(allowed)),
        }
    }
}

pub fn parse(text: &str) -> Result<Expression, String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), at: 0 };
    let expression = any(&mut words)?;
    match words.next() {
        None => Ok(expression),
        Some(word) => Err(format!("`{word}` was not expected")),
    }
}

struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    /// Takes the next word if it is `word`.
    fn take(&mut self, word: &str) -> Option<()> {
        (self.words.get(self.at) == Some(&word)).then(|| self.at += 1)
    }
}

/// `AND` binds closer than `OR`.
fn any(words: &mut Words<'_>) -> Result<Expression, String> {
    let mut options = vec![all(words)?];
    while words.take("OR").is_some() {
        options.push(all(words)?);
    }
    Ok(flattened(options, Expression::Any))
}

fn all(words: &mut Words<'_>) -> Result<Expression, String> {
    let mut parts = vec![single(words)?];
    while words.take("AND").is_some() {
        parts.push(single(words)?);
    }
    Ok(flattened(parts, Expression::All))
}

fn single(words: &mut Words<'_>) -> Result<Expression, String> {
    match words.next() {
        Some("(") => {
            let inner = any(words)?;
            words.take(")").ok_or("a parenthesis is not closed")?;
            Ok(inner)
        }
        Some(id) if is_id(id) => with_exception(id, words),
        Some(word) => Err(format!("`{word}` is no licence")),
        None => Err("it ends too early".to_owned()),
    }
}

fn with_exception(id: &str, words: &mut Words<'_>) -> Result<Expression, String> {
    if words.take("WITH").is_none() {
        return Ok(Expression::Licence(id.to_owned()));
    }
    let exception = words.next().filter(|word| is_id(word)).ok_or("`WITH` needs an exception")?;
    Ok(Expression::Licence(format!("{id} WITH {exception}")))
}

fn is_id(word: &str) -> bool {
    !matches!(word, "OR" | "AND" | "WITH" | "(" | ")")
}

fn flattened(mut parts: Vec<Expression>, wrap: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.len() {
        1 => parts.remove(0),
        _ => wrap(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, allowed: &[&str], expected: bool) {
        let allowed: Vec<String> = allowed.iter().map(|id| (*id).to_owned()).collect();
        assert_eq!(parse(text).unwrap().is_met_by(&allowed), expected, "{text} by {allowed:?}");
    }

    #[test]
    fn one_of_several_options_suffices() {
        check("MIT OR Apache-2.0", &["MIT"], true);
        check("MIT/Apache-2.0", &["Apache-2.0"], true);
        check("MIT OR Apache-2.0", &["ISC"], false);
    }

    #[test]
    fn every_part_is_needed() {
        check("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT", "Unicode-3.0"], true);
        check("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT"], false);
    }

    #[test]
    fn and_binds_closer_than_or() {
        check("MIT OR Apache-2.0 AND ISC", &["MIT"], true);
        check("MIT AND Apache-2.0 OR ISC", &["MIT"], false);
    }

    #[test]
    fn exception_belongs_to_its_licence() {
        check("Apache-2.0 WITH LLVM-exception", &["Apache-2.0"], false);
        check("Apache-2.0 WITH LLVM-exception", &["Apache-2.0 WITH LLVM-exception"], true);
        check("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", &["MIT"], true);
    }

    #[test]
    fn malformed_expressions_are_refused() {
        for text in ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "MIT WITH OR"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
