//! Completions in the real shells: commands, options, and values of the user's own.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use std::fs;
use towline_testkit::{Pane, Run, TestEnv, Tmux};

/// A home with one session, `session-1`, in the project `lighthouse`, and one memory.
fn used() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let transcripts = env.home().join(".claude/projects/-src-lighthouse");
    fs::create_dir_all(&transcripts).unwrap();
    let entry = json!({"type": "user", "uuid": "u1", "sessionId": "session-1", "cwd": "/src/lighthouse",
        "isSidechain": false, "timestamp": "2026-11-14T10:00:00.000Z",
        "message": {"role": "user", "content": "build the lighthouse"}});
    fs::write(transcripts.join("session-1.jsonl"), format!("{entry}\n")).unwrap();
    env.tow(&["data", "import"]).ok();
    env.person(&["remember", "the lamp burns oil"]).ok();
    env
}

/// The words that may follow these, without their descriptions.
#[track_caller]
fn following(env: &TestEnv, words: &[&str]) -> Vec<String> {
    let run = env.tow(&[&["complete", "fish", "--"], words].concat()).ok();
    run.stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn completions_knew_commands_but_no_values() {
    let env = used();
    let follows = |words: &[&str], expected: &str| {
        let found = following(&env, words);
        assert!(found.iter().any(|word| word == expected), "{words:?}: {found:?}");
    };
    let session = following(&env, &["session", "turns", ""]);
    assert_eq!(session.len(), 1, "{session:?}");
    let session = session[0].as_str();
    follows(&["show", ""], session);
    follows(&["memory", "list", "--session", ""], session);
    follows(&["goto", "light"], "lighthouse");
    follows(&["search", "--project", ""], "lighthouse");
    follows(&["search", "--project=l"], "--project=lighthouse");
    follows(&["search", "--project", "=", "l"], "lighthouse");
    follows(&["search", "lamp", "--agent", ""], "codex");
    follows(&["new", "c"], "claude");
    follows(&["memory", "pin", ""], "m1");
    follows(&["show", "m"], "m1");
    follows(&["memory", "supersede", "m1", "--by", ""], "m1");
    follows(&["config", "set", "notify."], "notify.terminal");
    follows(&["config", "completions", ""], "zsh");
    follows(&["mem"], "memory");
    follows(&["memory", "s"], "supersede");
    follows(&["uninstall", "--p"], "--purge");
    let first = following(&env, &[""]);
    assert!(
        !["hook", "complete", "mcp"].iter().any(|hidden| first.iter().any(|word| word == hidden)),
        "{first:?}"
    );
}

/// A shell with the script of `tow config completions` loaded as its manual says.
fn shell(env: &TestEnv, name: &str, lines: &[&str]) -> Pane {
    let script = env.tow(&["config", "completions", name]).ok().stdout;
    let folder = env.home().join("completions");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(if name == "zsh" { "_tow" } else { "tow" }), script).unwrap();
    let without_settings: &[&str] = match name {
        "bash" => &["bash", "--norc"],
        "zsh" => &["zsh", "-f"],
        _ => &["fish", "--no-config"],
    };
    let pane = Tmux::start(env).open(without_settings, &[("INPUTRC", "/dev/null")]);
    for line in lines.iter().chain(&["echo re''ady"]) {
        pane.say(line);
    }
    pane.wait_screen("\nready");
    pane
}

/// Types the beginning of a command and the key of completion.
#[track_caller]
fn check_completes(pane: &Pane, typed: &str, expected: &str) {
    pane.keys(&["-l", typed]);
    pane.keys(&["Tab"]);
    pane.wait_screen_for(expected, |screen| last_line(screen).contains(expected));
    pane.keys(&["C-u"]);
    pane.wait_screen_for("an empty line", |screen| !last_line(screen).contains("tow"));
}

fn last_line(screen: &str) -> &str {
    screen.trim_end().lines().last().unwrap_or_default()
}

#[test]
fn bash_completes_commands_and_values() {
    let env = used();
    let pane =
        shell(&env, "bash", &["PS1='> '", "source completions/tow 2>/dev/null || source ~/completions/tow"]);
    check_completes(&pane, "tow memo", "tow memory");
    check_completes(&pane, "tow memory supersede m1 --by ", "--by m1");
    check_completes(&pane, "tow search --project li", "--project lighthouse");
    check_completes(&pane, "tow config set notify.ter", "notify.terminal");
}

#[test]
fn zsh_completes_commands_and_values() {
    let env = used();
    let load = ["PS1='> '", "fpath=(~/completions $fpath)", "autoload -Uz compinit && compinit -u -D"];
    let pane = shell(&env, "zsh", &load);
    check_completes(&pane, "tow memo", "tow memory");
    check_completes(&pane, "tow memory supersede m1 --by ", "--by m1");
    check_completes(&pane, "tow search --project li", "--project lighthouse");
    check_completes(&pane, "tow config set notify.ter", "notify.terminal");
}

#[test]
fn fish_completes_commands_and_values() {
    let env = used();
    let pane = shell(&env, "fish", &["function fish_prompt; echo '> '; end", "source ~/completions/tow"]);
    check_completes(&pane, "tow memo", "tow memory");
    check_completes(&pane, "tow memory supersede m1 --by ", "--by m1");
    check_completes(&pane, "tow search --project li", "--project lighthouse");
    check_completes(&pane, "tow config set notify.ter", "notify.terminal");
}

#[test]
fn every_script_is_accepted_by_its_shell() {
    let env = used();
    for (name, check) in [("bash", "bash -n"), ("zsh", "zsh -n"), ("fish", "fish --no-execute")] {
        let script = env.tow(&["config", "completions", name]).ok().stdout;
        fs::write(env.root().join("script"), script).unwrap();
        Run::of(env.command("sh").args(["-c", &format!("{check} script")]).current_dir(env.root()), b"").ok();
    }
}
