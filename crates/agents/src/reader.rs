//! Reads an agent's transcript, line by line.
//!
//! Bytes in, pieces out: opens no file, and keeps only the bounded state that later lines need.

use crate::agent::Agent;
use crate::described::MappedState;
use crate::transcript::{Found, LineError};
use crate::{claude, codex, copilot, gemini, opencode, qwen};
use serde::{Deserialize, Serialize};

/// Parser state between two lines of a file. Stored with the read offset; resuming yields the same pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptReader {
    Claude(claude::transcript::TranscriptState),
    Codex(codex::transcript::RolloutState),
    Gemini(gemini::transcript::ConversationState),
    Qwen(qwen::transcript::TranscriptState),
    Copilot(copilot::transcript::EventsState),
    Rows(opencode::transcript::RowsState),
    /// Of an agent that a file describes.
    Mapped(MappedState),
}

impl Agent {
    /// A reader for the beginning of a file.
    pub fn reader(self) -> TranscriptReader {
        (self.adapter().transcript.reader)()
    }
}

impl TranscriptReader {
    /// The state of a reader by description, which may have to find the session's folder first.
    pub fn mapped(&mut self) -> Option<&mut MappedState> {
        if let TranscriptReader::Mapped(state) = self { Some(state) } else { None }
    }

    /// Begins a file anew of which other lines were read before.
    pub fn read_again(&mut self) {
        if let TranscriptReader::Rows(state) = self {
            state.read_again();
        }
    }

    /// Adds the pieces of the next line. Unknown entries and unreadable lines add none and leave the reader usable.
    pub fn read<'a>(&mut self, line: &'a [u8], found: &mut Found<'a>) -> Result<(), LineError> {
        let text = str::from_utf8(line).map_err(|_| LineError::NotText);
        match self {
            TranscriptReader::Claude(state) => state.read(text, found),
            TranscriptReader::Codex(state) => state.read(text, found),
            TranscriptReader::Gemini(state) => state.read(text, found),
            TranscriptReader::Qwen(state) => state.read(text, found),
            TranscriptReader::Copilot(state) => state.read(text, found),
            TranscriptReader::Rows(state) => state.read(text, found),
            TranscriptReader::Mapped(state) => state.read(text, found),
        }
    }
}
