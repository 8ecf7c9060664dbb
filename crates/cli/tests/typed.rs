//! Typing as a person sees it: `tow typing list`, `pause` and `resume`, the doctor and the list of agents.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod sitter;

use serde_json::json;
use sitter::Sitter;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};
use towline_core::event::{Event, EventKind};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;
use towline_core::typing::{IntentPurpose, IntentRequest, IntentStage};
use towline_store::journal::{self, JournalRecord};
use towline_store::lock::take_removable;
use towline_store::{DataFolder, IntentFilter, Store};
use towline_testkit::{TestEnv, Tmux};

const NOW: i64 = 1_794_708_800_000;

/// A session that sits in a pane and has answered a prompt, and the key of its seat.
fn bench() -> (TestEnv, Tmux, Sitter, String) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", "UTC");
    let tmux = Tmux::start(&env);
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("work");
    sitter.stop();
    let seat = store(&env).seats().unwrap()[0].place.key.clone();
    (env, tmux, sitter, seat)
}

fn store(env: &TestEnv) -> Store {
    Store::read(&DataFolder::at(env.data_dir()), Duration::from_secs(5)).unwrap().unwrap()
}

/// By the real clock, which processes that stay for a while go by.
fn now() -> i64 {
    i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

fn accept(env: &TestEnv, at: i64, happening: EventKind) -> Uid {
    let at = Timestamp(at);
    let (uid, session) = (Uid::v7(at, [7; 10]), SessionKey::parse("claude:one").unwrap());
    let event = Event { uid, at, session, subagent: None, turn: None, happening, scene: None };
    journal::append(&DataFolder::at(env.data_dir()), &[JournalRecord::Event(event)]).unwrap();
    uid
}

fn make(env: &TestEnv, seat: &str, at: i64, (purpose, text): (IntentPurpose, &str)) -> Uid {
    let wish = IntentRequest::new(seat, purpose, text, Timestamp(at + 60_000)).unwrap();
    accept(env, at, EventKind::IntentMade { wish })
}

fn end(env: &TestEnv, at: i64, intent: Uid, to: IntentStage, why: &str) {
    let why = Some(why.to_owned()).filter(|why| !why.is_empty());
    accept(env, at, EventKind::IntentMoved { intent, to, why });
}

#[test]
fn everything_that_was_typed_is_listed_with_how_it_ended() {
    let (env, _tmux, _sitter, seat) = bench();
    env.tow(&["typed"]).ok().prints("nothing was typed in your place");
    let marker = make(&env, &seat, NOW - 9_000, (IntentPurpose::Bookmark, "·"));
    end(&env, NOW - 8_990, marker, IntentStage::Typing, "");
    end(&env, NOW - 8_980, marker, IntentStage::Typed, "");
    end(&env, NOW - 8_970, marker, IntentStage::Confirmed, "");
    let compact = make(&env, &seat, NOW - 8_000, (IntentPurpose::Compact, "/compact"));
    end(&env, NOW - 7_990, compact, IntentStage::Refused, "a turn runs");
    make(&env, &seat, NOW - 86_400_000, (IntentPurpose::Continue, "go on\nwith the work"));
    env.set_now(NOW);
    insta::assert_snapshot!("typed", env.tow(&["typed"]).ok().stdout);
    let found = env.tow(&["typed", "--json", "--since", "1h ago", "--session", "one"]).ok().json();
    assert_eq!(found["intents"].as_array().unwrap().len(), 2);
    assert_eq!(
        found["intents"][0],
        json!({
            "id": compact, "seat": seat, "session": "claude:one", "purpose": "compact", "text": "/compact",
            "state": "refused", "why": "a turn runs", "made_at": "2026-11-15T02:13:12Z",
            "expires_at": "2026-11-15T02:14:12Z", "moved_at": "2026-11-15T02:13:12Z", "after": null,
            "typed_into": null, "led_to": null,
        })
    );
    assert_eq!(env.tow(&["typed", "--seat", "elsewhere", "--json"]).ok().json(), json!({"intents": []}));
    env.tow(&["typed", "--since", "whenever"]).exits(2).complains("yesterday");
}

#[test]
fn what_waits_can_be_taken_back_and_what_has_ended_cannot() {
    let (env, _tmux, _sitter, seat) = bench();
    let waits = make(&env, &seat, NOW, (IntentPurpose::Bookmark, "·"));
    env.set_now(NOW + 10);
    env.tow(&["typed", "--drop", "nothing"])
        .exits(2)
        .complains("no intent's id begins or ends with `nothing`");
    env.tow(&["typed", "--drop", &waits.to_string()]).ok().prints("is not typed");
    env.tow(&["typed", "--drop", &waits.to_string()])
        .exits(2)
        .complains("is dropped and cannot be taken back");
    let intents = store(&env).intents(&IntentFilter { limit: 9, ..IntentFilter::default() }).unwrap();
    assert_eq!(
        (intents[0].stage, intents[0].why.as_deref()),
        (IntentStage::Dropped, Some("taken back by hand"))
    );
}

#[test]
fn nothing_is_typed_until_it_is_enabled_and_the_list_says_why() {
    let (env, _tmux, sitter, seat) = bench();
    sitter.ask("Bash");
    let screen = sitter.pane.screen();
    env.tow(&["doctor"]).prints("off: nothing is typed in your place");
    let at = now();
    make(&env, &seat, at, (IntentPurpose::Bookmark, "·"));
    env.tow(&["type", &seat]).ok();
    env.tow(&["typed"]).ok().prints("refused").prints("tow config set typing.enabled true");
    assert_eq!(sitter.pane.screen(), screen);
}

#[test]
fn the_lock_of_a_seat_goes_with_the_seat_unless_somebody_holds_it() {
    let (env, _tmux, sitter, seat) = bench();
    let home = DataFolder::at(env.data_dir());
    fs::create_dir_all(home.typing()).unwrap();
    let [live, gone, held] =
        [seat.as_str(), "tmux:gone:%1", "tmux:gone:%2"].map(|seat| home.typing_lock(seat));
    fs::write(home.typing_pause(), "").unwrap();
    for lock in [&live, &gone, &held] {
        fs::write(lock, "").unwrap();
    }
    let holder = take_removable(&held).unwrap().unwrap();
    let left = || [&live, &gone, &held].map(|lock| lock.exists());
    env.tow(&["work", "--quiet"]).ok();
    assert_eq!(left(), [true, false, true]);
    drop(holder);
    sitter.tell("SessionEnd", json!({"reason": "exit"}));
    env.tow(&["work", "--quiet"]).ok();
    assert_eq!(left(), [false, false, false]);
    assert!(home.typing_pause().exists(), "a pause is no lock");
}

#[test]
fn a_pause_is_shown_wherever_one_looks_until_it_is_lifted() {
    let (env, _tmux, _sitter, seat) = bench();
    env.tow(&["config", "set", "typing.enabled", "true"]).ok();
    env.tow(&["doctor"]).prints("on; `tow typing list` lists what was typed");
    env.tow(&["pause", "--for", "never"]).exits(2).complains("Write 90s, 45m, 1h or 2d.");
    env.tow(&["pause"]).ok().prints("nothing is typed until `tow typing resume`");
    env.tow(&["status"]).ok().prints("typing is paused (`tow typing resume`)");
    env.tow(&["doctor"]).prints("paused without an end");
    let at = now();
    make(&env, &seat, at, (IntentPurpose::Bookmark, "·"));
    env.tow(&["type", &seat]).ok();
    env.tow(&["typed"]).ok().prints("typing is paused (`tow typing resume`)");
    assert_eq!(
        env.tow(&["resume", "--json"]).ok().json(),
        json!({"paused": false, "was_paused": true, "enabled": true})
    );
    env.tow(&["resume"]).ok().prints("typing was not paused");
    env.set_now(NOW);
    let paused = env.tow(&["pause", "--for", "1h", "--json"]).ok().json();
    assert_eq!(paused, json!({"paused": true, "until": "2026-11-15T03:13:20Z"}));
    env.tow(&["status"]).ok().prints("typing is paused until 2026-11-15T03:13:20Z");
    env.set_now(NOW + 3_600_000);
    let run = env.tow(&["status"]).ok();
    assert!(!run.stdout.contains("paused"), "{}", run.stdout);
}

#[test]
fn an_intent_that_was_left_in_the_middle_is_said_to_have_expired() {
    let (env, _tmux, sitter, seat) = bench();
    env.tow(&["config", "set", "typing.enabled", "true"]).ok();
    let screen = sitter.pane.screen();
    let at = now();
    let begun = make(&env, &seat, at - 10, (IntentPurpose::Bookmark, "·"));
    end(&env, at, begun, IntentStage::Typing, "");
    env.tow(&["type", &seat]).ok();
    env.tow(&["typed"]).ok().prints("expired").prints("the typing process died");
    assert_eq!(sitter.pane.screen(), screen);
    assert!(fs::read_dir(env.data_dir().join("typing")).unwrap().count() > 0);
}
