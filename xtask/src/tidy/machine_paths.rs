//! No path of the machine that someone worked on, and no registry's host, in what is committed.
//!
//! The patterns are written in two parts, so that this file can be checked by its own rule.

use super::finding::{Finding, Rule};
use crate::repository::File;

/// Text that must not occur, and what it is. A path counts only where it starts, not inside a longer one.
const PATTERNS: [(&str, &str); 3] = [
    (concat!("/wo", "rk/"), "a folder of one machine"),
    (concat!("/tmp/tow", "-target"), "a folder of one machine"),
    (concat!("registry", ".npmjs"), "a registry's host"),
];

/// Lock files of npm name where each package came from, unless told not to.
const NPM_LOCKS: [&str; 2] = ["package-lock.json", "npm-shrinkwrap.json"];
const NPM_ORIGIN: &str = "\"resolved\": \"http";

const RULE: Rule = Rule {
    why: "it is wrong on every other machine",
    mend: "use a relative path or a placeholder (npm: `omit-lockfile-registry-resolved`)",
};

pub fn check(file: &File) -> Vec<Finding> {
    let is_npm_lock = NPM_LOCKS.iter().any(|name| file.path.ends_with(name));
    let mut findings = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        if let Some((pattern, what)) = PATTERNS.into_iter().find(|(pattern, _)| occurs(line, pattern)) {
            findings.push(RULE.violation(&file.path, at + 1, format!("`{pattern}`: {what}")));
        } else if is_npm_lock && line.contains(NPM_ORIGIN) {
            findings.push(RULE.violation(&file.path, at + 1, "a `resolved` address in a lock file"));
        }
    }
    findings
}

fn occurs(line: &str, pattern: &str) -> bool {
    let continues_a_path = |before: char| before.is_alphanumeric() || "._~-}$*>".contains(before);
    line.match_indices(pattern)
        .any(|(at, _)| !pattern.starts_with('/') || !line[..at].ends_with(continues_a_path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_count(path: &str, text: &str, expected: usize) {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        assert_eq!(check(&file).len(), expected, "{text}");
    }

    #[test]
    fn every_pattern_is_found() {
        for (pattern, _) in PATTERNS {
            check_count("README.md", &format!("see ({pattern}x)"), 1);
            check_count("a.json", &format!("{pattern}x"), 1);
        }
    }

    #[test]
    fn part_of_a_longer_path_is_clean() {
        let folder = PATTERNS[0].0;
        check_count("a.rs", &format!("/home/user{folder}app and ~{folder}app and $HOME{folder}app"), 0);
    }

    #[test]
    fn origin_of_a_package_counts_in_npm_lock_files_only() {
        let line = format!("      {NPM_ORIGIN}s://example.org/a.tgz\",");
        check_count("clients/package-lock.json", &line, 1);
        check_count("clients/package-lock.json", "      \"resolved\": \"../local\",", 0);
        check_count("docs/a.md", &line, 0);
    }
}
