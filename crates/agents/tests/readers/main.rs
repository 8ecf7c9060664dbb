//! Transcript readers on recorded, generated and damaged files.
#![expect(clippy::unwrap_used, reason = "a recorded file that cannot be read fails the test")]

mod claude;
mod codex;
mod damaged;
mod deeds;
mod lines;
mod recorded;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use towline_agents::{Agent, TranscriptReader};
use towline_core::piece::{PieceContent, TokenCounts, TranscriptPiece};

/// Recorded files of a folder, by name.
fn recorded(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let files =
        files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
    files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect()
}

/// One whole conversation, or the part of it in one file.
fn conversation(name: &str) -> Vec<u8> {
    recorded("transcripts").remove(name).unwrap()
}

fn agent_of(name: &str) -> Agent {
    Agent::from_name(name.split('-').next().unwrap()).unwrap()
}

fn lines(file: &[u8]) -> Vec<&[u8]> {
    let file = file.strip_suffix(b"\n").unwrap_or(file);
    file.split(|byte| *byte == b'\n').collect()
}

fn read_all<'a>(reader: &mut TranscriptReader, lines: &[&'a [u8]]) -> Vec<TranscriptPiece<'a>> {
    let mut found = vec![];
    for line in lines {
        // A tail may begin in the middle of a line.
        let _ = reader.read(line, &mut found);
    }
    found
}

fn pieces<'a>(name: &str, file: &'a [u8]) -> Vec<TranscriptPiece<'a>> {
    read_all(&mut agent_of(name).reader(), &lines(file))
}

/// Numbers ids in order of appearance: `uuid` becomes `id-1`, and a suffix after `#` or `@` stays.
#[derive(Default)]
struct Short(HashMap<String, usize>);

impl Short {
    fn id(&mut self, id: &str) -> String {
        let end = id.find(['#', '@']).unwrap_or(id.len());
        let next = self.0.len() + 1;
        format!("{}{}", self.0.entry(id[..end].to_owned()).or_insert(next), &id[end..])
    }
}

fn start(text: &str) -> String {
    let plain = text.replace('\n', "⏎").replace('\u{1b}', "␛");
    let start: String = plain.chars().take(80).collect();
    if start.len() < plain.len() { format!("{start}… ({} bytes)", text.len()) } else { start }
}

fn said(what: &PieceContent<'_>, short: &mut Short) -> String {
    match what {
        PieceContent::Opened { session, folder, branch, base } => {
            let folder = folder.as_deref().unwrap_or("-");
            let branch = branch.as_ref().map(|branch| format!(" on {branch}")).unwrap_or_default();
            let base = base
                .as_ref()
                .map(|base| format!(" after {} before {}", short.id(&base.session), base.before));
            format!("opened {} in {folder}{branch}{}", short.id(session), base.unwrap_or_default())
        }
        PieceContent::Prompt { text, origin } => format!("PROMPT {origin:?}: {}", start(text)),
        PieceContent::Answer { text } => format!("ANSWER {}", start(text)),
        PieceContent::Thinking { text } => format!("thinking {}", start(text)),
        PieceContent::ToolCall { call, tool, input } => {
            format!("call {} {tool} {}", short.id(call), start(input))
        }
        PieceContent::ToolResult { call, output, outcome } => {
            format!("result {} {outcome:?}: {}", short.id(call), start(output))
        }
        PieceContent::Image { media, bytes } => format!("image {media} {bytes}"),
        PieceContent::Note { text } => format!("note {}", start(text)),
        PieceContent::Compacted { summary } => format!("COMPACTED {}", start(summary)),
        PieceContent::Stopped { how, words } => format!("STOPPED {how:?} {}", start(words)),
        PieceContent::Usage { message, model, tokens } => {
            let TokenCounts { input, cache_read, cache_write, cache_write_1h: _, output } = tokens;
            let model = model.as_deref().unwrap_or("-");
            format!("usage {} {model} {input}+{cache_read}r+{cache_write}w>{output}", short.id(message))
        }
        PieceContent::Reverted { from } => format!("REVERTED from {from}"),
        PieceContent::ReadAgain => "READ AGAIN".to_owned(),
    }
}

fn rendered(pieces: &[TranscriptPiece<'_>]) -> String {
    let mut short = Short::default();
    let mut rendered = String::new();
    let mut turn = None;
    for piece in pieces {
        if piece.turn != turn {
            turn = piece.turn.clone();
            let name = turn.as_ref().map_or("none".to_owned(), |turn| short.id(turn.as_str()));
            rendered.push_str(&format!("-- turn {name}\n"));
        }
        let helper = piece.subagent.as_ref().map(|helper| format!(" in {}", short.id(helper.as_str())));
        let said = said(&piece.what, &mut short);
        let line =
            format!("{:>4} [{}]{} {said}", piece.place, short.id(&piece.id), helper.unwrap_or_default());
        rendered.push_str(line.trim_end());
        rendered.push('\n');
    }
    rendered
}

fn read_one(agent: Agent, values: &[Value]) -> Vec<String> {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let lines: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let mut short = Short::default();
    read_all(&mut agent.reader(), &lines).iter().map(|piece| said(&piece.what, &mut short)).collect()
}
