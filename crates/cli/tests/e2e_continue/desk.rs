//! A client in a pane whose context the model fills, and what is known of the hops and of what was typed.

use crate::client::Client;
use serde_json::Value;
use towline_testkit::{Gate, Model, Pane, Request, Rule, Step, TestEnv, Tmux, wait};

pub const HANDOFF: &str = "Here it is.\n<handoff id=\"@HANDOFF_ID@\">\ncontinue: true\n## Task\nPaint the heron.\n\
    ## Completed\nIts left wing.\n## Remaining\nThe right wing, then its beak.\n## Key Context\nThe colour is slate-4711.\n</handoff>";

/// What the agent is asked, what its successor is prompted, and what a person sends by hand.
pub const ASKED: &str = "handoff id=";
pub const GO_ON: &str = "Go on with the work as the handoff";
const SENT: &str = "Go on with this work of an earlier session";

pub struct Desk {
    pub client: Client,
    pub env: TestEnv,
    pub tmux: Tmux,
    pub pane: Pane,
    pub model: Model,
}

impl Desk {
    #[track_caller]
    pub fn set_up(client: Client) -> Desk {
        Desk::with_hooks(client, |_, _| {})
    }

    /// With the hooks changed before the client reads them.
    #[track_caller]
    pub fn with_hooks(client: Client, edit: impl FnOnce(&TestEnv, &mut Value)) -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        let model = Model::echo();
        model.add(Rule::when(GO_ON).then(Step::text("The right wing is painted.")));
        model.add(client.full("paint the heron", "I have painted a wing."));
        model.add(Rule::when(ASKED).then(Step::text(HANDOFF).usage(client.full_usage())));
        client.install(&env, &model, edit);
        let tmux = Tmux::start(&env);
        let pane = client.open(&tmux, &model);
        let desk = Desk { client, env, tmux, pane, model };
        desk.set("typing.enabled", "true");
        desk.set("typing.quiet_s", "0");
        desk.set("guard.strategy", "handoff");
        desk.set("continue.cooldown_s", "0");
        desk
    }

    pub fn set(&self, key: &str, value: &str) {
        self.env.tow(&["config", "set", key, value]).ok();
    }

    pub fn hops(&self) -> Vec<Value> {
        self.env.tow(&["handoff", "list", "--json"]).ok().json()["hops"].as_array().unwrap().clone()
    }

    pub fn typed(&self) -> Vec<Value> {
        self.env.tow(&["typed", "--json"]).ok().json()["intents"].as_array().unwrap().clone()
    }

    /// Waits until the newest hop is in this state, and gives it.
    #[track_caller]
    pub fn wait_hop(&self, state: &str) -> Value {
        wait::until_evident(&format!("a hop that is {state}"), wait::PATIENCE, || {
            self.env.tow(&["status"]).ok();
            let hop = self.hops().into_iter().next().unwrap_or_default();
            let evidence = || format!("{hop:#}\n{:#?}\n{}", self.typed(), self.pane.screen());
            if hop["state"] == state { Ok(hop.clone()) } else { Err(evidence()) }
        })
    }

    /// The same without a look at the world.
    #[track_caller]
    pub fn wait_state_of_hop(&self, state: &str) {
        wait::until_evident(&format!("a hop that is {state}"), wait::PATIENCE, || {
            let hop = self.hops().into_iter().next().unwrap_or_default();
            if hop["state"] == state { Ok(()) } else { Err(format!("{hop:#}")) }
        });
    }

    /// What the agent answers when it is asked for the handoff.
    pub fn answers(&self, answer: impl Into<String>) {
        self.model.add(Rule::when(ASKED).then(Step::text(answer).usage(self.client.full_usage())));
    }

    /// Up to the moment at which the agent is about to hand over; it does when the gate is opened.
    #[track_caller]
    pub fn about_to_hand_over(&self) -> Gate {
        let gate = Gate::shut();
        let handoff = Step::text(HANDOFF).usage(self.client.full_usage());
        self.model.add(Rule::when(ASKED).then(handoff.behind(&gate)));
        self.pane.say("paint the heron");
        self.model.wait_prompt(ASKED);
        gate
    }

    /// The same, and a person has begun to write in the meantime.
    #[track_caller]
    pub fn about_to_hand_over_beside_a_person(&self) -> Gate {
        let gate = self.about_to_hand_over();
        self.pane.half_type("mine alone");
        self.pane.wait_screen("mine alone");
        gate
    }

    #[track_caller]
    pub fn kill_client(&self) {
        let pid = self.pane.program_pid().to_string();
        assert!(self.env.command("kill").args(["-9", &pid]).status().unwrap().success());
    }

    /// The hop has failed for this reason, keeps its handoff, and nothing was typed that went through.
    #[track_caller]
    pub fn check_failed(&self, why: &str) -> Value {
        let hop = self.wait_hop("failed");
        assert!(hop["why"].as_str().unwrap().contains(why), "{hop:#}");
        assert!(hop["text"].as_str().unwrap().contains("slate-4711"), "{hop:#}");
        self.env.tow(&["status"]).ok().prints("does not go on by itself").prints("tow session handoff send");
        let went_on = |intent: &Value| intent["purpose"] == "continue" && intent["state"] == "confirmed";
        assert!(!self.typed().iter().any(went_on) && !self.model.saw(GO_ON), "{:#?}", self.typed());
        assert_eq!(self.hops().len(), 1, "not tried again");
        hop
    }

    /// What was kept is sent by hand, and reaches the model.
    #[track_caller]
    pub fn check_sent_by_hand(&self) {
        let seat = self.env.only_seat()["seat"].as_str().unwrap().to_owned();
        self.env.tow(&["handoff", "send", "--in", &seat]).ok().prints("is typed into");
        assert!(self.wait_prompted(SENT).holds("slate-4711"));
    }

    /// Waits until something that is typed has reached the model as a prompt.
    #[track_caller]
    pub fn wait_prompted(&self, text: &str) -> Request {
        wait::until_evident(&format!("the prompt {text:?}"), wait::PATIENCE, || {
            let mut asked = self.model.requests().into_iter();
            let evidence = || format!("{:#?}\n{:#?}\n{}", self.hops(), self.typed(), self.pane.screen());
            asked.find(|request| request.prompt.contains(text)).ok_or_else(evidence)
        })
    }
}
