//! Throughline's tables, schema 1 to 12: bodies, skeletons, details, and the judgments of its first versions.
//!
//! A row belongs to the session in which it was said, not to the one that took it over later. Answers stand behind all
//! details of their turn, since the times of details are those of the turn's end.

use super::index::{Entry, Sessions, key};
use super::survey::{Fate, Survey};
use super::table::{Shape, Table, Value};
use super::{Extent, ForeignSession, Found, Looked};
use rusqlite::Connection;
use std::borrow::Cow;
use towline_core::event::{Origin, ToolOutcome};
use towline_core::id::SessionKey;
use towline_core::line::LONGEST;
use towline_core::piece::{Content, Piece};
use towline_core::time::Timestamp;

/// The newest schema that is known.
const NEWEST: i64 = 12;

const BODIES: usize = 0;
const SKELETONS: usize = 1;
const DETAILS: usize = 2;
const JUDGMENTS: usize = 3;

/// The first four keys of each are the same: whose, whose before, turn, time.
const SHAPES: [Shape; 4] = [
    Shape {
        table: "bodies",
        keys: &[
            &["session_id"],
            &["origin_session_id"],
            &["turn_number"],
            &["created_at"],
            &["role"],
            &["turn_start"],
        ],
        texts: &[&["text"]],
    },
    Shape {
        table: "skeletons",
        keys: &[&["session_id"], &["origin_session_id"], &["turn_number"], &["created_at"], &["role"]],
        texts: &[&["summary"]],
    },
    Shape {
        table: "details",
        keys: &[
            &["session_id"],
            &["origin_session_id"],
            &["turn_number"],
            &["created_at"],
            &["kind"],
            &["tool_name"],
            &["source_id"],
        ],
        texts: &[&["input_text"], &["output_text"]],
    },
    Shape {
        table: "judgments",
        keys: &[&["session_id"], &["origin_session_id"], &["turn_number"], &["created_at"], &["category"]],
        texts: &[&["content"]],
    },
];

const OWNERS: Shape = Shape { table: "sessions", keys: &[&["session_id"], &["project_path"]], texts: &[] };

fn fate(table: &str) -> Fate {
    match table {
        "sessions" | "bodies" | "skeletons" | "details" | "judgments" => Fate::Taken,
        "injection_log" => Fate::Left("what it gave to sessions"),
        "handoff_batons" | "pending_handoffs" | "codex_handoffs" | "codex_handoff_summaries" => {
            Fate::Left("its own handing over")
        }
        "room_turns" => Fate::Left("conversations that belong to no session"),
        _ => Fate::Unknown,
    }
}

pub(super) fn look_through(db: &Connection) -> rusqlite::Result<Looked> {
    let schema: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables = Survey::tables(db, fate)?;
    let mut survey = Survey { schema: Some(schema), is_newer: schema > NEWEST, tables, ..Survey::default() };
    let mut sessions = Sessions::default();
    let mut found = vec![];
    for (number, shape) in SHAPES.iter().enumerate() {
        let table = Table::find(db, shape, &mut survey)?;
        if let Some(table) = &table {
            collect(db, (number, table), &mut survey, &mut sessions)?;
        }
        found.push(table);
    }
    // Its fourth version gave the judgments up.
    survey.missing.retain(|missing| missing != "judgments");
    find_owners(db, &mut survey, &mut sessions)?;
    Ok(Looked { survey, tables: found, sessions: sessions.finished() })
}

fn collect(
    db: &Connection,
    (number, table): (usize, &Table),
    survey: &mut Survey,
    sessions: &mut Sessions,
) -> rusqlite::Result<()> {
    table.each(db, |row, keys| {
        let raw = if keys[1] == Value::Null { &keys[0] } else { &keys[1] };
        match session(raw) {
            Some(key) => {
                let entry = Entry { table: number, row, turn: keys[2].number(), at: &keys[3] };
                sessions.session(key).add(&entry);
            }
            None => survey.count_unfit(SHAPES[number].table, "no valid session id"),
        }
    })
}

/// `codex:ID` is a session of that agent; a plain id is one of the agent that Throughline was made for.
fn session(raw: &Value) -> Option<SessionKey> {
    let Value::Text(text) = raw else { return None };
    match text.split_once(':') {
        Some((agent, id)) => key(agent, Value::Text(id.to_owned()).session()?),
        None => key("claude", raw.session()?),
    }
}

fn find_owners(db: &Connection, survey: &mut Survey, sessions: &mut Sessions) -> rusqlite::Result<()> {
    let Some(table) = Table::find(db, &OWNERS, survey)? else { return Ok(()) };
    table.each(db, |_, keys| {
        if let Some(known) = session(&keys[0]).and_then(|key| sessions.known(&key)) {
            known.folder = keys[1].folder();
        }
    })
}

pub(super) fn read(
    db: &Connection,
    tables: &[Option<Table>],
    session: &ForeignSession,
    (extent, take): (Extent, &mut dyn FnMut(Found)),
) -> rusqlite::Result<()> {
    if extent == Extent::Notes {
        return Ok(());
    }
    let mut teller = Teller { at: session.first_at, place: 0, turn: String::new(), take };
    for (number, rows) in &session.index {
        let mut turn = Turn::default();
        for (table, row) in rows {
            if let Some(found) = &tables[*table] {
                turn.add(*table, &found.row(db, *row)?);
            }
        }
        teller.tell(*number, turn);
    }
    Ok(())
}

/// What one turn holds.
#[derive(Default)]
struct Turn {
    asked: Vec<Said>,
    answered: Vec<Said>,
    summaries: Vec<Said>,
    judgments: Vec<Said>,
    details: Vec<Done>,
}

/// Words of one side, or about the turn. `label`: who, or what kind.
struct Said {
    at: Option<Timestamp>,
    label: String,
    by_host: bool,
    text: Option<String>,
}

struct Done {
    at: Option<Timestamp>,
    kind: String,
    tool: String,
    source: Option<String>,
    input: Option<String>,
    output: Option<String>,
}

impl Turn {
    fn add(&mut self, table: usize, row: &[Value]) {
        match (table, row) {
            (BODIES, [_, _, _, at, role, start, text]) => {
                let by_host = start.words().is_some_and(|start| start.starts_with("host"));
                let said = Said { by_host, ..Said::of(at, role, text) };
                if said.label == "user" { self.asked.push(said) } else { self.answered.push(said) }
            }
            (SKELETONS, [_, _, _, at, role, text]) => self.summaries.push(Said::of(at, role, text)),
            (JUDGMENTS, [_, _, _, at, category, text]) => self.judgments.push(Said::of(at, category, text)),
            (DETAILS, [_, _, _, at, kind, tool, source, input, output]) => self.details.push(Done {
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

    /// The first versions kept no words but the summary of each side.
    fn with_words(mut self) -> Turn {
        if self.asked.is_empty() && self.answered.is_empty() {
            (self.asked, self.answered) = self.summaries.drain(..).partition(|said| said.label == "user");
        }
        self
    }

    fn begins(&self) -> Option<Timestamp> {
        let said = [&self.asked, &self.answered, &self.summaries, &self.judgments];
        let said = said.into_iter().flatten().filter_map(|said| said.at);
        let first = || said.chain(self.details.iter().filter_map(|done| done.at)).min();
        self.asked.first().and_then(|said| said.at).or_else(first)
    }
}

impl Said {
    fn of(at: &Value, label: &Value, text: &Value) -> Said {
        Said { at: at.time(), label: label.words().unwrap_or_default(), by_host: false, text: text.words() }
    }
}

/// Puts a turn into pieces.
struct Teller<'t> {
    /// When the turn began.
    at: Timestamp,
    place: u64,
    /// The id of its prompt.
    turn: String,
    take: &'t mut dyn FnMut(Found),
}

impl Teller<'_> {
    fn tell(&mut self, number: Option<i64>, turn: Turn) {
        let turn = turn.with_words();
        self.at = turn.begins().unwrap_or(self.at);
        self.turn = number.map_or("throughline:-".to_owned(), |number| format!("throughline:{number}"));
        if number.is_some() {
            self.prompt(&turn.asked);
        }
        for (nth, done) in turn.details.into_iter().enumerate() {
            self.detail(nth, done);
        }
        for (nth, said) in turn.judgments.into_iter().enumerate() {
            self.note(format!("judgment:{nth}"), &format!("judgment, {}", said.label), said);
        }
        for (nth, said) in turn.answered.into_iter().enumerate() {
            if let Some(text) = said.text {
                self.piece(self.id(format!("answer:{nth}")), said.at, Content::Answer { text: text.into() });
            }
        }
        for (nth, said) in turn.summaries.into_iter().enumerate() {
            self.summary(nth, said);
        }
    }

    fn id(&self, part: impl std::fmt::Display) -> String {
        format!("{}:{part}", self.turn)
    }

    fn piece(&mut self, id: String, at: Option<Timestamp>, what: Content<'static>) {
        self.place += 1;
        let (id, place, at) = (Cow::Owned(id), self.place, at.unwrap_or(self.at));
        (self.take)(Found::Piece(Piece { id, place, at, turn: None, subagent: None, what }));
    }

    /// A turn begins with its prompt, also one of which no word was kept.
    fn prompt(&mut self, asked: &[Said]) {
        let words: Vec<&str> = asked.iter().filter_map(|said| said.text.as_deref()).collect();
        let by_host = asked.iter().any(|said| said.by_host);
        let origin = if by_host { Origin::Notification } else { Origin::Human };
        let text = words.join("\n\n").into();
        self.piece(self.turn.clone(), Some(self.at), Content::Prompt { text, origin });
    }

    fn note(&mut self, part: String, label: &str, said: Said) {
        if let Some(text) = said.text {
            let text = format!("[Throughline {label}]\n{text}");
            self.piece(self.id(part), said.at, Content::Note { text: text.into() });
        }
    }

    /// What is too long for a line is kept beside it.
    fn summary(&mut self, nth: usize, said: Said) {
        let Some(text) = said.text.clone() else { return };
        if text.chars().count() > LONGEST || text.trim().contains('\n') {
            self.note(format!("summary:{nth}"), "summary", said);
        }
        (self.take)(Found::Line { prompt: self.turn.clone(), text });
    }

    fn detail(&mut self, nth: usize, done: Done) {
        let Done { at, kind, tool, source, input, output } = done;
        let name = source.unwrap_or_else(|| self.id(format!("{kind}:{nth}")));
        let id = format!("throughline:detail:{name}");
        let what = match kind.as_str() {
            "tool_input" => return self.call((id, name, tool), at, (input, output)),
            "tool_output" => {
                let call = name.strip_suffix(":result").unwrap_or(&name).to_owned();
                result(call, output.or(input).unwrap_or_default())
            }
            "thinking" => Content::Thinking { text: either(input, output).into() },
            "image" => Content::Image { media: "image".into(), bytes: 0 },
            "system" => Content::Note { text: either(input, output).into() },
            other => {
                let text = format!("[Throughline {other}]\n{}", either(input, output));
                Content::Note { text: text.into() }
            }
        };
        self.piece(id, at, what);
    }

    /// The first versions kept a call and what came of it in one row.
    fn call(
        &mut self,
        (id, call, tool): (String, String, String),
        at: Option<Timestamp>,
        (input, output): (Option<String>, Option<String>),
    ) {
        let result = output.map(|output| (format!("{id}:result"), result(call.clone(), output)));
        let input = input.unwrap_or_default().into();
        self.piece(id, at, Content::ToolCall { call: call.into(), tool: tool.into(), input });
        if let Some((id, result)) = result {
            self.piece(id, at, result);
        }
    }
}

fn either(input: Option<String>, output: Option<String>) -> String {
    input.or(output).unwrap_or_default()
}

/// How a call ended was not kept.
fn result(call: String, output: String) -> Content<'static> {
    Content::ToolResult { call: call.into(), output: output.into(), outcome: ToolOutcome::Done }
}
