//! `tow show`: shows the session, turn, detail or memory that an id names.
//!
//! Only reads. An unknown id is an error that suggests the nearest known one.

mod memory;

use super::usage::spent_json;
use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_core::id::Uid;
use towline_core::memory::number;
use towline_core::when::{SessionHint, TimeExpression};
use towline_engine::memory::remember::is_memory_id;
use towline_engine::query::{
    Page, Past, Room, Thinking, call, detail_json, detail_text, figures, head, id_of, spanned, turn_json,
    turn_text, unreadable, usage, view, view_detail,
};
use towline_engine::runtime::calendar;
use towline_engine::runtime::config::nearest;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;
use towline_store::archive::{Conversation, SessionQuery, TurnFilter, TurnQuery, TurnRow};

const EXAMPLES: &str = "\
Examples:
  tow show 1a2b3c4d        a session: its turns, files, commits and tokens
  tow show 1a2b3c4d#12     a turn: what was said and done, and what it cost
  tow show 1a2b3c4d#12.3   a detail: its text
  tow show m12 m15         memories: whole, with where they came from and what became of them
  tow show 1a2b3c4d --json";

/// Default limits of the text, in bytes.
const BYTES: usize = 24_000;
const BYTES_OF_ONE: usize = 1_000_000;
/// How many recent sessions are compared with an unknown id.
const NEAR: usize = 200;

/// Show a session, a turn, a detail or a memory by its id.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Show at most N turns of a session.
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
    /// Print at most N bytes of text; 0 for all.
    #[arg(long, value_name = "N")]
    bytes: Option<usize>,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Hide the content of memories that are held back from models.
    #[arg(long, hide = true)]
    for_model: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let wanted = arguments.ids.iter().map(|id| ParsedId::parse(id)).collect::<Result<Vec<_>, _>>()?;
    let Some(past) = Past::open(&scope.env, &arguments.whose.scope())? else {
        return Err(Failure::input("nothing was captured yet").hint("Run `tow import`, or `tow install`."));
    };
    let shown = wanted.iter().map(|wanted| show_one(scope, &past, arguments, wanted));
    let shown = shown.collect::<Result<Vec<(String, Value)>, Failure>>()?;
    let (texts, all): (Vec<String>, Vec<Value>) = shown.into_iter().unzip();
    match (arguments.json, all.as_slice()) {
        (true, [one]) => scope.out.line(&one.to_string()),
        (true, _) => scope.out.line(&json!({"shown": all}).to_string()),
        (false, _) => scope.out.text(&texts.join("\n")),
    }
    Ok(ExitCode::SUCCESS)
}

/// A parsed id.
enum ParsedId {
    Memory(i64),
    Captured { text: String, wanted: TimeExpression },
}

impl ParsedId {
    fn parse(id: &str) -> Result<ParsedId, Failure> {
        match number(id).filter(|_| is_memory_id(id)) {
            Some(number) => Ok(ParsedId::Memory(number)),
            None => {
                let wanted = TimeExpression::parse(id).map_err(|_| no_id(id))?;
                Ok(ParsedId::Captured { text: id.to_owned(), wanted })
            }
        }
    }
}

fn show_one(
    scope: &Scope,
    past: &Past,
    arguments: &Arguments,
    asked: &ParsedId,
) -> Result<(String, Value), Failure> {
    let (text, wanted) = match asked {
        ParsedId::Memory(number) if arguments.for_model => return memory::show_to_model(past, *number),
        ParsedId::Memory(number) => return memory::show(past, *number),
        ParsedId::Captured { text, wanted } => (text, wanted),
    };
    Ok(match wanted {
        TimeExpression::Session(hint) => match (call(past, hint)?, by_uid(past, hint)?) {
            (Some(of), _) => show_session(scope, past, arguments, &of)?,
            (None, Some((of, turn))) => show_turn(past, arguments, of, turn)?,
            (None, None) => return Err(unknown(past, hint)),
        },
        TimeExpression::Turn { session, from, to, detail } => {
            let of = call(past, session)?.ok_or_else(|| unknown(past, session))?;
            let turn = one_turn(past, &of, *from, *to)?;
            match detail {
                Some(number) => show_detail(past, arguments, of, turn, *number)?,
                None => show_turn(past, arguments, of, turn)?,
            }
        }
        TimeExpression::Clock { .. }
        | TimeExpression::Day(_)
        | TimeExpression::Exact { .. }
        | TimeExpression::Ago { .. } => {
            return Err(Failure::input(format!("`{}` is a time", plain(text)))
                .hint(format!("Run `tow detail {}`.", plain(text))));
        }
    })
}

fn no_id(text: &str) -> Failure {
    Failure::input(format!("`{}` is no id", plain(text)))
        .hint("Ids look like 1a2b3c4d, 1a2b3c4d#12, 1a2b3c4d#12.3 and m12; `tow sessions` and `tow memories` list them.")
}

/// A turn's uid looks like a session id.
fn by_uid(past: &Past, hint: &SessionHint) -> Result<Option<(Conversation, TurnRow)>, Failure> {
    match Uid::parse(&hint.id) {
        Ok(uid) => past.archive.turn_by_uid(uid).map_err(unreadable),
        Err(_) => Ok(None),
    }
}

fn unknown(past: &Past, hint: &SessionHint) -> Failure {
    let asked = SessionQuery {
        project: None,
        agent: None,
        since: towline_core::time::Timestamp(0),
        behind: None,
        most: NEAR,
    };
    let latest = past.archive.sessions_asked(&asked).unwrap_or_default();
    let failure = Failure::input(format!("no session has an id that begins or ends with `{hint}`"));
    let near = nearest(&hint.id, latest.iter().map(|of| of.short.as_str()));
    let failure = match near {
        Some(near) => failure.hint(format!("Did you mean `tow show {near}`?")),
        None => failure,
    };
    failure.hint("Run `tow sessions --all-projects` to see what was captured.")
}

fn one_turn(past: &Past, of: &Conversation, from: u32, to: u32) -> Result<TurnRow, Failure> {
    if from != to {
        return Err(Failure::input("several turns are shown by another command")
            .hint(format!("Run `tow detail {}#{from}-{to}`.", of.short)));
    }
    let turn = past.archive.turns(of, from, from).map_err(unreadable)?.into_iter().next();
    turn.ok_or_else(|| {
        Failure::input(format!("session {} has the turns 1 to {}, not {from}", of.short, of.turns))
            .hint(format!("Run `tow turns {}`.", of.short))
    })
}

fn show_detail(
    past: &Past,
    arguments: &Arguments,
    of: Conversation,
    turn: TurnRow,
    number: u32,
) -> Result<(String, Value), Failure> {
    let id = id_of(&of, &turn);
    let room = Room::of(arguments.bytes.unwrap_or(BYTES_OF_ONE));
    match view_detail(past, of, turn, number, room)? {
        Ok(view) => {
            let mut page = Page::default();
            detail_text(&mut page, &view, past.now);
            page.gap();
            page.line(&format!("next: `tow show {id}` shows the whole turn"));
            Ok((page.text, json!({"kind": "detail", "detail": detail_json(&view)})))
        }
        Err(count) => Err(Failure::input(format!("turn {id} has {count} details, not {number}"))
            .hint(format!("Run `tow detail {id}`."))),
    }
}

fn show_turn(
    past: &Past,
    arguments: &Arguments,
    of: Conversation,
    turn: TurnRow,
) -> Result<(String, Value), Failure> {
    let figures = figures(past, &of, turn.ordinal..=turn.ordinal)?;
    let room = Room::of(arguments.bytes.unwrap_or(BYTES));
    let view = view(past, of, turn, room, Thinking::Hidden)?;
    let mut page = Page::default();
    page.line(&head(&view.of));
    turn_text(&mut page, &view, past.now);
    figures.text(&mut page);
    page.gap();
    page.line(&format!("next: `tow turns {}` lists the session's turns", view.of.short));
    Ok((page.text, json!({"kind": "turn", "turn": turn_json(&view), "figures": figures.json()})))
}

fn show_session(
    scope: &Scope,
    past: &Past,
    arguments: &Arguments,
    of: &Conversation,
) -> Result<(String, Value), Failure> {
    let asked = TurnQuery::last(arguments.limit, TurnFilter::Standing);
    let turns = past.archive.turns_of(of, &asked).map_err(unreadable)?;
    let (all, standing) = past.archive.count_turns(of, &asked).map_err(unreadable)?;
    let figures = figures(past, of, 0..=u32::MAX)?;
    let spent =
        usage::of_session(&past.archive, &usage::prices(&scope.env), &of.session).map_err(unreadable)?;
    let earlier = (standing as usize).saturating_sub(turns.len());
    let mut page = Page::default();
    page.line(&head(of));
    page.line(&format!(
        "  {}, {all} turns, {standing} of them stand",
        spanned(of.first_at, of.last_at, past.now)
    ));
    for (name, value) in [("folder", &of.folder), ("forked from", &of.base)] {
        if let Some(value) = value {
            page.line(&format!("  {name} {}", for_terminal(value)));
        }
    }
    let summary = memory::summary(past, of)?;
    summary.iter().for_each(|summary| memory::summary_text(&mut page, summary));
    page.line("turns:");
    if earlier > 0 {
        page.line(&format!("  [{earlier} earlier: `tow show {} --limit {standing}`]", of.short));
    }
    for turn in &turns {
        let at = calendar::clock(turn.at, past.now);
        page.line(&format!("  {} {at} {}", id_of(of, turn), for_terminal(&turn.line)));
    }
    figures.text(&mut page);
    if spent.messages > 0 {
        page.line(&format!("cost: {} at list prices", spent.bill().spelt()));
    }
    page.gap();
    page.line(&format!(
        "next: `tow detail {}#N` prints what was said and done in a turn, `tow export --session {}` prints all of it",
        of.short, of.session
    ));
    let lines: Vec<Value> = turns.iter().map(|turn| line_json(of, turn)).collect();
    let json = json!({
        "kind": "session", "session": session_json(of), "turns": lines, "earlier_turns": earlier,
        "hidden_turns": all - standing, "figures": figures.json(),
        "summary": summary.as_ref().map(memory::summary_json), "spent": spent_json(&spent),
    });
    Ok((page.text, json))
}

fn line_json(of: &Conversation, turn: &TurnRow) -> Value {
    json!({
        "id": id_of(of, turn), "uid": turn.uid, "at": turn.at.to_utc(), "origin": turn.origin.name(),
        "line": turn.line,
    })
}

fn session_json(of: &Conversation) -> Value {
    json!({
        "id": of.short, "uid": of.uid, "session": of.session, "agent": of.session.agent.as_str(),
        "project": of.project, "branch": of.branch, "folder": of.folder, "forked_from": of.base,
        "first_at": of.first_at.to_utc(), "last_at": of.last_at.to_utc(), "turns": of.turns,
    })
}
