//! A person's desk: real clients in panes of one project, the scripted model behind them, and a look at what came of it.
//!
//! Judges nothing: what is right is said by the scenes.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_store::archive::Conversation;
use towline_store::{Archive, DataFolder, Store};
use towline_testkit::{
    Claude, Client as Program, Codex, Daemon, Kind, Model, Pane, Process, Request, Rule, Run, Step, TestEnv,
    Tmux, wait,
};

pub const CODEX: Codex = Codex::V0_166_0;

const OPEN: &str = "<towline-context>\n";
const CLOSE: &str = "</towline-context>";

/// One of the real clients, as it is started here.
#[derive(Clone, Copy, Debug)]
pub enum Client {
    Claude(Claude),
    Codex(Daemon),
    Other(Program),
}

/// One client of each of the six agents.
pub const SIX: [Client; 6] = [
    Client::Claude(Claude::V2_1_325),
    Client::Codex(Daemon::Off),
    Client::Other(Program::OPENCODE),
    Client::Other(Program::QWEN),
    Client::Other(Program::GEMINI),
    Client::Other(Program::COPILOT),
];

impl Client {
    pub fn agent(self) -> &'static str {
        match self {
            Client::Claude(_) => "claude",
            Client::Codex(_) => "codex",
            Client::Other(program) => program.name,
        }
    }

    /// Begins a new session in the same client.
    pub fn clear(self) -> &'static str {
        if self.agent() == Program::OPENCODE.name { "/new" } else { "/clear" }
    }

    /// Our command as it is typed there. The blank closes a list of suggestions, which would take the Enter.
    fn own_command(self, arguments: &str) -> String {
        match self {
            Client::Claude(_) => format!("/tow{arguments}"),
            Client::Codex(_) => format!("$tow{arguments} "),
            Client::Other(program) => not_asked_of(program),
        }
    }

    /// What the model takes for the prompt when that is typed.
    fn own_words(self) -> &'static str {
        match self {
            Client::Claude(_) => "will go on from this one",
            Client::Codex(_) => "$tow",
            Client::Other(program) => not_asked_of(program),
        }
    }

    pub fn wait_idle(self, pane: &Pane) {
        match self {
            Client::Claude(claude) => claude.wait_idle(pane),
            Client::Codex(_) => CODEX.wait_idle(pane),
            Client::Other(program) => program.wait_idle(pane),
        }
    }

    /// A command that the model wants to run, and may.
    pub fn runs(self, command: &str) -> Step {
        match self {
            Client::Claude(_) => Step::tool("Bash", json!({"command": command, "description": "look"})),
            Client::Codex(_) => Step::tool("exec_command", json!({"cmd": command})),
            Client::Other(program) => not_asked_of(program),
        }
    }

    /// A subagent that the model starts with this task, and waits for.
    pub fn delegates(self, task: &str) -> Vec<Step> {
        match self {
            Client::Claude(_) => {
                let agent = json!({"description": "look", "prompt": task, "subagent_type": "general-purpose",
                    "run_in_background": false});
                vec![Step::tool("Agent", agent)]
            }
            Client::Codex(_) => {
                let spawn = json!({"message": task, "agent_type": "default"});
                let wait = json!({"targets": ["@LAST_AGENT@"], "timeout_ms": 15000});
                let tools = [("spawn_agent", spawn), ("wait_agent", wait)];
                let step = |(tool, input)| Step::default().and_tool_of("multi_agent_v1", tool, input);
                tools.map(step).into_iter().collect()
            }
            Client::Other(program) => not_asked_of(program),
        }
    }

    /// A to-do list of three items, the first done and the second begun.
    pub fn plans(self, [done, begun, open]: [&str; 3]) -> Vec<Step> {
        match self {
            Client::Claude(_) => {
                let create = |subject: &str| {
                    let task = json!({"subject": subject, "description": subject, "activeForm": subject});
                    Step::tool("TaskCreate", task)
                };
                let update = |id: &str, status: &str| {
                    Step::tool("TaskUpdate", json!({"taskId": id, "status": status}))
                };
                let updates = [update("1", "completed"), update("2", "in_progress")];
                [done, begun, open].map(create).into_iter().chain(updates).collect()
            }
            Client::Codex(_) => {
                let step = |step: &str, status: &str| json!({"step": step, "status": status});
                let plan = [step(done, "completed"), step(begun, "in_progress"), step(open, "pending")];
                vec![Step::tool("update_plan", json!({"plan": plan}))]
            }
            Client::Other(program) => not_asked_of(program),
        }
    }

    /// Whether its transcript tells that the user went back to the first prompt of all.
    pub fn tells_of_a_new_beginning(self) -> bool {
        !matches!(self, Client::Claude(claude) if claude.version == Claude::V2_1_197.version)
    }

    /// Installs the hooks of this program.
    fn seed(self, env: &TestEnv, model: &Model, program: &Path) {
        match self {
            Client::Claude(claude) => claude.seed(env),
            Client::Codex(daemon) => CODEX.seed(env, model, daemon),
            Client::Other(other) => other.seed(env, model),
        }
        Run::of(env.command(program).args(["install", "--agent", self.agent()]), b"").ok();
        if let Client::Codex(_) = self {
            CODEX.trust_hooks(env);
        }
    }

    fn resuming(self, session: &str) -> Vec<String> {
        let word = match self {
            Client::Claude(_) => "--resume",
            Client::Codex(_) => "resume",
            Client::Other(program) => not_asked_of(program),
        };
        vec![word.to_owned(), session.to_owned()]
    }

    fn leave(self) -> &'static str {
        match self {
            Client::Claude(_) => "/exit",
            Client::Codex(_) => "/quit",
            Client::Other(program) => not_asked_of(program),
        }
    }
}

/// A scene that is told of two agents only.
#[track_caller]
pub fn not_asked_of(program: Program) -> ! {
    panic!("no scene asks this of {}", program.name)
}

/// The panes of one project, and the model that answers in all of them.
pub struct Desk {
    pub env: TestEnv,
    pub model: Model,
    pub tmux: Tmux,
}

impl Desk {
    /// Seeds and installs the clients that will sit here.
    #[track_caller]
    pub fn with(clients: &[Client]) -> Desk {
        Desk::of(TestEnv::new(env!("CARGO_BIN_EXE_tow")), clients, Path::new("tow"))
    }

    /// The same with the hooks of a copy of the program in a folder of this name.
    #[track_caller]
    pub fn with_program(clients: &[Client], folder: &str) -> Desk {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        let folder = env.root().join(folder);
        fs::create_dir(&folder).unwrap();
        let program = folder.join("tow");
        fs::copy(env!("CARGO_BIN_EXE_tow"), &program).unwrap();
        Desk::of(env, clients, &program)
    }

    #[track_caller]
    fn of(env: TestEnv, clients: &[Client], program: &Path) -> Desk {
        let model = Model::echo();
        clients.iter().for_each(|client| client.seed(&env, &model, program));
        let tmux = Tmux::start(&env);
        Desk { env, model, tmux }
    }

    /// The client in a pane of its own.
    #[track_caller]
    pub fn sit(&self, client: Client) -> Seat<'_> {
        self.sit_with(client, &[])
    }

    /// The client with a session of before, in a pane of its own.
    #[track_caller]
    pub fn resume(&self, client: Client, session: &SessionKey) -> Seat<'_> {
        self.sit_with(client, &client.resuming(session.id.as_str()))
    }

    #[track_caller]
    fn sit_with(&self, client: Client, arguments: &[String]) -> Seat<'_> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let pane = match client {
            Client::Claude(claude) => claude.interactive(&self.tmux, &self.model, &arguments),
            Client::Codex(_) => CODEX.interactive(&self.tmux, &arguments),
            Client::Other(program) => program.interactive(&self.tmux, &self.model, &arguments),
        };
        if let Client::Codex(Daemon::On) = client {
            CODEX.wait_daemon(&self.env);
        }
        Seat { desk: self, client, pane }
    }

    /// The first request with this prompt. A request for a title holds it, too, and may come before.
    #[track_caller]
    pub fn first_request(&self, prompt: &str) -> Request {
        let is_first = |request: &Request| request.step == 0 && request.kind == Kind::Main;
        self.model.wait_request(prompt, |request| is_first(request) && request.prompt.contains(prompt))
    }

    /// By which rule each session that was asked something got what it got, oldest first.
    #[track_caller]
    pub fn ways(&self) -> Vec<String> {
        let log = self.env.tow(&["inherit", "log", "--all-projects", "--json"]).ok().json();
        let rows = log["decisions"].as_array().unwrap().iter().rev();
        rows.map(|row| row["way"].as_str().unwrap().to_owned()).collect()
    }

    /// How many sessions were ever heard of.
    #[track_caller]
    pub fn sessions(&self) -> usize {
        let store = Store::read(&DataFolder::at(self.env.data_dir()), Duration::from_secs(5)).unwrap();
        store.map_or(0, |store| store.sessions().unwrap().len())
    }

    /// Waits until the only session is known to be compacted.
    #[track_caller]
    fn wait_compacted(&self) {
        wait::until("a compaction to be heard of", wait::PATIENCE, || {
            self.env.tow(&["work", "--quiet"]).ok();
            let store = Store::read(&DataFolder::at(self.env.data_dir()), Duration::from_secs(5)).unwrap()?;
            store.sessions().unwrap().iter().any(|session| session.compactions > 0).then_some(())
        });
    }

    /// Waits until nothing of ours runs any more but servers of tools, which live as long as their clients.
    #[track_caller]
    pub fn wait_no_child(&self) {
        wait::until_evident("our last process to end", wait::PATIENCE, || {
            let is_ours = |process: &&Process| {
                let is_server = process.command.ends_with(" mcp");
                !is_server
                    && process.command.split(' ').next().is_some_and(|program| program.ends_with("/tow"))
            };
            match self.env.processes().iter().find(is_ours) {
                None => Ok(()),
                Some(process) => Err(format!("{process:?}")),
            }
        });
    }

    /// What was captured so far.
    #[track_caller]
    pub fn archive(&self) -> Option<Archive> {
        Archive::read(&DataFolder::at(self.env.data_dir()), Duration::from_secs(5)).unwrap()
    }

    /// What was captured, once `look` finds there what it looks for.
    #[track_caller]
    pub fn wait_captured<T>(&self, what: &str, look: impl Fn(&Archive) -> Result<T, String>) -> T {
        wait::until_evident(what, wait::PATIENCE, || match self.archive() {
            Some(archive) => look(&archive),
            None => Err("no archive".to_owned()),
        })
    }

    /// The session that was captured first.
    #[track_caller]
    pub fn first_session(&self) -> SessionKey {
        self.wait_captured("a session", |archive| {
            self.conversations(archive).first().map(|it| it.session.clone()).ok_or_else(String::new)
        })
    }

    /// All conversations, oldest first.
    #[track_caller]
    pub fn conversations(&self, archive: &Archive) -> Vec<Conversation> {
        let mut all = archive.latest_conversations(None, 100).unwrap();
        all.sort_by_key(|conversation| (conversation.first_at, conversation.uid));
        all
    }

    /// The file that a client keeps of this session.
    #[track_caller]
    pub fn transcript(&self, session: &SessionKey) -> PathBuf {
        let folders = [".claude/projects", ".codex/sessions"].map(|name| self.env.home().join(name));
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let is_it =
            |path: &PathBuf| name(path).contains(session.id.as_str()) && name(path).ends_with(".jsonl");
        folders.iter().flat_map(|folder| files_below(folder)).find(is_it).unwrap()
    }

    /// Whether any file of the data folder holds these bytes.
    pub fn keeps(&self, needle: &str) -> bool {
        let holds = |bytes: Vec<u8>| bytes.windows(needle.len()).any(|at| at == needle.as_bytes());
        files_below(&self.env.data_dir()).iter().any(|path| fs::read(path).is_ok_and(holds))
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (vec![], vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

/// A client in a pane.
pub struct Seat<'d> {
    pub desk: &'d Desk,
    pub client: Client,
    pub pane: Pane,
}

impl Seat<'_> {
    /// Asks, and waits until the client has the scripted answer and takes the next prompt. Gives the first request.
    #[track_caller]
    pub fn ask(&self, prompt: &str, steps: impl IntoIterator<Item = Step>, answer: &str) -> Request {
        let rule = steps.into_iter().fold(Rule::when(prompt), Rule::then).then(Step::text(answer));
        self.desk.model.add(rule);
        match self.client {
            // One of them takes Enter right behind a paste for a part of it.
            Client::Other(_) => self.pane.say_after_paste(prompt),
            Client::Claude(_) | Client::Codex(_) => self.pane.say(prompt),
        }
        // What no line break splits.
        let start: String = answer.chars().take(40).collect();
        self.pane.wait_screen(&start);
        self.client.wait_idle(&self.pane);
        self.desk.first_request(prompt)
    }

    /// Three turns about one thing, one of them with a tool.
    #[track_caller]
    pub fn work_on(&self, thing: &str) {
        self.ask(&format!("first measure the {thing}"), [], &format!("measured {thing}: four"));
        let look = self.client.runs(&format!("echo output of {thing}"));
        self.ask(&format!("then look at the {thing}"), [look], &format!("looked at {thing}: fine"));
        self.ask(&format!("now paint the {thing}"), [], &format!("painted {thing}: shall I go on?"));
    }

    /// Types our command and waits until the model has answered what it says.
    #[track_caller]
    pub fn own_command(&self, arguments: &str) {
        let answer = format!("noted {}", self.desk.model.requests().len());
        self.desk.model.add(Rule::when(self.client.own_words()).then(Step::text(answer.as_str())));
        self.pane.say(&self.client.own_command(arguments));
        self.pane.wait_screen(&answer);
        self.client.wait_idle(&self.pane);
    }

    /// Clears, and waits until the client shows nothing of before. One of them tells of the new session at once.
    #[track_caller]
    pub fn clear(&self) {
        let before = self.desk.sessions();
        self.pane.say(self.client.clear());
        self.pane.wait_screen_for("a cleared screen", |screen| {
            !["mast", "keel", "noted "].iter().any(|word| screen.contains(word))
        });
        if let Client::Claude(_) = self.client {
            let heard = || (self.desk.sessions() > before).then_some(());
            wait::until("the session after the clear", wait::PATIENCE, heard);
        }
        self.client.wait_idle(&self.pane);
    }

    /// Takes back the last `turns` turns, the oldest of which began with this prompt.
    #[track_caller]
    pub fn rewind(&self, turns: usize, prompt: &str) {
        match self.client {
            Client::Claude(_) => {
                self.pane.say("/rewind");
                self.pane.wait_screen("(current)");
                (0..turns).for_each(|_| self.pane.keys(&["Up"]));
                self.pane.wait_screen_for("the entry of the prompt", |screen| {
                    let list = screen.lines().skip_while(|line| line.trim() != "Rewind");
                    list.into_iter().any(|line| line.contains('❯') && line.contains(prompt))
                });
                self.pane.keys(&["Enter"]);
                self.pane.answer("Confirm you want to restore", &["Enter"]);
            }
            Client::Codex(_) => {
                self.pane.keys(&["Escape"]);
                self.pane.keys(&["Escape"]);
                self.pane.wait_screen("Browsing transcript");
                (1..turns).for_each(|_| self.pane.keys(&["Left"]));
                self.pane.wait_screen_for("the chosen prompt above all", |screen| {
                    let first = screen.lines().find(|line| line.starts_with('›'));
                    first.is_some_and(|line| line.contains(prompt))
                });
                self.pane.keys(&["Enter"]);
            }
            Client::Other(program) => not_asked_of(program),
        }
        // The client gives the prompt back.
        let input = |screen: &str| {
            let line = screen.lines().rev().find(|line| line.starts_with(['❯', '›']));
            line.unwrap_or_default().to_owned()
        };
        self.pane.wait_screen_for("the prompt in the input", |screen| input(screen).contains(prompt));
        self.pane.keys(&["C-u"]);
        self.pane.wait_screen_for("an empty input", |screen| !input(screen).contains(prompt));
        self.client.wait_idle(&self.pane);
    }

    /// Leaves the client; the shell is back, on an empty screen.
    #[track_caller]
    pub fn leave(&self) {
        self.pane.say(self.client.leave());
        self.pane.wait_end();
        self.wipe();
    }

    /// Leaves nothing on the screen of the shell but its prompt.
    #[track_caller]
    pub fn wipe(&self) {
        self.shell("clear");
        self.pane.wait_screen_for("an empty screen", |screen| screen.lines().count() < 2);
    }

    /// Compacts, and waits until the client has done it.
    #[track_caller]
    pub fn compact(&self) {
        let compactions = || {
            let requests = self.desk.model.requests();
            requests.iter().filter(|request| request.kind == Kind::Compact).count()
        };
        let before = compactions();
        self.pane.say("/compact");
        wait::until("the request for a summary", wait::PATIENCE, || (compactions() > before).then_some(()));
        self.desk.wait_compacted();
        self.client.wait_idle(&self.pane);
    }

    /// Runs a command in the shell that the client was started from.
    #[track_caller]
    pub fn shell(&self, command: &str) {
        self.pane.say(command);
    }

    /// Starts the client again in the same pane.
    #[track_caller]
    pub fn return_to(&self, client: Client) -> Seat<'_> {
        // The words that the wait for an end looks for must not stand in the command itself.
        self.shell(&format!("{}; echo \"[ended \"\"with $?]\"", client.agent()));
        let seat = Seat { desk: self.desk, client, pane: self.pane.clone() };
        seat.client.wait_idle(&seat.pane);
        seat
    }
}

/// What we gave the model, wherever in the request it stands.
pub fn given(request: &Request) -> Vec<String> {
    let mut found = vec![];
    collect(&request.body, &mut found);
    found
}

/// What we gave, of a request that holds it exactly once.
#[track_caller]
pub fn given_once(request: &Request) -> String {
    let mut all = given(request);
    assert_eq!(all.len(), 1, "{all:#?}\n{:#}", request.body);
    all.remove(0)
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let mut rest = text.as_str();
            while let Some((_, after)) = rest.split_once(OPEN) {
                let (inside, behind) = after.split_once(CLOSE).unwrap_or((after, "<unclosed>"));
                found.push(inside.to_owned());
                rest = behind;
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Insists on each of these texts.
#[track_caller]
pub fn holds_all(text: &str, needles: &[&str]) {
    for needle in needles {
        assert!(text.contains(needle), "no {needle:?} in\n{text}");
    }
}
