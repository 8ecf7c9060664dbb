//! Lists turns: of a session, or of a project since a time.
//!
//! Only reads. Leaves out markers, notifications and reverted turns unless all are requested.

use super::past::{Past, ProjectScope, unreadable_data};
use super::room::Room;
use super::session::call;
use super::sought::start_of_expression;
use super::turn::{LONGEST_MESSAGE, MessageView, messages};
use crate::runtime::{Env, Failure};
use std::collections::HashMap;
use towline_core::escape::escape_for_terminal;
use towline_core::time::Timestamp;
use towline_core::when::{SessionHint, TimeExpression};
use towline_store::archive::{Conversation, DetailRow, SessionQuery, TurnFilter, TurnQuery, TurnRow};

pub struct TurnsRequest<'a> {
    pub scope: ProjectScope,
    /// The latest session of the project if not given.
    pub session: Option<&'a str>,
    /// Only turns before this turn or time.
    pub before: Option<&'a str>,
    /// The first turns after this one, instead of the last.
    pub after: Option<&'a str>,
    /// Only turns since this time, of all sessions of the project unless one is given.
    pub since: Option<&'a str>,
    pub limit: usize,
    /// Includes bookmarks, notifications and reverted turns.
    pub all: bool,
    pub messages: MessageLimit,
    /// Includes the details, without their texts.
    pub headings: bool,
    /// Limit of all messages; 0 is unlimited.
    pub bytes: usize,
}

/// Which messages of a turn are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLimit {
    None,
    /// Each clipped to the usual length.
    Clipped,
    /// Limited by the bytes of the request only.
    Whole,
}

/// The listed turns, and counts of those left out.
pub struct TurnList {
    pub turns: Vec<ListedTurn>,
    /// The session, if only one was requested.
    pub of: Option<Conversation>,
    pub earlier: u32,
    pub hidden: u32,
    /// Description of the searched scope.
    pub looked: String,
}

pub struct ListedTurn {
    pub of: Conversation,
    pub turn: TurnRow,
    /// Number of details.
    pub details: u32,
    pub messages: Option<Vec<MessageView>>,
    pub headings: Option<Vec<DetailRow>>,
}

/// Which turns are listed.
enum Range {
    Of(Box<Conversation>),
    /// The first turns after this one.
    After(Box<Conversation>, u32),
    Across,
    Nothing,
}

/// The requested turns; `None` if nothing was ever captured.
pub fn turns(env: &Env, request: &TurnsRequest<'_>) -> Result<Option<TurnList>, Failure> {
    let bounds = Bounds::parse(request, env.now)?;
    let Some(past) = Past::open(env, &request.scope)? else { return Ok(None) };
    let (archive, query) = (&past.archive, &bounds.query);
    let mut list =
        TurnList { turns: vec![], of: None, earlier: 0, hidden: 0, looked: past.project.description() };
    let found = match bounds.range(&past, request.all)? {
        Range::Nothing => vec![],
        Range::Across => archive.turns_across(past.project.row(), query).map_err(unreadable_data)?,
        Range::After(of, after) => {
            let turns = archive.turns_after(&of, after, query).map_err(unreadable_data)?;
            with_session(list.of.insert(*of), turns)
        }
        Range::Of(of) => {
            let turns = archive.turns_of(&of, query).map_err(unreadable_data)?;
            let (all, standing) = archive.count_turns(&of, query).map_err(unreadable_data)?;
            let matching = if query.which == TurnFilter::All { all } else { standing };
            list.earlier = matching.saturating_sub(u32::try_from(turns.len()).unwrap_or(u32::MAX));
            list.hidden = all - matching;
            with_session(list.of.insert(*of), turns)
        }
    };
    list.turns = listed(&past, request, found)?;
    Ok(Some(list))
}

fn with_session(of: &Conversation, turns: Vec<TurnRow>) -> Vec<(Conversation, TurnRow)> {
    turns.into_iter().map(|turn| (of.clone(), turn)).collect()
}

fn listed(
    past: &Past,
    request: &TurnsRequest<'_>,
    found: Vec<(Conversation, TurnRow)>,
) -> Result<Vec<ListedTurn>, Failure> {
    let counts = detail_counts(past, &found)?;
    let mut room = Room::of(request.bytes);
    let longest = match request.messages {
        MessageLimit::None => None,
        MessageLimit::Clipped => Some(LONGEST_MESSAGE),
        MessageLimit::Whole => Some(usize::MAX),
    };
    let one = |(of, turn): (Conversation, TurnRow)| -> Result<ListedTurn, Failure> {
        let details = counts.get(&(of.session.to_string(), turn.ordinal)).copied().unwrap_or(0);
        let messages = longest.map(|longest| messages(past, &turn, &mut room, longest)).transpose()?;
        let headings =
            request.headings.then(|| past.archive.details(&turn).map_err(unreadable_data)).transpose()?;
        Ok(ListedTurn { of, turn, details, messages, headings })
    };
    found.into_iter().map(one).collect()
}

/// Number of details per turn, with one query per session.
fn detail_counts(
    past: &Past,
    turns: &[(Conversation, TurnRow)],
) -> Result<HashMap<(String, u32), u32>, Failure> {
    let mut spans: HashMap<String, (&Conversation, u32, u32)> = HashMap::new();
    for (of, turn) in turns {
        let span = spans.entry(of.session.to_string()).or_insert((of, turn.ordinal, turn.ordinal));
        (span.1, span.2) = (span.1.min(turn.ordinal), span.2.max(turn.ordinal));
    }
    let mut counts = HashMap::new();
    for (session, (of, from, to)) in spans {
        let found = past.archive.detail_counts(of, from..=to).map_err(unreadable_data)?;
        counts.extend(found.into_iter().map(|(ordinal, count)| ((session.clone(), ordinal), count)));
    }
    Ok(counts)
}

/// The parsed request.
struct Bounds {
    session: Option<SessionHint>,
    query: TurnQuery,
    /// A time was given: covers all sessions, not one.
    is_by_time: bool,
    /// List the turns after this one.
    after: Option<u32>,
}

impl Bounds {
    fn parse(request: &TurnsRequest<'_>, now: Timestamp) -> Result<Bounds, Failure> {
        if request.after.is_some() && (request.before.is_some() || request.since.is_some()) {
            return Err(Failure::input("`after` cannot be combined with `before` or `since`")
                .hint("Run `tow session turns --help`."));
        }
        let which = if request.all { TurnFilter::All } else { TurnFilter::Standing };
        let query = TurnQuery::last(request.limit, which);
        let session = request.session.map(session_named).transpose()?;
        let mut bounds = Bounds { session, query, is_by_time: false, after: None };
        if let Some(since) = request.since {
            bounds.query.since =
                start_of_expression(&parsed(since)?, now).ok_or_else(|| not_a_time(since))?;
            bounds.is_by_time = true;
        }
        if let Some(before) = request.before {
            bounds.take_before(before, now)?;
        }
        if let Some(after) = request.after {
            let TimeExpression::Turn { session, from, .. } = parsed(after)? else {
                return Err(no_turn(after));
            };
            bounds.session.get_or_insert(session);
            bounds.after = Some(from);
        }
        Ok(bounds)
    }

    fn take_before(&mut self, before: &str, now: Timestamp) -> Result<(), Failure> {
        match parsed(before)? {
            TimeExpression::Turn { session, from, .. } => {
                self.query.before_ordinal = from;
                self.session.get_or_insert(session);
            }
            time @ (TimeExpression::Clock { .. }
            | TimeExpression::Day(_)
            | TimeExpression::Exact { .. }
            | TimeExpression::Ago { .. }
            | TimeExpression::Session(_)) => {
                self.query.before = start_of_expression(&time, now).ok_or_else(|| not_a_time(before))?;
                self.is_by_time = true;
            }
        }
        Ok(())
    }

    fn range(&self, past: &Past, all: bool) -> Result<Range, Failure> {
        if let Some(hint) = &self.session {
            let of = Box::new(call(past, hint)?.ok_or_else(|| unknown(hint))?);
            return Ok(match self.after {
                Some(after) => Range::After(of, after),
                None => Range::Of(of),
            });
        }
        if past.project.is_empty() {
            return Ok(Range::Nothing);
        }
        if self.is_by_time {
            return Ok(Range::Across);
        }
        let latest = SessionQuery {
            project: past.project.row(),
            agent: None,
            since: Timestamp(0),
            behind: None,
            most: 20,
        };
        let latest = past.archive.find_sessions(&latest).map_err(unreadable_data)?;
        let of = latest.into_iter().find(|of| all || of.turns > 0);
        Ok(of.map_or(Range::Nothing, |of| Range::Of(Box::new(of))))
    }
}

fn parsed(text: &str) -> Result<TimeExpression, Failure> {
    TimeExpression::parse(text)
        .map_err(|error| Failure::input(error.to_string()).hint("Run `tow session turns --help`."))
}

fn session_named(text: &str) -> Result<SessionHint, Failure> {
    match parsed(text)? {
        TimeExpression::Session(hint) | TimeExpression::Turn { session: hint, .. } => Ok(hint),
        TimeExpression::Clock { .. }
        | TimeExpression::Day(_)
        | TimeExpression::Exact { .. }
        | TimeExpression::Ago { .. } => {
            Err(Failure::input(format!("`{}` is a time, not a session", escape_for_terminal(text)))
                .hint("Write `tow session turns --since TIME`, or `tow session detail TIME`."))
        }
    }
}

fn not_a_time(text: &str) -> Failure {
    Failure::input(format!("`{}` is no time", escape_for_terminal(text)))
        .hint("Write a time such as 14:05 or '2h ago'.")
}

fn no_turn(text: &str) -> Failure {
    Failure::input(format!("`{}` is no turn", escape_for_terminal(text))).hint("Write one like 1a2b3c4d#12.")
}

fn unknown(hint: &SessionHint) -> Failure {
    Failure::input(format!("no session has an id that begins or ends with `{hint}`"))
        .hint("Run `tow session list --all-projects` to see what was captured.")
}
