//! The tree of commands: help that fits on a screen, earlier names, suggestions, and messages that are true.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs;
use std::path::Path;
use towline_testkit::{Pane, Run, TestEnv, Tmux, wait};

fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_tow"))
}

/// Every name of a command before commands were grouped, and its name now.
const OLD_NAMES: [(&str, &str); 45] = [
    ("baton", "session baton"),
    ("bookmarks", "bookmark list"),
    ("cleanup", "session cleanup"),
    ("completions", "config completions"),
    ("context", "session context"),
    ("continue", "session continue"),
    ("detail", "session detail"),
    ("edit", "memory edit"),
    ("export", "data export"),
    ("forget", "data forget"),
    ("fresh", "session fresh"),
    ("handoff", "session handoff"),
    ("hold", "memory hold"),
    ("import", "data import"),
    ("inherit", "session inherit"),
    ("jobs", "data jobs"),
    ("memories", "memory list"),
    ("menu", "tmux menu"),
    ("meter", "session meter"),
    ("model", "data model"),
    ("notify", "config notify"),
    ("pause", "typing pause"),
    ("pin", "memory pin"),
    ("popup", "tmux popup"),
    ("proposals", "memory proposals"),
    ("reindex", "data reindex"),
    ("release", "memory release"),
    ("repair", "session repair"),
    ("report", "session waits"),
    ("resume", "typing resume"),
    ("rewind", "bookmark rewind"),
    ("scan", "session scan"),
    ("scrub", "data scrub"),
    ("serve", "data serve"),
    ("sessions", "session list"),
    ("supersede", "memory supersede"),
    ("timeline", "memory timeline"),
    ("trim", "session trim"),
    ("turns", "session turns"),
    ("typed", "typing list"),
    ("undo", "memory undo"),
    ("work", "data work"),
    // Never renamed, and hidden by now: hooks, agents, tmux and scripts run them.
    ("install", "install"),
    ("bar", "bar"),
    ("mcp", "mcp"),
];

/// Commands that run until they are stopped, and one whose second run finds the work of the first.
const RUN_ON: [&str; 3] = ["serve", "mcp", "resume"];

#[test]
fn every_earlier_name_of_a_command_still_does_the_same() {
    let env = env();
    for (old, new) in OLD_NAMES {
        let new: Vec<&str> = new.split(' ').collect();
        let with = |words: &[&str], option: &str| env.unattended(&[words, &[option]].concat());
        // Without digits: some print how long they took.
        let said = |run: Run| {
            (run.status, format!("{}{}", run.stdout, run.stderr).replace(|it: char| it.is_ascii_digit(), ""))
        };
        let same =
            |option: &str| assert_eq!(said(with(&[old], option)), said(with(&new, option)), "{old} {option}");
        same("--help");
        same("--no-such-option");
        if !RUN_ON.contains(&old) {
            // `jobs` says whether background work runs.
            env.wait_no_process();
            same("--json");
        }
    }
    let help = env.tow(&["memories", "--help"]).ok();
    help.prints("Usage: tow memory list");
}

#[test]
fn a_bookmark_with_a_label_is_still_set_without_the_word_set() {
    let env = env();
    let (old, new) =
        (env.tow(&["bookmark", "before the rewrite"]), env.tow(&["bookmark", "set", "before the rewrite"]));
    assert_eq!((old.status, &old.stderr), (new.status, &new.stderr));
    old.complains("nothing is recorded yet");
    env.tow(&["bookmark", "--help"]).ok().prints("rewind").prints("delete");
}

#[test]
fn the_help_fits_on_a_screen() {
    let env = env();
    let help = env.tow(&["--help"]).ok();
    assert!(help.stdout.lines().count() <= 40, "{}", help.stdout);
    assert_fits(&help, "tow");
    assert!(!help.stdout.contains("hook "), "commands of agents are hidden: {}", help.stdout);
    let listed: Vec<&str> = help.stdout.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    for name in "status next goto monitor search show remember usage open setup doctor config uninstall demo \
        memory session bookmark data typing tmux hub"
        .split_whitespace()
    {
        assert!(listed.iter().any(|line| line.split(' ').next() == Some(name)), "{name}: {}", help.stdout);
    }
}

#[track_caller]
fn assert_fits(help: &Run, name: &str) {
    let wide = help.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{name}");
}

/// The commands below these words, read from their help.
fn below(env: &TestEnv, words: &[&str]) -> Vec<String> {
    let help = env.tow(&[words, &["--help"]].concat()).ok().stdout;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names =
        listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn visit(env: &TestEnv, words: &[&str], each: &mut impl FnMut(&[&str], &Run)) {
    each(words, &env.tow(&[words, &["--help"]].concat()).ok());
    for name in below(env, words) {
        visit(env, &[words, &[&name]].concat(), each);
    }
}

#[test]
fn no_help_is_wider_than_80_columns_and_every_example_names_a_command() {
    let env = env();
    let mut examples: Vec<String> = vec![];
    let mut each = |words: &[&str], help: &Run| {
        assert_fits(help, &words.join(" "));
        let lines = help.stdout.lines().filter_map(|line| line.strip_prefix("  tow "));
        examples.extend(lines.map(|line| line.split("  ").next().unwrap().to_owned()));
    };
    for name in
        "status next goto why new monitor search show remember usage open setup doctor config uninstall demo \
        memory session bookmark data typing tmux hub bar install"
            .split_whitespace()
    {
        visit(&env, &[name], &mut each);
    }
    assert!(examples.len() > 150, "{}", examples.len());
    for example in &examples {
        // Options and placeholders that the grammar knows parse as far as `--help`.
        let shell = format!("tow {example} --help");
        let words: Vec<String> = shlex_words(&shell);
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let run = env.unattended(&words);
        assert!(run.status.success() && run.stdout.contains("Usage: tow"), "{example}: {run:#?}");
    }
}

/// The words of a shell line up to a pipe or redirection, with `--help` before them.
fn shlex_words(line: &str) -> Vec<String> {
    let line = line.split([';', '|', '>', '<']).next().unwrap();
    let mut words = shlex::split(line).unwrap();
    words.retain(|word| word != "--help");
    words.push("--help".to_owned());
    words
}

#[test]
fn a_word_of_other_programs_names_the_command_that_does_it_here() {
    let env = env();
    for (word, command) in [
        ("ls", "tow status"),
        ("list", "tow status"),
        ("log", "tow session list"),
        ("version", "tow --version"),
        ("update", "tow doctor"),
        ("find", "tow search"),
        ("init", "tow setup"),
        ("cost", "tow usage"),
        ("docter", "tow doctor"),
        ("memoris", "tow memory list"),
    ] {
        let what = format!("there is no command `tow {word}`");
        env.tow(&[word]).exits(2).complains(&what).complains(&format!("`{command}`"));
    }
    env.tow(&["memory", "lst"]).exits(2).complains("`tow memory list`");
    env.tow(&["memory", "search"]).exits(2).complains("`tow search`");
    env.tow(&["resume", "1a2b"]).exits(2).complains("`tow session resume`");
    env.tow(&["xyzzyxyzzy"]).exits(2).complains("`tow --help`");
}

#[test]
fn an_agent_that_drops_the_arguments_of_our_hook_is_answered_with_silence() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let payload = include_bytes!("fixtures/hook-without-arguments.json");
    for arguments in [&[][..], &["--no-such-option"], &["no-such-command"]] {
        let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
        Run::of(command.args(arguments), payload).ok().is_silent();
    }
    // Other input is a user's.
    let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
    Run::of(command.arg("no-such-command"), b"{}").exits(2).complains("no-such-command");
    assert!(!env.data_dir().exists());
}

#[test]
fn bare_tow_suggests_the_setup_and_then_shows_the_agents() {
    let env = env();
    env.tow(&[]).ok().prints("not set up").prints("tow setup");
    fs::create_dir(env.home().join(".claude")).unwrap();
    env.tow(&["install", "--agent", "claude"]).ok();
    let idle = env.tow(&[]).ok().prints("no agent is running");
    let hints = idle.stdout.lines().filter(|line| line.starts_with("  tow ")).count();
    assert!((1..=3).contains(&hints), "{}", idle.stdout);
    assert!(!idle.stdout.contains("not set up"), "{}", idle.stdout);
}

#[test]
fn status_before_setup_says_so_and_a_project_that_does_not_exist_is_named() {
    let env = env();
    let nobody = env.tow(&["status"]).ok().prints("not set up").prints("`tow setup`");
    nobody.prints("no agent was found. Install ");
    fs::create_dir_all(env.home().join(".claude")).unwrap();
    env.tow(&["status"]).ok().prints("not set up yet: no agent is hooked");
    env.tow(&["status", "--project", "nope"]).exits(2).complains("there is no project `nope`");
    assert_eq!(
        env.tow(&["status", "--project", "nope", "--json"]).ok().json()["seats"],
        serde_json::json!([])
    );
}

#[test]
fn an_import_of_a_missing_file_names_it() {
    let env = env();
    env.unattended(&["import", "gone.jsonl"]).exits(2).complains("there is no file gone.jsonl");
    env.unattended(&["import", "gone"]).exits(2).complains("all.jsonl");
}

#[test]
fn a_scan_does_not_call_agents_hooked_when_no_hook_is_installed() {
    let env = env();
    env.tow(&["scan"]).ok().prints("no agent is running").prints("`tow setup`");
    fs::create_dir(env.home().join(".claude")).unwrap();
    env.tow(&["install", "--agent", "claude"]).ok();
    let hooked = env.tow(&["scan"]).ok().prints("no agent is running");
    assert!(!hooked.stdout.contains("setup"), "{}", hooked.stdout);
    env.tow(&["uninstall", "--agent", "claude"]).ok();
    env.tow(&["scan"]).ok().prints("`tow setup`");
}

#[test]
fn every_command_reports_a_broken_configuration_with_its_line_and_the_fix() {
    let env = env();
    let file = env.home().join(".config/towline/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for (text, what) in [("[hook]\npatience = 1\n", "line 2: there is no key"), ("[hook]\n\n[x\n", "line 3")]
    {
        fs::write(&file, text).unwrap();
        for words in ["", "status", "search x", "usage", "session list", "memory list", "typing list", "next"]
        {
            let words: Vec<&str> = words.split_whitespace().collect();
            let run =
                env.tow(&words).ok().complains(what).complains("config.toml").complains("`tow config edit`");
            assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
        }
        env.tow(&["config"]).exits(1).prints(what);
        env.tow(&["doctor"]).prints(what);
        let bar = env.tow(&["bar", "--plain"]).ok();
        assert_eq!(
            (bar.stdout.as_str(), bar.stderr.as_str()),
            ("config!\n", ""),
            "tmux shows what it prints"
        );
    }
}

#[test]
fn a_renamed_binary_is_recognised_and_nothing_of_it_is_installed_twice() {
    for name in ["tow-nightly", "towline", "boat"] {
        let env = env();
        let renamed = env.root().join(name);
        fs::copy(env!("CARGO_BIN_EXE_tow"), &renamed).unwrap();
        fs::create_dir(env.home().join(".claude")).unwrap();
        let run = |words: &[&str]| Run::of(env.command(&renamed).args(words), b"");
        run(&[]).ok().prints("not set up");
        run(&["install", "--agent", "claude"]).ok();
        let settings = env.home().join(".claude/settings.json");
        let installed = fs::read_to_string(&settings).unwrap();
        assert!(installed.contains(name), "{installed}");
        run(&["install", "--agent", "claude"]).ok().prints("registered already");
        assert_eq!(fs::read_to_string(&settings).unwrap(), installed);
        run(&["status"]).ok().prints("no agent is running");
        let payload = r#"{"hook_event_name":"UserPromptSubmit","prompt":"go","session_id":"s-1","cwd":"/"}"#;
        Run::of(env.command(&renamed).args(["hook", "claude"]), payload.as_bytes()).ok().is_silent();
        run(&["data", "work"]).ok();
        run(&["status"]).ok();
        run(&["doctor"]).prints("claude");
        run(&["uninstall", "--agent", "claude"]).ok();
        assert!(!settings.exists(), "it was made by the install");
        env.wait_no_process();
    }
}

#[test]
fn a_home_that_is_no_absolute_path_is_named() {
    let env = env();
    env.set("HOME", "relative");
    env.unattended(&["status"]).exits(1).complains("HOME is `relative`").complains("TOWLINE_HOME");
    env.unattended(&[]).exits(1).complains("HOME is `relative`");
    env.hook("claude", r#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/"}"#).is_silent();
}

/// Runs the binary as a user who does not own the data folder. Root owns every folder: it becomes somebody else first.
fn as_stranger(env: &TestEnv, shared: &Path) -> Run {
    let is_root = rustix::process::geteuid().is_root();
    let binary = shared.join("tow");
    fs::copy(env!("CARGO_BIN_EXE_tow"), &binary).unwrap();
    let mut words = if is_root { vec!["setpriv", "--reuid=65534", "--clear-groups"] } else { vec!["env"] };
    words.push(binary.to_str().unwrap());
    words.push("status");
    let mut command = env.command(words[0]);
    Run::of(command.args(&words[1..]).current_dir("/"), b"")
}

#[test]
fn the_data_folder_of_another_user_is_refused_instead_of_looking_empty() {
    let env = env();
    let shared = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(shared.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // Owned by root, and so not by the one who runs this.
    env.set("TOWLINE_HOME", "/usr");
    let run = as_stranger(&env, shared.path()).exits(1);
    run.complains("the data folder /usr belongs to another user").complains("Unset TOWLINE_HOME");
}

/// A process of an agent's name in a pane, which reports its events when it is told to.
struct Sitter {
    pane: Pane,
    project: String,
    session: String,
}

impl Sitter {
    fn sit(tmux: &Tmux, project: &str, prompt: &str) -> Sitter {
        Sitter::sit_in(tmux, project, format!("s-{project}"), prompt)
    }

    fn sit_in(tmux: &Tmux, project: &str, session: String, prompt: &str) -> Sitter {
        let env = tmux.env();
        env.link("claude", "/bin/bash");
        fs::create_dir_all(env.root().join(project)).unwrap();
        let script = env
            .script("sitter", "while read -r payload; do tow hook claude < \"$payload\"; echo heard; done");
        let pane = tmux.open(&["claude", script.to_str().unwrap()], &[]);
        let sitter = Sitter { pane, project: project.to_owned(), session };
        sitter.tell(env, "UserPromptSubmit", "prompt", prompt);
        sitter
    }

    fn tell(&self, env: &TestEnv, event: &str, field: &str, value: &str) {
        let folder = env.root().join(&self.project);
        let payload = serde_json::json!({
            "hook_event_name": event, "session_id": self.session, "cwd": folder, "transcript_path": null, field: value,
        });
        let file = env.root().join(format!("{}-{event}.json", self.project));
        fs::write(&file, payload.to_string()).unwrap();
        self.pane.say(file.to_str().unwrap());
        let heard =
            |screen: &str| screen.matches("\nheard").count() >= if event == "SessionEnd" { 2 } else { 1 };
        self.pane.wait_screen_for("its hook to end", heard);
    }
}

#[test]
fn two_agents_of_one_project_looked_alike() {
    let env = env();
    let tmux = Tmux::start(&env);
    let sitters = ["0000aaaa", "0000bbbb"].map(|short| {
        let session = format!("01a1ddeb-8a16-7ea0-8ee2-2bca{short}");
        Sitter::sit_in(&tmux, "shop", session, "why do the checkout tests fail")
    });
    let several = env.tow(&["why", "shop"]).exits(2).complains("several agents fit `shop`");
    for Sitter { pane, session, .. } in &sitters {
        let short = &session[session.len() - 8..];
        let label = format!("`tow why {short}` for: working");
        let several = several.stderr.lines().find(|line| line.contains(&label)).unwrap_or_default();
        assert!(several.contains(&format!("claude {short} {} shop", pane.id)), "{several}");
        env.tow(&["why", short]).ok().prints(&format!("claude:{session} is working"));
        let only = env.tow(&["monitor", "--session", short, "--json"]).ok().json();
        assert_eq!(only["sessions"].as_array().map(Vec::len), Some(1), "{only}");
    }
}

#[test]
fn an_agent_is_found_by_project_branch_or_words_and_several_are_listed() {
    let env = env();
    let tmux = Tmux::start(&env);
    let _shop = Sitter::sit(&tmux, "shop", "why did the checkout tests fail");
    let _docs = Sitter::sit(&tmux, "docs", "spell-check the tour");
    for wanted in ["shop", "sho", "checkout tests", "s-shop"] {
        env.tow(&["why", wanted]).ok().prints("claude:s-shop is working");
    }
    let several = env.tow(&["why", "the"]).exits(2).complains("several agents fit `the`");
    several.complains("`tow why s-shop`").complains("`tow why s-docs`");
    env.tow(&["why", "nowhere"]).exits(2).complains("no agent and no past session fits `nowhere`");
    env.tow(&["why"]).exits(2).complains("no agent was named").complains("`tow status`");
    env.tow(&["goto"]).exits(2).complains("no agent was named");
    // Outside tmux's menu: `why` has none.
    let shell = tmux.open(&["bash"], &[]);
    shell.say("tow why the");
    shell.wait_screen("Number:");
    shell.say("2");
    shell.wait_screen("is working since");
    let undecided = tmux.open(&["bash"], &[]);
    undecided.say("tow why the");
    undecided.wait_screen("Number:");
    undecided.say("x");
    undecided.wait_screen("nothing was chosen");
    env.tow(&["status", "--project", "shpo"]).exits(2).complains("`--project shop`");
    env.tow(&["status", "--project", "shop", "--state", "idle"])
        .ok()
        .prints("no agent that fits is running in `shop`");
}

/// It named an older session to resume, because a seat knows its last prompt alone.
#[test]
fn a_running_agent_is_found_by_the_words_of_its_first_prompt_and_by_its_name() {
    let env = env();
    let tmux = Tmux::start(&env);
    let _shop = Sitter::sit(&tmux, "shop", "go on");
    let said = serde_json::json!({
        "type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s-shop", "isSidechain": false,
        "cwd": env.root().join("shop"), "version": "2.1.197", "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "why did the checkout tests fail"},
    });
    let folder = env.home().join(".claude/projects/shop");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("s-shop.jsonl"), format!("{said}\n")).unwrap();
    env.tow(&["import"]).ok();
    for wanted in ["checkout tests", "claude"] {
        env.tow(&["why", wanted]).ok().prints("claude:s-shop is working");
    }
}

#[test]
fn an_ended_session_is_answered_with_how_to_resume_it_and_resumed_in_a_new_window() {
    let env = env();
    let tmux = Tmux::start(&env);
    let shop = Sitter::sit(&tmux, "shop", "why did the checkout tests fail");
    shop.tell(&env, "SessionEnd", "reason", "prompt_input_exit");
    env.tow(&["goto", "shop"]).exits(2).complains("has ended").complains("`tow session resume s-shop`");
    let command = format!("cd {} && claude --resume s-shop", env.root().join("shop").display());
    env.tow(&["session", "resume", "checkout", "--print"]).ok().prints(&command);
    env.tow(&["session", "resume", "shop"]).exits(2).complains("needs a terminal").complains(&command);
    env.script("claude", "echo \"resumed $* in $PWD\"; exec sleep 1000");
    let shell = tmux.open(&["bash"], &[]);
    shell.say("tow session resume shop");
    let listed = || tmux.run(&["list-panes", "-a", "-F", "#{pane_start_command} #{pane_current_path}"]);
    wait::until_evident("the session to be resumed", wait::PATIENCE, || match listed() {
        panes if panes.contains("--resume") && panes.contains("/shop") => Ok(()),
        panes => Err(format!("{panes}\n{}", shell.screen())),
    });
}

#[test]
fn a_new_session_starts_in_the_named_folder() {
    let env = env();
    env.script("claude", "echo \"started in $PWD with $#\"");
    fs::create_dir(env.root().join("shop")).unwrap();
    let folder = env.root().join("shop").display().to_string();
    let tmux = Tmux::start(&env);
    let shell = tmux.open(&["bash"], &[]);
    shell.say("clear; tow new claude ../shop");
    shell.wait_screen(&format!("started in {folder} with 0"));
    env.unattended(&["new", "nobody", &folder]).exits(2).complains("there is no agent `nobody`");
    env.unattended(&["new", &format!("{folder}/gone")]).exits(2).complains("there is no folder");
    env.unattended(&["new", "claude"]).exits(2).complains("needs a terminal");
}
