//! Usage limits with the real client: recognised, shown with their end, and gone on from by themselves if that is wanted.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::Value;
use std::time::UNIX_EPOCH;
use towline_core::event::{Event, EventKind, ObservedChange};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_store::journal::{self, JournalRecord};
use towline_testkit::{Claude, Model, Pane, Rule, Step, TestEnv, Tmux, wait};

const WORDS: &str = "Continue where you left off.";

struct Desk {
    env: TestEnv,
    model: Model,
    tmux: Tmux,
    claude: Claude,
}

impl Desk {
    fn with(claude: Claude) -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        claude.seed(&env);
        env.tow(&["install", "--agent", "claude"]).ok();
        let model = Model::echo();
        let tmux = Tmux::start(&env);
        Desk { env, model, tmux, claude }
    }

    fn resume(&self) {
        for (key, value) in [("typing.enabled", "true"), ("typing.quiet_s", "0"), ("limits.resume", "true")] {
            self.env.tow(&["config", "set", key, value]).ok();
        }
    }

    /// A client that has run into its limit.
    fn limited(&self, prompt: &str) -> Pane {
        let pane = self.claude.interactive(&self.tmux, &self.model, &[]);
        let refusal =
            Step::error(429, "rate_limit_error", "This request would exceed your account's rate limit.")
                .header("x-should-retry", "false");
        self.model.add(Rule::when(prompt).then(refusal));
        pane.say(prompt);
        pane
    }

    /// What the transcript of somebody with a subscription says: that the limit ends now.
    fn tell_end(&self, session: &str) {
        let at = Timestamp(i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
        let event = Event {
            uid: Uid::v7(at, [u8::try_from(session.len()).unwrap(); 10]),
            at,
            session: SessionKey::parse(session).unwrap(),
            subagent: None,
            turn: None,
            happening: EventKind::Observed { what: ObservedChange::Limited, as_of: at, until: Some(at) },
            scene: None,
        };
        journal::append(&DataFolder::at(self.env.data_dir()), &[JournalRecord::Event(event)]).unwrap();
    }

    fn typed(&self) -> Vec<Value> {
        self.env.tow(&["typed", "--json"]).ok().json()["intents"].as_array().unwrap().clone()
    }
}

#[test]
fn two_sessions_go_on_one_after_the_other_when_their_limit_ends() {
    let desk = Desk::with(Claude::V2_1_325);
    desk.resume();
    let panes = [desk.limited("paint the mast"), desk.limited("mend the sail")];
    for seat in desk.env.wait_states(&["limited", "limited"]) {
        desk.tell_end(seat["session"].as_str().unwrap());
    }
    let typed = wait::until_evident("both go on", std::time::Duration::from_secs(90), || {
        let typed = desk.typed();
        let is_done = typed.len() == 2 && typed.iter().all(|row| row["state"] == "confirmed");
        if is_done { Ok(typed) } else { Err(format!("{typed:#?}\n{}", panes[0].screen())) }
    });
    assert!(typed.iter().all(|row| row["purpose"] == "resume" && row["text"] == WORDS), "{typed:#?}");
    let times = |row: &Value| {
        (row["made_at"].as_str().unwrap().to_owned(), row["moved_at"].as_str().unwrap().to_owned())
    };
    let (mut first, mut second) = (times(&typed[1]), times(&typed[0]));
    if first.0 > second.0 {
        std::mem::swap(&mut first, &mut second);
    }
    assert!(second.0 >= first.1, "one at a time: {typed:#?}");
    desk.env.wait_states(&["completed", "completed"]);
}

#[test]
fn a_limit_is_only_shown_where_nobody_wants_more() {
    let desk = Desk::with(Claude::V2_1_325);
    let pane = desk.limited("paint the mast");
    let seats = desk.env.wait_states(&["limited"]);
    assert_eq!(seats.len(), 1);
    assert!(desk.typed().is_empty() && !pane.screen().contains(WORDS));
}
