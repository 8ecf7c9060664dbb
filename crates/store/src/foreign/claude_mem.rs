//! The tables of claude-mem, from its fourth migration to its fiftieth: prompts, observations, summaries, tool uses.
//!
//! Nothing it wrote is taken for what an agent said, but where there is nothing else: all of it carries its name.

use super::index::{Entry, Sessions, key};
use super::survey::{Fate, Survey};
use super::table::{Shape, Table, Value};
use super::{Extent, ForeignSession, Found, Looked};
use rusqlite::Connection;
use std::borrow::Cow;
use std::collections::HashMap;
use towline_core::capture::Touch;
use towline_core::event::{Origin, ToolOutcome};
use towline_core::id::SessionKey;
use towline_core::memory::{Draft, MemoryType, SummaryDraft};
use towline_core::piece::{Content, Piece};
use towline_core::time::Timestamp;

/// The newest migration that is known.
const NEWEST: i64 = 50;

const PROMPTS: usize = 0;
const TOOL_USES: usize = 1;
const OBSERVATIONS: usize = 2;
const SUMMARIES: usize = 3;
/// The first prompt of a session, from before prompts had a table.
const OPENINGS: usize = 4;

/// The agent's id of a session, and its observer's: older versions call them otherwise.
const AGENTS_ID: &[&str] = &["content_session_id", "claude_session_id"];
const OBSERVERS_ID: &[&str] = &["memory_session_id", "sdk_session_id"];
const TIME: &[&str] = &["created_at_epoch", "created_at"];

/// The first three keys of the first four are the same: whose, turn, time.
const SHAPES: [Shape; 5] = [
    Shape { table: "user_prompts", keys: &[AGENTS_ID, &["prompt_number"], TIME], texts: &[&["prompt_text"]] },
    Shape {
        table: "tool_uses",
        keys: &[AGENTS_ID, &["prompt_number"], TIME, &["tool_name"], &["tool_use_id"], &["cwd"]],
        texts: &[&["tool_input"], &["tool_response"]],
    },
    Shape {
        table: "observations",
        keys: &[OBSERVERS_ID, &["prompt_number"], TIME, &["type"], &["discovery_tokens"]],
        texts: &[
            &["title"],
            &["subtitle"],
            &["narrative"],
            &["text"],
            &["facts"],
            &["concepts"],
            &["files_read"],
            &["files_modified"],
        ],
    },
    Shape {
        table: "session_summaries",
        keys: &[OBSERVERS_ID, &["prompt_number"], TIME],
        texts: &[
            &["request"],
            &["investigated"],
            &["learned"],
            &["completed"],
            &["next_steps"],
            &["notes"],
            &["files_read"],
            &["files_edited"],
        ],
    },
    Shape {
        table: "sdk_sessions",
        keys: &[
            AGENTS_ID,
            OBSERVERS_ID,
            &["project"],
            &["platform_source"],
            &["started_at_epoch", "started_at"],
        ],
        texts: &[&["user_prompt"]],
    },
];

const LISTS: [&str; 4] = ["Facts", "Concepts", "Files read", "Files modified"];
const SUMMARY: [&str; 8] =
    ["Request", "Investigated", "Learned", "Completed", "Next steps", "Notes", "Files read", "Files edited"];

fn fate(table: &str) -> Fate {
    match table {
        "sdk_sessions" | "user_prompts" | "tool_uses" | "observations" | "session_summaries" => Fate::Taken,
        "schema_versions" => Fate::Left("its own versions"),
        "pending_messages" | "observation_queue" => {
            Fate::Left("its own queue, from before it was worked off")
        }
        "telegram_wrapups" => Fate::Left("what it sent elsewhere"),
        name if name.starts_with("sync_") => Fate::Left("its own synchronising"),
        name if name.contains("_fts") => Fate::Left("its index of the others"),
        _ => Fate::Unknown,
    }
}

/// The sessions, by the ids of agents and of observers.
#[derive(Default)]
struct Known {
    by_agents_id: HashMap<String, SessionKey>,
    by_observers_id: HashMap<String, SessionKey>,
}

pub(super) fn look_through(db: &Connection) -> rusqlite::Result<Looked> {
    const VERSION: &str = "select max(version) from schema_versions";
    let schema: Option<i64> = db.query_row(VERSION, [], |row| row.get(0)).unwrap_or(None);
    let is_newer = schema.is_some_and(|schema| schema > NEWEST);
    let tables = Survey::tables(db, fate)?;
    let mut survey = Survey { schema, is_newer, tables, ..Survey::default() };
    let tables = SHAPES.iter().map(|shape| Table::find(db, shape, &mut survey));
    let tables = tables.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut sessions = Sessions::default();
    let known = find_sessions(db, &tables, &mut survey, &mut sessions)?;
    for (number, table) in tables.iter().enumerate().take(OPENINGS) {
        if let Some(table) = table {
            collect(db, (number, table, &known), &mut survey, &mut sessions)?;
        }
    }
    Ok(Looked { survey, tables, sessions: sessions.finished() })
}

fn find_sessions(
    db: &Connection,
    tables: &[Option<Table>],
    survey: &mut Survey,
    sessions: &mut Sessions,
) -> rusqlite::Result<Known> {
    let mut known = Known::default();
    let Some(table) = &tables[OPENINGS] else { return Ok(known) };
    table.each(db, |row, keys| {
        let [agents_id, observers_id, project, platform, at] = keys else { return };
        let agent = platform.words().unwrap_or_else(|| "claude".to_owned());
        let Some(key) = agents_id.session().and_then(|id| key(&agent, id)) else {
            return survey.count_unfit("sdk_sessions", "no valid session id");
        };
        let session = sessions.session(key.clone());
        session.project = project.project();
        session.add(&Entry { table: OPENINGS, row, turn: Some(1), at });
        known.by_agents_id.extend(agents_id.words().map(|id| (id, key.clone())));
        known.by_observers_id.extend(observers_id.words().map(|id| (id, key)));
    })?;
    Ok(known)
}

fn collect(
    db: &Connection,
    (number, table, known): (usize, &Table, &Known),
    survey: &mut Survey,
    sessions: &mut Sessions,
) -> rusqlite::Result<()> {
    let ids = if number < OBSERVATIONS { &known.by_agents_id } else { &known.by_observers_id };
    table.each(db, |row, keys| {
        let Some(key) = keys[0].words().and_then(|id| ids.get(&id)) else {
            return survey.count_unfit(SHAPES[number].table, "its session is not among the sessions");
        };
        let session = sessions.session(key.clone());
        session.add(&Entry { table: number, row, turn: keys[1].number(), at: &keys[2] });
        if let [_, _, _, _, _, folder] = keys {
            session.folder = session.folder.take().or_else(|| folder.folder());
        }
    })
}

pub(super) fn read(
    db: &Connection,
    tables: &[Option<Table>],
    session: &ForeignSession,
    (extent, take): (Extent, &mut dyn FnMut(Found)),
) -> rusqlite::Result<()> {
    let mut loose = Turn::default();
    let mut turns = vec![];
    for (number, rows) in &session.index {
        let mut turn = Turn::default();
        for (table, row) in rows {
            if let Some(found) = &tables[*table] {
                turn.add((*table, *row), &found.row(db, *row)?);
            }
        }
        match number {
            Some(number) => turns.push((*number, turn)),
            None => loose = turn,
        }
    }
    settle(&mut turns, loose);
    let mut teller = Teller { at: session.first_at, place: 0, has_begun: false, take };
    for (number, turn) in turns {
        teller.tell(number, turn, extent);
    }
    Ok(())
}

/// What carries no number belongs to the last turn that had begun by then, else to the first.
fn settle(turns: &mut Vec<(i64, Turn)>, loose: Turn) {
    if turns.is_empty() {
        turns.push((1, Turn::default()));
    }
    let begun: Vec<_> = turns.iter().map(|(_, turn)| turn.begins().unwrap_or_default()).collect();
    let turn_at =
        |at: Option<Timestamp>| at.and_then(|at| begun.iter().rposition(|begun| *begun <= at)).unwrap_or(0);
    for noted in loose.noted {
        turns[turn_at(noted.at)].1.noted.push(noted);
    }
    for prompt in loose.prompts {
        turns[turn_at(prompt.0)].1.prompts.push(prompt);
    }
    for used in loose.used {
        turns[turn_at(used.at)].1.used.push(used);
    }
}

#[derive(Default)]
struct Turn {
    prompts: Vec<(Option<Timestamp>, String)>,
    /// What was asked first, as the session's own row tells it.
    opening: Option<(Option<Timestamp>, String)>,
    used: Vec<Used>,
    noted: Vec<Noted>,
}

struct Used {
    row: i64,
    at: Option<Timestamp>,
    tool: String,
    call: Option<String>,
    input: Option<String>,
    output: Option<String>,
}

struct Noted {
    id: String,
    at: Option<Timestamp>,
    text: String,
    learnt: Learnt,
}

/// The same as a note says, in its parts.
enum Learnt {
    Memory { draft: Option<Box<Draft>>, cost: u64 },
    Summary(Box<SummaryDraft>),
}

impl Noted {
    fn is_summary(&self) -> bool {
        matches!(self.learnt, Learnt::Summary(_))
    }
}

impl Turn {
    fn add(&mut self, (table, number): (usize, i64), row: &[Value]) {
        match (table, row) {
            (PROMPTS, [_, _, at, text]) => self.prompts.extend(text.words().map(|text| (at.time(), text))),
            (OPENINGS, [_, _, _, _, at, text]) => self.opening = text.words().map(|text| (at.time(), text)),
            (TOOL_USES, [_, _, at, tool, call, _, input, output]) => self.used.push(Used {
                row: number,
                at: at.time(),
                tool: tool.tool(),
                call: call.words(),
                input: input.words(),
                output: output.words(),
            }),
            (OBSERVATIONS, [_, _, at, kind, cost, texts @ ..]) => {
                let (id, text) =
                    (format!("claude-mem:observation:{number}"), observation(number, kind, texts));
                let cost = cost.number().map_or(0, |tokens| u64::try_from(tokens).unwrap_or(0));
                let draft = memory(kind, texts).map(Box::new);
                self.noted.push(Noted { id, at: at.time(), text, learnt: Learnt::Memory { draft, cost } });
            }
            (SUMMARIES, [_, _, at, texts @ ..]) => {
                let (id, text) = (format!("claude-mem:summary:{number}"), summary(number, texts));
                let learnt = Learnt::Summary(Box::new(told(texts)));
                self.noted.push(Noted { id, at: at.time(), text, learnt });
            }
            (_, _) => {}
        }
    }

    fn begins(&self) -> Option<Timestamp> {
        let asked = self.prompts.iter().chain(&self.opening).find_map(|(at, _)| *at);
        let noted = self.noted.iter().filter_map(|noted| noted.at);
        asked.or_else(|| noted.chain(self.used.iter().filter_map(|used| used.at)).min())
    }
}

/// An observation as one would tell it: title, subtitle, narrative, and the lists behind them.
fn observation(number: i64, kind: &Value, texts: &[Value]) -> String {
    let kind = kind.words().map_or(String::new(), |kind| format!(", {kind}"));
    let title = texts.first().and_then(Value::words).map_or(String::new(), |title| format!(" {title}"));
    let plain = texts.iter().take(4).skip(1).filter_map(Value::words);
    let lists = texts.iter().skip(4).zip(&LISTS);
    let lists = lists.filter_map(|(list, name)| Some(format!("{name}:\n{}", listed(&list.words()?)?)));
    let parts: Vec<_> = plain.chain(lists).collect();
    format!("[claude-mem observation {number}{kind}]{title}\n{}", parts.join("\n\n"))
}

fn summary(number: i64, texts: &[Value]) -> String {
    let part = |(text, name): (&Value, &&str)| {
        let text = text.words()?;
        let is_list = name.starts_with("Files");
        Some(format!("{name}: {}", if is_list { format!("\n{}", listed(&text)?) } else { text }))
    };
    let parts: Vec<_> = texts.iter().zip(&SUMMARY).filter_map(part).collect();
    format!("[claude-mem summary {number}]\n{}", parts.join("\n\n"))
}

/// An observation as a memory. `security_alert` and the like are what is called `security` here.
fn memory(kind: &Value, texts: &[Value]) -> Option<Draft> {
    let text = |at: usize| texts.get(at).and_then(Value::words).unwrap_or_default();
    let named = kind.words().unwrap_or_default();
    let named = if named.starts_with("security") { "security" } else { named.as_str() };
    let kind = MemoryType::parse(named).or_else(|| MemoryType::parse("discovery"))?;
    let narrative = if text(2).is_empty() { text(3) } else { text(2) };
    let title =
        if text(0).is_empty() { narrative.lines().next().unwrap_or_default().to_owned() } else { text(0) };
    let touched = |at: usize, how: Touch| items(&text(at)).into_iter().map(move |path| (path, how));
    Some(Draft {
        kind,
        title,
        subtitle: text(1),
        facts: items(&text(4)),
        concepts: items(&text(5)),
        files: touched(7, Touch::Changed).chain(touched(6, Touch::Read)).collect(),
        narrative,
    })
}

fn told(texts: &[Value]) -> SummaryDraft {
    let text = |at: usize| texts.get(at).and_then(Value::words).unwrap_or_default();
    SummaryDraft {
        request: text(0),
        investigated: text(1),
        learned: text(2),
        completed: text(3),
        next_steps: text(4),
        notes: text(5),
    }
}

/// The items of a JSON list; what is none is one item.
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

/// A JSON list by the line; what is none stays as it is. `None` if it is empty.
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

/// Puts a turn into pieces, or into notes.
struct Teller<'t> {
    /// When the turn began.
    at: Timestamp,
    place: u64,
    has_begun: bool,
    take: &'t mut dyn FnMut(Found),
}

impl Teller<'_> {
    fn tell(&mut self, number: i64, turn: Turn, extent: Extent) {
        self.at = turn.begins().unwrap_or(self.at);
        match extent {
            Extent::Whole => self.whole(number, turn),
            Extent::Notes => turn.noted.into_iter().for_each(|noted| self.note(noted)),
        }
    }

    fn note(&mut self, noted: Noted) {
        let at = noted.at.unwrap_or(self.at);
        (self.take)(Found::Note { id: noted.id.clone(), at, during: self.at, text: noted.text });
        self.learnt(noted.id, at, noted.learnt);
    }

    fn learnt(&mut self, id: String, at: Timestamp, learnt: Learnt) {
        let during = self.at;
        match learnt {
            Learnt::Memory { draft: Some(draft), cost } => {
                (self.take)(Found::Memory { id, at, during, cost, draft });
            }
            Learnt::Memory { draft: None, .. } => {}
            Learnt::Summary(draft) => (self.take)(Found::Summary { at, during, draft }),
        }
    }

    /// What follows a prompt that was not kept belongs to the turn before; the first turn begins in any case.
    fn whole(&mut self, number: i64, turn: Turn) {
        let Turn { prompts, opening, used, mut noted } = turn;
        let asked = if prompts.is_empty() { opening.into_iter().collect() } else { prompts };
        let holds_more = !used.is_empty() || !noted.is_empty();
        if !asked.is_empty() || (!self.has_begun && holds_more) {
            let words: Vec<_> = asked.into_iter().map(|(_, text)| text).collect();
            let text = words.join("\n\n").into();
            let what = Content::Prompt { text, origin: Origin::Human };
            self.piece(format!("claude-mem:prompt:{number}"), Some(self.at), what);
            self.has_begun = true;
        }
        used.into_iter().for_each(|used| self.used(used));
        noted.sort_by_key(Noted::is_summary);
        for noted in noted {
            let is_summary = noted.is_summary();
            let (id, text) = (noted.id.clone(), Cow::Owned(noted.text));
            let what = if is_summary { Content::Answer { text } } else { Content::Note { text } };
            self.piece(id, noted.at, what);
            self.learnt(noted.id, noted.at.unwrap_or(self.at), noted.learnt);
        }
    }

    fn used(&mut self, used: Used) {
        let id = format!("claude-mem:tool:{}", used.row);
        let call = used.call.unwrap_or_else(|| id.clone());
        let input = used.input.unwrap_or_default().into();
        let what = Content::ToolCall { call: call.clone().into(), tool: used.tool.into(), input };
        self.piece(id.clone(), used.at, what);
        if let Some(output) = used.output {
            let what =
                Content::ToolResult { call: call.into(), output: output.into(), outcome: ToolOutcome::Done };
            self.piece(format!("{id}:result"), used.at, what);
        }
    }

    fn piece(&mut self, id: String, at: Option<Timestamp>, what: Content<'static>) {
        self.place += 1;
        let (id, place, at) = (Cow::Owned(id), self.place, at.unwrap_or(self.at));
        (self.take)(Found::Piece(Piece { id, place, at, turn: None, subagent: None, what }));
    }
}
