//! The export to read: sessions as chapters, turns as sections, in Markdown.
//!
//! Cannot be imported again. A code fence is longer than any backtick run inside it.

use super::ExportError;
use crate::runtime::calendar;
use std::io::Write;
use towline_core::capture::{DetailKind, Speaker};
use towline_core::escape::{escape_for_terminal, lines_for_terminal};
use towline_core::memory::Memory;
use towline_core::time::Timestamp;
use towline_store::Archive;
use towline_store::archive::{Conversation, DetailRow, ExportedRow, MemorySelector, TurnRow};

/// Writes everything but the agents' thinking.
pub fn markdown(
    archive: &Archive,
    conversations: &[Conversation],
    memories: MemorySelector<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    for conversation in conversations {
        chapter(archive, conversation, out)?;
    }
    let mut is_first = true;
    archive.each_memory(memories, &mut |row| {
        let ExportedRow::Memory(kept) = row else { return Ok(()) };
        if std::mem::take(&mut is_first) {
            writeln!(out, "# What was learnt\n")?;
        }
        learnt(&kept.memory, out)
    })
}

fn learnt(memory: &Memory, out: &mut dyn Write) -> Result<(), ExportError> {
    let content = &memory.content;
    let state = if memory.is_current() { "" } else { ", no longer given" };
    let (id, kind) = (memory.name(), escape_for_terminal(content.kind.as_str()));
    writeln!(out, "## {id}, {} ({kind}{state})\n", dated(memory.made_at))?;
    writeln!(out, "**{}**\n", escape_for_terminal(&content.title).replace('*', "\\*"))?;
    for fact in &content.facts {
        writeln!(out, "- {}", escape_for_terminal(fact))?;
    }
    if !content.narrative.is_empty() {
        writeln!(out, "\n{}", quoted(&content.narrative))?;
    }
    Ok(writeln!(out)?)
}

fn chapter(archive: &Archive, of: &Conversation, out: &mut dyn Write) -> Result<(), ExportError> {
    let project = of.project.as_deref().map_or_else(|| of.short.clone(), escape_for_terminal);
    writeln!(out, "# {project}, {}\n", dated(of.first_at))?;
    writeln!(out, "- session: `{}`", of.session)?;
    for (name, value) in [("folder", &of.folder), ("branch", &of.branch), ("forked from", &of.base)] {
        if let Some(value) = value {
            writeln!(out, "- {name}: `{}`", escape_for_terminal(value))?;
        }
    }
    writeln!(out, "- until: {}\n- turns: {}\n", dated(of.last_at), of.turns)?;
    for turn in archive.turns(of, 0, u32::MAX)? {
        section(archive, of, &turn, out)?;
    }
    Ok(())
}

fn section(
    archive: &Archive,
    of: &Conversation,
    turn: &TurnRow,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let taken_back = if turn.reverted { ", taken back" } else { "" };
    let heading = format!("{}#{}, {}", of.short, turn.ordinal, dated(turn.at));
    writeln!(out, "## {heading} ({}{taken_back})\n", turn.origin.name())?;
    writeln!(out, "_{}_\n", escape_for_terminal(&turn.line).replace('_', "\\_"))?;
    for body in archive.bodies(turn)? {
        match body.speaker {
            Speaker::Person => writeln!(out, "**Person**\n\n{}\n", quoted(&body.text))?,
            Speaker::Agent => writeln!(out, "**Agent**\n\n{}\n", lines_for_terminal(&body.text))?,
        }
    }
    for detail in archive.details(turn)? {
        if detail.kind != DetailKind::Thinking {
            let text = archive.content(&detail)?;
            writeln!(out, "{}\n\n{}\n", named(&detail), fenced(&text))?;
        }
    }
    Ok(())
}

fn named(detail: &DetailRow) -> String {
    let words = [
        Some(format!(".{}", detail.number)),
        detail.tool.as_deref().map(|tool| format!("`{}`", escape_for_terminal(tool).replace('`', "'"))),
        Some(detail.kind.name().to_owned()),
        detail.outcome.as_deref().filter(|outcome| *outcome != "done").map(|how| format!("({how})")),
        detail.subagent.as_deref().map(|subagent| format!("by helper `{subagent}`")),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn quoted(text: &str) -> String {
    let lines: Vec<_> = lines_for_terminal(text).lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

fn fenced(text: &str) -> String {
    let text = lines_for_terminal(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Always with the day.
fn dated(at: Timestamp) -> String {
    calendar::clock(at, Timestamp(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_cannot_be_closed_from_inside() {
        assert_eq!(fenced("a\n```\nb\n"), "````\na\n```\nb\n````");
        assert_eq!(fenced("x\u{1b}[0m"), "```\nx[0m\n```");
    }
}
