//! Typing into the real clients in real tmux: what is meant arrives and is confirmed, what a person types stays theirs, and
//! nothing is typed twice by anybody.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};
use towline_core::event::{Event, EventKind};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;
use towline_core::typing::{IntentPurpose, IntentRequest, IntentStage};
use towline_store::journal::{self, JournalRecord};
use towline_store::{DataFolder, Store};
use towline_testkit::{Claude, Codex, Daemon, Model, Pane, TestEnv, Tmux, wait};

const CODEX: Codex = Codex::V0_166_0;

/// A client that has answered once and waits, with typing turned on.
struct Desk {
    env: TestEnv,
    _tmux: Tmux,
    pane: Pane,
    model: Model,
    seat: String,
    session: SessionKey,
}

impl Desk {
    fn claude(claude: Claude) -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        claude.seed(&env);
        env.tow(&["install", "--agent", "claude"]).ok();
        let model = Model::echo();
        let tmux = Tmux::start(&env);
        let pane = claude.interactive(&tmux, &model, &[]);
        Desk::set(env, tmux, pane, model)
    }

    fn codex() -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        let model = Model::echo();
        CODEX.seed(&env, &model, Daemon::Off);
        env.tow(&["install", "--agent", "codex"]).ok();
        CODEX.trust_hooks(&env);
        let tmux = Tmux::start(&env);
        let pane = CODEX.interactive(&tmux, &[]);
        Desk::set(env, tmux, pane, model)
    }

    fn set(env: TestEnv, tmux: Tmux, pane: Pane, model: Model) -> Desk {
        env.tow(&["config", "set", "typing.enabled", "true"]).ok();
        env.tow(&["config", "set", "typing.quiet_s", "0"]).ok();
        pane.say("begin");
        env.wait_states(&["completed"]);
        let seat = env.only_seat();
        let text = |name: &str| seat[name].as_str().unwrap().to_owned();
        let session = SessionKey::parse(&text("session")).unwrap();
        Desk { seat: text("seat"), session, env, _tmux: tmux, pane, model }
    }

    fn make(&self, purpose: IntentPurpose, text: &str, after: Option<Uid>) -> Uid {
        let at = Timestamp(i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
        let wish = IntentRequest::new(&self.seat, purpose, text, at.plus_ms(60_000)).unwrap();
        let wish = IntentRequest { after, ..wish };
        let random = [u8::try_from(text.len() % 200).unwrap(); 10];
        let event = Event {
            uid: Uid::v7(at, random),
            at,
            session: self.session.clone(),
            subagent: None,
            turn: None,
            happening: EventKind::IntentMade { wish },
            scene: None,
        };
        let uid = event.uid;
        journal::append(&DataFolder::at(self.env.data_dir()), &[JournalRecord::Event(event)]).unwrap();
        uid
    }

    fn type_all(&self) {
        self.env.tow(&["type", &self.seat]).ok();
    }

    fn listed(&self) -> Vec<Value> {
        self.env.tow(&["typed", "--json"]).ok().json()["intents"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn check(&self, intent: Uid, state: &str, why: &str) {
        let listed = self.listed();
        let found = listed.iter().find(|row| row["id"] == intent.to_string()).unwrap();
        let said = found["why"].as_str().unwrap_or_default();
        assert!(found["state"] == state && said.contains(why), "{found}\n{}", self.pane.screen());
    }
}

fn a_marker_and_a_long_text(desk: &Desk) {
    let marker = desk.make(IntentPurpose::Bookmark, "·", None);
    desk.type_all();
    desk.check(marker, "confirmed", "");
    desk.env.wait_states(&["completed"]);
    let long: String = (0..60).map(|line| format!("line {line} of what was handed over\n")).collect();
    let long = desk.make(IntentPurpose::Continue, &long, None);
    desk.type_all();
    desk.check(long, "confirmed", "");
    desk.env.wait_states(&["completed"]);
    desk.model.wait_prompt("line 59 of what was handed over");
}

#[test]
fn a_marker_and_a_long_text_reach_claude_2_1_197() {
    a_marker_and_a_long_text(&Desk::claude(Claude::V2_1_197));
}

#[test]
fn a_marker_and_a_long_text_reach_claude_2_1_325() {
    a_marker_and_a_long_text(&Desk::claude(Claude::V2_1_325));
}

#[test]
fn a_marker_and_a_long_text_reach_codex() {
    a_marker_and_a_long_text(&Desk::codex());
}

fn a_clear_and_what_goes_on_behind_it(desk: &Desk) {
    let clear = desk.make(IntentPurpose::Clear, "/clear", None);
    let go_on = desk.make(IntentPurpose::Continue, "go on with the heron", Some(clear));
    desk.type_all();
    desk.check(clear, "confirmed", "");
    desk.check(go_on, "confirmed", "");
    desk.model.wait_prompt("go on with the heron");
    assert_ne!(desk.env.only_seat()["session"], desk.session.to_string());
}

#[test]
fn claude_2_1_197_is_cleared_and_goes_on() {
    a_clear_and_what_goes_on_behind_it(&Desk::claude(Claude::V2_1_197));
}

#[test]
fn claude_2_1_325_is_cleared_and_goes_on() {
    a_clear_and_what_goes_on_behind_it(&Desk::claude(Claude::V2_1_325));
}

#[test]
fn codex_is_cleared_and_goes_on() {
    a_clear_and_what_goes_on_behind_it(&Desk::codex());
}

fn half_typed_text_stays(desk: &Desk) {
    desk.env.tow(&["config", "set", "typing.limit_s", "1"]).ok();
    desk.pane.half_type("mine alone");
    desk.pane.wait_screen("mine alone");
    let intent = desk.make(IntentPurpose::Bookmark, "·", None);
    desk.type_all();
    desk.check(intent, "expired", "something stands in the input line");
    assert!(desk.pane.screen().contains("mine alone") && !desk.model.saw("mine alone"));
}

#[test]
fn half_typed_text_stays_in_claude() {
    half_typed_text_stays(&Desk::claude(Claude::V2_1_325));
}

#[test]
fn half_typed_text_stays_in_codex() {
    half_typed_text_stays(&Desk::codex());
}

#[test]
fn a_process_that_is_killed_leaves_nothing_that_is_typed_again() {
    let desk = Desk::claude(Claude::V2_1_325);
    let store =
        || Store::read(&DataFolder::at(desk.env.data_dir()), Duration::from_secs(5)).unwrap().unwrap();
    for _ in 0..6 {
        let before = desk.model.requests().len();
        let intent = desk.make(IntentPurpose::Bookmark, "·", None);
        let mut typing = desk.env.command("tow");
        typing.args(["type", &desk.seat]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut typing = typing.spawn().unwrap();
        wait::until("the process to begin", wait::PATIENCE, || {
            let stage = store().intent(intent).unwrap().map(|intent| intent.stage);
            stage.filter(|stage| *stage != IntentStage::Waiting)
        });
        let _ = typing.kill();
        typing.wait().unwrap();
        desk.env.tow(&["config", "set", "typing.confirm_s", "3"]).ok();
        desk.type_all();
        let stage = store().intent(intent).unwrap().unwrap().stage;
        assert!(
            matches!(stage, IntentStage::Expired | IntentStage::Confirmed | IntentStage::Refused),
            "{stage:?}"
        );
        desk.env.wait_states(&["completed"]);
        assert!(desk.model.requests().len() <= before + 2, "typed twice");
        desk.pane.keys(&["C-u"]);
        // The last one is the input line: above it, the marker may stand among the prompts.
        let line = |screen: &str| screen.lines().rfind(|line| line.starts_with('❯')).map(str::to_owned);
        desk.pane
            .wait_screen_for("an empty line", |screen| line(screen).is_some_and(|line| !line.contains('·')));
    }
}
