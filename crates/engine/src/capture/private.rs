//! Whether a private turn started a subagent, judged by the transcripts of its session.
//!
//! Only reads: a subagent's own file does not say which turn it belongs to.

use super::lines::LineReader;
use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use towline_agents::described::TranscriptWriter;
use towline_core::capture::FilePrivacy;
use towline_core::piece::PieceContent;
use towline_core::time::Timestamp;
use towline_terminal::tail::open_file;

/// When a turn began, and whether it is private.
type TurnPrivacy = (Timestamp, bool);

/// The turns of sessions with private ones, by transcript.
#[derive(Default)]
pub(super) struct PrivateTurns(HashMap<PathBuf, Vec<TurnPrivacy>>);

impl PrivateTurns {
    /// Whether a subagent that began at this time belongs to a private turn of this session. A transcript that exists but
    /// cannot be read may hold one.
    pub fn started(
        &mut self,
        agent: &TranscriptWriter,
        subagent: &Path,
        session: &str,
        at: Timestamp,
    ) -> bool {
        agent.session_transcripts(subagent, session).into_iter().any(|path| {
            if let Some(turns) = self.0.get(&path) {
                return is_private_at(turns, at);
            }
            let Ok(turns) = turns_in(agent, &path) else { return true };
            let is_private = is_private_at(&turns, at);
            self.0.insert(path, turns);
            is_private
        })
    }
}

fn is_private_at(turns: &[TurnPrivacy], at: Timestamp) -> bool {
    turns.iter().rfind(|(began, _)| *began <= at).is_some_and(|(_, is_private)| *is_private)
}

/// All turns of the session; none if the file mentions nothing private, which is found out much faster.
fn turns_in(agent: &TranscriptWriter, path: &Path) -> io::Result<Vec<TurnPrivacy>> {
    let mut turns = vec![];
    if !fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return Ok(turns);
    }
    let mut is_mentioned = false;
    for_each_block(path, |lines| is_mentioned |= mentions_private(lines))?;
    if !is_mentioned {
        return Ok(turns);
    }
    let Some(mut reader) = agent.reader(path, None) else { return Ok(turns) };
    let mut privacy = FilePrivacy::Open;
    for_each_block(path, |lines| {
        let mut found = vec![];
        for line in lines.split(|byte| *byte == b'\n') {
            let _unreadable = reader.read(line, &mut found);
            for piece in found.drain(..).filter(|piece| piece.subagent.is_none()) {
                if let PieceContent::Prompt { text, origin } = &piece.what {
                    let is_private = privacy.hides_turn(text, *origin);
                    privacy = if is_private { FilePrivacy::HadPrivateTurn } else { privacy };
                    turns.push((piece.at, is_private));
                }
            }
        }
    })?;
    Ok(turns)
}

fn for_each_block(path: &Path, mut act: impl FnMut(&[u8])) -> io::Result<()> {
    let file = match open_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut buffer = vec![];
    let mut lines = LineReader::from(file, 0, &mut buffer)?;
    while let Some(block) = lines.next()? {
        act(block.lines);
    }
    Ok(())
}

fn mentions_private(lines: &[u8]) -> bool {
    const NAME: &[u8] = b"private";
    let is_name =
        |at: usize| lines.get(at..at + NAME.len()).is_some_and(|word| word.eq_ignore_ascii_case(NAME));
    memchr::memchr2_iter(b'p', b'P', lines).any(is_name)
}
