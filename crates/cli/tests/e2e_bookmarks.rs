//! Bookmarks with the real clients: set by themselves while they work, typed by hand, and gone back to.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use towline_testkit::{
    Claude, Codex, Daemon, Gate, Kind, Model, Pane, Request, Rule, Step, TestEnv, Tmux, wait,
};

const CODEX: Codex = Codex::V0_166_0;

/// One of the real clients in a pane, and the model behind it.
struct Desk {
    env: TestEnv,
    model: Model,
    tmux: Tmux,
    claude: Option<Claude>,
    pane: Pane,
}

impl Desk {
    #[track_caller]
    fn with(claude: Option<Claude>) -> Desk {
        Desk::behind(claude, Daemon::Off)
    }

    /// The other client, with its daemon or without.
    #[track_caller]
    fn behind(claude: Option<Claude>, daemon: Daemon) -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        let model = Model::echo();
        match claude {
            Some(claude) => claude.seed(&env),
            None => CODEX.seed(&env, &model, daemon),
        }
        let agent = if claude.is_some() { "claude" } else { "codex" };
        env.tow(&["install", "--agent", agent]).ok();
        // The turns of a script follow each other faster than any person's.
        env.tow(&["config", "set", "bookmarks.cooldown_seconds", "0"]).ok();
        let tmux = Tmux::start(&env);
        let pane = match claude {
            Some(claude) => claude.interactive(&tmux, &model, &[]),
            None => {
                CODEX.trust_hooks(&env);
                let pane = CODEX.interactive(&tmux, &[]);
                if daemon == Daemon::On {
                    CODEX.wait_daemon(&env);
                }
                pane
            }
        };
        Desk { env, model, tmux, claude, pane }
    }

    /// One answer in which the model wants so many commands run.
    fn commands(&self, number: usize) -> Step {
        let input = |n: usize| match self.claude {
            Some(_) => ("Bash", json!({"command": format!("echo {n}"), "description": "say"})),
            None => ("exec_command", json!({"cmd": format!("echo {n}")})),
        };
        (0..number).map(input).fold(Step::default(), |step, (tool, input)| step.and_tool(tool, input))
    }

    /// Asks, and waits until the turn is over.
    #[track_caller]
    fn ask(&self, prompt: &str, commands: usize) {
        let answer = format!("done with {prompt}");
        let mut rule = Rule::when(prompt);
        if commands > 0 {
            rule = rule.then(self.commands(commands));
        }
        self.model.add(rule.then(Step::text(answer.as_str())));
        self.pane.say(prompt);
        self.pane.wait_screen(&answer);
        self.wait_idle();
    }

    #[track_caller]
    fn wait_idle(&self) {
        match self.claude {
            Some(claude) => claude.wait_idle(&self.pane),
            None => CODEX.wait_idle(&self.pane),
        }
        self.env.wait_states(&["completed"]);
    }

    #[track_caller]
    fn bookmarks(&self) -> Vec<Value> {
        let found = self.env.tow(&["bookmarks", "--json"]).ok().json();
        found["bookmarks"].as_array().unwrap().clone()
    }

    /// Waits until there are so many, all of them looked at, and gives them oldest first.
    #[track_caller]
    fn wait_bookmarks(&self, number: usize) -> Vec<Value> {
        wait::until_evident("bookmarks and the state of the code at them", wait::PATIENCE, || {
            let mut found = self.bookmarks();
            found.reverse();
            let is_looked_at = |row: &Value| !row["placed_at"].is_null();
            if found.len() == number && found.iter().all(is_looked_at) {
                Ok(found)
            } else {
                Err(json!(found).to_string())
            }
        })
    }

    /// How to get back to a bookmark, and how many prompts were given since.
    #[track_caller]
    fn way_back(&self, row: &Value) -> (usize, String) {
        let id = row["id"].as_str().unwrap();
        let found = self.env.tow(&["rewind", id, "--json"]).ok().json();
        let since = usize::try_from(found["prompts_since"].as_u64().unwrap()).unwrap();
        (since, found["conversation"].to_string())
    }

    /// A run with two stretches of much work and a little between them; then a marker that somebody types.
    #[track_caller]
    fn work(&self) -> Vec<Value> {
        self.ask("first paint the mast", 15);
        let commit = self.env.git(&["rev-parse", "HEAD"]);
        let first = self.wait_bookmarks(1);
        assert_eq!(first[0]["reason"], "15 tool calls");
        assert_eq!(
            (first[0]["commit"].as_str(), first[0]["dirty"].as_bool()),
            (Some(commit.as_str()), Some(false))
        );
        assert!(first[0]["context_tokens"].as_u64() > Some(1_000), "{first:?}");
        self.ask("then mend the sail", 2);
        assert_eq!(self.bookmarks().len(), 1, "little was done");
        fs::write(self.env.project().join("sail"), "white").unwrap();
        self.ask("now haul the anchor", 14);
        let second = self.wait_bookmarks(2);
        assert_eq!(
            (second[1]["reason"].as_str(), second[1]["dirty"].as_bool()),
            (Some("16 tool calls"), Some(true))
        );
        self.type_marker("·", "ok then");
        let all = self.wait_bookmarks(3);
        assert_eq!(all[2]["how"], "typed");
        all
    }

    /// Types the marker by hand, and waits until the model has answered it.
    #[track_caller]
    fn type_marker(&self, marker: &str, answer: &str) {
        self.model.add(Rule::when(marker).then(Step::text(answer)));
        self.pane.paste(marker);
        self.pane.wait_screen_for("the marker in the input", |screen| {
            screen.lines().any(|line| line.trim_start_matches(['❯', '›']).trim() == marker)
        });
        self.pane.keys(&["Enter"]);
        self.pane.wait_screen(answer);
        self.wait_idle();
    }

    /// What everybody sees of the run.
    #[track_caller]
    fn check_told(&self, all: &[Value]) {
        let marked = self
            .model
            .wait_request("the marker", |request| request.prompt.contains('·') && request.step == 0);
        assert!(marked.holds("Nobody asks for anything: do nothing"), "{:#}", marked.body);
        let label = |row: &Value| row["label"].as_str().unwrap().to_owned();
        wait::until_evident("labels by what was done", wait::PATIENCE, || {
            let labels: Vec<String> = self.wait_bookmarks(3).iter().map(label).collect();
            let is_told = labels[0].contains("paint the mast") && labels[1].contains("haul the anchor");
            let is_counted = labels[1].contains("and the turn before");
            if is_told && is_counted { Ok(()) } else { Err(format!("{labels:?}")) }
        });
        let turns = self.env.tow(&["turns", "--json"]).ok().json();
        let origins: Vec<&str> =
            turns["turns"].as_array().unwrap().iter().map(|turn| turn["origin"].as_str().unwrap()).collect();
        assert_eq!(origins, ["human", "human", "human"], "a marker is no turn of memory");
        assert_eq!(all[2]["after_turn"], 4);
    }

    /// From now on markers type themselves, and the model answers them.
    #[track_caller]
    fn turn_on_typing(&self) {
        let settings = [("bookmarks.mode", "typed"), ("typing.enabled", "true"), ("typing.quiet_s", "0")];
        for (key, value) in settings {
            self.env.tow(&["config", "set", key, value]).ok();
        }
        self.model.add(Rule::when("·").then(Step::text("ok then")));
    }

    /// A subagent that the model starts with this task.
    fn delegates(&self, task: &str) -> Vec<Step> {
        if self.claude.is_some() {
            let task = json!({"description": "look", "prompt": task, "subagent_type": "general-purpose"});
            return vec![Step::tool("Agent", task)];
        }
        let spawn = json!({"message": task, "agent_type": "default"});
        let wait = json!({"targets": ["@LAST_AGENT@"], "timeout_ms": 15000});
        let step = |(tool, input)| Step::default().and_tool_of("multi_agent_v1", tool, input);
        [("spawn_agent", spawn), ("wait_agent", wait)].map(step).into()
    }

    #[track_caller]
    fn shows_markers_in_its_list(&self, number: usize) {
        self.pane.say("/rewind");
        self.pane.wait_screen("(current)");
        self.pane.wait_screen_for("markers in the list", |screen| {
            let list = screen.lines().skip_while(|line| line.trim() != "Rewind");
            list.into_iter().filter(|line| line.trim_matches(['❯', ' ']) == "·").count() >= number
        });
        self.pane.keys(&["Escape"]);
    }
}

#[test]
fn a_long_run_gets_its_bookmarks_and_they_can_be_gone_back_to_in_2_1_325() {
    claude(Claude::V2_1_325);
}

#[test]
fn a_long_run_gets_its_bookmarks_and_they_can_be_gone_back_to_in_2_1_197() {
    claude(Claude::V2_1_197);
}

fn claude(claude: Claude) {
    let desk = Desk::with(Some(claude));
    let all = desk.work();
    desk.check_told(&all);
    for (row, prompts, prompt) in [(0, 3, "then mend the sail"), (1, 1, "·"), (2, 1, "·")] {
        let (since, steps) = desk.way_back(&all[row]);
        assert_eq!(since, prompts);
        assert!(steps.contains(&format!("the entry “{prompt}”")), "{steps}");
        desk.pane.say("/rewind");
        desk.pane.wait_screen("(current)");
        for _ in 0..since {
            desk.pane.keys(&["Up"]);
        }
        desk.pane.wait_screen_for("the entry of the bookmark", |screen| {
            let list = screen.lines().skip_while(|line| line.trim() != "Rewind");
            list.into_iter().any(|line| line.contains('❯') && line.contains(prompt))
        });
        desk.pane.keys(&["Escape"]);
        // The client drops what is pasted while the list closes.
        desk.pane.wait_screen_for("no list", |screen| !screen.contains("(current)"));
        desk.wait_idle();
    }
}

#[test]
fn a_turn_that_dies_of_a_full_context_or_is_stopped_sets_no_bookmark_in_2_1_325() {
    let desk = Desk::with(Some(Claude::V2_1_325));
    let gate = Gate::shut();
    let stopped = Step::text("start\n\nof something that never ends").pausing_at(&gate);
    desk.model.add(Rule::when("talk").then(desk.commands(15)).then(stopped));
    desk.pane.say("talk");
    desk.pane.wait_screen("● start");
    desk.pane.keys(&["Escape"]);
    desk.env.wait_states(&["interrupted"]);
    let full =
        Step::error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
    // The client compacts first, and dies of it only if that is too long as well.
    desk.model.add(Rule::when("").of(Kind::Compact).then(full.clone()));
    desk.model.add(Rule::when("fill it").then(desk.commands(15)).then(full));
    desk.pane.say("fill it");
    desk.pane.wait_screen("Context limit reached");
    desk.env.wait_states(&["interrupted"]);
    assert!(desk.bookmarks().is_empty());
}

#[test]
fn where_nothing_may_be_typed_a_bookmark_is_set_all_the_same() {
    let desk = Desk::with(Some(Claude::V2_1_325));
    desk.env.tow(&["config", "set", "bookmarks.mode", "typed"]).ok();
    desk.ask("first paint the mast", 15);
    let all = desk.wait_bookmarks(1);
    assert_eq!((all[0]["how"].as_str(), all[0]["reason"].as_str()), (Some("silent"), Some("15 tool calls")));
    assert!(!desk.pane.screen().lines().any(|line| line.trim_start_matches(['❯', '›']).trim() == "·"));
}

/// A long run in which markers type themselves: each is a bookmark, the model is told to ignore it, memory holds none.
#[track_caller]
fn markers_that_type_themselves(desk: &Desk) {
    desk.turn_on_typing();
    for (round, prompt) in
        ["first paint the mast", "then mend the sail", "now haul the anchor"].iter().enumerate()
    {
        desk.ask(prompt, 15);
        let all = desk.wait_bookmarks(round + 1);
        assert!(all.iter().all(|row| row["how"] == "typed" && row["reason"] == "15 tool calls"), "{all:?}");
        desk.wait_idle();
    }
    let marked =
        desk.model.wait_request("the marker", |request| request.prompt.contains('·') && request.step == 0);
    assert!(marked.holds("Nobody asks for anything: do nothing"), "{:#}", marked.body);
    let typed = desk.env.tow(&["typed", "--json"]).ok().json();
    let states: Vec<&str> =
        typed["intents"].as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["confirmed"; 3], "{typed:#}");
    wait::until_evident("three turns of memory", wait::PATIENCE, || {
        let turns = desk.env.tow(&["turns", "--json"]).ok().json();
        let origins: Vec<String> =
            turns["turns"].as_array().unwrap().iter().map(|turn| turn["origin"].to_string()).collect();
        if origins == ["\"human\""; 3] { Ok(()) } else { Err(format!("{origins:?}")) }
    });
}

#[test]
fn a_changed_marker_stood_beside_the_old_one_in_2_1_325() {
    let desk = Desk::with(Some(Claude::V2_1_325));
    desk.env.tow(&["config", "set", "bookmarks.marker", "~"]).ok();
    desk.ask("first paint the mast", 1);
    desk.type_marker("·", "what of it");
    let asked = desk.model.wait_request("the old one", |request| request.prompt.contains('·'));
    assert!(!asked.holds("Nobody asks for anything"), "{:#}", asked.body);
    desk.type_marker("~", "ok then");
    assert_eq!(desk.wait_bookmarks(1)[0]["how"], "typed");
    wait::until_evident("the old one as a turn of memory", wait::PATIENCE, || {
        let turns = desk.env.tow(&["turns", "--json"]).ok().json();
        let turns = turns["turns"].as_array().unwrap();
        if turns.len() == 2 { Ok(()) } else { Err(json!(turns).to_string()) }
    });
}

#[test]
fn a_turn_longer_than_the_typing_limit_ended_without_a_rewind_point_in_2_1_325() {
    let desk = Desk::with(Some(Claude::V2_1_325));
    a_turn_longer_than_the_typing_limit(&desk);
    desk.shows_markers_in_its_list(1);
}

#[test]
fn a_turn_longer_than_the_typing_limit_ended_without_a_rewind_point_in_codex() {
    let desk = Desk::with(None);
    a_turn_longer_than_the_typing_limit(&desk);
    let marked = |request: &Request| request.prompt.contains('·') && request.step == 0;
    let marker = desk.model.wait_request("the marker", marked);
    assert!(marker.holds("Nobody asks for anything: do nothing"), "{:#}", marker.body);
}

/// A cascade of subagents in one turn that outlasts the time a marker may wait.
fn a_turn_longer_than_the_typing_limit(desk: &Desk) {
    desk.turn_on_typing();
    desk.env.tow(&["config", "set", "typing.limit_s", "1"]).ok();
    let gate = Gate::shut();
    let cascade = (0..3).flat_map(|n| desk.delegates(&format!("CHILD-{n}")));
    let cascade = cascade.fold(Rule::when("ask the crew"), Rule::then);
    desk.model.add(Rule::when("CHILD-").then(Step::text("nothing found")));
    desk.model
        .add(cascade.then(Step::text("the crew\n\nhas answered, and that at some length").pausing_at(&gate)));
    desk.pane.say("ask the crew");
    desk.pane.wait_screen_for("the beginning of the answer", |screen| {
        let begins =
            |line: &str| ["the", "the crew"].contains(&line.trim_start_matches(['●', '•', ' ']).trim_end());
        screen.lines().any(begins)
    });
    let intents = || desk.env.tow(&["typed", "--json"]).ok().json()["intents"].as_array().unwrap().clone();
    wait::until_evident("nothing that waits for the turn", wait::PATIENCE, || {
        let waiting: Vec<Value> = intents().into_iter().filter(|row| row["state"] == "waiting").collect();
        if waiting.is_empty() { Ok(()) } else { Err(json!(waiting).to_string()) }
    });
    desk.env.tow(&["config", "set", "typing.limit_s", "60"]).ok();
    gate.open();
    let all = desk.wait_bookmarks(1);
    assert_eq!(
        (all[0]["how"].as_str(), all[0]["reason"].as_str()),
        (Some("typed"), Some("3 helpers came back"))
    );
    desk.wait_idle();
    let states: Vec<Value> = intents().iter().map(|row| row["state"].clone()).collect();
    assert!(!states.contains(&json!("expired")), "{states:?}");
}

#[test]
fn markers_type_themselves_in_2_1_197() {
    let desk = Desk::with(Some(Claude::V2_1_197));
    markers_that_type_themselves(&desk);
    desk.shows_markers_in_its_list(2);
}

#[test]
fn markers_type_themselves_in_2_1_325() {
    let desk = Desk::with(Some(Claude::V2_1_325));
    markers_that_type_themselves(&desk);
    desk.shows_markers_in_its_list(2);
}

#[test]
fn markers_type_themselves_in_codex() {
    markers_that_type_themselves(&Desk::with(None));
}

#[test]
fn a_long_run_gets_its_bookmarks_and_they_can_be_gone_back_to_in_codex() {
    let desk = Desk::with(None);
    let all = desk.work();
    desk.check_told(&all);
    let (since, steps) = desk.way_back(&all[0]);
    assert_eq!(since, 3);
    assert!(steps.contains("then Left twice, until “then mend the sail” is chosen"), "{steps}");
    let session = all[0]["session"].as_str().unwrap().trim_start_matches("codex:").to_owned();
    let fork = CODEX.interactive(&desk.tmux, &["fork", &session]);
    fork.wait_screen("ok then");
    fork.keys(&["Escape"]);
    fork.keys(&["Escape"]);
    fork.wait_screen("Browsing transcript");
    fork.keys(&["Left"]);
    fork.keys(&["Left"]);
    fork.wait_screen_for("the chosen prompt above all", |screen| {
        screen
            .lines()
            .find(|line| line.starts_with('›'))
            .is_some_and(|line| line.contains("then mend the sail"))
    });
    fork.keys(&["Enter"]);
    fork.wait_screen_for("the prompt in the input again", |screen| {
        let input = screen.lines().rev().find(|line| line.starts_with('›'));
        input.is_some_and(|line| line.contains("then mend the sail"))
    });
}

#[test]
fn a_codex_session_is_forked_at_a_bookmark_by_a_server_of_our_own() {
    forked_at_a_bookmark(Daemon::Off);
}

#[test]
fn a_codex_session_is_forked_at_a_bookmark_by_the_server_in_the_background() {
    forked_at_a_bookmark(Daemon::On);
}

fn forked_at_a_bookmark(daemon: Daemon) {
    let desk = Desk::behind(None, daemon);
    desk.ask("first paint the mast", 15);
    desk.ask("then mend the sail", 15);
    let all = desk.wait_bookmarks(2);
    let fork = |row: &Value, more: &[&str]| {
        desk.env.tow(&[&["rewind", row["id"].as_str().unwrap(), "--fork"], more].concat())
    };
    fork(&all[0], &[]).exits(2).complains("it has to be confirmed").complains("--yes");
    let made = fork(&all[0], &["--yes", "--json"]).ok().json();
    let forked = made["fork"].as_str().unwrap().trim_start_matches("codex:").to_owned();
    assert_eq!(made["resume"], format!("codex resume {forked}"));
    assert_eq!(made["session"], all[0]["session"]);
    let whole =
        fork(&all[1], &["--yes"]).ok().prints("holds what was before the bookmark").prints("git diff");
    let whole = whole.stdout.split("codex resume ").nth(1).unwrap().split(' ').next().unwrap().to_owned();

    let asked = |id: &str, prompt: &str| {
        let resumed = CODEX.interactive(&desk.tmux, &["resume", id]);
        resumed.say(prompt);
        desk.model.wait_prompt(prompt)
    };
    let request = asked(&forked, "paint it red");
    assert!(
        request.holds("first paint the mast") && !request.holds("then mend the sail"),
        "{:#}",
        request.body
    );
    let request = asked(&whole, "paint it green");
    assert!(
        request.holds("first paint the mast") && request.holds("then mend the sail"),
        "{:#}",
        request.body
    );
    // The session itself goes on as if nothing had been.
    desk.pane.say("now haul the anchor");
    let request = desk.model.wait_prompt("now haul the anchor");
    assert!(request.holds("then mend the sail") && !request.holds("paint it red"), "{:#}", request.body);
    if daemon == Daemon::On {
        CODEX.stop_daemon(&desk.env);
    }
}
