//! `tow typing list`: the log of automatic typing: when, why, and with which result.
//!
//! Lists rows and types nothing. The only change it makes is to drop a waiting intent.

use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use towline_core::escape::{escape_for_terminal, fit_to_width, pad};
use towline_core::time::Timestamp;
use towline_core::typing::{Intent, IntentStage};
use towline_engine::handoff::typing;
use towline_engine::index::labels::{AmbiguousName, only_named, short};
use towline_engine::ingest::live;
use towline_engine::query::{ownership, parse_time};
use towline_engine::runtime::calendar::clock;
use towline_engine::runtime::{Failure, spawn};
use towline_store::{IntentFilter, Store, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow typing list                        the last ones, newest first
  tow typing list --since yesterday      all since then
  tow typing list --session 1a2b3c4d     only what was for one session
  tow typing list --drop 9f3c            take back one that waits
  tow typing list --json | jq '.intents[] | select(.state == \"refused\") | .why'

States: waiting, typing, typed (Enter was pressed), confirmed (the agent told of it), refused, expired, dropped. What is
refused or expired is never typed again. `tow typing pause` stops everything at once.";

/// Show what was typed automatically, and with which result.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only in this pane, such as tmux:4242:%3.
    #[arg(long, value_name = "SEAT")]
    seat: Option<String>,
    /// Only for this session, by the beginning or the end of its id.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only since this time: `yesterday`, `2h ago`, `14:05`, `2026-10-01`.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// List at most N.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Drop one that waits, by the beginning or the end of its id.
    #[arg(long, value_name = "ID", conflicts_with_all = ["seat", "session", "since"])]
    drop: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let Some(store) = live::apply(&scope.env)? else {
        scope.out.say(arguments.json, &json!({"intents": []}), NOTHING);
        return Ok(());
    };
    if let Some(part) = &arguments.drop {
        return take_back(scope, arguments, &named(&store, part)?);
    }
    nudge(scope, &store)?;
    let intents = wanted(scope, arguments, &store)?;
    if arguments.json {
        scope.out.json(&json!({"intents": intents.iter().map(row).collect::<Vec<_>>()}));
        return Ok(());
    }
    if intents.is_empty() {
        scope.out.line(NOTHING);
    }
    for intent in &intents {
        print(scope, intent);
    }
    Ok(())
}

const NOTHING: &str = "nothing was typed in your place";

/// Restarts the typist for intents whose process died or that were never picked up.
fn nudge(scope: &Scope, store: &Store) -> Result<(), StoreError> {
    for seat in store.seats_with_intents()? {
        let is_left =
            |intent: &Intent| intent.stage.is_in_flight() || scope.env.now >= intent.wish.expires_at;
        if store.open_intents(&seat)?.iter().any(is_left) {
            spawn::type_detached(&seat);
        }
    }
    Ok(())
}

fn wanted(scope: &Scope, arguments: &Arguments, store: &Store) -> Result<Vec<Intent>, Failure> {
    let session = arguments.session.as_deref().map(|name| ownership::named(store, name)).transpose()?;
    let since = arguments.since.as_deref().map(|text| parse_time(text, scope.env.now)).transpose()?;
    let wanted = IntentFilter {
        seat: arguments.seat.as_deref(),
        session: session.as_ref().map(|session| &session.key),
        since,
        limit: arguments.limit,
    };
    store.intents(&wanted).map_err(Failure::from)
}

fn named(store: &Store, part: &str) -> Result<Intent, Failure> {
    let all = store.intents(&IntentFilter { limit: u32::MAX, ..IntentFilter::default() })?;
    only_named(all, part, |intent| intent.uid).map_err(|fault| match fault {
        AmbiguousName::Several => {
            Failure::input(format!("`{part}` fits several intents")).hint("Give more of the id.")
        }
        AmbiguousName::None => Failure::input(format!("no intent's id begins or ends with `{part}`"))
            .hint("Run `tow typing list`."),
    })
}

fn take_back(scope: &Scope, arguments: &Arguments, intent: &Intent) -> Result<(), Failure> {
    if !intent.stage.can_advance_to(IntentStage::Dropped) {
        let what = format!("{} is {} and cannot be taken back", short(intent.uid), intent.stage.name());
        return Err(Failure::input(what).hint("`tow typing pause` keeps anything more from being typed."));
    }
    let why = Some("taken back by hand".to_owned());
    typing::accept_move(&scope.env, &intent.session, intent, IntentStage::Dropped, why)?;
    let known = live::apply(&scope.env)?.map(|store| store.intent(intent.uid)).transpose()?.flatten();
    match known.filter(|known| known.stage == IntentStage::Dropped) {
        Some(known) if arguments.json => scope.out.json(&row(&known)),
        Some(known) => scope.out.line(&format!("{} is not typed", short(known.uid))),
        None => {
            return Err(Failure::input(format!("{} was begun meanwhile", short(intent.uid)))
                .hint("Run `tow typing list`."));
        }
    }
    Ok(())
}

fn print(scope: &Scope, intent: &Intent) {
    let tone = match intent.stage {
        IntentStage::Confirmed => Tone::Good,
        IntentStage::Waiting | IntentStage::Typing | IntentStage::Typed | IntentStage::Dropped => Tone::Faint,
        IntentStage::Refused | IntentStage::Expired => Tone::Warning,
    };
    let when = clock(intent.made_at, scope.env.now);
    let stage = scope.out.tint(tone, &pad(intent.stage.name(), 9));
    let text = fit_to_width(&escape_for_terminal(intent.wish.text.as_str()), 40);
    let (purpose, session) = (pad(intent.wish.purpose.name(), 8), &intent.session);
    let session = format!("{}:{}", session.agent, session.short());
    scope.out.line(&format!("{when:>16}  {}  {stage}  {purpose}  {session}  {text}", short(intent.uid)));
    if let Some(why) = &intent.why {
        scope.out.line(&format!("{:28}{}", "", scope.out.tint(Tone::Faint, &escape_for_terminal(why))));
    }
}

fn row(intent: &Intent) -> Value {
    let utc = |at: Timestamp| at.to_utc();
    json!({
        "id": intent.uid, "seat": intent.wish.seat, "session": intent.session, "purpose": intent.wish.purpose.name(),
        "text": intent.wish.text.as_str(), "state": intent.stage.name(), "why": intent.why,
        "made_at": utc(intent.made_at), "expires_at": utc(intent.wish.expires_at), "moved_at": utc(intent.moved_at),
        "after": intent.wish.after, "typed_into": intent.into, "led_to": intent.led_to,
    })
}
