//! The list that stays before a person: in real tmux, real GNU screen and a plain terminal, and as lines for a script.
//!
//! The agent is a shell under the agent's name that runs a hook for every word it is given.

use serde_json::Value;
use std::fs;
use towline_testkit::{Pane, Run, TestEnv, Tmux, wait};

fn bench() -> (TestEnv, Tmux) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.link("claude", "/bin/bash");
    let tmux = Tmux::start(&env);
    (env, tmux)
}

/// An agent in a pane of its own that has just started.
fn agent(tmux: &Tmux, id: &str) -> Pane {
    tmux.scripted_agent(id, "do it")
}

fn watch(tmux: &Tmux, arguments: &[&str]) -> Pane {
    let mut program = vec!["tow", "status", "--watch"];
    program.extend(arguments);
    let pane = tmux.open(&program, &[]);
    pane.wait_screen_for("the watch", |screen| {
        screen.contains("no agent is running") || screen.contains("idle")
    });
    pane
}

#[test]
fn the_list_and_the_title_follow_the_agent_and_the_bell_rings_when_it_waits() {
    let (_env, tmux) = bench();
    let watched = watch(&tmux, &[]);
    watched.wait_screen("no agent is running");
    watched.wait_format("#{pane_title}", "no agents");
    let agent = agent(&tmux, "one");
    watched.wait_screen("idle");
    agent.say("UserPromptSubmit");
    let screen = watched.wait_screen("working");
    assert!(
        screen.contains("claude") && screen.contains("project/main") && screen.contains("do it"),
        "{screen}"
    );
    watched.wait_format("#{pane_title}", "1*");
    assert_eq!(watched.format("#{window_bell_flag}"), "0");
    agent.say("PermissionRequest");
    watched.wait_screen("blocked");
    watched.wait_format("#{pane_title}", "1!");
    watched.wait_format("#{window_bell_flag}", "1");
    agent.say("Stop");
    watched.wait_screen("completed");

    tmux.env().command("kill").args(["-9", &agent.program_pid().to_string()]).status().unwrap();
    watched.wait_screen("no agent is running");
}

/// What a shell finds before and after: modes of the terminal, its screen, its title.
#[test]
fn the_terminal_is_as_it_was_by_whichever_way_the_watch_ends() {
    let (env, tmux) = bench();
    agent(&tmux, "one");
    let root = env.root().display().to_string();
    let pane = tmux.open(&["bash", "--norc"], &[]);
    pane.say("printf '\\033]2;mine\\007'");
    pane.wait_format("#{pane_title}", "mine");
    let pid = || fs::read_to_string(env.root().join("pid")).unwrap().trim().to_owned();
    let signal = |name: &str| Run::of(env.command("kill").args([name, &pid()]), b"").ok();
    type Way<'a> = (&'a str, &'a dyn Fn(), i32);
    let ways: [Way<'_>; 6] = [
        ("q", &|| pane.keys(&["q"]), 0),
        ("Escape", &|| pane.keys(&["Escape"]), 0),
        ("control-C", &|| pane.keys(&["C-c"]), 0),
        ("TERM", &|| drop(signal("-TERM")), 143),
        ("HUP", &|| drop(signal("-HUP")), 129),
        ("INT", &|| drop(signal("-INT")), 130),
    ];
    for (name, end, code) in ways {
        let run = "sh -c 'echo $$ > $R/pid; exec tow status --watch'";
        pane.say(&format!(
            "clear; echo kept; R={root}; export R; stty -a > $R/before; {run}; echo ended-$?; stty -a > $R/after"
        ));
        pane.wait_screen_for("the list alone", |screen| screen.contains("idle") && !screen.contains("kept"));
        pane.wait_format("#{alternate_on} #{cursor_flag} #{wrap_flag} #{pane_title}", "1 0 0 1.");
        end();
        let screen = pane.wait_screen_for(name, |screen| screen.contains(&format!("ended-{code}")));
        assert!(screen.starts_with("kept") && !screen.contains("idle"), "{name}: {screen}");
        pane.wait_format("#{alternate_on} #{cursor_flag} #{wrap_flag} #{pane_title}", "0 1 1 mine");
        wait::until_evident(&format!("the modes to be back after {name}"), wait::PATIENCE, || {
            let modes = |name: &str| fs::read_to_string(env.root().join(name)).unwrap_or_default();
            let (before, after) = (modes("before"), modes("after"));
            if !after.is_empty() && before == after { Ok(()) } else { Err(format!("{before}\n---\n{after}")) }
        });
        fs::remove_file(env.root().join("after")).unwrap();
    }
}

#[test]
fn a_small_terminal_shows_what_fits_and_a_larger_one_all_of_it() {
    let (_env, tmux) = bench();
    for id in ["a", "b", "c", "d", "e", "f"] {
        agent(&tmux, id);
    }
    let watched = watch(&tmux, &[]);
    tmux.run(&["resize-window", "-t", &watched.id, "-x", "32", "-y", "5"]);
    let screen = watched.wait_screen("+3 more");
    assert_eq!((screen.lines().count(), screen.matches(". idle").count()), (5, 3), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 32), "{screen}");
    assert!(screen.contains("project/main"), "{screen}");
    tmux.run(&["resize-window", "-t", &watched.id, "-x", "100", "-y", "12"]);
    let screen = watched.wait_screen_for("all of them", |screen| screen.matches(". idle").count() == 6);
    assert!(screen.contains("? help") && screen.contains("claude"), "{screen}");
    watched.keys(&["?"]);
    watched.wait_screen("go to the chosen agent");
    watched.keys(&["?"]);
    watched.wait_screen_for("the list", |screen| screen.matches(". idle").count() == 6);
}

#[test]
fn hostile_names_are_text_and_wide_letters_keep_the_columns() {
    let (env, tmux) = bench();
    let folder = |name: &str, given: &str| {
        let folder = env.root().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(".towline.toml"), format!("[project]\nname = \"{given}\"\n")).unwrap();
        folder
    };
    let odd = folder("odd", "漢字🚀e\u{301}#(x)\\u001b[31m\\u202e");
    let odd = tmux.scripted_agent_in(
        "odd",
        &odd,
        "HERE\u{1b}[2J\u{7}\u{1b}]2;pwned\u{7} #(touch pwned) #{pane_id}",
    );
    odd.say("UserPromptSubmit");
    let plain = tmux.scripted_agent_in("plain", &folder("plain", "plain"), "HERE plainly");
    plain.say("UserPromptSubmit");
    let watched = tmux.open(&["tow", "status", "--watch"], &[]);
    watched.wait_screen("? help");
    tmux.run(&["resize-window", "-t", &watched.id, "-x", "170", "-y", "20"]);
    // Without the details the prompts have a column.
    watched.keys(&["Tab"]);
    let screen = watched.wait_screen_for("both", |screen| screen.matches("HERE").count() == 2);
    assert!(
        screen.contains("漢字🚀") && screen.contains("#(x)[31m") && screen.contains("#{pane_id}"),
        "{screen}"
    );
    watched.wait_format("#{pane_title}", "2*");
    assert!(!env.project().join("pwned").exists());
    // tmux's own idea of how wide the text before the prompt is.
    let widths: Vec<String> = screen
        .lines()
        .filter_map(|line| line.split_once("HERE"))
        .map(|(before, _)| {
            tmux.run(&["set-option", "-g", "@before", before]);
            watched.format("#{w:@before}")
        })
        .collect();
    assert_eq!(widths[0], widths[1], "{screen}");
}

#[test]
fn keys_choose_a_seat_and_lead_there() {
    let (env, tmux) = bench();
    let first = agent(&tmux, "first");
    let second = agent(&tmux, "second");
    let watched = watch(&tmux, &[]);
    // Wide enough for the column of panes, too narrow for the details.
    tmux.run(&["resize-window", "-t", &watched.id, "-x", "125", "-y", "20"]);
    let outer = Tmux::named(&env, "outer").attach_to(&tmux);
    let current = || tmux.run(&["display-message", "-p", "#{pane_id}"]).trim().to_owned();
    let wait_marked = |pane: &Pane| {
        wait::until_evident("the choice", wait::PATIENCE, || {
            let drawn = tmux.run(&["capture-pane", "-p", "-e", "-t", &watched.id]);
            let is_reversed = |line: &str| line.contains("\x1b[7m") || line.contains(";7m");
            let is_marked = |line: &str| is_reversed(line) && line.trim_end().ends_with(&pane.id);
            if drawn.lines().any(is_marked) { Ok(()) } else { Err(format!("{drawn:?}")) }
        });
    };
    outer.wait_screen("idle");
    wait_marked(&second);
    watched.keys(&["j"]);
    wait_marked(&first);
    watched.keys(&["Up"]);
    wait_marked(&second);
    watched.keys(&["Down", "Enter"]);
    wait::until("the first agent's pane", wait::PATIENCE, || (current() == first.id).then_some(()));
    watched.keys(&["n"]);
    watched.wait_screen("nobody waits for you");
    second.say("UserPromptSubmit");
    second.say("Stop");
    watched.wait_screen("completed");
    watched.keys(&["n"]);
    wait::until("the second agent's pane", wait::PATIENCE, || (current() == second.id).then_some(()));
    watched.wait_screen_for("it to be seen", |screen| !screen.contains("nobody waits"));
    assert!(env.seats().iter().any(|seat| seat["pane"] == second.id.as_str() && seat["seen"] == true));
}

#[test]
fn a_terminal_that_has_notifications_is_told_in_its_own_words() {
    let (env, tmux) = bench();
    let agent = agent(&tmux, "one");
    let written = |name: &str| env.root().join(name);
    let piped = |channel: &str| {
        let pane = watch(&tmux, &["--notify", channel]);
        tmux.run(&["pipe-pane", "-t", &pane.id, &format!("cat > {}", written(channel).display())]);
        pane
    };
    let watched = ["osc9", "osc777", "none"].map(piped);
    let plain = tmux.open(&["bash", "--norc"], &[]);
    let record = format!("script -qfec 'tow status --watch' {}", written("script").display());
    plain.say(&format!("env -u TMUX TERM_PROGRAM=WezTerm {record}"));
    plain.wait_screen("idle");
    agent.say("UserPromptSubmit");
    agent.say("PermissionRequest");
    let notified = "\x1b]777;notify;project: blocked (permission);claude · main · ";
    for (name, expected) in [("osc9", "\x1b]9;towline: "), ("osc777", notified), ("script", notified)] {
        wait::until_evident(name, wait::PATIENCE, || {
            let bytes = String::from_utf8_lossy(&fs::read(written(name)).unwrap_or_default()).into_owned();
            if bytes.matches(expected).count() == 1 { Ok(()) } else { Err(format!("{bytes:?}")) }
        });
    }
    watched[2].wait_screen("blocked");
    assert_eq!(watched[2].format("#{window_bell_flag}"), "0");
}

#[test]
fn the_list_is_the_same_inside_gnu_screen() {
    let (env, tmux) = bench();
    let sockets = env.root().join("screens");
    fs::create_dir(&sockets).unwrap();
    fs::set_permissions(&sockets, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    env.set("SCREENDIR", sockets.to_str().unwrap());
    let agent = agent(&tmux, "one");
    let pane =
        tmux.open(&["env", "-u", "TMUX", "screen", "-U", "-S", "work", "tow", "status", "--watch"], &[]);
    pane.wait_screen("idle");
    agent.say("UserPromptSubmit");
    let screen = pane.wait_screen("working");
    assert!(screen.contains("project/main") && screen.contains("do it"), "{screen}");
    pane.keys(&["q"]);
    pane.wait_end();
}

#[test]
fn a_script_gets_an_object_per_change_until_it_stops_reading() {
    let (env, tmux) = bench();
    let agent = agent(&tmux, "one");
    let file = env.root().join("objects");
    let mut watch = env.command("tow");
    watch.args(["status", "--watch", "--json"]).stdout(fs::File::create(&file).unwrap());
    let mut child = watch.spawn().unwrap();
    let states = || -> Vec<Value> {
        let text = fs::read_to_string(&file).unwrap();
        let objects = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        objects.map(|object| object["seats"][0]["state"].clone()).collect()
    };
    let wait_states = |expected: &[&str]| {
        wait::until_evident(&format!("{expected:?}"), wait::PATIENCE, || {
            let found = states();
            if found == expected { Ok(()) } else { Err(format!("{found:?}")) }
        });
    };
    wait_states(&["idle"]);
    agent.say("UserPromptSubmit");
    wait_states(&["idle", "working"]);
    agent.say("PermissionRequest");
    wait_states(&["idle", "working", "blocked"]);
    child.kill().unwrap();
    child.wait().unwrap();
    // Nothing changes any more: the end of the reader alone must end it.
    let line = Run::of(env.command("sh").args(["-c", "tow status --watch --json | head -n 1"]), b"").ok();
    assert_eq!(line.json()["seats"][0]["state"], "blocked");
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let (env, tmux) = bench();
    env.tow(&["status", "--watch"]).exits(2).complains("needs a terminal").complains("Run `tow status`");
    env.tow(&["status", "--notify", "bell"]).exits(2).complains("--watch");
    let pane = tmux.open(&["env", "TERM=dumb", "tow", "status", "--watch"], &[]);
    assert!(pane.wait_end().contains("needs a terminal that can be drawn on"));
    let pane = tmux.open(&["sh", "-c", "tow status --watch < /dev/null"], &[]);
    assert!(pane.wait_end().contains("needs a terminal"));
}

#[test]
fn the_popup_shows_the_list_and_closes_where_it_led() {
    let (env, tmux) = bench();
    let agent = agent(&tmux, "one");
    let shell = tmux.open(&["bash", "--norc"], &[]);
    let outer = Tmux::named(&env, "outer").attach_to(&tmux);
    let current = || tmux.run(&["display-message", "-p", "#{pane_id}"]).trim().to_owned();
    shell.say("tow popup; echo closed-$?");
    outer.wait_screen("? help");
    outer.keys(&["q"]);
    shell.wait_screen("closed-0");
    assert_eq!(current(), shell.id);
    shell.say("clear; tow popup; echo closed-again-$?");
    outer.wait_screen("? help");
    outer.keys(&["Enter"]);
    wait::until("the agent's pane", wait::PATIENCE, || (current() == agent.id).then_some(()));
    shell.wait_screen("closed-again-0");
}

#[test]
fn a_popup_that_cannot_be_says_why() {
    let (env, tmux) = bench();
    env.tow(&["popup"]).exits(2).complains("a popup needs tmux").complains("tow status --watch");
    let pane = tmux.open(&["bash", "--norc"], &[]);
    pane.say("tow popup");
    pane.wait_screen("tmux did not open the popup");
    let old = env.root().join("old");
    fs::create_dir(&old).unwrap();
    let script = env.script("tmux-3.1", "#!/bin/sh\necho 3.1c\n");
    std::os::unix::fs::symlink(script, old.join("tmux")).unwrap();
    pane.say(&format!("clear; PATH={}:$PATH tow popup", old.display()));
    pane.wait_screen("tmux 3.1 has no popups");
}
