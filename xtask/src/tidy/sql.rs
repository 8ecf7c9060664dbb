//! SQL lives in `store` and `hub` alone.
//!
//! It looks at the shape of string literals, not at words: a sentence that begins with "select" or "update"
//! is no statement.

use super::finding::{Finding, Rule};
use crate::scan::Source;

/// Where SQL may stand, and why.
const HOMES: [(&str, &str); 5] = [
    ("crates/store/", "owns the database"),
    ("crates/hub/", "owns the shared database"),
    ("crates/testkit/src/postgres.rs", "makes logins for tests"),
    ("crates/cli/tests/hub", "looks at the shared database as its administrator may"),
    ("xtask/src/tidy/sql.rs", "shows the shapes it looks for"),
];

const RULE: Rule = Rule {
    why: "one crate must know all that reads or changes the tables",
    mend: "give `crates/store` a method for it",
};

pub fn check(path: &str, source: &Source<'_>) -> Vec<Finding> {
    if HOMES.iter().any(|(home, _)| path.starts_with(home)) {
        return Vec::new();
    }
    let statements = source.strings.iter().filter(|literal| is_statement(literal.text));
    let findings = statements.map(|literal| {
        let start: Vec<&str> = literal.text.split_whitespace().take(4).collect();
        RULE.violation(path, literal.line, format!("SQL outside the store (`{} …`)", start.join(" ")))
    });
    findings.collect()
}

fn is_statement(literal: &str) -> bool {
    let lower = literal.to_lowercase();
    let words = words(&lower);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["select", rest @ ..] => is_selection(rest),
        ["insert", "into", table, ..] | ["insert", "or", _, "into", table, ..] => is_table(table),
        ["replace", "into", table, ..] => is_table(table),
        ["update", table, "set", ..] | ["update", "or", _, table, "set", ..] => is_table(table),
        ["delete", "from", table, rest @ ..] => is_table(table) && follows_table(rest),
        ["create" | "drop" | "alter", rest @ ..] => is_schema(rest),
        ["pragma", _] | ["pragma", _, "=" | "(" | ";" | ".", ..] => true,
        ["begin", "immediate" | "exclusive" | "deferred", ..] => true,
        ["explain", "query", "plan", ..] => true,
        _ => false,
    }
}

/// Splits into words and punctuation; placeholders such as `?1` fall apart, which does no harm.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut in_word = false;
    for character in text.replace("\\n", " ").chars() {
        let is_word = character.is_alphanumeric() || character == '_';
        match words.last_mut() {
            Some(word) if is_word && in_word => word.push(character),
            _ if character.is_whitespace() || character == '\\' => {}
            _ => words.push(character.to_string()),
        }
        in_word = is_word;
    }
    words
}

/// `select` COLUMNS `from` TABLE, where several columns need commas; prose has none before its "from".
fn is_selection(rest: &[&str]) -> bool {
    let Some(from) = rest.iter().position(|word| *word == "from") else {
        return matches!(rest, [_, "(", ")"]) || matches!(rest, [number] if number.parse::<u64>().is_ok());
    };
    let (columns, after) = (&rest[..from], &rest[from + 1..]);
    let shaped =
        columns.len() == 1 || columns.iter().any(|word| matches!(*word, "," | "(" | "*" | "." | "as"));
    let Some((table, tail)) = after.split_first() else { return shaped };
    shaped
        && (*table == "("
            || (is_table(table) && (columns.len() > 1 || columns == ["*"] || follows_table(tail))))
}

/// The first word after a table's name; anything else is the next word of a sentence.
fn follows_table(rest: &[&str]) -> bool {
    let next = rest.first().copied();
    next.is_none_or(|word| {
        matches!(word, "where" | "order" | "group" | "limit" | "join" | "left" | "inner" | "returning" | "as")
            || !word.chars().all(char::is_alphanumeric)
    })
}

fn is_schema(rest: &[&str]) -> bool {
    let rest = match rest {
        ["temp" | "temporary" | "unique" | "virtual", rest @ ..] => rest,
        _ => rest,
    };
    matches!(rest, ["table" | "index" | "trigger" | "view", "if", ..])
        || matches!(rest, ["table" | "index" | "trigger" | "view", name, ..] if is_table(name))
}

/// No table is called by an article: that is a sentence.
fn is_table(word: &str) -> bool {
    let is_article =
        matches!(word, "the" | "a" | "an" | "your" | "this" | "that" | "its" | "their" | "of" | "for");
    !is_article
        && word.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '{' | '"' | '`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_literal(literal: &str, expected: bool) {
        let text = format!("const A: &str = r#\"{literal}\"#;");
        assert_eq!(!check("crates/cli/src/a.rs", &Source::scan(&text)).is_empty(), expected, "{literal}");
    }

    #[test]
    fn statements_are_found_whatever_their_case() {
        for statement in [
            "select id, last_seen from sessions where id = ?1",
            "SELECT * FROM sessions",
            "select count(*) from events",
            "select id from sessions",
            "\n    select max(id)\n    from events",
            "select 1",
            "select changes()",
            "insert into sessions (id) values (?1)",
            "insert or ignore into sessions (id) values (?1)",
            "update sessions set last_seen = ?1",
            "Delete From sessions",
            "delete from sessions where id = ?1",
            "create table sessions (id text) strict",
            "create unique index by_seat on sessions (seat)",
            "create virtual table words using fts5 (body)",
            "drop table if exists sessions",
            "pragma integrity_check",
            "PRAGMA journal_mode = wal",
            "begin immediate",
            "explain query plan select 1",
        ] {
            check_literal(statement, true);
        }
    }

    #[test]
    fn sentences_are_not_statements() {
        for sentence in [
            "select a session from the list",
            "select one from the list",
            "select",
            "selected rows from here",
            "update the settings, then set the key",
            "update settings",
            "insert into the queue",
            "delete from the store",
            "delete from here on",
            "create the table of checks",
            "create a folder",
            "pragma of the day",
            "begin",
            "begin with a prompt",
            "could not open the store",
        ] {
            check_literal(sentence, false);
        }
    }

    #[test]
    fn store_may_hold_sql_and_comments_may_mention_it() {
        let source = "const A: &str = \"delete from sessions\";";
        assert_eq!(check("crates/store/src/a.rs", &Source::scan(source)), []);
        assert_eq!(check("crates/store/tests/a.rs", &Source::scan(source)), []);
        assert_eq!(check("crates/cli/src/a.rs", &Source::scan("// delete from sessions")), []);
    }

    #[test]
    fn finding_shows_how_the_statement_starts() {
        let findings = check("a.rs", &Source::scan("\nf(\"delete from sessions where id = 1\")"));
        assert_eq!(findings[0].line, 2);
        assert_eq!(findings[0].what, "SQL outside the store (`delete from sessions where …`)");
    }
}
