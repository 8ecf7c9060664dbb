//! What a transcript gives, without keeping any of it: for the check of a description.
//!
//! Reads one file to its end and counts; no text leaves this module.

use super::Transcript;
use super::lines::LineReader;
use super::opened::Opened;
use super::steps::first_reader;
use std::io;
use towline_core::event::ToolOutcome;
use towline_core::piece::PieceContent;
use towline_core::time::Timestamp;

/// The pieces of a transcript, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    pub lines: usize,
    pub unreadable: usize,
    pub prompts: usize,
    pub answers: usize,
    pub calls: usize,
    pub results: usize,
    pub failed: usize,
    pub usage: usize,
    /// Thoughts, notes, stops and summaries of compactions.
    pub others: usize,
    pub folder: Option<String>,
    pub first_at: Option<Timestamp>,
}

pub fn preview(file: &Transcript) -> io::Result<Preview> {
    let mut counted = Preview::default();
    let Some(mut reader) = first_reader(file) else { return Ok(counted) };
    let mut buffer = vec![];
    let mut lines = LineReader::from(Opened::of(&file.agent, &file.path)?, 0, &mut buffer)?;
    while let Some(block) = lines.next()? {
        for line in block.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mut found = vec![];
            counted.lines += 1;
            counted.unreadable += usize::from(reader.read(line, &mut found).is_err());
            for piece in found {
                counted.first_at = counted.first_at.or(Some(piece.at));
                counted.count(&piece.what);
            }
        }
    }
    Ok(counted)
}

impl Preview {
    fn count(&mut self, what: &PieceContent<'_>) {
        match what {
            PieceContent::Opened { folder, .. } => self.folder = folder.as_deref().map(str::to_owned),
            PieceContent::Prompt { .. } => self.prompts += 1,
            PieceContent::Answer { .. } => self.answers += 1,
            PieceContent::ToolCall { .. } => self.calls += 1,
            PieceContent::ToolResult { outcome, .. } => {
                self.results += 1;
                self.failed += usize::from(*outcome == ToolOutcome::Failed);
            }
            PieceContent::Usage { .. } => self.usage += 1,
            PieceContent::Thinking { .. }
            | PieceContent::Note { .. }
            | PieceContent::Compacted { .. }
            | PieceContent::Stopped { .. } => self.others += 1,
            PieceContent::Image { .. } | PieceContent::Reverted { .. } | PieceContent::ReadAgain => {}
        }
    }
}
