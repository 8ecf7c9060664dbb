//! Memories, turns, summaries and bookmarks around a time, in order.
//!
//! Only reads, and no more than it returns. Every entry has an id and its size in tokens.

use super::past::{Past, ProjectScope, other_project, search_failed, unreadable_data};
use super::session::call;
use super::show::Reader;
use super::sought::start_of_expression;
use super::turn::id_of;
use crate::index::labels::{Labels, short};
use crate::index::{Found, Library, Question, ask, embeddings};
use crate::ingest::live;
use crate::memory::remember::{is_memory_id, no_memory};
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure, settings};
use towline_core::compose::tokens;
use towline_core::escape::fit_to_width;
use towline_core::id::SessionKey;
use towline_core::memory::{Memory, TrustLevel, number};
use towline_core::time::Timestamp;
use towline_core::when::TimeExpression;
use towline_search::{Filters, QueryContext};
use towline_store::Store;
use towline_store::archive::{Conversation, KeptSummary, TimeSide, TurnRow};

/// Longest quote of the input in an error, in columns.
const LONGEST_SHOWN: usize = 80;

pub struct TimelineRequest<'a> {
    pub scope: ProjectScope,
    /// A memory, a turn, a session, a time, or words to search for; now if empty.
    pub anchor: &'a str,
    pub before: u32,
    pub after: u32,
    pub reader: Reader,
}

pub struct Timeline {
    /// The id of the entry at the anchor.
    pub anchor: Option<String>,
    /// The search hit, if words were given.
    pub found: Option<Box<Found>>,
    pub entries: Vec<TimelineEntry>,
    /// Description of the searched scope.
    pub looked: String,
    /// Why the search did without the configured model.
    pub notice: Option<String>,
}

pub struct TimelineEntry {
    pub at: Timestamp,
    pub id: String,
    pub kind: &'static str,
    /// The origin of a memory or summary.
    pub level: Option<TrustLevel>,
    pub title: String,
    pub session: Option<SessionKey>,
    pub project: Option<String>,
    pub tokens: usize,
}

/// The anchor: a time, and the id of the entry there.
struct Anchor {
    at: Timestamp,
    id: Option<String>,
}

pub fn timeline(env: &Env, request: &TimelineRequest<'_>) -> Result<Timeline, Failure> {
    let looked = "nothing was captured yet".to_owned();
    let mut timeline = Timeline { anchor: None, found: None, entries: vec![], looked, notice: None };
    let Some(past) = Past::open(env, &request.scope)? else { return Ok(timeline) };
    timeline.looked = past.project.description();
    let anchor = match request.anchor {
        "" => Anchor { at: past.now.plus_ms(1), id: None },
        text => match named(&past, text)? {
            ParsedAnchor::Known(anchor) => anchor,
            ParsedAnchor::Gone => return Err(no_anchor(text)),
            ParsedAnchor::Words => {
                let (hit, notice) = best_hit(env, &past, text)?;
                timeline.notice = notice;
                anchor_of(&past, timeline.found.insert(Box::new(hit)))?
            }
        },
    };
    let store = live::store(env)?;
    if !past.project.is_empty() {
        let query = Around { past: &past, store: store.as_ref(), anchor: &anchor, reader: request.reader };
        timeline.entries = query.side(TimeSide::Before, request.before)?;
        timeline.entries.extend(query.side(TimeSide::After, request.after)?);
    }
    timeline.anchor = anchor.id;
    Ok(timeline)
}

/// The meaning of an anchor text.
enum ParsedAnchor {
    Known(Anchor),
    /// An id or a time that does not exist.
    Gone,
    /// Words to search for.
    Words,
}

/// Tries ids and times; any other text is words.
fn named(past: &Past, text: &str) -> Result<ParsedAnchor, Failure> {
    let known = |at, id| ParsedAnchor::Known(Anchor { at, id });
    if let (true, Some(number)) = (is_memory_id(text), number(text)) {
        let memory =
            past.archive.memory(number).map_err(unreadable_data)?.ok_or_else(|| no_memory(number))?;
        return match past.admits_memory(number)? {
            true => Ok(known(memory.made_at, Some(memory.name()))),
            false => Err(other_project(text)),
        };
    }
    let Ok(wanted) = TimeExpression::parse(text) else { return Ok(ParsedAnchor::Words) };
    match &wanted {
        TimeExpression::Turn { session, from, .. } => {
            let Some(of) = call(past, session)? else { return Ok(ParsedAnchor::Gone) };
            let turn = past.archive.turns(&of, *from, *from).map_err(unreadable_data)?.into_iter().next();
            Ok(turn.map_or(ParsedAnchor::Gone, |turn| known(turn.at, Some(id_of(&of, &turn)))))
        }
        // Any word could be a session id, also one of another project.
        TimeExpression::Session(session) => match call(past, session) {
            Err(_) if past.is_fenced => Ok(ParsedAnchor::Words),
            found => Ok(found?.map_or(ParsedAnchor::Words, |of| known(of.first_at, None))),
        },
        TimeExpression::Clock { .. }
        | TimeExpression::Day(_)
        | TimeExpression::Exact { .. }
        | TimeExpression::Ago { .. } => {
            Ok(start_of_expression(&wanted, past.now).map_or(ParsedAnchor::Gone, |at| known(at, None)))
        }
    }
}

/// The best hit of a search, and why it did without the configured model.
fn best_hit(env: &Env, past: &Past, words: &str) -> Result<(Found, Option<String>), Failure> {
    if past.project.is_empty() {
        return Err(no_anchor(words));
    }
    let project = past.project.name().map(str::to_owned);
    let question = Question {
        text: words.to_owned(),
        filters: Filters { project: project.clone(), ..Filters::default() },
        here: QueryContext { project, ..QueryContext::default() },
        limit: 1,
        with_replaced: false,
    };
    let (sentences, notice) = embeddings::asked(&env.home, &settings(env).search, words);
    let library = Library {
        home: &env.home,
        archive: &past.archive,
        now: env.now,
        sentences: sentences.as_ref(),
        team: &[],
    };
    let hit = ask(&library, &question).map_err(search_failed)?.hits.into_iter().next();
    let hit = hit.ok_or_else(|| no_anchor(words))?;
    if past.admits_hit(&hit)? { Ok((hit, notice)) } else { Err(no_anchor(words)) }
}

/// For a detail, the position of its turn.
fn anchor_of(past: &Past, hit: &Found) -> Result<Anchor, Failure> {
    Ok(match named(past, &hit.id)? {
        ParsedAnchor::Known(anchor @ Anchor { id: Some(_), .. }) => anchor,
        ParsedAnchor::Known(_) | ParsedAnchor::Gone | ParsedAnchor::Words => {
            Anchor { at: hit.at, id: Some(hit.id.clone()) }
        }
    })
}

fn no_anchor(text: &str) -> Failure {
    let shown = fit_to_width(&plain_text(text), LONGEST_SHOWN);
    Failure::input(format!(
        "`{shown}` is no memory, turn, session or time that is known, and no search finds it"
    ))
    .hint(
        "Write m12, 1a2b3c4d#12, 14:05, 'yesterday 9:00' or words; `tow memory list` and `tow session turns` list ids.",
    )
}

struct Around<'a> {
    past: &'a Past,
    store: Option<&'a Store>,
    anchor: &'a Anchor,
    reader: Reader,
}

impl Around<'_> {
    /// The nearest entries on one side, ordered by time. The anchor itself does not count.
    fn side(&self, side: TimeSide, most: u32) -> Result<Vec<TimelineEntry>, Failure> {
        let limit = most.saturating_add(1);
        let (archive, project, at) = (&self.past.archive, self.past.project.row(), self.anchor.at);
        let mut found: Vec<TimelineEntry> = vec![];
        let memories = archive.memories_around(project, at, side, limit).map_err(unreadable_data)?;
        found.extend(memories.iter().map(|memory| of_memory(memory, self.reader)));
        found.extend(
            archive
                .summaries_around(project, at, side, limit)
                .map_err(unreadable_data)?
                .iter()
                .map(of_summary),
        );
        for (of, turn) in archive.turns_around(project, at, side, limit).map_err(unreadable_data)? {
            found.push(self.of_turn(&of, &turn)?);
        }
        found.extend(self.bookmarks(side, limit)?);
        found.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        let is_anchor = |entry: &TimelineEntry| self.anchor.id.as_deref() == Some(entry.id.as_str());
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
    fn of_turn(&self, of: &Conversation, turn: &TurnRow) -> Result<TimelineEntry, Failure> {
        let bodies = self.past.archive.bodies(turn).map_err(unreadable_data)?;
        let tokens = bodies.iter().map(|body| body.text.len().div_ceil(tokens::BYTES_PER_TOKEN)).sum();
        Ok(TimelineEntry {
            at: turn.at,
            id: id_of(of, turn),
            kind: "turn",
            level: None,
            title: turn.line.clone(),
            session: Some(of.session.clone()),
            project: of.project.clone(),
            tokens,
        })
    }

    fn bookmarks(&self, side: TimeSide, most: u32) -> Result<Vec<TimelineEntry>, Failure> {
        let Some(store) = self.store else { return Ok(vec![]) };
        let name = self.past.project.name();
        let mut labels = Labels::of(store)?;
        let mut found = vec![];
        for known in store.bookmarks_around(name, self.anchor.at, side, most)? {
            if !self.past.admits_session(&known.session)? {
                continue;
            }
            let title = labels.label(&known)?;
            found.push(TimelineEntry {
                at: known.bookmark.at,
                id: short(known.bookmark.uid),
                kind: "bookmark",
                level: None,
                tokens: tokens::of_line(&title),
                title,
                session: Some(known.session),
                project: known.project,
            });
        }
        Ok(found)
    }
}

fn of_memory(memory: &Memory, reader: Reader) -> TimelineEntry {
    let state = match memory {
        _ if memory.superseded.is_some() => " (replaced)",
        _ if memory.quarantine.is_some() => " (held back)",
        _ => "",
    };
    TimelineEntry {
        at: memory.made_at,
        id: memory.name(),
        kind: "memory",
        level: Some(memory.trust.level()),
        title: match (&memory.quarantine, reader) {
            (Some(_), Reader::Model) => "held back from models".to_owned(),
            (Some(_), Reader::User) | (None, _) => {
                format!("{}: {}{state}", memory.content.kind, memory.content.title)
            }
        },
        session: memory.source.as_ref().map(|source| source.session.clone()),
        project: memory.project.clone(),
        tokens: memory_tokens(memory),
    }
}

fn of_summary(kept: &KeptSummary) -> TimelineEntry {
    let parts: Vec<&str> = kept.summary.parts().into_iter().map(|(_, text)| text).collect();
    let title = [parts[0], parts[3], parts[2]].into_iter().find(|text| !text.is_empty()).unwrap_or("…");
    TimelineEntry {
        at: kept.at,
        id: kept.session.short().to_owned(),
        kind: "summary",
        level: Some(kept.trust.level()),
        title: title.lines().next().unwrap_or_default().to_owned(),
        session: Some(kept.session.clone()),
        project: None,
        tokens: parts.iter().map(|text| text.len().div_ceil(tokens::BYTES_PER_TOKEN)).sum(),
    }
}

/// Tokens that a model needs to read the memory.
pub fn memory_tokens(memory: &Memory) -> usize {
    memory.content.text().split_inclusive('\n').map(tokens::of_line).sum()
}
