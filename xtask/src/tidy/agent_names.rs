//! No agent's name outside `agents`: the rest of the code must work for the next agent unchanged.
//!
//! Any spelling counts, in code, comments and texts, also as part of a longer word; kilobytes do not.

use super::finding::{Finding, Rule, is_under};
use crate::repository::File;

const NAMES: [&str; 7] = ["claude", "codex", "copilot", "gemini", "kilo", "opencode", "qwen"];

/// Kinds of file that are looked at; prose (`.md`) may name the agents.
const KINDS: [&str; 4] = [".rs", ".toml", ".sql", ".sh"];

/// Where the names may stand, and why.
const HOMES: [(&str, &str); 6] = [
    (".config/nextest.toml", "selects tests that are named after agents"),
    ("crates/agents/", "owns them"),
    ("crates/store/src/foreign/", "reads tables of other products that are named after agents"),
    ("crates/server/src/http/table/hosts.rs", "has fields of another product that are named after an agent"),
    ("crates/testkit/", "drives the real clients"),
    ("xtask/", "holds this rule and replays each agent's payloads"),
];

/// Folders at any depth that may name them.
const FOLDERS: [&str; 3] = ["tests", "fixtures", "docs"];

const RULE: Rule = Rule {
    why: "a new agent must be one new folder and one arm per match in `crates/agents`",
    mend: "ask `agents` for it, or speak of any agent",
};

pub fn check(file: &File) -> Vec<Finding> {
    if !is_governed(&file.path) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate();
    let named = lines.filter_map(|(at, line)| Some((at + 1, named(line)?)));
    named
        .map(|(line, name)| RULE.violation(&file.path, line, format!("the agent `{name}` is named")))
        .collect()
}

fn is_governed(path: &str) -> bool {
    KINDS.iter().any(|kind| path.ends_with(kind))
        && !HOMES.iter().any(|(home, _)| path.starts_with(home))
        && !FOLDERS.iter().any(|folder| is_under(path, folder))
}

fn named(line: &str) -> Option<&'static str> {
    let lower = line.to_lowercase().replace("kilobyte", "");
    NAMES.into_iter().find(|name| lower.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_lines(path: &str, text: &str, expected: &[usize]) {
        let findings = check(&File { path: path.to_owned(), text: text.to_owned() });
        let lines: Vec<usize> = findings.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, expected, "{path}: {text}");
    }

    #[test]
    fn any_spelling_is_found() {
        check_lines("crates/cli/src/a.rs", "// as Claude does\nlet a;\nenv(\"CODEX_HOME\")", &[1, 3]);
        check_lines("crates/core/src/a.rs", "struct ClaudeEvent;", &[1]);
        check_lines("crates/cli/src/default.toml", "# claude only", &[1]);
    }

    #[test]
    fn owners_tests_and_prose_may_name_them() {
        for path in [
            "crates/agents/src/claude/wire.rs",
            "crates/testkit/src/client.rs",
            "crates/cli/tests/e2e_hooks.rs",
            "crates/agents/fixtures/a.toml",
            "xtask/src/main.rs",
            "README.md",
        ] {
            check_lines(path, "claude", &[]);
        }
    }

    #[test]
    fn other_words_are_clean() {
        check_lines("crates/cli/src/a.rs", "let code = x; // a clause", &[]);
    }
}
