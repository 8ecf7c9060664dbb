//! Work that goes on by itself with the real clients in real tmux: the context is full, a handoff is asked for and given, the
//! client is cleared, the successor has the handoff and answers. Whatever goes wrong stops it, is told, and loses nothing.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(clippy::disallowed_methods, reason = "how long it takes is part of what is tested")]
#![expect(clippy::print_stdout, reason = "how long it takes is printed")]

use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};
use towline_testkit::{Claude, Codex, Daemon, Gate, Model, Pane, Rule, Step, TestEnv, Tmux, Usage, wait};

/// Of the larger window of the one, and of the other's.
const FULL: Usage = Usage { input: 900_000, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };
const FULL_CODEX: Usage = Usage { input: 220_000, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };

const HANDOFF: &str = "Here it is.\n<handoff id=\"@HANDOFF_ID@\">\ncontinue: true\n## Task\nPaint the heron.\n\
    ## Completed\nIts left wing.\n## Remaining\nThe right wing, then its beak.\n## Key Context\nThe colour is slate-4711.\n</handoff>";

/// What the agent is asked, what its successor is prompted, and what a person sends by hand.
const ASKED: &str = "handoff id=";
const GO_ON: &str = "Go on with the work as the handoff";
const SENT: &str = "Go on with this work of an earlier session";

/// A turn of two answers, since a client tells of its end before the last one is in its transcript.
fn full(prompt: &str, answer: &str) -> Rule {
    let paint = Step::tool("Bash", json!({"command": "echo painting", "description": "paint"})).usage(FULL);
    Rule::when(prompt).then(paint).then(Step::text(answer).usage(FULL))
}

struct Desk {
    env: TestEnv,
    tmux: Tmux,
    pane: Pane,
    model: Model,
}

impl Desk {
    fn claude(claude: Claude) -> Desk {
        Desk::with_settings(claude, |_, _| {})
    }

    /// With the user's settings changed before the client reads them.
    fn with_settings(claude: Claude, edit: impl FnOnce(&TestEnv, &mut Value)) -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        claude.seed(&env);
        env.tow(&["install", "--agent", "claude"]).ok();
        Claude::edit_settings(&env, |settings| edit(&env, settings));
        let model = Model::echo();
        model.add(Rule::when(GO_ON).then(Step::text("The right wing is painted.")));
        model.add(full("paint the heron", "I have painted a wing."));
        model.add(Rule::when(ASKED).then(Step::text(HANDOFF).usage(FULL)));
        let tmux = Tmux::start(&env);
        let pane = claude.interactive(&tmux, &model, &[]);
        Desk { env, tmux, pane, model }.set_up()
    }

    fn codex() -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        let model = Model::echo();
        model.add(Rule::when(GO_ON).then(Step::text("The right wing is painted.")));
        model.add(Rule::when("paint the heron").then(Step::text("I have painted a wing.").usage(FULL_CODEX)));
        model.add(Rule::when(ASKED).then(Step::text(HANDOFF).usage(FULL_CODEX)));
        Codex::V0_166_0.seed(&env, &model, Daemon::Off);
        env.tow(&["install", "--agent", "codex"]).ok();
        Codex::V0_166_0.trust_hooks(&env);
        let tmux = Tmux::start(&env);
        let pane = Codex::V0_166_0.interactive(&tmux, &[]);
        Desk { env, tmux, pane, model }.set_up()
    }

    fn set_up(self) -> Desk {
        self.set("typing.enabled", "true");
        self.set("typing.quiet_s", "0");
        self.set("guard.strategy", "handoff");
        self.set("continue.cooldown_s", "0");
        self
    }

    fn set(&self, key: &str, value: &str) {
        self.env.tow(&["config", "set", key, value]).ok();
    }

    fn hops(&self) -> Vec<Value> {
        self.env.tow(&["handoff", "list", "--json"]).ok().json()["hops"].as_array().unwrap().clone()
    }

    fn typed(&self) -> Vec<Value> {
        self.env.tow(&["typed", "--json"]).ok().json()["intents"].as_array().unwrap().clone()
    }

    /// Waits until the newest hop is in this state, and gives it.
    #[track_caller]
    fn wait_hop(&self, state: &str) -> Value {
        wait::until_evident(&format!("a hop that is {state}"), wait::PATIENCE, || {
            self.env.tow(&["status"]).ok();
            let hop = self.hops().into_iter().next().unwrap_or_default();
            let evidence = || format!("{hop:#}\n{:#?}\n{}", self.typed(), self.pane.screen());
            if hop["state"] == state { Ok(hop.clone()) } else { Err(evidence()) }
        })
    }

    /// Up to the moment at which the agent is about to hand over; it does when the gate is opened.
    fn about_to_hand_over(self) -> (Desk, Gate) {
        let gate = Gate::shut();
        self.model.add(Rule::when(ASKED).then(Step::text(HANDOFF).usage(FULL).behind(&gate)));
        self.pane.say("paint the heron");
        self.model.wait_prompt(ASKED);
        (self, gate)
    }

    /// The hop has failed for this reason, keeps its handoff, and nothing was typed that went through.
    #[track_caller]
    fn check_failed(&self, why: &str) -> Value {
        let hop = self.wait_hop("failed");
        assert!(hop["why"].as_str().unwrap().contains(why), "{hop:#}");
        assert!(hop["text"].as_str().unwrap().contains("slate-4711"), "{hop:#}");
        self.env.tow(&["status"]).ok().prints("does not go on by itself").prints("tow handoff send");
        let went_on = |intent: &Value| intent["purpose"] == "continue" && intent["state"] == "confirmed";
        assert!(!self.typed().iter().any(went_on) && !self.model.saw(GO_ON), "{:#?}", self.typed());
        assert_eq!(self.hops().len(), 1, "not tried again");
        hop
    }

    /// What was kept is sent by hand, and reaches the model.
    fn check_sent_by_hand(&self) {
        let seat = self.env.only_seat()["seat"].as_str().unwrap().to_owned();
        self.env.tow(&["handoff", "send", "--in", &seat]).ok().prints("is typed into");
        assert!(self.model.wait_prompt(SENT).holds("slate-4711"));
    }
}

fn the_work_goes_on(desk: &Desk) {
    desk.pane.say("paint the heron");
    desk.model.wait_prompt(ASKED);
    let asked = Instant::now();
    let request = desk.model.wait_prompt(GO_ON);
    let took = asked.elapsed();
    assert!(request.holds("slate-4711") && request.holds("The right wing, then its beak."));
    let said = request.body.to_string();
    assert_eq!(said.matches("slate-4711").count(), 1, "given once: {said}");
    assert!(!said.contains("Do not start anything new"), "what we asked is no work of anybody's: {said}");
    let hop = desk.wait_hop("done");
    assert_eq!((&hop["by"], &hop["ordinal"]), (&"agent".into(), &1.into()));
    assert_eq!(hop["given_to"], hop["successor"]);
    assert_ne!(hop["session"], hop["successor"]);
    desk.pane.wait_screen("The right wing is painted.");
    println!(
        "from the handoff's asking to the successor's prompt: {took:?} (the script before us slept 8 s)"
    );
    assert!(took < Duration::from_secs(8));
}

#[test]
fn the_work_goes_on_in_claude_2_1_197() {
    the_work_goes_on(&Desk::claude(Claude::V2_1_197));
}

#[test]
fn the_work_goes_on_in_claude_2_1_325() {
    the_work_goes_on(&Desk::claude(Claude::V2_1_325));
}

#[test]
fn the_work_goes_on_in_codex() {
    the_work_goes_on(&Desk::codex());
}

#[test]
fn a_mechanical_handoff_costs_no_answer_and_the_work_goes_on() {
    let desk = Desk::claude(Claude::V2_1_325);
    desk.set("continue.handoff", "mechanical");
    desk.pane.say("paint the heron");
    let request = desk.model.wait_prompt(GO_ON);
    assert!(request.holds("Handoff of that session") && request.holds("paint the heron"));
    assert_eq!(desk.wait_hop("done")["by"], "mechanical");
    assert!(!desk.model.saw(ASKED));
}

#[test]
fn a_successor_that_inherits_nothing_else_still_has_the_handoff() {
    let desk = Desk::claude(Claude::V2_1_325);
    desk.set("inherit.on_clear", "never");
    desk.pane.say("paint the heron");
    let request = desk.model.wait_prompt(GO_ON);
    assert!(request.holds("slate-4711") && !request.holds("I have painted a wing."));
    desk.wait_hop("done");
}

#[test]
fn work_goes_on_by_hand_too() {
    let desk = Desk::claude(Claude::V2_1_325);
    desk.set("guard.strategy", "off");
    desk.pane.say("paint the heron");
    desk.env.wait_states(&["completed"]);
    let seat = desk.env.only_seat()["seat"].as_str().unwrap().to_owned();
    desk.env.tow(&["continue", "--in", &seat]).ok().prints("goes on in a fresh session");
    assert!(desk.model.wait_prompt(GO_ON).holds("paint the heron"));
    assert_eq!(desk.wait_hop("done")["by"], "mechanical");
}

#[test]
fn three_hops_follow_each_other_and_then_the_limit_is_told() {
    let desk = Desk::claude(Claude::V2_1_325);
    desk.set("continue.most_hops", "3");
    desk.model.add(full(GO_ON, "And on it goes."));
    desk.pane.say("paint the heron");
    wait::until_evident("three hops", wait::PATIENCE * 3, || {
        let hops = desk.hops();
        let done = hops.iter().filter(|hop| hop["state"] == "done").count();
        if done == 3 { Ok(()) } else { Err(format!("{hops:#?}\n{}", desk.pane.screen())) }
    });
    desk.pane.wait_screen("as many followed each other");
    let ordinals: Vec<Value> = desk.hops().iter().map(|hop| hop["ordinal"].clone()).collect();
    assert_eq!(ordinals, [3, 2, 1].map(Value::from));
    let asked = desk.model.requests().iter().filter(|request| request.prompt.contains(ASKED)).count();
    assert_eq!(asked, 3, "one block per hop");
    assert_eq!(desk.typed().len(), 6);
}

#[test]
fn a_compaction_is_typed_where_that_is_wanted() {
    let desk = Desk::claude(Claude::V2_1_325);
    desk.set("guard.strategy", "compact");
    desk.pane.say("paint the heron");
    wait::until_evident("a compaction", wait::PATIENCE, || {
        let typed = desk.typed();
        let is_it = |intent: &Value| intent["text"] == "/compact" && intent["state"] == "confirmed";
        if typed.iter().any(is_it) { Ok(()) } else { Err(format!("{typed:#?}\n{}", desk.pane.screen())) }
    });
    assert!(desk.hops().is_empty());
}

#[test]
fn a_pause_stops_it_and_the_handoff_is_sent_by_hand() {
    let (desk, gate) = Desk::claude(Claude::V2_1_325).about_to_hand_over();
    desk.env.tow(&["pause"]).ok();
    gate.open();
    desk.check_failed("clear: typing is paused");
    desk.env.wait_states(&["completed"]);
    desk.env.tow(&["handoff", "send"]).ok().prints("paste this").prints("slate-4711");
    desk.env.tow(&["resume"]).ok();
    desk.check_sent_by_hand();
}

#[test]
fn a_clear_that_nothing_confirms_is_not_typed_again_and_nothing_behind_it() {
    let desk = Desk::with_settings(Claude::V2_1_325, |_, settings| {
        settings["hooks"].as_object_mut().unwrap().remove("SessionStart");
    });
    desk.set("typing.confirm_s", "2");
    desk.pane.say("paint the heron");
    desk.model.wait_prompt(ASKED);
    desk.check_failed("clear: it was typed, but nothing told");
    let clears = desk.typed().iter().filter(|intent| intent["purpose"] == "clear").count();
    assert_eq!(clears, 1);
}

#[test]
fn an_answer_that_is_no_handoff_stops_it() {
    let desk = Desk::claude(Claude::V2_1_325);
    desk.model.add(Rule::when(ASKED).then(Step::text("I would rather go on painting.").usage(FULL)));
    desk.pane.say("paint the heron");
    let hop = desk.wait_hop("failed");
    assert_eq!((&hop["why"], &hop["text"]), (&"the answer holds no handoff".into(), &Value::Null));
    desk.pane.wait_screen("does not go on by itself");
    assert!(desk.typed().is_empty());
    desk.pane.say("something else");
    desk.model.wait_prompt("something else");
    desk.env.wait_states(&["completed"]);
    let typed = desk.typed();
    assert!(typed.is_empty(), "nothing is typed for what failed: {typed:?}");
}

#[test]
fn a_handoff_that_says_so_ends_the_row() {
    let desk = Desk::claude(Claude::V2_1_325);
    let done = HANDOFF.replace("continue: true", "continue: false");
    desk.model.add(Rule::when(ASKED).then(Step::text(done).usage(FULL)));
    desk.pane.say("paint the heron");
    desk.wait_hop("stopped");
    desk.pane.wait_screen("continue: false");
    assert!(desk.typed().is_empty());
}

#[test]
fn a_person_who_types_in_between_is_left_alone() {
    let (desk, gate) = Desk::claude(Claude::V2_1_325).about_to_hand_over();
    desk.set("typing.limit_s", "2");
    desk.pane.half_type("mine alone");
    desk.pane.wait_screen("mine alone");
    gate.open();
    desk.check_failed("something stands in the input line");
    assert!(desk.pane.screen().contains("mine alone") && !desk.model.saw("mine alone"));
    desk.pane.keys(&["C-u"]);
    desk.pane.wait_screen_for("an empty line", |screen| !screen.contains("mine alone"));
    desk.check_sent_by_hand();
}

#[test]
fn a_client_that_is_killed_before_it_hands_over_is_told_of() {
    let (desk, _gate) = Desk::claude(Claude::V2_1_325).about_to_hand_over();
    desk.kill_client();
    let hop = desk.wait_hop("failed");
    assert_eq!(hop["why"], "its session ended before anything was typed");
    desk.env.tow(&["status"]).ok().prints("does not go on by itself");
    assert!(desk.typed().is_empty());
}

#[test]
fn a_client_that_is_killed_while_it_is_to_be_cleared_is_told_of() {
    let (desk, gate) = Desk::claude(Claude::V2_1_325).about_to_hand_over();
    desk.pane.half_type("mine alone");
    desk.pane.wait_screen("mine alone");
    gate.open();
    desk.wait_hop("clearing");
    desk.kill_client();
    desk.check_failed("clear:");
    desk.env.tow(&["handoff", "show"]).ok().prints("The right wing, then its beak.");
}

#[test]
fn a_tmux_server_that_is_killed_takes_nothing_with_it() {
    let (desk, gate) = Desk::claude(Claude::V2_1_325).about_to_hand_over();
    desk.pane.half_type("mine alone");
    desk.pane.wait_screen("mine alone");
    gate.open();
    desk.wait_state_of_hop("clearing");
    desk.tmux.run(&["kill-server"]);
    wait::until_evident("the hop to fail", wait::PATIENCE, || {
        let hop = desk.hops().remove(0);
        if hop["state"] == "failed" { Ok(()) } else { Err(format!("{hop:#}")) }
    });
    desk.env.tow(&["handoff", "show"]).ok().prints("The right wing, then its beak.");
    assert!(!desk.model.saw(GO_ON));
}

/// Blocks each first stop and asks for what the script before us took for its cue.
const OTHERS_HOOK: &str = r#"if grep -q '"stop_hook_active":false'; then
    echo '{"decision":"block","reason":"somebody else wants the wing polished"}'
fi
"#;

#[test]
fn cnt_1_a_stop_that_somebody_else_blocks_is_never_our_cue() {
    let desk = Desk::with_settings(Claude::V2_1_325, |env, settings| {
        let hook = env.script("others-hook", OTHERS_HOOK).display().to_string();
        let entry = json!({"hooks": [{"type": "command", "command": hook}]});
        settings["hooks"]["Stop"].as_array_mut().unwrap().push(entry);
    });
    // CNT-6: an old one that says `continue: true` lies about.
    fs::create_dir_all(desk.env.project().join(".claude")).unwrap();
    let stale = "---\ncontinue: true\n---\n## Task\nold\n## Remaining\nold\n";
    fs::write(desk.env.project().join(".claude/handoff.md"), stale).unwrap();
    desk.pane.say("begin slowly");
    desk.model.wait_prompt("somebody else wants the wing polished");
    desk.env.wait_states(&["completed"]);
    assert!(desk.hops().is_empty() && desk.typed().is_empty());
    // Above the threshold both block the same stop: the one that answers ours is taken, and one clear is typed.
    desk.pane.say("paint the heron");
    desk.model.wait_prompt(GO_ON);
    desk.wait_hop("done");
    assert_eq!((desk.hops().len(), desk.typed().len()), (1, 2));
}

impl Desk {
    fn kill_client(&self) {
        let binary = Claude::V2_1_325.binary().display().to_string();
        let mut all = self.env.processes().into_iter();
        let pid = all.find(|process| process.command.starts_with(&binary)).unwrap().pid.to_string();
        assert!(self.env.command("kill").args(["-9", &pid]).status().unwrap().success());
    }

    /// The same as [`Desk::wait_hop`], without a look at the world.
    fn wait_state_of_hop(&self, state: &str) {
        wait::until_evident(&format!("a hop that is {state}"), wait::PATIENCE, || {
            let hop = self.hops().into_iter().next().unwrap_or_default();
            if hop["state"] == state { Ok(()) } else { Err(format!("{hop:#}")) }
        });
    }
}
