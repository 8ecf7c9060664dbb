//! The session, turn, detail or memory that an id names.
//!
//! Only reads. An unknown id is an error that suggests the nearest known one.

use super::figures::{Figures, figures};
use super::past::{Past, ProjectScope, other_project, unreadable_data};
use super::room::Room;
use super::session::call;
use super::turn::{BYTES, BYTES_OF_ONE, Thinking, TurnView, id_of, view, view_detail};
use super::usage;
use crate::memory::remember::{is_memory_id, no_memory};
use crate::runtime::config::nearest;
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure};
use towline_core::id::Uid;
use towline_core::memory::{Memory, number};
use towline_core::time::Timestamp;
use towline_core::usage::UsageTotal;
use towline_core::when::{SessionHint, TimeExpression};
use towline_store::archive::{
    Conversation, KeptSummary, MemoryTrace, SessionQuery, TurnFilter, TurnQuery, TurnRow,
};

/// How many recent sessions are compared with an unknown id.
const NEAR: usize = 200;

/// Longest chain of replaced memories.
const LONGEST_CHAIN: usize = 50;

pub struct ShowRequest<'a> {
    pub ids: &'a [String],
    pub scope: ProjectScope,
    /// Limit of a session's turns.
    pub limit: usize,
    /// Limit of text; 0 is unlimited.
    pub bytes: Option<usize>,
    pub reader: Reader,
}

/// The reader of the result. Quarantined memories are shown to a user only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    User,
    Model,
}

pub enum Shown {
    Session(Box<ShownSession>),
    Turn(Box<TurnView>, Figures),
    Detail(Box<TurnView>),
    Memory(Box<ShownMemory>),
    /// A memory that the reader must not see.
    HeldBack {
        id: String,
        reason: String,
    },
}

pub struct ShownSession {
    pub of: Conversation,
    /// The last turns, without reverted ones.
    pub turns: Vec<TurnRow>,
    /// Number of all turns, and of those that are not reverted.
    pub all: u32,
    pub standing: u32,
    pub figures: Figures,
    pub summary: Option<KeptSummary>,
    pub spent: UsageTotal,
}

pub struct ShownMemory {
    pub memory: Memory,
    /// The memories it replaced, itself, and those that replaced it, oldest first.
    pub chain: Vec<i64>,
    pub trace: Vec<MemoryTrace>,
}

pub fn show(env: &Env, request: &ShowRequest<'_>) -> Result<Vec<Shown>, Failure> {
    if request.ids.is_empty() {
        return Err(
            Failure::input("no id was given").hint("Run `tow session list` or `tow memory list` for ids.")
        );
    }
    let ids = request.ids.iter().map(|id| ParsedId::parse(id)).collect::<Result<Vec<_>, _>>()?;
    let Some(past) = Past::open(env, &request.scope)? else {
        return Err(
            Failure::input("nothing was captured yet").hint("Run `tow data import`, or `tow install`.")
        );
    };
    ids.iter().map(|id| show_one(env, &past, request, id)).collect()
}

enum ParsedId<'a> {
    Memory(i64),
    Captured(&'a str, TimeExpression),
}

impl ParsedId<'_> {
    fn parse(id: &str) -> Result<ParsedId<'_>, Failure> {
        match number(id).filter(|_| is_memory_id(id)) {
            Some(number) => Ok(ParsedId::Memory(number)),
            None => Ok(ParsedId::Captured(id, TimeExpression::parse(id).map_err(|_| no_id(id))?)),
        }
    }
}

fn show_one(env: &Env, past: &Past, request: &ShowRequest<'_>, id: &ParsedId<'_>) -> Result<Shown, Failure> {
    let (text, wanted) = match id {
        ParsedId::Memory(number) => return show_memory(past, *number, request.reader),
        ParsedId::Captured(text, wanted) => (text, wanted),
    };
    match wanted {
        TimeExpression::Session(hint) => match (call(past, hint)?, by_uid(past, hint)?) {
            (Some(of), _) => show_session(env, past, request, of),
            (None, Some((of, _))) if !past.admits(&of)? => Err(other_project(text)),
            (None, Some((of, turn))) => show_turn(past, request, of, turn),
            (None, None) => Err(unknown(past, hint)),
        },
        TimeExpression::Turn { session, from, to, detail } => {
            let of = call(past, session)?.ok_or_else(|| unknown(past, session))?;
            let turn = one_turn(past, &of, *from, *to)?;
            match detail {
                Some(number) => show_detail(past, request, of, turn, *number),
                None => show_turn(past, request, of, turn),
            }
        }
        TimeExpression::Clock { .. }
        | TimeExpression::Day(_)
        | TimeExpression::Exact { .. }
        | TimeExpression::Ago { .. } => Err(Failure::input(format!("`{}` is a time", plain_text(text)))
            .hint(format!("Run `tow session detail {}`.", plain_text(text)))),
    }
}

fn no_id(text: &str) -> Failure {
    Failure::input(format!("`{}` is no id", plain_text(text)))
        .hint("Ids look like 1a2b3c4d, 1a2b3c4d#12, 1a2b3c4d#12.3 and m12; `tow session list` and `tow memory list` list them.")
}

/// A turn's uid looks like a session id.
fn by_uid(past: &Past, hint: &SessionHint) -> Result<Option<(Conversation, TurnRow)>, Failure> {
    match Uid::parse(&hint.id) {
        Ok(uid) => past.archive.turn_by_uid(uid).map_err(unreadable_data),
        Err(_) => Ok(None),
    }
}

fn unknown(past: &Past, hint: &SessionHint) -> Failure {
    let project = past.project.row().filter(|_| past.is_fenced);
    let latest = SessionQuery { project, agent: None, since: Timestamp(0), behind: None, most: NEAR };
    let latest = past.archive.find_sessions(&latest).unwrap_or_default();
    let failure = Failure::input(format!("no session has an id that begins or ends with `{hint}`"));
    let failure = match nearest(&hint.id, latest.iter().map(|of| of.short.as_str())) {
        Some(near) => failure.hint(format!("Did you mean `tow show {near}`?")),
        None => failure,
    };
    failure.hint("Run `tow session list --all-projects` to see what was captured.")
}

fn one_turn(past: &Past, of: &Conversation, from: u32, to: u32) -> Result<TurnRow, Failure> {
    if from != to {
        return Err(Failure::input("several turns are shown by another command")
            .hint(format!("Run `tow session detail {}#{from}-{to}`.", of.short)));
    }
    let turn = past.archive.turns(of, from, from).map_err(unreadable_data)?.into_iter().next();
    turn.ok_or_else(|| {
        Failure::input(format!("session {} has the turns 1 to {}, not {from}", of.short, of.turns))
            .hint(format!("Run `tow session turns {}`.", of.short))
    })
}

fn show_detail(
    past: &Past,
    request: &ShowRequest<'_>,
    of: Conversation,
    turn: TurnRow,
    number: u32,
) -> Result<Shown, Failure> {
    let id = id_of(&of, &turn);
    let room = Room::of(request.bytes.unwrap_or(BYTES_OF_ONE));
    let view = view_detail(past, of, turn, number, room)?.map_err(|count| {
        Failure::input(format!("turn {id} has {count} tool inputs and outputs, not {number}"))
            .hint(format!("Run `tow session detail {id}`."))
    })?;
    Ok(Shown::Detail(Box::new(view)))
}

fn show_turn(
    past: &Past,
    request: &ShowRequest<'_>,
    of: Conversation,
    turn: TurnRow,
) -> Result<Shown, Failure> {
    let figures = figures(past, &of, turn.ordinal..=turn.ordinal)?;
    let room = Room::of(request.bytes.unwrap_or(BYTES));
    Ok(Shown::Turn(Box::new(view(past, of, turn, room, Thinking::Hidden)?), figures))
}

fn show_session(
    env: &Env,
    past: &Past,
    request: &ShowRequest<'_>,
    of: Conversation,
) -> Result<Shown, Failure> {
    let archive = &past.archive;
    let query = TurnQuery::last(request.limit, TurnFilter::Standing);
    let (all, standing) = archive.count_turns(&of, &query).map_err(unreadable_data)?;
    Ok(Shown::Session(Box::new(ShownSession {
        turns: archive.turns_of(&of, &query).map_err(unreadable_data)?,
        all,
        standing,
        figures: figures(past, &of, 0..=u32::MAX)?,
        summary: archive.summary(&of).map_err(unreadable_data)?,
        spent: usage::of_session(archive, &usage::prices(env), &of.session).map_err(unreadable_data)?,
        of,
    })))
}

fn show_memory(past: &Past, number: i64, reader: Reader) -> Result<Shown, Failure> {
    let memory = past.archive.memory(number).map_err(unreadable_data)?.ok_or_else(|| no_memory(number))?;
    if !past.admits_memory(number)? {
        return Err(other_project(&memory.name()));
    }
    if let (Some(reason), Reader::Model) = (&memory.quarantine, reader) {
        return Ok(Shown::HeldBack { id: memory.name(), reason: reason.clone() });
    }
    let trace = past.archive.memory_trace(number).map_err(unreadable_data)?;
    let chain = chain(past, &memory)?;
    Ok(Shown::Memory(Box::new(ShownMemory { memory, chain, trace })))
}

/// Follows replacements in both directions, guarded against cycles.
fn chain(past: &Past, memory: &Memory) -> Result<Vec<i64>, Failure> {
    let mut chain = vec![memory.number];
    let mut earlier = past.archive.memories_replaced_by(memory.number).map_err(unreadable_data)?;
    while let Some(number) =
        earlier.pop().filter(|number| !chain.contains(number) && chain.len() < LONGEST_CHAIN)
    {
        chain.insert(0, number);
        earlier.extend(past.archive.memories_replaced_by(number).map_err(unreadable_data)?);
    }
    let mut later = memory.superseded.as_ref().and_then(|superseded| superseded.by);
    while let Some(number) = later.filter(|number| !chain.contains(number) && chain.len() < LONGEST_CHAIN) {
        chain.push(number);
        let next = past.archive.memory(number).map_err(unreadable_data)?;
        later = next.and_then(|next| next.superseded).and_then(|superseded| superseded.by);
    }
    Ok(chain)
}
