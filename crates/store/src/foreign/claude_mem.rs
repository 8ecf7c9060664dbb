//! The tables of claude-mem, migrations 4 to 50: prompts, observations, summaries, tool uses.
//!
//! Its summaries count as an agent's answer only because it keeps no real answers: all of its texts carry its name.

use super::index::{RowRef, SessionMap, key};
use super::survey::{ForeignSurvey, TableImport};
use super::table::{ForeignTable, Scalar, TableSpec};
use super::{ForeignCall, ForeignRecord, ForeignScan, ForeignSession, PieceEmitter, ReadScope};
use rusqlite::Connection;
use std::borrow::Cow;
use std::collections::HashMap;
use towline_core::capture::FileAccess;
use towline_core::event::PromptOrigin;
use towline_core::id::SessionKey;
use towline_core::memory::{MemoryDraft, MemoryType, SummaryDraft};
use towline_core::piece::PieceContent;
use towline_core::time::Timestamp;

/// The newest migration that we know.
const NEWEST: i64 = 50;

const PROMPTS: usize = 0;
const TOOL_USES: usize = 1;
const OBSERVATIONS: usize = 2;
const SUMMARIES: usize = 3;
/// The first prompt of a session, from before prompts had a table.
const OPENINGS: usize = 4;

/// Sessions have the agent's id and the observer's. The first three keys of the first four tables are the same: session,
/// turn, time.
const SHAPES: [TableSpec; 5] = [
    TableSpec {
        table: "user_prompts",
        keys: "content_session_id|claude_session_id prompt_number created_at_epoch|created_at",
        texts: "prompt_text",
    },
    TableSpec {
        table: "tool_uses",
        keys: "content_session_id|claude_session_id prompt_number created_at_epoch|created_at tool_name tool_use_id cwd",
        texts: "tool_input tool_response",
    },
    TableSpec {
        table: "observations",
        keys: "memory_session_id|sdk_session_id prompt_number created_at_epoch|created_at type discovery_tokens",
        texts: "title subtitle narrative text facts concepts files_read files_modified",
    },
    TableSpec {
        table: "session_summaries",
        keys: "memory_session_id|sdk_session_id prompt_number created_at_epoch|created_at",
        texts: "request investigated learned completed next_steps notes files_read files_edited",
    },
    TableSpec {
        table: "sdk_sessions",
        keys: "content_session_id|claude_session_id memory_session_id|sdk_session_id project platform_source \
               started_at_epoch|started_at",
        texts: "user_prompt",
    },
];

const LISTS: [&str; 4] = ["Facts", "Concepts", "Files read", "Files modified"];
const SUMMARY: [&str; 8] =
    ["Request", "Investigated", "Learned", "Completed", "Next steps", "Notes", "Files read", "Files edited"];

fn fate(table: &str) -> TableImport {
    match table {
        "sdk_sessions" | "user_prompts" | "tool_uses" | "observations" | "session_summaries" => {
            TableImport::Taken
        }
        "schema_versions" => TableImport::Left("its own versions"),
        "pending_messages" | "observation_queue" => {
            TableImport::Left("its own queue, from before it was worked off")
        }
        "telegram_wrapups" => TableImport::Left("what it sent elsewhere"),
        name if name.starts_with("sync_") => TableImport::Left("its own synchronising"),
        name if name.contains("_fts") => TableImport::Left("its index of the others"),
        _ => TableImport::Unknown,
    }
}

/// The sessions by the ids of agents and of observers.
#[derive(Default)]
struct SessionIds {
    by_agents_id: HashMap<String, SessionKey>,
    by_observers_id: HashMap<String, SessionKey>,
}

pub(super) fn scan(db: &Connection) -> rusqlite::Result<ForeignScan> {
    const VERSION: &str = "select max(version) from schema_versions";
    let schema: Option<i64> = db.query_row(VERSION, [], |row| row.get(0)).unwrap_or(None);
    let is_newer = schema.is_some_and(|schema| schema > NEWEST);
    let tables = ForeignSurvey::tables(db, fate)?;
    let mut survey = ForeignSurvey { schema, is_newer, tables, ..ForeignSurvey::default() };
    let tables = SHAPES.iter().map(|shape| ForeignTable::find(db, shape, &mut survey));
    let tables = tables.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut sessions = SessionMap::default();
    let known = find_sessions(db, &tables, &mut survey, &mut sessions)?;
    for (number, table) in tables.iter().enumerate().take(OPENINGS) {
        if let Some(table) = table {
            collect(db, number, table, &known, &mut survey, &mut sessions)?;
        }
    }
    Ok(ForeignScan { survey, tables, sessions: sessions.finished() })
}

fn find_sessions(
    db: &Connection,
    tables: &[Option<ForeignTable>],
    survey: &mut ForeignSurvey,
    sessions: &mut SessionMap,
) -> rusqlite::Result<SessionIds> {
    let mut known = SessionIds::default();
    let Some(table) = &tables[OPENINGS] else { return Ok(known) };
    table.each(db, |row, keys| {
        let [agents_id, observers_id, project, platform, at] = keys else { return };
        let agent = platform.words().unwrap_or_else(|| "claude".to_owned());
        let Some(key) = agents_id.session().and_then(|id| key(&agent, id)) else {
            return survey.count_unfit("sdk_sessions", "no valid session id");
        };
        let session = sessions.session(key.clone());
        session.project = project.project();
        session.add(&RowRef { table: OPENINGS, row, turn: Some(1), at });
        known.by_agents_id.extend(agents_id.words().map(|id| (id, key.clone())));
        known.by_observers_id.extend(observers_id.words().map(|id| (id, key)));
    })?;
    Ok(known)
}

fn collect(
    db: &Connection,
    number: usize,
    table: &ForeignTable,
    known: &SessionIds,
    survey: &mut ForeignSurvey,
    sessions: &mut SessionMap,
) -> rusqlite::Result<()> {
    let ids = if number < OBSERVATIONS { &known.by_agents_id } else { &known.by_observers_id };
    table.each(db, |row, keys| {
        let Some(key) = keys[0].words().and_then(|id| ids.get(&id)) else {
            return survey.count_unfit(SHAPES[number].table, "its session is not among the sessions");
        };
        let session = sessions.session(key.clone());
        session.add(&RowRef { table: number, row, turn: keys[1].number(), at: &keys[2] });
        if let [_, _, _, _, _, folder] = keys {
            session.folder = session.folder.take().or_else(|| folder.folder());
        }
    })
}

pub(super) fn read(
    db: &Connection,
    tables: &[Option<ForeignTable>],
    session: &ForeignSession,
    extent: ReadScope,
    take: &mut dyn FnMut(ForeignRecord),
) -> rusqlite::Result<()> {
    let mut loose = ClaudeMemTurn::default();
    let mut turns = vec![];
    for (number, rows) in &session.index {
        let mut turn = ClaudeMemTurn::default();
        for (table, row) in rows {
            if let Some(found) = &tables[*table] {
                turn.add(*table, *row, &found.row(db, *row)?);
            }
        }
        match number {
            Some(number) => turns.push((*number, turn)),
            None => loose = turn,
        }
    }
    assign_loose_rows(&mut turns, loose);
    let out = PieceEmitter { at: session.first_at, place: 0, take };
    let mut emitter = ClaudeMemEmitter { out, has_begun: false };
    for (number, turn) in turns {
        emitter.emit(number, turn, extent);
    }
    Ok(())
}

/// Assigns rows without a turn number to the last turn that had begun by then, else to the first.
fn assign_loose_rows(turns: &mut Vec<(i64, ClaudeMemTurn)>, loose: ClaudeMemTurn) {
    if turns.is_empty() {
        turns.push((1, ClaudeMemTurn::default()));
    }
    let begun: Vec<_> = turns.iter().map(|(_, turn)| turn.began_at().unwrap_or_default()).collect();
    let turn_at =
        |at: Option<Timestamp>| at.and_then(|at| begun.iter().rposition(|begun| *begun <= at)).unwrap_or(0);
    for note in loose.notes {
        turns[turn_at(note.at)].1.notes.push(note);
    }
    for prompt in loose.prompts {
        turns[turn_at(prompt.0)].1.prompts.push(prompt);
    }
    for tool_use in loose.tool_uses {
        turns[turn_at(tool_use.at)].1.tool_uses.push(tool_use);
    }
}

#[derive(Default)]
struct ClaudeMemTurn {
    prompts: Vec<(Option<Timestamp>, String)>,
    /// The first prompt, from the session's own row.
    opening: Option<(Option<Timestamp>, String)>,
    tool_uses: Vec<ForeignCall>,
    notes: Vec<ObserverNote>,
}

struct ObserverNote {
    id: String,
    at: Option<Timestamp>,
    text: String,
    parsed: ParsedNote,
}

/// The same note as structured fields.
enum ParsedNote {
    Memory { draft: Option<Box<MemoryDraft>>, cost: u64 },
    Summary(Box<SummaryDraft>),
}

impl ObserverNote {
    fn is_summary(&self) -> bool {
        matches!(self.parsed, ParsedNote::Summary(_))
    }
}

impl ClaudeMemTurn {
    fn add(&mut self, table: usize, number: i64, row: &[Scalar]) {
        match (table, row) {
            (PROMPTS, [_, _, at, text]) => self.prompts.extend(text.words().map(|text| (at.time(), text))),
            (OPENINGS, [_, _, _, _, at, text]) => self.opening = text.words().map(|text| (at.time(), text)),
            (TOOL_USES, [_, _, at, tool, call, _, input, output]) => {
                let id = format!("claude-mem:tool:{number}");
                let call = call.words().unwrap_or_else(|| id.clone());
                let (tool, input, output) = (tool.tool(), input.words(), output.words());
                self.tool_uses.push(ForeignCall { id, call, tool, at: at.time(), input, output });
            }
            (OBSERVATIONS, [_, _, at, kind, cost, texts @ ..]) => {
                let (id, text) =
                    (format!("claude-mem:observation:{number}"), observation(number, kind, texts));
                let cost = cost.number().map_or(0, |tokens| u64::try_from(tokens).unwrap_or(0));
                let draft = memory(kind, texts).map(Box::new);
                self.notes.push(ObserverNote {
                    id,
                    at: at.time(),
                    text,
                    parsed: ParsedNote::Memory { draft, cost },
                });
            }
            (SUMMARIES, [_, _, at, texts @ ..]) => {
                let (id, text) = (format!("claude-mem:summary:{number}"), summary(number, texts));
                let parsed = ParsedNote::Summary(Box::new(summary_draft(texts)));
                self.notes.push(ObserverNote { id, at: at.time(), text, parsed });
            }
            (_, _) => {}
        }
    }

    fn began_at(&self) -> Option<Timestamp> {
        let prompted = self.prompts.iter().chain(&self.opening).find_map(|(at, _)| *at);
        let note_times = self.notes.iter().filter_map(|note| note.at);
        prompted.or_else(|| note_times.chain(self.tool_uses.iter().filter_map(|tool_use| tool_use.at)).min())
    }
}

/// An observation as text: title, subtitle, narrative, then the lists.
fn observation(number: i64, kind: &Scalar, texts: &[Scalar]) -> String {
    let kind = kind.words().map_or(String::new(), |kind| format!(", {kind}"));
    let title = texts.first().and_then(Scalar::words).map_or(String::new(), |title| format!(" {title}"));
    let plain = texts.iter().take(4).skip(1).filter_map(Scalar::words);
    let lists = texts.iter().skip(4).zip(&LISTS);
    let lists = lists.filter_map(|(list, name)| Some(format!("{name}:\n{}", listed(&list.words()?)?)));
    let parts: Vec<_> = plain.chain(lists).collect();
    format!("[claude-mem observation {number}{kind}]{title}\n{}", parts.join("\n\n"))
}

fn summary(number: i64, texts: &[Scalar]) -> String {
    let part = |(text, name): (&Scalar, &&str)| {
        let text = text.words()?;
        let is_list = name.starts_with("Files");
        Some(format!("{name}: {}", if is_list { format!("\n{}", listed(&text)?) } else { text }))
    };
    let parts: Vec<_> = texts.iter().zip(&SUMMARY).filter_map(part).collect();
    format!("[claude-mem summary {number}]\n{}", parts.join("\n\n"))
}

/// An observation as a memory. Types that begin with `security` become `security`.
fn memory(kind: &Scalar, texts: &[Scalar]) -> Option<MemoryDraft> {
    let text = |at: usize| texts.get(at).and_then(Scalar::words).unwrap_or_default();
    let named = kind.words().unwrap_or_default();
    let named = if named.starts_with("security") { "security" } else { named.as_str() };
    let kind = MemoryType::parse(named).or_else(|| MemoryType::parse("discovery"))?;
    let narrative = if text(2).is_empty() { text(3) } else { text(2) };
    let title =
        if text(0).is_empty() { narrative.lines().next().unwrap_or_default().to_owned() } else { text(0) };
    let touched = |at: usize, how: FileAccess| items(&text(at)).into_iter().map(move |path| (path, how));
    Some(MemoryDraft {
        kind,
        title,
        subtitle: text(1),
        facts: items(&text(4)),
        concepts: items(&text(5)),
        files: touched(7, FileAccess::Changed).chain(touched(6, FileAccess::Read)).collect(),
        narrative,
    })
}

fn summary_draft(texts: &[Scalar]) -> SummaryDraft {
    let text = |at: usize| texts.get(at).and_then(Scalar::words).unwrap_or_default();
    SummaryDraft {
        request: text(0),
        investigated: text(1),
        learned: text(2),
        completed: text(3),
        next_steps: text(4),
        notes: text(5),
    }
}

/// The items of a JSON list; for other text, its lines.
fn items(text: &str) -> Vec<String> {
    match serde_json::from_str::<Vec<serde_json::Value>>(text) {
        Ok(items) => {
            items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
        }
        Err(_) => {
            text.split('\n').map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        }
    }
}

/// A JSON list with one item per line; other text stays as it is. `None` for an empty list.
fn listed(text: &str) -> Option<String> {
    let Ok(items) = serde_json::from_str::<Vec<serde_json::Value>>(text) else {
        return Some(text.to_owned());
    };
    let item = |item: serde_json::Value| match item.as_str() {
        Some(text) => format!("- {text}"),
        None => format!("- {item}"),
    };
    let lines: Vec<_> = items.into_iter().map(item).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Turns a turn into pieces, or into notes.
struct ClaudeMemEmitter<'t> {
    out: PieceEmitter<'t>,
    has_begun: bool,
}

impl ClaudeMemEmitter<'_> {
    fn emit(&mut self, number: i64, turn: ClaudeMemTurn, extent: ReadScope) {
        self.out.at = turn.began_at().unwrap_or(self.out.at);
        match extent {
            ReadScope::Whole => self.whole(number, turn),
            ReadScope::Notes => turn.notes.into_iter().for_each(|note| self.note(note)),
        }
    }

    fn note(&mut self, note: ObserverNote) {
        let at = note.at.unwrap_or(self.out.at);
        (self.out.take)(ForeignRecord::Note {
            id: note.id.clone(),
            at,
            during: self.out.at,
            text: note.text,
        });
        self.parsed(note.id, at, note.parsed);
    }

    fn parsed(&mut self, id: String, at: Timestamp, parsed: ParsedNote) {
        let during = self.out.at;
        match parsed {
            ParsedNote::Memory { draft: Some(draft), cost } => {
                (self.out.take)(ForeignRecord::Memory { id, at, during, cost, draft });
            }
            ParsedNote::Memory { draft: None, .. } => {}
            ParsedNote::Summary(draft) => (self.out.take)(ForeignRecord::Summary { at, during, draft }),
        }
    }

    /// Rows after a missing prompt belong to the previous turn; the first turn always gets a prompt.
    fn whole(&mut self, number: i64, turn: ClaudeMemTurn) {
        let ClaudeMemTurn { prompts, opening, tool_uses, mut notes } = turn;
        let prompts = if prompts.is_empty() { opening.into_iter().collect() } else { prompts };
        let holds_more = !tool_uses.is_empty() || !notes.is_empty();
        if !prompts.is_empty() || (!self.has_begun && holds_more) {
            let words: Vec<_> = prompts.into_iter().map(|(_, text)| text).collect();
            let text = words.join("\n\n").into();
            let what = PieceContent::Prompt { text, origin: PromptOrigin::Human };
            self.out.piece(format!("claude-mem:prompt:{number}"), Some(self.out.at), what);
            self.has_begun = true;
        }
        tool_uses.into_iter().for_each(|tool_use| self.out.call(tool_use));
        notes.sort_by_key(ObserverNote::is_summary);
        for note in notes {
            let is_summary = note.is_summary();
            let (id, text) = (note.id.clone(), Cow::Owned(note.text));
            let what = if is_summary { PieceContent::Answer { text } } else { PieceContent::Note { text } };
            self.out.piece(id, note.at, what);
            self.parsed(note.id, note.at.unwrap_or(self.out.at), note.parsed);
        }
    }
}
