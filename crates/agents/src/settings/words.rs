//! Shell words of plain commands.
//!
//! Runs no shell and expands nothing: a text with operators or substitutions is not a plain command.

/// Splits a plain command into its words. `None` for anything that a shell would not run as one command.
pub(super) fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(next) = rest.next() {
        match next {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => word.get_or_insert_default().push_str(&single_quoted(&mut rest)?),
            '"' => word.get_or_insert_default().push_str(&double_quoted(&mut rest)?),
            '\\' => word.get_or_insert_default().push(rest.next()?),
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '`' | '\n' | '\r' => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

/// The word in a form that every POSIX shell reads as exactly this word.
pub fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn single_quoted(rest: &mut std::str::Chars<'_>) -> Option<String> {
    let (inside, after) = rest.as_str().split_once('\'')?;
    *rest = after.chars();
    Some(inside.to_owned())
}

fn double_quoted(rest: &mut std::str::Chars<'_>) -> Option<String> {
    let mut inside = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(inside),
            '`' => return None,
            '\\' => match rest.next()? {
                escaped @ ('"' | '\\' | '$' | '`') => inside.push(escaped),
                other => inside.extend(['\\', other]),
            },
            plain => inside.push(plain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, expected: Option<&[&str]>) {
        let expected = expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(split(command), expected, "{command}");
    }

    #[test]
    fn quotes_and_backslashes_make_one_word() {
        check("a  'b c'\td", Some(&["a", "b c", "d"]));
        check(r#""a \"b\" \x"c'd' e\ f"#, Some(&[r#"a "b" \xcd"#, "e f"]));
        check("'' x", Some(&["", "x"]));
        check("  ", Some(&[]));
    }

    #[test]
    fn operators_and_open_quotes_are_no_plain_command() {
        for command in ["a && b", "a; b", "a | b", "a > f", "$(a)", "a `b`", "a\nb", "a 'b", "a \"b", "a \\"]
        {
            check(command, None);
        }
    }

    #[test]
    fn quoted_word_is_read_back_as_itself() {
        for word in ["/usr/bin/tow", "/a b/tow", "/it's/tow", "/$x/\"y\"\\z", "", "/é/tow"] {
            check(&quote(word), Some(&[word]));
        }
        assert_eq!(quote("/usr/local/bin/tow"), "/usr/local/bin/tow");
    }
}
