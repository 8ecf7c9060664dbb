//! The program that writes a transcript: an agent with an adapter, or one that a file describes.
//!
//! What both know under one roof; whatever only one of them knows is asked of it.

use super::{Description, Format, SessionTables};
use crate::agent::Agent;
use crate::reader::TranscriptReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towline_core::deed::ToolAction;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranscriptWriter {
    Known(Agent),
    /// With the agent's folder.
    Described(Arc<Description>, PathBuf),
}

impl From<Agent> for TranscriptWriter {
    fn from(agent: Agent) -> Self {
        TranscriptWriter::Known(agent)
    }
}

impl TranscriptWriter {
    pub fn name(&self) -> &str {
        match self {
            TranscriptWriter::Known(agent) => agent.name(),
            TranscriptWriter::Described(description, _) => description.name(),
        }
    }

    /// The folder below which all its files are; `None` for an agent with an adapter, which knows its places.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            TranscriptWriter::Known(_) => None,
            TranscriptWriter::Described(_, folder) => Some(folder),
        }
    }

    /// Its transcript as a JSON file that is written anew each time; `None` if it writes lines.
    pub fn document(&self) -> Option<&Description> {
        match self {
            TranscriptWriter::Described(description, _) if description.format() == Format::Document => {
                Some(description)
            }
            TranscriptWriter::Described(..) | TranscriptWriter::Known(_) => None,
        }
    }

    /// Where its sessions are in its databases; `None` if it writes files, or has an adapter.
    pub fn tables(&self) -> Option<&SessionTables> {
        match self {
            TranscriptWriter::Described(description, _) => description.tables(),
            TranscriptWriter::Known(_) => None,
        }
    }

    /// Whether the meaning of its transcripts may change: a file that was read by another description is read again.
    pub fn is_described(&self) -> bool {
        matches!(self, TranscriptWriter::Described(..))
    }

    /// The file that says more about the session of this transcript.
    pub fn about(&self, transcript: &Path) -> Option<PathBuf> {
        match self {
            TranscriptWriter::Known(_) => None,
            TranscriptWriter::Described(description, folder) => description.about(folder, transcript),
        }
    }

    /// A reader for the beginning of a transcript. `None` for a file that is none of the agent's.
    pub fn reader(&self, transcript: &Path, about: Option<&[u8]>) -> Option<TranscriptReader> {
        match self {
            TranscriptWriter::Known(agent) => Some(agent.reader()),
            TranscriptWriter::Described(description, folder) => description.reader(folder, transcript, about),
        }
    }

    /// A reader whose state was stored; `None` if the file must be read anew.
    pub fn continued(&self, reader: TranscriptReader) -> Option<TranscriptReader> {
        match self {
            TranscriptWriter::Known(_) => Some(reader),
            TranscriptWriter::Described(description, _) => description.continued(reader),
        }
    }

    pub fn subagent_transcripts(&self, transcript: &Path) -> Vec<PathBuf> {
        match self {
            TranscriptWriter::Known(agent) => agent.subagent_transcripts(transcript),
            TranscriptWriter::Described(..) => vec![],
        }
    }

    pub fn session_transcripts(&self, subagent: &Path, session: &str) -> Vec<PathBuf> {
        match self {
            TranscriptWriter::Known(agent) => agent.session_transcripts(subagent, session),
            TranscriptWriter::Described(..) => vec![],
        }
    }

    /// The action of a tool call.
    pub fn tool_action<'a>(&self, tool: &str, input: &'a str) -> ToolAction<'a> {
        match self {
            TranscriptWriter::Known(agent) => agent.tool_action(tool, input),
            TranscriptWriter::Described(description, _) => description.tool_action(tool, input),
        }
    }
}
