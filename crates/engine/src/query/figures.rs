//! Files, commits and tokens of a range of a session's turns.
//!
//! Lists are bounded; entries left out are counted.

use super::page::Page;
use super::{Past, unreadable};
use crate::runtime::failure::Failure;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use towline_core::capture::FileAccess;
use towline_core::deed::Commit;
use towline_core::escape::for_terminal;
use towline_store::archive::{Conversation, ModelUsage};

/// Further file names are counted, not listed.
const MOST_FILES: usize = 50;

pub struct Figures {
    /// By path; changed wins over read.
    files: BTreeMap<String, FileAccess>,
    commits: Vec<Commit>,
    usage: Vec<ModelUsage>,
}

pub fn figures(past: &Past, of: &Conversation, turns: RangeInclusive<u32>) -> Result<Figures, Failure> {
    let archive = &past.archive;
    let mut files: BTreeMap<String, FileAccess> = BTreeMap::new();
    for file in archive.files(of, turns.clone()).map_err(unreadable)? {
        let known = files.entry(file.path).or_insert(file.how);
        *known = (*known).max(file.how);
    }
    let commits = archive.commits(of, turns.clone()).map_err(unreadable)?;
    let usage = archive.usage(of, turns).map_err(unreadable)?;
    Ok(Figures { files, commits, usage })
}

impl Figures {
    pub fn text(&self, page: &mut Page) {
        self.files_text(page, "changed files", FileAccess::Changed);
        self.files_text(page, "read files", FileAccess::Read);
        if !self.commits.is_empty() {
            page.line("commits:");
        }
        for Commit { hash, subject } in &self.commits {
            page.line(&format!("  {} {}", for_terminal(hash), for_terminal(subject)));
        }
        if !self.usage.is_empty() {
            page.line("tokens:");
        }
        for ModelUsage { model, messages, tokens } in &self.usage {
            let model = model.as_deref().map_or_else(|| "a model without a name".into(), for_terminal);
            let (input, output) = (tokens.input, tokens.output);
            let (read, write) = (tokens.cache_read, tokens.cache_write);
            page.line(&format!(
                "  {model}: {input} input, {read} from the cache, {write} to the cache, {output} output, {messages} messages"
            ));
        }
    }

    fn files_text(&self, page: &mut Page, heading: &str, how: FileAccess) {
        let of_kind = self.files.iter().filter(|(_, touched)| **touched == how);
        let paths: Vec<&String> = of_kind.map(|(path, _)| path).collect();
        if paths.is_empty() {
            return;
        }
        page.line(&format!("{heading}:"));
        for path in paths.iter().take(MOST_FILES) {
            page.line(&format!("  {}", for_terminal(path)));
        }
        if paths.len() > MOST_FILES {
            page.line(&format!("  [{} more: --json lists all]", paths.len() - MOST_FILES));
        }
    }

    pub fn json(&self) -> Value {
        let files: Vec<_> =
            self.files.iter().map(|(path, how)| json!({"path": path, "how": how.name()})).collect();
        let commits: Vec<_> = self
            .commits
            .iter()
            .map(|commit| json!({"hash": commit.hash, "subject": commit.subject}))
            .collect();
        let usage = self.usage.iter().map(|usage| {
            json!({
                "model": usage.model, "messages": usage.messages, "input": usage.tokens.input,
                "cache_read": usage.tokens.cache_read, "cache_write": usage.tokens.cache_write,
                "output": usage.tokens.output,
            })
        });
        json!({"files": files, "commits": commits, "usage": usage.collect::<Vec<_>>()})
    }
}
