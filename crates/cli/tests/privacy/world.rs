//! A data folder in which sessions have lived, and a look at every byte of it.

use crate::script::{BEGAN, Script, Shape};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_store::archive::{Archive, DetailRow};
use towline_store::{DataFolder, Store};
use towline_testkit::{Run, TestEnv};

pub const PATIENCE: Duration = Duration::from_secs(10);

pub struct World {
    pub env: TestEnv,
}

impl World {
    pub fn new() -> World {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        // Even the last resort for faults lies below the root.
        let runtime = env.root().join("run");
        fs::create_dir(&runtime).unwrap();
        env.set("XDG_RUNTIME_DIR", runtime.display().to_string());
        env.set("TZ", "UTC");
        env.set_now(BEGAN + 100_000_000);
        World { env }
    }

    pub fn home(&self) -> DataFolder {
        DataFolder::at(self.env.data_dir())
    }

    /// A folder beside the project, of another one.
    pub fn elsewhere(&self) -> PathBuf {
        let folder = self.env.root().join("elsewhere");
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A hook of the session's agent, at the time that the script has come to.
    pub fn hook(&self, script: &Script, event: &str, fields: Value) -> Run {
        let transcript = script.path(&self.env.home());
        let mut payload = json!({"hook_event_name": event, "session_id": script.session, "cwd": script.folder(),
            "transcript_path": transcript, "source": "startup", "model": "m", "permission_mode": "default"});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.env.set_now(script.at);
        let run = self.env.hook(script.shape.agent(), payload.to_string()).ok();
        self.env.set_now(BEGAN + 100_000_000);
        run
    }

    /// One turn as it happens: the prompt, a tool, the end, and what the transcript holds of it.
    pub fn turn(&self, script: &mut Script, words: &Words) {
        self.hook(script, "UserPromptSubmit", json!({"prompt": words.prompt}));
        script.prompt(&words.prompt).thinking(&words.thinking);
        script.tool("Bash", json!({"command": words.input}), &padded(&words.output));
        self.hook(script, "PostToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}}));
        script.answer(&words.answer);
        script.save(&self.env.home());
        self.hook(script, "Stop", json!({"last_assistant_message": words.answer}));
        self.env.wait_no_process();
        script.later(60);
    }

    /// A session of some turns, through hooks and capture. Its words are named after it and its turns.
    pub fn session(&self, shape: Shape, name: &str, (folder, turns): (&Path, u32)) -> Script {
        let mut script = Script::new(shape, name, folder);
        self.hook(&script, "SessionStart", json!({}));
        for turn in 1..=turns {
            self.turn(&mut script, &Words::of(name, turn));
        }
        script
    }

    pub fn tow(&self, arguments: &[&str]) -> Run {
        self.env.tow(arguments)
    }

    /// Everything that is kept: the bytes of every file, what is packed, and what JSON says.
    pub fn kept(&self) -> Vec<(String, Vec<u8>)> {
        // What works in the background makes files and removes them.
        self.env.wait_no_process();
        let mut all = vec![];
        for path in files_below(&self.env.data_dir()) {
            let bytes = fs::read(&path).unwrap();
            let name = path.strip_prefix(self.env.data_dir()).unwrap().display().to_string();
            if name.starts_with("journal") {
                all.push((format!("{name}, unescaped"), unescaped(&bytes)));
            }
            all.push((name, bytes));
        }
        let runtime = self.env.root().join("run");
        all.extend(
            files_below(&runtime)
                .into_iter()
                .map(|path| (path.display().to_string(), fs::read(path).unwrap())),
        );
        all.extend(unpacked(&self.home()));
        all
    }

    /// Where the text stands in what is kept, in upper or lower case.
    pub fn places_of(&self, text: &str) -> Vec<String> {
        places(&self.kept(), text)
    }

    #[track_caller]
    pub fn has_none_of(&self, words: &Words) {
        let kept = self.kept();
        for word in words.all() {
            assert_eq!(places(&kept, word), Vec::<String>::new(), "{word}");
        }
    }

    #[track_caller]
    pub fn has_all_of(&self, words: &Words) {
        let kept = self.kept();
        for word in words.all() {
            assert_ne!(places(&kept, word), Vec::<String>::new(), "{word}");
        }
    }

    pub fn archive(&self) -> Archive {
        Archive::read(&self.home(), PATIENCE).unwrap().unwrap()
    }

    pub fn store(&self) -> Store {
        Store::read(&self.home(), PATIENCE).unwrap().unwrap()
    }

    /// All that is in the database, in words.
    pub fn told(&self) -> Vec<String> {
        let store = self.store();
        let of = |session: &towline_core::session::Session| {
            let turns = store.hook_turns(&session.key).unwrap();
            let turns: Vec<_> =
                turns.iter().map(|turn| (turn.uid, turn.prompt.as_str().to_owned())).collect();
            let events = store.events(&session.key).unwrap();
            format!("{} {:?} {:?} {turns:?} {events:?}", session.key, session.state, session.prompt)
        };
        store.sessions().unwrap().iter().map(of).collect()
    }
}

/// Names of what holds the text.
pub fn places(kept: &[(String, Vec<u8>)], text: &str) -> Vec<String> {
    let text = text.to_ascii_lowercase();
    let holds = |bytes: &[u8]| memchr::memmem::find(&bytes.to_ascii_lowercase(), text.as_bytes()).is_some();
    kept.iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name.clone()).collect()
}

pub fn key(raw: &str) -> SessionKey {
    SessionKey::parse(raw).unwrap()
}

/// What is said in a turn, each time another word.
pub struct Words {
    pub prompt: String,
    pub thinking: String,
    pub input: String,
    pub output: String,
    pub answer: String,
}

impl Words {
    pub fn of(session: &str, turn: u32) -> Words {
        let word = |kind: &str| format!("zephyr {kind} of {session} in {turn}.");
        Words {
            prompt: word("prompt"),
            thinking: word("thinking"),
            input: word("input"),
            output: word("output"),
            answer: word("answer"),
        }
    }

    pub fn all(&self) -> [&str; 5] {
        [&self.prompt, &self.thinking, &self.input, &self.output, &self.answer]
    }
}

/// Long enough to be packed.
pub fn padded(text: &str) -> String {
    let lines: String =
        (0..200).map(|n| format!("line {n} of what a tool printed, {}\n", n * 7919)).collect();
    format!("{lines}{text}\n{lines}")
}

pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false if path.is_file() => found.push(path),
            false => {}
        }
    }
    found
}

/// The strings of the journal's records as JSON means them.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![];
    let starts = bytes.windows(3).enumerate().filter(|(_, window)| *window == b"TOW").map(|(at, _)| at);
    for start in starts {
        let Some(frame) = bytes.get(start + 12..) else { continue };
        let mut values = serde_json::Deserializer::from_slice(frame).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            strings(&value, &mut all);
        }
    }
    all
}

fn strings(value: &Value, all: &mut Vec<u8>) {
    match value {
        Value::String(text) => all.extend(text.bytes().chain([b'\n'])),
        Value::Array(items) => items.iter().for_each(|item| strings(item, all)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text of every detail that can be got back.
fn unpacked(home: &DataFolder) -> Vec<(String, Vec<u8>)> {
    let Some(archive) = Archive::read(home, PATIENCE).unwrap() else { return vec![] };
    let text = |detail: &DetailRow| {
        let name = format!("unpacked {} {:?}", detail.kind.name(), detail.tool);
        (name, archive.content(detail).unwrap().into_bytes())
    };
    let mut all = vec![];
    for conversation in archive.latest_conversations(None, 10_000).unwrap() {
        all.extend(archive.details_before(&conversation).unwrap().iter().map(text));
        for turn in archive.turns(&conversation, 0, u32::MAX).unwrap() {
            all.extend(archive.details(&turn).unwrap().iter().map(text));
        }
    }
    all
}
