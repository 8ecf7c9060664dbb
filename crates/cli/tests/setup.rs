//! `tow setup`: one command from nothing to hooks, bar, notifications, completions and the past.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use std::fs;
use std::path::PathBuf;
use towline_testkit::{TestEnv, Tmux};

/// The home of somebody who has used an agent, in bash, and nothing of ours.
fn newcomer() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let folder = env.home().join(".claude/projects/-src-app");
    fs::create_dir_all(&folder).unwrap();
    let entry = json!({"type": "user", "uuid": "u1", "sessionId": "session-1", "cwd": "/src/app", "isSidechain": false,
        "timestamp": "2026-11-14T10:00:00.000Z", "message": {"role": "user", "content": "build the lighthouse"}});
    fs::write(folder.join("session-1.jsonl"), format!("{entry}\n")).unwrap();
    env.set("SHELL", "/bin/bash");
    env
}

fn completions(env: &TestEnv) -> PathBuf {
    env.home().join(".local/share/bash-completion/completions/tow")
}

#[test]
fn a_newcomer_needed_five_commands_where_one_is_enough() {
    let env = newcomer();
    let run = env.unattended(&["setup", "--yes"]).ok().prints("1 transcript,").prints("ready: 1 session,");
    assert!(run.stdout.contains("notifications: not changed"), "only a person sets them: {run:#?}");
    assert!(fs::read_to_string(env.home().join(".claude/settings.json")).unwrap().contains("tow"));
    assert!(fs::read_to_string(completions(&env)).unwrap().contains("_tow"));
    env.tow(&["search", "lighthouse", "--all-projects"]).ok().prints("lighthouse");
    let again = env.person(&["setup", "--yes"]).ok().prints("registered already").prints("bell and desktop");
    let config = fs::read_to_string(env.home().join(".config/towline/config.toml")).unwrap();
    assert!(config.contains("\"bell\"") && config.contains("desktop_after_s = 30"), "{config}");
    assert!(!again.stdout.contains("completions:"), "{again:#?}");
    env.tow(&["uninstall"]).ok().prints("completions: removed");
    assert!(!completions(&env).exists());
}

/// Every file of the home but Towline's own data, with its bytes, and every folder.
fn home_of(env: &TestEnv) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = vec![];
    let mut folders = vec![env.home().join(".local/share"), env.home().join(".config/fish")];
    while let Some(folder) = folders.pop() {
        found.push((folder.clone(), vec![]));
        for path in fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true if path.ends_with("towline") => {}
                true => folders.push(path),
                false => found.push((path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_manual_and_the_scripts_of_zsh_and_fish_were_installed_nowhere() {
    for (shell, file) in [
        ("/bin/bash", ".local/share/bash-completion/completions/tow"),
        ("/usr/bin/zsh", ".local/share/zsh/site-functions/_tow"),
        ("/usr/bin/fish", ".config/fish/completions/tow.fish"),
    ] {
        let env = newcomer();
        env.set("SHELL", shell);
        fs::create_dir_all(env.home().join(".local/share/zsh")).unwrap();
        fs::write(env.home().join(".local/share/zsh/history"), "theirs").unwrap();
        fs::create_dir_all(env.home().join(".config/fish")).unwrap();
        fs::write(env.home().join(".config/fish/config.fish"), "theirs").unwrap();
        let before = home_of(&env);
        let run = env.unattended(&["setup", "--yes"]).ok();
        assert!(env.home().join(file).exists(), "{shell}: {run:#?}");
        assert_eq!(run.stdout.contains("fpath=("), shell.ends_with("zsh"), "{run:#?}");
        let manual = env.home().join(".local/share/man/man1/tow.1");
        assert!(fs::read_to_string(&manual).unwrap().contains(".TH tow 1"), "{shell}");
        // An earlier version's manual is replaced, one of the user's is not.
        fs::write(&manual, ".\\\" added by `tow setup`\nold").unwrap();
        env.unattended(&["setup", "--yes"]).ok().prints("man1/tow.1");
        assert!(fs::read_to_string(&manual).unwrap().contains(".TH tow 1"), "{shell}");
        fs::write(&manual, "theirs").unwrap();
        env.unattended(&["setup", "--yes"]).ok();
        assert_eq!(fs::read_to_string(&manual).unwrap(), "theirs");
        fs::write(&manual, ".\\\" added by `tow setup`\nold").unwrap();
        env.set("SHELL", "/bin/sh");
        env.tow(&["uninstall"]).ok().prints("completions: removed").prints("manual: removed");
        assert_eq!(home_of(&env), before, "{shell}");
    }
}

#[test]
fn without_a_terminal_nothing_is_set_up_unless_it_was_agreed_to() {
    let env = newcomer();
    env.unattended(&["setup"]).exits(2).complains("tow setup --yes");
    env.unattended(&["setup", "--dry-run"]).ok().prints("hooks, skills and tools").prints("+++");
    assert!(!env.home().join(".claude/settings.json").exists() && !completions(&env).exists());
}

#[test]
fn the_menu_took_a_key_that_the_user_had_bound() {
    let env = newcomer();
    let inner = Tmux::start(&env);
    let pane = inner.open(&["bash"], &[]);
    inner.run(&["bind-key", "a", "display-message", "mine"]);
    pane.say("tow setup");
    for question in [
        "Set this up?",
        "prefix A? (prefix a is yours",
        "Notify you",
        "Complete `tow`",
        "Import 1 transcript,",
    ] {
        pane.wait_screen(question);
        pane.keys(&["Enter"]);
    }
    pane.wait_screen("ready: 1 session,");
    let keys = inner.run(&["list-keys", "-T", "prefix"]);
    let bound =
        |key: &str| keys.lines().find(|line| line.split_whitespace().nth(3) == Some(key)).unwrap_or_default();
    assert!(bound("a").contains("mine") && bound("A").contains("menu"), "{keys}");
    let conf = fs::read_to_string(env.home().join(".tmux.conf")).unwrap();
    assert!(conf.contains("set-option -g @towline-key 'A' # chosen in tow setup"), "{conf}");
    // A repair of the block keeps the key.
    pane.say("tow install --tmux");
    pane.wait_screen("the bar is loaded already");
    env.tow(&["uninstall"]).ok();
    assert!(!fs::read_to_string(env.home().join(".tmux.conf")).unwrap_or_default().contains("towline"));
    let options = inner.run(&["show-options", "-g"]);
    assert!(!options.contains("@towline"), "the running server kept an option of ours: {options}");
}

#[test]
fn an_uninstall_did_not_say_that_the_recorded_data_stays() {
    let env = newcomer();
    env.unattended(&["setup", "--yes"]).ok();
    let data = env.data_dir().display().to_string();
    let run = env.tow(&["uninstall"]).ok().prints(&format!("kept: {data} (")).prints("tow uninstall --purge");
    assert!(env.data_dir().join("archive.db").exists(), "{run:#?}");
}

#[test]
fn a_purge_deletes_the_data_only_when_a_person_agrees() {
    let env = newcomer();
    env.person(&["setup", "--yes"]).ok();
    let config = env.home().join(".config/towline");
    env.unattended(&["uninstall", "--purge", "--yes"]).exits(2).complains("only a person can");
    env.person(&["uninstall", "--purge", "--dry-run"]).ok().prints("would delete");
    let tmux = Tmux::start(&env);
    let shell = tmux.open(&["bash"], &[]);
    let socket = tmux.socket().display().to_string();
    let mut person = env.person_program(&["tmux", "-S", &socket, "attach"]).spawn().unwrap();
    shell.wait_format("#{session_attached}", "1");
    shell.say("tow uninstall --purge");
    shell.wait_screen("delete this for good? [y/N]");
    shell.keys(&["Enter"]);
    shell.wait_screen("nothing was removed");
    person.kill().unwrap();
    person.wait().unwrap();
    assert!(env.data_dir().join("archive.db").exists() && config.exists());
    assert!(env.home().join(".claude/settings.json").exists(), "a purge that was declined removes nothing");
    env.person(&["uninstall", "--purge", "--yes"]).ok().prints("deleted ");
    assert!(!env.data_dir().exists() && !config.exists());
    assert!(env.home().join(".claude/projects").exists(), "the agents' own files stay");
}

#[test]
fn a_purge_leaves_a_folder_that_the_user_chose_alone() {
    let env = newcomer();
    let chosen = env.home().join("notes");
    env.set("TOWLINE_HOME", chosen.display().to_string());
    env.person(&["setup", "--yes"]).ok();
    fs::write(chosen.join("mine.txt"), "mine").unwrap();
    env.person(&["uninstall", "--purge", "--yes"]).exits(2).complains("chosen by TOWLINE_HOME");
    assert!(chosen.join("mine.txt").exists() && chosen.join("archive.db").exists());
}
