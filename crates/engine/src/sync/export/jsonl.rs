//! The machine-readable export: everything needed to import it again, one object per line.
//!
//! Deterministic: contains no export time and no machine name.

use super::wire::Line;
use super::{ExportError, FORMAT};
use std::io::Write;
use towline_store::Archive;
use towline_store::archive::{Conversation, MemorySelector};

/// Writes the sessions, then the memories.
pub fn jsonl(
    archive: &Archive,
    conversations: &[Conversation],
    memories: MemorySelector<'_>,
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
