//! The real clients as providers: `claude -p` and `codex exec` put a turn into words, and leave nothing behind.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]
#![expect(clippy::print_stdout, reason = "tests print their figures")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;
use towline_store::archive::{MemoryFilter, MemoryQuery};
use towline_store::{Archive, DataFolder};
use towline_testkit::wait::{PATIENCE, until};
use towline_testkit::{Claude, Codex, Daemon, Gate, Kind, Model, Request, Rule, Step, TestEnv};

const TITLE: &str = "the mast leans since its stay was cut";

fn words() -> Value {
    json!({"memories": [{
        "type": "gotcha", "title": TITLE, "subtitle": "", "facts": ["the stay was cut"], "narrative": "",
        "concepts": [], "files": [],
    }], "summary": {"request": "r", "investigated": "", "learned": "l", "completed": "", "next_steps": ""}})
}

fn configure(env: &TestEnv, lines: &str) {
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), format!("[distil]\n{lines}\n")).unwrap();
}

fn titles(env: &TestEnv) -> Vec<String> {
    let home = DataFolder::at(env.data_dir());
    let Some(archive) = Archive::read(&home, Duration::from_secs(5)).unwrap() else { return vec![] };
    let asked = MemoryQuery { only: MemoryFilter::Standing, limit: 50, ..MemoryQuery::default() };
    // It may be in the making.
    let found = archive.memories(&asked).unwrap_or_default();
    found.into_iter().map(|memory| memory.content.title.clone()).collect()
}

fn wait_learnt(env: &TestEnv) {
    until("the memory", PATIENCE, || titles(env).contains(&TITLE.to_owned()).then_some(()));
    env.wait_no_process();
}

/// Every file of this ending below a folder.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

fn is_question(request: &Request) -> bool {
    request.prompt.contains("<towline-context>")
}

fn questions(model: &Model) -> Vec<Request> {
    model.requests().into_iter().filter(is_question).collect()
}

/// The whole of what a client sent, in bytes: what it adds by itself is counted in tokens by a quarter of that.
fn size(request: &Request) -> usize {
    ["system", "messages", "tools", "input", "instructions", "text"]
        .iter()
        .map(|part| request.body[*part].to_string().len())
        .sum()
}

fn task() -> Rule {
    Rule::when("do-the-task")
        .then(Step::tool("Bash", json!({"command": "echo the stay is cut", "description": "look"})))
        .then(Step::text("The stay was cut."))
}

fn by_claude(claude: Claude) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    fs::write(env.home().join(".claude/CLAUDE.md"), "USERS-OWN-MEMORY").unwrap();
    env.tow(&["install", "--agent", "claude"]).ok();
    configure(&env, "provider = 'claude'");
    let answer =
        Rule::when("towline-context").of(Kind::HookAgent).then(Step::tool("StructuredOutput", words()));
    let model = Model::start([answer, task()]);
    claude.headless(&env, &model, "do-the-task", &[]).ok();
    wait_learnt(&env);
    let asked = questions(&model);
    assert_eq!(asked.len(), 1);
    assert!(asked[0].holds("echo the stay is cut") && !asked[0].holds("USERS-OWN-MEMORY"));
    assert_eq!(asked[0].body["max_tokens"], 600);
    let tools = asked[0].body["tools"].to_string();
    assert!(
        tools.contains("StructuredOutput")
            && !["Bash", "Read", "WebFetch"].iter().any(|tool| tools.contains(tool)),
        "{tools}"
    );
    println!("{}: {} bytes in one question", claude.version, size(&asked[0]));
    assert!(size(&asked[0]) < 8000);
    assert_eq!(
        files(&env.home().join(".claude/projects"), ".jsonl").len(),
        1,
        "no session is left in the user's list"
    );
    let sessions = env.tow(&["sessions", "--all-projects", "--json"]).ok().stdout;
    let sessions: Value = serde_json::from_str(&sessions).unwrap();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "it is no session of ours either");
}

#[test]
fn claude_puts_a_turn_into_words_and_leaves_no_session_in_2_1_197() {
    by_claude(Claude::V2_1_197);
}

#[test]
fn claude_puts_a_turn_into_words_and_leaves_no_session_in_2_1_325() {
    by_claude(Claude::V2_1_325);
}

#[test]
fn claude_that_answers_in_prose_or_wants_a_login_is_a_trouble_that_ends() {
    let claude = Claude::V2_1_325;
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    configure(&env, "provider = 'claude'");
    let prose =
        Rule::when("towline-context").of(Kind::HookAgent).then(Step::text("There is nothing to say."));
    let model = Model::start([prose, task()]);
    claude.headless(&env, &model, "do-the-task", &[]).ok();
    let trouble = || -> Option<String> {
        let told: Value = serde_json::from_str(&env.tow(&["jobs", "--json"]).ok().stdout).unwrap();
        told["trouble"]["cause"].as_str().map(str::to_owned)
    };
    until("the trouble", PATIENCE, || (trouble().as_deref() == Some("prose")).then_some(()));
    env.wait_no_process();
    assert_eq!(questions(&model).len(), 1, "the client does not ask again by itself");
    // Without a key in the environment the client has no login.
    env.tow(&["jobs", "retry"]).ok();
    until("the login", PATIENCE, || (trouble().as_deref() == Some("login")).then_some(()));
    env.wait_no_process();
    let said = env.tow(&["doctor"]).stdout;
    assert!(said.contains("claude /login"), "{said}");
    model
        .add(Rule::when("towline-context").of(Kind::HookAgent).then(Step::tool("StructuredOutput", words())));
    env.tow(&["jobs", "retry"]).ok();
    env.wait_no_process();
    for (name, value) in
        [("ANTHROPIC_API_KEY", "sk-scripted".to_owned()), ("ANTHROPIC_BASE_URL", model.url())]
    {
        env.set(name, value);
    }
    // A client that is slow to start on a busy machine is a trouble too: a person would try again.
    until("the memory", 3 * PATIENCE, || {
        env.tow(&["jobs", "retry"]).ok();
        env.wait_no_process();
        titles(&env).contains(&TITLE.to_owned()).then_some(())
    });
    assert_eq!(trouble(), None);
}

/// A home in which Codex tells us of its turns and is asked about them.
fn with_codex(codex: Codex, model: &Model) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    codex.seed(&env, model, Daemon::Off);
    env.tow(&["install", "--agent", "codex"]).ok();
    codex.trust_hooks(&env);
    configure(&env, "provider = 'codex'\nper_memory_tokens = 3000");
    env
}

fn codex_task() -> Rule {
    Rule::when("do-the-task")
        .then(Step::tool("exec_command", json!({"cmd": "echo the stay is cut"})))
        .then(Step::text("The stay was cut."))
}

#[test]
fn codex_puts_a_turn_into_words_and_leaves_no_session() {
    let codex = Codex::V0_166_0;
    let model =
        Model::start([Rule::when("towline-context").then(Step::text(words().to_string())), codex_task()]);
    let env = with_codex(codex, &model);
    let marker = env.root().join("notified");
    let config = env.home().join(".codex/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("notify = [\"touch\", \"{}\"]\n{text}", marker.display())).unwrap();
    codex.headless(&env, "do-the-task", &[]).ok();
    let _ = fs::remove_file(&marker);
    wait_learnt(&env);
    let asked = questions(&model);
    assert_eq!(asked.len(), 1);
    assert!(asked[0].holds("echo the stay is cut"));
    println!("codex: {} bytes in one question", size(&asked[0]));
    assert!(size(&asked[0]) < 12_000);
    assert_eq!(
        files(&env.home().join(".codex/sessions"), ".jsonl").len(),
        1,
        "no session is left in the user's list"
    );
    assert!(!marker.exists(), "nobody is notified of it");
}

fn worker(env: &TestEnv) -> Child {
    let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
    command.args(["work", "--quiet"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// A worker that is killed while its client waits for the model leaves no process, and the turn is put into words later.
fn killed_while_waiting(env: &TestEnv, model: &Model, ask_again: Rule) {
    for kill in 1..=3 {
        env.tow(&["jobs", "retry"]).ok();
        let mut worker = worker(env);
        until("the question", PATIENCE, || (questions(model).len() >= kill).then_some(()));
        // Whichever of the two got the lock.
        let workers = env.processes().into_iter().filter(|process| process.command.contains(" work"));
        for process in workers.collect::<Vec<_>>() {
            env.command("kill").args(["-9", &process.pid.to_string()]).status().unwrap();
        }
        worker.wait().unwrap();
        env.wait_no_process();
        // Its lease must have ended before somebody else takes it up.
        env.set_now(now() + i64::try_from(kill).unwrap() * 600_000);
    }
    assert_eq!(titles(env), Vec::<String>::new());
    model.add(ask_again);
    env.tow(&["work"]).ok();
    wait_learnt(env);
}

#[expect(clippy::disallowed_methods, reason = "the clock that the clients write their transcripts by")]
fn now() -> i64 {
    let since =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("the clock is right");
    i64::try_from(since.as_millis()).unwrap()
}

#[test]
fn a_killed_worker_takes_claude_with_it() {
    let (claude, gate) = (Claude::V2_1_325, Gate::shut());
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    let asked = || Rule::when("towline-context").of(Kind::HookAgent);
    let model = Model::start([asked().then(Step::tool("StructuredOutput", words()).behind(&gate)), task()]);
    for (name, value) in
        [("ANTHROPIC_API_KEY", "sk-scripted".to_owned()), ("ANTHROPIC_BASE_URL", model.url())]
    {
        env.set(name, value);
    }
    claude.headless(&env, &model, "do-the-task", &[]).ok();
    env.wait_no_process();
    configure(&env, "provider = 'claude'");
    killed_while_waiting(&env, &model, asked().then(Step::tool("StructuredOutput", words())));
}

#[test]
fn a_killed_worker_takes_codex_with_it_also_where_a_script_starts_it() {
    let gate = Gate::shut();
    let asked = || Rule::when("towline-context");
    let model = Model::start([asked().then(Step::text(words().to_string()).behind(&gate)), codex_task()]);
    let env = with_codex(Codex::V0_166_0.through_node(), &model);
    env.set("SCRIPTED_KEY", "not-a-secret");
    configure(&env, "provider = 'none'");
    Codex::V0_166_0.headless(&env, "do-the-task", &[]).ok();
    env.wait_no_process();
    configure(&env, "provider = 'codex'\nper_memory_tokens = 3000");
    killed_while_waiting(&env, &model, asked().then(Step::text(words().to_string())));
}
