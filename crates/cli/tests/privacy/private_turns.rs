//! A prompt that is entirely private: no byte of its turn is found after hooks, capture, import and context, and the turn
//! counts all the same.

use crate::script::{Script, Shape};
use crate::world::{PATIENCE, Words, World, key, padded};
use serde_json::json;
use towline_core::session::SessionState;
use towline_testkit::wait;

const SHAPES: [Shape; 2] = [Shape::Claude, Shape::Codex];

/// Stands in everything that is said and done in a private turn, and nowhere else.
const WORD: &str = "quicksilver";

/// Ways to write the tags.
const TAGS: [[&str; 2]; 4] = [
    ["<private>", "</private>"],
    ["< private>", ""],
    ["<private\n>", "</private\n>"],
    [" <PRIVATE why=\"x\">", "</ Private >\n"],
];

fn said(kind: &str) -> String {
    format!("{WORD} {kind}")
}

/// A script that tells of a session as its client would, live or afterwards.
struct Teller<'w> {
    world: &'w World,
    script: Script,
    is_live: bool,
}

impl Teller<'_> {
    fn hook(&self, event: &str, fields: serde_json::Value) {
        if self.is_live {
            self.world.hook(&self.script, event, fields);
        }
    }

    fn save(&self) {
        self.script.save(&self.world.env.home());
    }

    fn wait(&self) {
        if self.is_live {
            self.world.env.wait_no_process();
        }
    }

    fn open_turn(&mut self, number: u32) {
        let words = Words::of(&self.script.session, number);
        self.hook("UserPromptSubmit", json!({"prompt": words.prompt}));
        self.script.prompt(&words.prompt).thinking(&words.thinking);
        self.script.tool("Bash", json!({"command": words.input}), &padded(&words.output));
        self.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}}));
        self.script.answer(&words.answer).later(60);
        self.save();
        self.hook("Stop", json!({"last_assistant_message": words.answer}));
        self.wait();
    }

    /// Everything that a client reports and writes of one turn.
    fn private_turn(&mut self, [open, close]: [&str; 2]) {
        let prompt = format!("{open}{}{close}", said("prompt"));
        self.hook("UserPromptSubmit", json!({"prompt": prompt}));
        self.script.prompt(&prompt).note(&said("note")).thinking(&said("thinking"));
        self.helper("helper1");
        let input = json!({"command": said("input")});
        self.script.tool("Bash", input.clone(), &padded(&said("output")));
        let tool = json!({"tool_name": "Bash", "tool_input": input, "tool_response": said("output")});
        self.hook("PermissionRequest", tool.clone());
        self.hook(
            "Notification",
            json!({"notification_type": "permission_prompt", "message": said("permission")}),
        );
        self.hook("PostToolUse", tool);
        self.check_working();
        self.script.answer(&said("answer")).later(60);
        self.save();
        self.hook("Stop", json!({"last_assistant_message": said("answer")}));
        self.wait();
    }

    fn helper(&self, name: &str) {
        let mut helper = self.script.of_helper(name);
        helper.prompt(&said("task")).tool("Bash", json!({"command": said("try")}), &padded(&said("result")));
        helper.answer(&said("report")).save(&self.world.env.home());
        self.save();
        let about = json!({"agent_id": name, "agent_type": "general-purpose"});
        let call = json!({"tool_name": "Task", "tool_input": {"prompt": said("task")}, "agent_id": name});
        self.hook("SubagentStart", about);
        self.hook("PostToolUse", call);
        let path = helper.path(&self.world.env.home());
        let end = json!({"agent_id": name, "agent_type": "general-purpose", "agent_transcript_path": path,
            "last_assistant_message": said("report")});
        self.hook("SubagentStop", end);
        self.wait();
    }

    /// A background task reports, and the conversation is summed up: both may repeat what was private.
    fn aftermath(&mut self) {
        if self.script.shape == Shape::Claude {
            let report = format!("<task-notification>\n{}\n</task-notification>", said("notification"));
            self.hook("UserPromptSubmit", json!({"prompt": report}));
            self.script.prompt(&report).answer(&said("comment"));
            self.save();
            self.hook("Stop", json!({"last_assistant_message": said("comment")}));
        }
        self.script.summary(&said("summary"));
        self.save();
        self.wait();
    }

    /// The turn is followed like any other.
    fn check_working(&self) {
        if self.is_live {
            // A process in the background may be the one that applies the last event.
            let session = wait::until_evident("a working session", PATIENCE, || {
                let session = self.world.store().session(&self.key()).unwrap().unwrap();
                if session.state == SessionState::Working { Ok(session) } else { Err(format!("{session:?}")) }
            });
            assert_eq!(session.prompt.unwrap().as_str(), "(private)");
        }
    }

    fn key(&self) -> towline_core::id::SessionKey {
        key(&format!("{}:{}", self.script.shape.agent(), self.script.session))
    }
}

/// A turn that may be kept, a private one, and another that may be kept.
fn session(world: &World, shape: Shape, number: usize, is_live: bool) -> Teller<'_> {
    let name = format!("{}-{number:08}", shape.agent());
    let mut teller = Teller { world, script: Script::new(shape, &name, &world.env.project()), is_live };
    teller.hook("SessionStart", json!({}));
    teller.open_turn(1);
    teller.private_turn(TAGS[number]);
    teller.aftermath();
    teller.open_turn(3);
    teller
}

#[track_caller]
fn check(world: &World, tellers: &[Teller<'_>]) {
    assert_eq!(world.places_of(WORD), Vec::<String>::new());
    for teller in tellers {
        let session = &teller.script.session;
        world.has_all_of(&Words::of(session, 1));
        world.has_all_of(&Words::of(session, 3));
        world.tow(&["turns", session]).ok().prints("(private)");
    }
}

#[test]
fn nothing_of_a_private_turn_is_kept_by_hooks_capture_and_work_and_it_still_counts() {
    let world = World::new();
    let all: Vec<Teller<'_>> = SHAPES
        .into_iter()
        .flat_map(|shape| (0..TAGS.len()).map(move |number| (shape, number)))
        .map(|(shape, number)| session(&world, shape, number, true))
        .collect();
    world.tow(&["work"]).ok();
    check(&world, &all);
    for teller in &all {
        let store = world.store();
        let session = store.session(&teller.key()).unwrap().unwrap();
        let is_claude = teller.script.shape == Shape::Claude;
        assert_eq!((session.state, session.turns), (SessionState::Completed, if is_claude { 4 } else { 3 }));
        let events = store.events(&teller.key()).unwrap();
        let ends = events.iter().filter(|event| event.kind == "turn_ended").count();
        assert_eq!(ends, session.turns as usize);
        let mut heir = Script::new(
            teller.script.shape,
            &format!("heir-{}-next", teller.script.session),
            &world.env.project(),
        );
        heir.later(3600);
        world.hook(&heir, "SessionStart", json!({}));
        world.tow(&["inherit", "take", &teller.script.session, "--session", &heir.session]).ok();
        let given = world.hook(&heir, "UserPromptSubmit", json!({"prompt": "go on with it"})).stdout;
        let last = Words::of(&teller.script.session, 3).prompt;
        assert!(given.contains(&last) && !given.contains(WORD), "{given}");
    }
    assert_eq!(world.places_of(WORD), Vec::<String>::new());
}

#[test]
fn nothing_of_a_private_turn_is_imported() {
    let world = World::new();
    let all: Vec<Teller<'_>> = SHAPES
        .into_iter()
        .flat_map(|shape| (0..TAGS.len()).map(move |number| (shape, number)))
        .map(|(shape, number)| session(&world, shape, number, false))
        .collect();
    world.tow(&["import"]).ok();
    check(&world, &all);
    world.tow(&["import", "--rebuild"]).ok();
    check(&world, &all);
}

#[test]
fn an_agent_cannot_keep_what_it_writes_in_a_private_turn() {
    let world = World::new();
    let script = Script::new(Shape::Claude, "writing-0001", &world.env.project());
    world.hook(&script, "SessionStart", json!({}));
    world.hook(&script, "UserPromptSubmit", json!({"prompt": "<private>x</private>"}));
    world.env.set("CLAUDE_CODE_SESSION_ID", &script.session);
    for words in [&["remember", "quicksilver is heavy"][..], &["bookmark", "quicksilver"]] {
        let run = world.env.unattended(words).exits(2).complains("this turn is private");
        run.complains("Do it after the next prompt");
    }
    world.env.unattended(&["bookmark"]).ok();
    assert_eq!(world.places_of(WORD), Vec::<String>::new());
    world.hook(&script, "UserPromptSubmit", json!({"prompt": "and now"}));
    world.env.unattended(&["remember", "quicksilver is heavy"]).ok();
    assert_ne!(world.places_of(WORD), Vec::<String>::new());
}

#[test]
fn an_excluded_repository_includes_its_worktrees() {
    let world = World::new();
    let (project, side) = (world.env.project(), world.env.root().join("side"));
    world.env.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    world.env.git(&["worktree", "add", "-q", "-b", "side", side.to_str().unwrap()]);
    let excluded = format!("[{:?}]", project.to_str().unwrap());
    world.tow(&["config", "set", "privacy.exclude_projects", &excluded]).ok();
    for (number, folder) in [project, side.clone(), side.join("deep")].iter().enumerate() {
        std::fs::create_dir_all(folder).unwrap();
        for shape in SHAPES {
            world.session(shape, &format!("excluded-{}-{number}", shape.agent()), (folder, 1));
        }
    }
    world.tow(&["import"]).ok();
    assert_eq!(world.places_of("excluded-"), Vec::<String>::new());
    world.session(Shape::Claude, "elsewhere-1", (&world.elsewhere(), 1));
    world.has_all_of(&Words::of("elsewhere-1", 1));
}
