//! Links, pictures and names of files in the documents lead somewhere in this repository.
//!
//! An address elsewhere is never fetched, and what stands in a block of code is nobody's link. Kept instead of lychee: that
//! checks links and anchors, but not the names of files in backticks, which are most of what breaks when code moves, and it is
//! a program with an HTTP client to install on every machine that runs the suite; these are 130 lines without tests.

use std::collections::HashSet;
use std::path::Path;

use super::finding::{Finding, Rule};
use crate::repository::File;

/// How a link begins and what ends it.
const LINKS: [(&str, char); 3] = [("](", ')'), ("src=\"", '"'), ("href=\"", '"')];

/// What makes a name in backticks a pattern or a placeholder.
const NO_NAME: &str = "*<>{}$… |\\";

const RULE: Rule =
    Rule { why: "a reader who follows it stands before nothing", mend: "name what is there now" };

/// `paths` are all files of the repository, `files` those that are text.
pub fn check(files: &[File], paths: &[String]) -> Vec<Finding> {
    let known = paths.iter().flat_map(|path| Path::new(path).ancestors()).collect();
    let tree = Tree { files, known };
    let documents = files.iter().filter(|file| file.path.ends_with(".md"));
    documents.flat_map(|document| tree.dead_ends(document)).collect()
}

struct Tree<'a> {
    files: &'a [File],
    /// All files and folders.
    known: HashSet<&'a Path>,
}

impl Tree<'_> {
    fn dead_ends(&self, document: &File) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (line, text) in prose(&document.text) {
            let dead = self.dead_in_line(document, text).into_iter();
            findings.extend(dead.map(|what| RULE.violation(&document.path, line, what)));
        }
        findings
    }

    fn dead_in_line(&self, document: &File, line: &str) -> Vec<String> {
        let mut dead = Vec::new();
        for (at, part) in line.split('`').enumerate() {
            if at % 2 == 0 {
                dead.extend(targets(part).filter_map(|target| self.wrong_link(document, target)));
            } else if self.names_a_file(part) && !self.known.contains(Path::new(part)) {
                dead.push(format!("there is no `{part}`"));
            }
        }
        dead
    }

    fn wrong_link(&self, document: &File, target: &str) -> Option<String> {
        if target.contains("://") || target.starts_with("mailto:") {
            return None;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = if path.is_empty() { Some(document.path.clone()) } else { resolved(&document.path, path) };
        let Some(path) = path.filter(|path| self.known.contains(Path::new(path))) else {
            return Some(format!("`{target}` leads nowhere"));
        };
        let has_it = |file: &File| file.path == path && has_heading(&file.text, anchor);
        let is_there = anchor.is_empty() || self.files.iter().any(has_it);
        (!is_there).then(|| format!("`{path}` has no heading `#{anchor}`"))
    }

    /// Whether it begins with a folder at the top of the repository: other names are other programs' files.
    fn names_a_file(&self, name: &str) -> bool {
        let Some((top, _)) = name.split_once('/') else { return false };
        !name.contains(|c: char| NO_NAME.contains(c))
            && !top.is_empty()
            && self.known.contains(Path::new(top))
    }
}

/// The numbered lines of a document that are not in a block of code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

fn targets(text: &str) -> impl Iterator<Item = &str> {
    LINKS.into_iter().flat_map(move |(begin, end)| {
        let parts = text.split(begin).skip(1);
        // A title may stand behind the target.
        parts.filter_map(move |rest| rest.split(end).next()?.split_whitespace().next())
    })
}

/// The path that `target` means in `document`; none if it leads out of the repository.
fn resolved(document: &str, target: &str) -> Option<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split_terminator('/').collect();
    for part in target.split_terminator('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Whether a heading has this anchor. The second heading of one name has the number 1 behind it.
fn has_heading(text: &str, wanted: &str) -> bool {
    let count = |name: &str| {
        let headings = prose(text).filter_map(|(_, line)| line.strip_prefix('#'));
        headings.filter(|heading| anchor(heading.trim_start_matches('#').trim()) == name).count()
    };
    let is_repeated =
        |(name, number): (&str, &str)| number.parse().is_ok_and(|number: usize| count(name) > number);
    count(wanted) > 0 || wanted.rsplit_once('-').is_some_and(is_repeated)
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in `text` as `docs/a.md`, beside a page, a picture and a source file.
    #[track_caller]
    fn check_found(text: &str, expected: &[&str]) {
        let other = "# First\n## `tow serve`, and more\n## First\n```\n# no heading\n```\n";
        let files = [("docs/a.md", text), ("docs/b.md", other)]
            .map(|(path, text)| File { path: path.into(), text: text.into() });
        let paths =
            ["README.md", "docs/a.md", "docs/b.md", "docs/pictures/bar.svg", "crates/core/src/lib.rs"];
        let found = check(&files, &paths.map(str::to_owned));
        let found: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_is_there_may_be_linked_to() {
        check_found(
            "[b](b.md), [top](../README.md), ![bar](pictures/bar.svg \"the bar\"), [`b`](./b.md)",
            &[],
        );
        check_found("<img src=\"pictures/bar.svg\"> [folder](pictures/) [root](..)", &[]);
        check_found("[elsewhere](https://example.org/x.md#y), [mail](mailto:a@example.org)", &[]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        check_found(
            "first\n[b](c.md) and ![x](bar.svg)",
            &["`c.md` leads nowhere", "`bar.svg` leads nowhere"],
        );
        check_found("<img src=\"x.png\">", &["`x.png` leads nowhere"]);
        check_found("[out](../../etc/passwd)", &["`../../etc/passwd` leads nowhere"]);
        check_found("[part of a name](pic)", &["`pic` leads nowhere"]);
    }

    #[test]
    fn an_anchor_is_a_heading_of_its_page() {
        check_found(
            "# Here it is\n[a](#here-it-is) [b](b.md#first) [c](b.md#first-1) [d](b.md#tow-serve-and-more)",
            &[],
        );
        check_found("[a](#here)", &["`docs/a.md` has no heading `#here`"]);
        check_found("[b](b.md#no-heading)", &["`docs/b.md` has no heading `#no-heading`"]);
    }

    #[test]
    fn a_file_of_ours_that_is_named_in_backticks_exists() {
        check_found("`docs/b.md`, `crates/core/`, `crates/core/src`, `docs/*.md`, `crates/<name>/x`", &[]);
        check_found(
            "`docs/gone.md` and `crates/none`",
            &["there is no `docs/gone.md`", "there is no `crates/none`"],
        );
        check_found("`CLAUDE.md`, `journal/`, `src/main.rs` are not ours to check", &[]);
    }

    #[test]
    fn code_is_nobodys_link() {
        check_found("```\n[b](c.md) `docs/gone.md`\n```\nand `[b](c.md)`", &[]);
    }
}
