//! The export for programs: everything that is needed to take it in again, one object per line.
//!
//! The same archive gives the same bytes: no time and no name of this machine is in it.

use super::wire::Line;
use super::{ExportError, FORMAT};
use std::io::Write;
use towline_store::Archive;
use towline_store::archive::{Conversation, WhichMemories};

/// The sessions, and behind them the memories.
pub fn jsonl(
    archive: &Archive,
    conversations: &[Conversation],
    memories: WhichMemories<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    write(out, &Line::Export { format: FORMAT })?;
    for conversation in conversations {
        archive.each_row(conversation, &mut |row| write(out, &row.into()))?;
    }
    archive.each_memory(memories, &mut |row| write(out, &row.into()))
}

fn write(out: &mut dyn Write, line: &Line<'_>) -> Result<(), ExportError> {
    serde_json::to_writer(&mut *out, line)?;
    Ok(out.write_all(b"\n")?)
}
