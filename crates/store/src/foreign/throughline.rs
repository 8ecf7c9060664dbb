//! Throughline's tables, schema 1 to 12: bodies, skeletons, details, and the judgments of its first versions.
//!
//! A row belongs to the session in which it was written, not to one that it was merged into later. Answers come after
//! all details of their turn, since a detail's time is that of the turn's end.

use super::index::{RowRef, SessionMap, key};
use super::survey::{ForeignSurvey, TableImport};
use super::table::{ForeignTable, Scalar, TableSpec};
use super::{ForeignCall, ForeignRecord, ForeignScan, ForeignSession, PieceEmitter, ReadScope, result};
use rusqlite::Connection;
use towline_core::event::PromptOrigin;
use towline_core::id::SessionKey;
use towline_core::line::LONGEST;
use towline_core::piece::PieceContent;
use towline_core::time::Timestamp;

/// The newest schema that we know.
const NEWEST: i64 = 12;

const BODIES: usize = 0;
const SKELETONS: usize = 1;
const DETAILS: usize = 2;
const JUDGMENTS: usize = 3;

/// The first four keys of each table are the same: session, original session, turn, time.
const SHAPES: [TableSpec; 4] = [
    TableSpec {
        table: "bodies",
        keys: "session_id origin_session_id turn_number created_at role turn_start",
        texts: "text",
    },
    TableSpec {
        table: "skeletons",
        keys: "session_id origin_session_id turn_number created_at role",
        texts: "summary",
    },
    TableSpec {
        table: "details",
        keys: "session_id origin_session_id turn_number created_at kind tool_name source_id",
        texts: "input_text output_text",
    },
    TableSpec {
        table: "judgments",
        keys: "session_id origin_session_id turn_number created_at category",
        texts: "content",
    },
];

const OWNERS: TableSpec = TableSpec { table: "sessions", keys: "session_id project_path", texts: "" };

fn fate(table: &str) -> TableImport {
    match table {
        "sessions" | "bodies" | "skeletons" | "details" | "judgments" => TableImport::Taken,
        "injection_log" => TableImport::Left("what it gave to sessions"),
        "handoff_batons" | "pending_handoffs" | "codex_handoffs" | "codex_handoff_summaries" => {
            TableImport::Left("its own handing over")
        }
        "room_turns" => TableImport::Left("conversations that belong to no session"),
        _ => TableImport::Unknown,
    }
}

pub(super) fn scan(db: &Connection) -> rusqlite::Result<ForeignScan> {
    let schema: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables = ForeignSurvey::tables(db, fate)?;
    let mut survey =
        ForeignSurvey { schema: Some(schema), is_newer: schema > NEWEST, tables, ..ForeignSurvey::default() };
    let mut sessions = SessionMap::default();
    let mut found = vec![];
    for (number, shape) in SHAPES.iter().enumerate() {
        let table = ForeignTable::find(db, shape, &mut survey)?;
        if let Some(table) = &table {
            collect(db, number, table, &mut survey, &mut sessions)?;
        }
        found.push(table);
    }
    // Schema 4 dropped the judgments.
    survey.missing.retain(|missing| missing != "judgments");
    find_owners(db, &mut survey, &mut sessions)?;
    Ok(ForeignScan { survey, tables: found, sessions: sessions.finished() })
}

fn collect(
    db: &Connection,
    number: usize,
    table: &ForeignTable,
    survey: &mut ForeignSurvey,
    sessions: &mut SessionMap,
) -> rusqlite::Result<()> {
    table.each(db, |row, keys| {
        let raw = if keys[1] == Scalar::Null { &keys[0] } else { &keys[1] };
        match session(raw) {
            Some(key) => {
                let entry = RowRef { table: number, row, turn: keys[2].number(), at: &keys[3] };
                sessions.session(key).add(&entry);
            }
            None => survey.count_unfit(SHAPES[number].table, "no valid session id"),
        }
    })
}

/// `codex:ID` is a session of that agent; a plain id is one of Claude Code, which Throughline was made for.
fn session(raw: &Scalar) -> Option<SessionKey> {
    let Scalar::Text(text) = raw else { return None };
    match text.split_once(':') {
        Some((agent, id)) => key(agent, Scalar::Text(id.to_owned()).session()?),
        None => key("claude", raw.session()?),
    }
}

fn find_owners(
    db: &Connection,
    survey: &mut ForeignSurvey,
    sessions: &mut SessionMap,
) -> rusqlite::Result<()> {
    let Some(table) = ForeignTable::find(db, &OWNERS, survey)? else { return Ok(()) };
    table.each(db, |_, keys| {
        if let Some(known) = session(&keys[0]).and_then(|key| sessions.get_mut(&key)) {
            known.folder = keys[1].folder();
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
    if extent == ReadScope::Notes {
        return Ok(());
    }
    let out = PieceEmitter { at: session.first_at, place: 0, take };
    let mut emitter = ThroughlineEmitter { out, turn: String::new() };
    for (number, rows) in &session.index {
        let mut turn = ThroughlineTurn::default();
        for (table, row) in rows {
            if let Some(found) = &tables[*table] {
                turn.add(*table, &found.row(db, *row)?);
            }
        }
        emitter.emit(*number, turn);
    }
    Ok(())
}

#[derive(Default)]
struct ThroughlineTurn {
    prompts: Vec<TurnText>,
    answers: Vec<TurnText>,
    summaries: Vec<TurnText>,
    judgments: Vec<TurnText>,
    details: Vec<TurnDetail>,
}

/// A text of the user or the agent, or about the turn. `label` is its role or category.
struct TurnText {
    at: Option<Timestamp>,
    label: String,
    by_host: bool,
    text: Option<String>,
}

struct TurnDetail {
    at: Option<Timestamp>,
    kind: String,
    tool: String,
    source: Option<String>,
    input: Option<String>,
    output: Option<String>,
}

impl ThroughlineTurn {
    fn add(&mut self, table: usize, row: &[Scalar]) {
        match (table, row) {
            (BODIES, [_, _, _, at, role, start, text]) => {
                let by_host = start.words().is_some_and(|start| start.starts_with("host"));
                let entry = TurnText { by_host, ..TurnText::of(at, role, text) };
                if entry.label == "user" { self.prompts.push(entry) } else { self.answers.push(entry) }
            }
            (SKELETONS, [_, _, _, at, role, text]) => self.summaries.push(TurnText::of(at, role, text)),
            (JUDGMENTS, [_, _, _, at, category, text]) => {
                self.judgments.push(TurnText::of(at, category, text))
            }
            (DETAILS, [_, _, _, at, kind, tool, source, input, output]) => self.details.push(TurnDetail {
                at: at.time(),
                kind: kind.words().unwrap_or_else(|| "tool_input".to_owned()),
                tool: tool.tool(),
                source: source.words(),
                input: input.words(),
                output: output.words(),
            }),
            (_, _) => {}
        }
    }

    /// The first versions kept only a summary of each side: use it as the message.
    fn with_summaries_as_messages(mut self) -> ThroughlineTurn {
        if self.prompts.is_empty() && self.answers.is_empty() {
            (self.prompts, self.answers) = self.summaries.drain(..).partition(|entry| entry.label == "user");
        }
        self
    }

    fn began_at(&self) -> Option<Timestamp> {
        let texts = [&self.prompts, &self.answers, &self.summaries, &self.judgments];
        let times = texts.into_iter().flatten().filter_map(|entry| entry.at);
        let first = || times.chain(self.details.iter().filter_map(|detail| detail.at)).min();
        self.prompts.first().and_then(|entry| entry.at).or_else(first)
    }
}

impl TurnText {
    fn of(at: &Scalar, label: &Scalar, text: &Scalar) -> TurnText {
        TurnText {
            at: at.time(),
            label: label.words().unwrap_or_default(),
            by_host: false,
            text: text.words(),
        }
    }
}

struct ThroughlineEmitter<'t> {
    out: PieceEmitter<'t>,
    /// The id of the turn's prompt.
    turn: String,
}

impl ThroughlineEmitter<'_> {
    fn emit(&mut self, number: Option<i64>, turn: ThroughlineTurn) {
        let turn = turn.with_summaries_as_messages();
        self.out.at = turn.began_at().unwrap_or(self.out.at);
        self.turn = number.map_or("throughline:-".to_owned(), |number| format!("throughline:{number}"));
        if number.is_some() {
            self.prompt(&turn.prompts);
        }
        for (nth, detail) in turn.details.into_iter().enumerate() {
            self.detail(nth, detail);
        }
        for (nth, entry) in turn.judgments.into_iter().enumerate() {
            self.note(format!("judgment:{nth}"), &format!("judgment, {}", entry.label), entry);
        }
        for (nth, entry) in turn.answers.into_iter().enumerate() {
            if let Some(text) = entry.text {
                self.out.piece(
                    self.id(format!("answer:{nth}")),
                    entry.at,
                    PieceContent::Answer { text: text.into() },
                );
            }
        }
        for (nth, entry) in turn.summaries.into_iter().enumerate() {
            self.summary(nth, entry);
        }
    }

    fn id(&self, part: impl std::fmt::Display) -> String {
        format!("{}:{part}", self.turn)
    }

    /// A turn begins with its prompt, even if its text was not kept.
    fn prompt(&mut self, prompts: &[TurnText]) {
        let words: Vec<&str> = prompts.iter().filter_map(|entry| entry.text.as_deref()).collect();
        let by_host = prompts.iter().any(|entry| entry.by_host);
        let origin = if by_host { PromptOrigin::Notification } else { PromptOrigin::Human };
        let text = words.join("\n\n").into();
        self.out.piece(self.turn.clone(), Some(self.out.at), PieceContent::Prompt { text, origin });
    }

    fn note(&mut self, part: String, label: &str, entry: TurnText) {
        if let Some(text) = entry.text {
            let text = format!("[Throughline {label}]\n{text}");
            self.out.piece(self.id(part), entry.at, PieceContent::Note { text: text.into() });
        }
    }

    /// A summary that is too long for a line is also kept as a note.
    fn summary(&mut self, nth: usize, entry: TurnText) {
        let Some(text) = entry.text.clone() else { return };
        if text.chars().count() > LONGEST || text.trim().contains('\n') {
            self.note(format!("summary:{nth}"), "summary", entry);
        }
        (self.out.take)(ForeignRecord::Line { prompt: self.turn.clone(), text });
    }

    fn detail(&mut self, nth: usize, detail: TurnDetail) {
        let TurnDetail { at, kind, tool, source, input, output } = detail;
        let name = source.unwrap_or_else(|| self.id(format!("{kind}:{nth}")));
        let id = format!("throughline:detail:{name}");
        let what = match kind.as_str() {
            // The first versions kept a call and its result in one row.
            "tool_input" => return self.out.call(ForeignCall { id, call: name, tool, at, input, output }),
            "tool_output" => {
                let call = name.strip_suffix(":result").unwrap_or(&name).to_owned();
                result(call, output.or(input).unwrap_or_default())
            }
            "thinking" => PieceContent::Thinking { text: either(input, output).into() },
            "image" => PieceContent::Image { media: "image".into(), bytes: 0 },
            "system" => PieceContent::Note { text: either(input, output).into() },
            other => {
                let text = format!("[Throughline {other}]\n{}", either(input, output));
                PieceContent::Note { text: text.into() }
            }
        };
        self.out.piece(id, at, what);
    }
}

fn either(input: Option<String>, output: Option<String>) -> String {
    input.or(output).unwrap_or_default()
}
