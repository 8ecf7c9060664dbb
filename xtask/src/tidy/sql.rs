//! SQL lives in `store` and `hub` alone.
//!
//! It looks at the shape of string literals, not at words: a sentence that begins with "select" or "update"
//! is no statement.

use std::sync::LazyLock;

use regex::Regex;

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

/// The shapes of statements. A shape with the group `table` counts only if no article stands there.
const SHAPES: [&str; 9] = [
    // Several columns need commas; prose has none before its "from". After one column, only a clause may follow.
    r"select (\d+|\w+ ?\( ?\))$",
    r"select (\*|[^ ]+ ?[,(.*].*?|\w+ as .*?) ?from ?($|\(|(?<table>TABLE))",
    r"select \w+ from (\(|(?<table>TABLE)CLAUSE)",
    r"(insert( or \w+)?|replace) into (?<table>TABLE)",
    r#"update( or \w+)? (?<table>TABLE)["`}]? set\b"#,
    r"delete from (?<table>TABLE)CLAUSE",
    r"(create|drop|alter)( temp| temporary| unique| virtual)? (table|index|trigger|view) (if\b|(?<table>TABLE))",
    r"pragma \w+( ?[=(;.]|$)",
    r"(begin (immediate|exclusive|deferred)|explain query plan)\b",
];

/// The end of a table's name and a clause, or the end; anything else is the next word of a sentence.
const CLAUSE: &str = r"( (where|order|group|limit|join|left|inner|returning|as)\b| ?[^\w ]| ?$)";

const ARTICLES: [&str; 10] = ["the", "a", "an", "your", "this", "that", "its", "their", "of", "for"];

static STATEMENTS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let pattern = |shape: &str| {
        let shape = shape.replace("TABLE", r#"["`{]?\w+"#).replace("CLAUSE", CLAUSE);
        Regex::new(&format!("(?i)^{shape}"))
    };
    SHAPES.iter().filter_map(|shape| pattern(shape).ok()).collect()
});

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
    let text = literal.replace("\\n", " ").replace('\\', " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    STATEMENTS.iter().filter_map(|shape| shape.captures(&text)).any(|found| {
        let table = found.name("table").map_or(String::new(), |table| table.as_str().to_lowercase());
        !ARTICLES.contains(&table.as_str())
    })
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
    fn every_shape_is_a_pattern() {
        assert_eq!(STATEMENTS.len(), SHAPES.len());
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
