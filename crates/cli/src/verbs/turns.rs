//! `tow turns`: one line per turn, of a session or of a project since a time.
//!
//! Only reads. Leaves out markers, notifications and reverted turns unless `--all` is given.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_core::event::PromptOrigin;
use towline_core::time::Timestamp;
use towline_core::when::{SessionHint, TimeExpression};
use towline_engine::query::{
    Page, Past, Room, beginning, call, head, heading_json, id_of, unreadable, words,
};
use towline_engine::runtime::calendar;
use towline_engine::runtime::failure::Failure;
use towline_store::archive::{Conversation, MessageRow, SessionQuery, TurnFilter, TurnQuery, TurnRow};

const EXAMPLES: &str = "\
Examples:
  tow turns                            the last turns of the latest session of this project
  tow turns 1a2b3c4d                   of this session
  tow turns --before 1a2b3c4d#40       those before that turn
  tow turns --since '2h ago'           of all sessions of this project
  tow turns 1a2b3c4d --last 5 --words  with all that was said
  tow turns --json

Marks: > a person, / a command, + a continuation, ! a notification, * a bookmark, x taken back.";

/// Default limit of message text with --words, in bytes.
const BYTES: usize = 24_000;

/// List turns, one line each: what was asked, what was done, how it ended.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The session, by the end or the beginning of its id; the latest of the project if not given.
    session: Option<String>,
    /// Only turns before this one, or before this time.
    #[arg(long, value_name = "ID|TIME", allow_hyphen_values = true)]
    before: Option<String>,
    /// The first turns after this one, instead of the last.
    #[arg(long, value_name = "ID", conflicts_with_all = ["before", "since"])]
    after: Option<String>,
    /// Only turns since this time, of all sessions of the project unless one is given.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// List the last N turns.
    #[arg(long, visible_alias = "last", value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Include bookmarks, notifications and turns that were taken back.
    #[arg(long)]
    all: bool,
    /// Print the messages of each turn.
    #[arg(long)]
    words: bool,
    /// With --json: include a heading, without text, for each tool input and output.
    #[arg(long, requires = "json")]
    headings: bool,
    /// Print at most N bytes of messages; 0 for all.
    #[arg(long, value_name = "N", default_value_t = BYTES)]
    bytes: usize,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The listed turns, and counts of those left out.
struct TurnList {
    turns: Vec<(Conversation, TurnRow)>,
    /// Number of details per turn.
    details: HashMap<(String, u32), u32>,
    /// The session, if only one was requested.
    of: Option<Conversation>,
    earlier: u32,
    hidden: u32,
}

/// Which turns are listed.
enum Range {
    Of(Box<Conversation>, TurnQuery),
    /// The first turns after this one.
    After(Box<Conversation>, u32),
    Across(TurnQuery),
    Nothing,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let bounds = Bounds::read(arguments, scope.env.now)?;
    let listed = match Past::open(&scope.env, &arguments.whose.scope())? {
        Some(past) => Some((listed(&past, bounds.range(&past, arguments)?, bounds.asked)?, past)),
        None => None,
    };
    match listed {
        Some((listed, past)) if arguments.json => {
            scope.out.line(&as_json(&past, arguments, &listed)?.to_string())
        }
        Some((listed, past)) if !listed.turns.is_empty() => scope.out.text(&text(&past, arguments, listed)?),
        None if arguments.json => scope.out.line(&json!({"session": null, "turns": []}).to_string()),
        Some((_, past)) => nothing(scope, &past.project.words()),
        None => nothing(scope, "nothing was captured yet"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The parsed options.
struct Bounds {
    session: Option<SessionHint>,
    asked: TurnQuery,
    /// A time was given: covers all sessions, not one.
    is_by_time: bool,
    /// List the turns after this one.
    after: Option<u32>,
}

impl Bounds {
    fn read(arguments: &Arguments, now: Timestamp) -> Result<Bounds, Failure> {
        let which = if arguments.all { TurnFilter::All } else { TurnFilter::Standing };
        let asked = TurnQuery::last(arguments.limit, which);
        let session = arguments.session.as_deref().map(session_named).transpose()?;
        let mut bounds = Bounds { session, asked, is_by_time: false, after: None };
        if let Some(since) = &arguments.since {
            bounds.asked.since = beginning(&parsed(since)?, now).ok_or_else(|| not_a_time(since))?;
            bounds.is_by_time = true;
        }
        if let Some(before) = &arguments.before {
            bounds.take_before(before, now)?;
        }
        if let Some(after) = &arguments.after {
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
                self.asked.before_ordinal = from;
                self.session.get_or_insert(session);
            }
            time @ (TimeExpression::Clock { .. }
            | TimeExpression::Day(_)
            | TimeExpression::Exact { .. }
            | TimeExpression::Ago { .. }
            | TimeExpression::Session(_)) => {
                self.asked.before = beginning(&time, now).ok_or_else(|| not_a_time(before))?;
                self.is_by_time = true;
            }
        }
        Ok(())
    }

    fn range(&self, past: &Past, arguments: &Arguments) -> Result<Range, Failure> {
        if let Some(hint) = &self.session {
            let of = call(past, hint)?.ok_or_else(|| unknown(hint))?;
            return Ok(match self.after {
                Some(after) => Range::After(Box::new(of), after),
                None => Range::Of(Box::new(of), self.asked),
            });
        }
        if past.project.is_empty() {
            return Ok(Range::Nothing);
        }
        if self.is_by_time {
            return Ok(Range::Across(self.asked));
        }
        let asked = SessionQuery {
            project: past.project.row(),
            agent: None,
            since: Timestamp(0),
            behind: None,
            most: 20,
        };
        let latest = past.archive.sessions_asked(&asked).map_err(unreadable)?;
        let is_shown = |of: &Conversation| arguments.all || of.turns > 0;
        let of = latest.into_iter().find(is_shown);
        Ok(of.map_or(Range::Nothing, |of| Range::Of(Box::new(of), self.asked)))
    }
}

fn parsed(text: &str) -> Result<TimeExpression, Failure> {
    TimeExpression::parse(text)
        .map_err(|error| Failure::input(error.to_string()).hint("Run `tow turns --help`."))
}

fn session_named(text: &str) -> Result<SessionHint, Failure> {
    match parsed(text)? {
        TimeExpression::Session(hint) | TimeExpression::Turn { session: hint, .. } => Ok(hint),
        TimeExpression::Clock { .. }
        | TimeExpression::Day(_)
        | TimeExpression::Exact { .. }
        | TimeExpression::Ago { .. } => {
            Err(Failure::input(format!("`{}` is a time, not a session", for_terminal(text)))
                .hint("Write `tow turns --since TIME`, or `tow detail TIME`."))
        }
    }
}

fn not_a_time(text: &str) -> Failure {
    Failure::input(format!("`{}` is no time", for_terminal(text)))
        .hint("Write a time such as 14:05 or '2h ago'.")
}

fn no_turn(text: &str) -> Failure {
    Failure::input(format!("`{}` is no turn", for_terminal(text))).hint("Write one like 1a2b3c4d#12.")
}

fn unknown(hint: &SessionHint) -> Failure {
    Failure::input(format!("no session has an id that begins or ends with `{hint}`"))
        .hint("Run `tow sessions --all-projects` to see what was captured.")
}

fn listed(past: &Past, range: Range, bounds: TurnQuery) -> Result<TurnList, Failure> {
    let archive = &past.archive;
    let (turns, of, asked) = match range {
        Range::Nothing => (vec![], None, None),
        Range::Across(asked) => {
            (archive.turns_across(past.project.row(), &asked).map_err(unreadable)?, None, None)
        }
        Range::After(of, after) => {
            let turns = archive.turns_after(&of, after, &bounds).map_err(unreadable)?;
            let turns = turns.into_iter().map(|turn| ((*of).clone(), turn)).collect();
            (turns, Some(*of), None)
        }
        Range::Of(of, asked) => {
            let turns = archive.turns_of(&of, &asked).map_err(unreadable)?;
            let turns = turns.into_iter().map(|turn| ((*of).clone(), turn)).collect();
            (turns, Some(*of), Some(asked))
        }
    };
    let details = detail_counts(past, &turns)?;
    let (mut earlier, mut hidden) = (0, 0);
    if let (Some(of), Some(asked)) = (&of, asked) {
        let (all, standing) = archive.count_turns(of, &asked).map_err(unreadable)?;
        let meant = if asked.which == TurnFilter::All { all } else { standing };
        earlier = meant.saturating_sub(u32::try_from(turns.len()).unwrap_or(u32::MAX));
        hidden = all - meant;
    }
    Ok(TurnList { turns, details, of, earlier, hidden })
}

/// One query per session.
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
        let found = past.archive.detail_counts(of, from..=to).map_err(unreadable)?;
        counts.extend(found.into_iter().map(|(ordinal, count)| ((session.clone(), ordinal), count)));
    }
    Ok(counts)
}

impl TurnList {
    fn details_of(&self, of: &Conversation, turn: &TurnRow) -> u32 {
        self.details.get(&(of.session.to_string(), turn.ordinal)).copied().unwrap_or(0)
    }
}

fn text(past: &Past, arguments: &Arguments, listed: TurnList) -> Result<String, Failure> {
    let mut page = Page::default();
    if let Some(of) = &listed.of {
        page.line(&format!("{}, {} turns", head(of), of.turns));
    }
    let mut room = Room::of(arguments.bytes);
    for (of, turn) in &listed.turns {
        page.line(&line(past, &listed, of, turn));
        if arguments.words {
            words(past, &mut page, of.clone(), turn.clone(), &mut room)?;
        }
    }
    page.gap();
    let first = listed.turns.first().map(|(of, turn)| (of.short.clone(), id_of(of, turn)));
    if let (Some((short, id)), 1..) = (&first, listed.earlier) {
        page.line(&format!("{} earlier turns: `tow turns {short} --before {id}`", listed.earlier));
    }
    if listed.hidden > 0 {
        page.line(&format!("{} bookmarks, notifications and turns taken back: --all", listed.hidden));
    }
    if let Some((of, turn)) = listed.turns.last() {
        page.line(&format!(
            "next: `tow detail {}` prints what was said and done, `tow show {}` sums the session up",
            id_of(of, turn),
            of.short
        ));
    }
    Ok(page.text)
}

fn line(past: &Past, listed: &TurnList, of: &Conversation, turn: &TurnRow) -> String {
    let details = match listed.details_of(of, turn) {
        0 => String::new(),
        1 => " (1 detail)".to_owned(),
        several => format!(" ({several} details)"),
    };
    let at = calendar::clock(turn.at, past.now);
    format!("{} {at} {} {}{details}", id_of(of, turn), mark(turn), for_terminal(&turn.line))
}

/// The mark for a turn's origin.
pub fn mark(turn: &TurnRow) -> char {
    match turn.origin {
        _ if turn.reverted => 'x',
        PromptOrigin::Human => '>',
        PromptOrigin::Command => '/',
        PromptOrigin::Continuation => '+',
        PromptOrigin::Notification => '!',
        PromptOrigin::Bookmark => '*',
    }
}

fn as_json(past: &Past, arguments: &Arguments, listed: &TurnList) -> Result<Value, Failure> {
    let mut turns = vec![];
    let mut room = Room::of(arguments.bytes);
    for (of, turn) in &listed.turns {
        let mut row = json!({
            "id": id_of(of, turn), "uid": turn.uid, "session": of.session, "ordinal": turn.ordinal,
            "at": turn.at.to_utc(), "until": turn.until.to_utc(), "origin": turn.origin.name(),
            "stopped": turn.stopped.map(|how| how.name()), "reverted": turn.reverted, "tools": turn.tools,
            "failures": turn.failures, "details": listed.details_of(of, turn), "line": turn.line,
        });
        if arguments.words {
            let bodies = past.archive.bodies(turn).map_err(unreadable)?;
            row["words"] = bodies.into_iter().map(|body| body_json(body, &mut room)).collect();
        }
        if arguments.headings {
            let details = past.archive.details(turn).map_err(unreadable)?;
            row["headings"] = details.iter().map(|detail| heading_json(of, turn, detail)).collect();
        }
        turns.push(row);
    }
    Ok(json!({
        "session": listed.of.as_ref().map(|of| of.session.to_string()), "turns": turns,
        "earlier_turns": listed.earlier, "hidden_turns": listed.hidden,
    }))
}

fn body_json(body: MessageRow, room: &mut Room) -> Value {
    let text = room.take(body.text, usize::MAX);
    json!({
        "speaker": body.speaker.name(), "at": body.at.to_utc(), "message": body.message, "text": text.text,
        "left_out_bytes": text.left_out,
    })
}

fn nothing(scope: &Scope, looked: &str) {
    scope.out.line(&format!("no turns found; looked in: {looked}"));
    scope.out.line(
        "next: `tow sessions --all-projects` lists what was captured, `tow import` takes in what the agents wrote",
    );
}
