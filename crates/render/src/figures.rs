//! Files, commits and tokens of turns, as text and as JSON.
//!
//! Text lists are bounded; entries left out are counted.

use crate::page::Page;
use serde_json::{Value, json};
use towline_core::capture::FileAccess;
use towline_core::deed::Commit;
use towline_core::escape::escape_for_terminal;
use towline_engine::query::{Figures, ModelUsage};

/// Further file names are counted, not listed.
const MOST_FILES: usize = 50;

pub fn figures_text(page: &mut Page, figures: &Figures) {
    files_text(page, figures, "changed files", FileAccess::Changed);
    files_text(page, figures, "read files", FileAccess::Read);
    if !figures.commits.is_empty() {
        page.line("commits:");
    }
    for Commit { hash, subject } in &figures.commits {
        page.line(&format!("  {} {}", escape_for_terminal(hash), escape_for_terminal(subject)));
    }
    if !figures.usage.is_empty() {
        page.line("tokens:");
    }
    for ModelUsage { model, messages, tokens } in &figures.usage {
        let model = model.as_deref().map_or_else(|| "a model without a name".into(), escape_for_terminal);
        let (input, output) = (tokens.input, tokens.output);
        let (read, write) = (tokens.cache_read, tokens.cache_write);
        page.line(&format!(
            "  {model}: {input} input, {read} from the cache, {write} to the cache, {output} output, {messages} messages"
        ));
    }
}

fn files_text(page: &mut Page, figures: &Figures, heading: &str, how: FileAccess) {
    let of_kind = figures.files.iter().filter(|(_, touched)| **touched == how);
    let paths: Vec<&String> = of_kind.map(|(path, _)| path).collect();
    if paths.is_empty() {
        return;
    }
    page.line(&format!("{heading}:"));
    for path in paths.iter().take(MOST_FILES) {
        page.line(&format!("  {}", escape_for_terminal(path)));
    }
    if paths.len() > MOST_FILES {
        page.line(&format!("  [{} more: --json lists all]", paths.len() - MOST_FILES));
    }
}

pub fn figures_json(figures: &Figures) -> Value {
    let files: Vec<_> =
        figures.files.iter().map(|(path, how)| json!({"path": path, "how": how.name()})).collect();
    let commits: Vec<_> = figures
        .commits
        .iter()
        .map(|commit| json!({"hash": commit.hash, "subject": commit.subject}))
        .collect();
    let usage = figures.usage.iter().map(|usage| {
        json!({
            "model": usage.model, "messages": usage.messages, "input": usage.tokens.input,
            "cache_read": usage.tokens.cache_read, "cache_write": usage.tokens.cache_write,
            "output": usage.tokens.output,
        })
    });
    json!({"files": files, "commits": commits, "usage": usage.collect::<Vec<_>>()})
}
