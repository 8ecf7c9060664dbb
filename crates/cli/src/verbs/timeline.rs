//! `tow timeline`: memories, turns, summaries and bookmarks around a time, in order.
//!
//! Only reads, and no more than it shows. Every entry has an id and its size in tokens, to continue from.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use crate::verbs::search;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::compose::tokens;
use towline_core::escape::{fit, for_terminal};
use towline_core::id::SessionKey;
use towline_core::memory::{Memory, number};
use towline_core::time::Timestamp;
use towline_core::when::TimeExpression;
use towline_engine::index::labels::{Labels, short};
use towline_engine::index::{Found, Question};
use towline_engine::ingest::live;
use towline_engine::memory::remember::{is_memory_id, no_memory};
use towline_engine::query::{Chosen, Past, beginning, call, cost, id_of, unreadable};
use towline_engine::runtime::calendar;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;
use towline_search::{Filters, QueryContext};
use towline_store::archive::{Conversation, KeptSummary, TimeSide, TurnRow};
use towline_store::{Store, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow timeline                      the latest of the project of this folder
  tow timeline m12                  around a memory
  tow timeline 1a2b3c4d#12          around a turn
  tow timeline yesterday 14:05      around a time
  tow timeline login cookie         around what `tow search` finds first by these words
  tow timeline m12 --before 3 --after 10
  tow timeline --all-projects --json

Each line: time, id, what it is, what it says, and how many tokens it takes to read it whole.";

/// Show memories, turns, summaries and bookmarks around a point in time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A memory, a turn, a session, a time, or words to search for; now if not given.
    #[arg(value_name = "ANCHOR")]
    anchor: Vec<String>,
    /// Show at most N entries before it.
    #[arg(long, value_name = "N", default_value_t = 10)]
    before: u32,
    /// Show at most N entries after it.
    #[arg(long, value_name = "N", default_value_t = 10)]
    after: u32,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Hide the content of memories that are held back from models.
    #[arg(long, hide = true)]
    for_model: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The anchor: a time, and the id of the entry there.
struct Anchor {
    at: Timestamp,
    id: Option<String>,
    /// The search hit, if words were given.
    found: Option<Box<Found>>,
}

impl Anchor {
    fn at(at: Timestamp, id: Option<String>) -> Anchor {
        Anchor { at, id, found: None }
    }
}

struct Entry {
    at: Timestamp,
    id: String,
    kind: &'static str,
    title: String,
    session: Option<SessionKey>,
    project: Option<String>,
    tokens: usize,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Some(past) = Past::open(&scope.env, &arguments.whose.scope())? else {
        show(scope, arguments, &Anchor::at(scope.env.now, None), &[], "nothing was captured yet");
        return Ok(ExitCode::SUCCESS);
    };
    let anchor = anchor(scope, &past, &arguments.anchor.join(" "))?;
    let store = live::store(&scope.env)?;
    let shown = if arguments.for_model { TimelineReader::Model } else { TimelineReader::User };
    let around = TimelineQuery { past: &past, store: store.as_ref(), anchor: &anchor, shown };
    let mut entries =
        if past.project.is_empty() { vec![] } else { around.side(TimeSide::Before, arguments.before)? };
    if !past.project.is_empty() {
        entries.extend(around.side(TimeSide::After, arguments.after)?);
    }
    show(scope, arguments, &anchor, &entries, &past.project.words());
    Ok(ExitCode::SUCCESS)
}

/// Tries ids and times first, and searches only for other text.
fn anchor(scope: &Scope, past: &Past, text: &str) -> Result<Anchor, Failure> {
    if text.is_empty() {
        return Ok(Anchor::at(past.now.plus_ms(1), None));
    }
    match named(past, text)? {
        ParsedAnchor::Known(anchor) => Ok(anchor),
        ParsedAnchor::Gone => Err(no_anchor(text)),
        ParsedAnchor::Words => found(scope, past, text),
    }
}

/// The meaning of an anchor text.
enum ParsedAnchor {
    Known(Anchor),
    /// An id or a time that does not exist.
    Gone,
    /// Words to search for.
    Words,
}

fn named(past: &Past, text: &str) -> Result<ParsedAnchor, Failure> {
    if let (true, Some(number)) = (is_memory_id(text), number(text)) {
        let memory = past.archive.memory(number).map_err(unreadable)?.ok_or_else(|| no_memory(number))?;
        return Ok(ParsedAnchor::Known(Anchor::at(memory.made_at, Some(memory.name()))));
    }
    let Ok(wanted) = TimeExpression::parse(text) else { return Ok(ParsedAnchor::Words) };
    match &wanted {
        TimeExpression::Turn { session, from, .. } => {
            let Some(of) = call(past, session)? else { return Ok(ParsedAnchor::Gone) };
            let turn = past.archive.turns(&of, *from, *from).map_err(unreadable)?.into_iter().next();
            let known = turn.map(|turn| ParsedAnchor::Known(Anchor::at(turn.at, Some(id_of(&of, &turn)))));
            Ok(known.unwrap_or(ParsedAnchor::Gone))
        }
        // Any word could be a session id.
        TimeExpression::Session(session) => {
            let of = call(past, session)?;
            Ok(of.map_or(ParsedAnchor::Words, |of| ParsedAnchor::Known(Anchor::at(of.first_at, None))))
        }
        TimeExpression::Clock { .. }
        | TimeExpression::Day(_)
        | TimeExpression::Exact { .. }
        | TimeExpression::Ago { .. } => {
            let at = beginning(&wanted, past.now);
            Ok(at.map_or(ParsedAnchor::Gone, |at| ParsedAnchor::Known(Anchor::at(at, None))))
        }
    }
}

/// The best hit of a search; for a detail, the position of its turn.
fn found(scope: &Scope, past: &Past, words: &str) -> Result<Anchor, Failure> {
    if past.project.is_empty() {
        return Err(no_anchor(words));
    }
    let project = match &past.project {
        Chosen::Known { name, .. } => Some(name.clone()),
        Chosen::All | Chosen::Strange { .. } => None,
    };
    let question = Question {
        text: words.to_owned(),
        filters: Filters { project: project.clone(), ..Filters::default() },
        here: QueryContext { project, ..QueryContext::default() },
        limit: 1,
        with_replaced: false,
    };
    let hit = search::hits(scope, past, &question)?.into_iter().next().ok_or_else(|| no_anchor(words))?;
    let anchor = match named(past, &hit.id)? {
        ParsedAnchor::Known(Anchor { at, id: Some(id), .. }) => Anchor::at(at, Some(id)),
        ParsedAnchor::Known(_) | ParsedAnchor::Gone | ParsedAnchor::Words => {
            Anchor::at(hit.at, Some(hit.id.clone()))
        }
    };
    Ok(Anchor { found: Some(Box::new(hit)), ..anchor })
}

fn no_anchor(text: &str) -> Failure {
    let shown = fit(&plain(text), LONGEST_SHOWN);
    Failure::input(format!(
        "`{shown}` is no memory, turn, session or time that is known, and no search finds it"
    ))
    .hint(
        "Write m12, 1a2b3c4d#12, 14:05, 'yesterday 9:00' or words; `tow memories` and `tow turns` list ids.",
    )
}

/// Longest quote of the input in an error, in columns.
const LONGEST_SHOWN: usize = 80;

struct TimelineQuery<'a> {
    past: &'a Past,
    store: Option<&'a Store>,
    anchor: &'a Anchor,
    shown: TimelineReader,
}

/// The reader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimelineReader {
    User,
    Model,
}

impl TimelineQuery<'_> {
    /// The nearest entries on one side, ordered by time. The anchor itself does not count.
    fn side(&self, side: TimeSide, most: u32) -> Result<Vec<Entry>, Failure> {
        let limit = most.saturating_add(1);
        let (archive, project, at) = (&self.past.archive, self.past.project.row(), self.anchor.at);
        let mut found: Vec<Entry> = vec![];
        let memories = archive.memories_around(project, at, side, limit).map_err(unreadable)?;
        found.extend(memories.iter().map(|memory| of_memory(memory, self.shown)));
        found.extend(
            archive.summaries_around(project, at, side, limit).map_err(unreadable)?.iter().map(of_summary),
        );
        for (of, turn) in archive.turns_around(project, at, side, limit).map_err(unreadable)? {
            found.push(self.of_turn(&of, &turn)?);
        }
        found.extend(self.bookmarks(side, limit).map_err(unreadable)?);
        found.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        let is_anchor = |entry: &Entry| self.anchor.id.as_deref() == Some(entry.id.as_str());
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let has_anchor = usize::from(found.iter().any(is_anchor));
        let surplus = found.len().saturating_sub(most + has_anchor);
        match side {
            TimeSide::Before => drop(found.drain(..surplus)),
            TimeSide::After => found.truncate(found.len() - surplus),
        }
        Ok(found)
    }

    /// A turn's size is that of its messages.
    fn of_turn(&self, of: &Conversation, turn: &TurnRow) -> Result<Entry, Failure> {
        let bodies = self.past.archive.bodies(turn).map_err(unreadable)?;
        let tokens = bodies.iter().map(|body| body.text.len().div_ceil(tokens::BYTES_PER_TOKEN)).sum();
        Ok(Entry {
            at: turn.at,
            id: id_of(of, turn),
            kind: "turn",
            title: turn.line.clone(),
            session: Some(of.session.clone()),
            project: of.project.clone(),
            tokens,
        })
    }

    fn bookmarks(&self, side: TimeSide, most: u32) -> Result<Vec<Entry>, StoreError> {
        let Some(store) = self.store else { return Ok(vec![]) };
        let name = match &self.past.project {
            Chosen::Known { name, .. } => Some(name.as_str()),
            Chosen::All | Chosen::Strange { .. } => None,
        };
        let mut labels = Labels::of(store)?;
        let mut found = vec![];
        for known in store.bookmarks_around(name, self.anchor.at, side, most)? {
            let title = labels.label(&known)?;
            found.push(Entry {
                at: known.bookmark.at,
                id: short(known.bookmark.uid),
                kind: "bookmark",
                tokens: tokens::of_line(&title),
                title,
                session: Some(known.session),
                project: known.project,
            });
        }
        Ok(found)
    }
}

fn of_memory(memory: &Memory, shown: TimelineReader) -> Entry {
    let state = match memory {
        _ if memory.superseded.is_some() => " (replaced)",
        _ if memory.quarantine.is_some() => " (held back)",
        _ => "",
    };
    Entry {
        at: memory.made_at,
        id: memory.name(),
        kind: "memory",
        title: match (&memory.quarantine, shown) {
            (Some(_), TimelineReader::Model) => "held back from models".to_owned(),
            (Some(_), TimelineReader::User) | (None, _) => {
                format!("{}: {}{state}", memory.content.kind, memory.content.title)
            }
        },
        session: memory.source.as_ref().map(|source| source.session.clone()),
        project: memory.project.clone(),
        tokens: cost(memory),
    }
}

fn of_summary(kept: &KeptSummary) -> Entry {
    let parts: Vec<&str> = kept.summary.parts().into_iter().map(|(_, text)| text).collect();
    let title = [parts[0], parts[3], parts[2]].into_iter().find(|text| !text.is_empty()).unwrap_or("…");
    Entry {
        at: kept.at,
        id: kept.session.short().to_owned(),
        kind: "summary",
        title: title.lines().next().unwrap_or_default().to_owned(),
        session: Some(kept.session.clone()),
        project: None,
        tokens: parts.iter().map(|text| text.len().div_ceil(tokens::BYTES_PER_TOKEN)).sum(),
    }
}

fn show(scope: &Scope, arguments: &Arguments, anchor: &Anchor, entries: &[Entry], looked: &str) {
    let id = anchor.id.as_deref();
    if arguments.json {
        let all: Vec<Value> = entries.iter().map(|entry| as_json(entry, id)).collect();
        let found = anchor.found.as_ref().map(|hit| hit.json());
        return scope.out.line(&json!({"anchor": id, "found": found, "entries": all}).to_string());
    }
    if let Some(hit) = &anchor.found {
        let said = format!("around {}, the best hit: {}", hit.id, for_terminal(&hit.title));
        scope.out.line(&fit(&said, scope.out.columns()));
    }
    for entry in entries {
        let mark = if id == Some(entry.id.as_str()) { '>' } else { ' ' };
        scope.out.line(&format!(
            "{mark} {} {} {} {} ({} tokens)",
            calendar::clock(entry.at, scope.env.now),
            entry.id,
            entry.kind,
            for_terminal(&entry.title),
            entry.tokens
        ));
    }
    scope.out.line(&match entries.last() {
        Some(_) => {
            "next: `tow show ID` shows one whole, `tow detail ID` what was said and done in a turn".to_owned()
        }
        None => format!("nothing found; looked in: {looked}. --all-projects looks everywhere"),
    });
}

fn as_json(entry: &Entry, anchor: Option<&str>) -> Value {
    json!({
        "id": entry.id, "kind": entry.kind, "at": entry.at.to_utc(), "title": entry.title,
        "session": entry.session, "project": entry.project, "tokens": entry.tokens,
        "is_anchor": anchor == Some(entry.id.as_str()),
    })
}
