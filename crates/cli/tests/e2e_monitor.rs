//! The monitor in a real tmux: both real clients side by side, keys, sizes, and a terminal that is always given back.
//!
//! Where no client is needed, the agent is a shell under the agent's name that runs a hook for every word it is given.

use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use towline_testkit::{
    Claude, Codex, Daemon, Gate, Model, Pane, Rule, Run, Step, TestEnv, Tmux, Usage, wait,
};

fn bench() -> (TestEnv, Tmux) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.link("claude", "/bin/bash");
    let tmux = Tmux::start(&env);
    (env, tmux)
}

fn monitor(tmux: &Tmux, arguments: &[&str]) -> Pane {
    let mut program = vec!["tow", "monitor"];
    program.extend(arguments);
    let pane = tmux.open(&program, &[]);
    pane.wait_screen("? help");
    pane
}

fn current(tmux: &Tmux) -> String {
    tmux.run(&["display-message", "-p", "#{pane_id}"]).trim().to_owned()
}

/// The lines of the screen that are of this agent.
fn lines_of(screen: &str, agent: &str) -> String {
    screen.lines().filter(|line| line.contains(&format!(" {agent} "))).collect::<Vec<_>>().join("\n")
}

#[test]
fn both_real_clients_are_followed_live_and_enter_leads_to_them() {
    let (claude, codex) = (Claude::V2_1_325, Codex::V0_166_0);
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let (first, second) = (Gate::shut(), Gate::shut());
    let half = Usage { input: 100_000, ..Usage::default() };
    let model = Model::start([
        Rule::when("ponder").then(Step::text("pondered").behind(&first).usage(half)),
        Rule::when("reckon").then(Step::text("reckoned").behind(&second)),
        Rule::when("ask me")
            .then(Step::tool("Bash", json!({"command": "touch made", "description": "make"}))),
    ]);
    claude.seed(&env);
    codex.seed(&env, &model, Daemon::Off);
    env.tow(&["install", "--agent", "claude"]).ok();
    env.tow(&["install", "--agent", "codex"]).ok();
    codex.trust_hooks(&env);
    let tmux = Tmux::start(&env);
    let claude_pane = claude.interactive(&tmux, &model, &["--model", "claude-sonnet-4-5"]);
    let codex_pane = codex.interactive(&tmux, &[]);
    let watched = monitor(&tmux, &[]);
    let shows = |agent: &str, what: &str| {
        watched.wait_screen_for(&format!("{agent} {what}"), |screen| lines_of(screen, agent).contains(what))
    };
    shows("claude", "idle");
    claude_pane.say("ponder");
    shows("claude", "* working");
    codex_pane.say("reckon");
    shows("codex", "* working");
    first.open();
    let screen = shows("claude", "+ completed");
    assert!(lines_of(&screen, "codex").contains("* working"), "{screen}");
    shows("claude", " 50%");
    shows("claude", "$0.3");
    second.open();
    shows("codex", "+ completed");
    claude.wait_idle(&claude_pane);
    claude_pane.say("ask me");
    let screen = shows("claude", "! blocked");
    assert!(screen.contains("waits for permission for Bash"), "what it waits for is beside it: {screen}");

    let outer = Tmux::named(&env, "outer").attach_to(&tmux);
    outer.wait_screen("? help");
    watched.keys(&["n"]);
    wait::until("the one that waits", wait::PATIENCE, || (current(&tmux) == claude_pane.id).then_some(()));
    watched.keys(&["/"]);
    watched.half_type("codex");
    watched.wait_screen_for("codex alone", |screen| {
        !lines_of(screen, "codex").is_empty() && lines_of(screen, "claude").is_empty()
    });
    watched.keys(&["Enter"]);
    watched.wait_screen("/codex (Esc: all)");
    watched.keys(&["Enter"]);
    wait::until("the chosen one", wait::PATIENCE, || (current(&tmux) == codex_pane.id).then_some(()));
    claude_pane.answer("Do you want to proceed?", &["Escape"]);
    watched.keys(&["Escape"]);
    shows("claude", "interrupted");
}

/// What a shell without an editor of its own finds before and after: modes of the terminal, its screen, its title.
#[test]
fn the_terminal_is_as_it_was_by_whichever_way_the_monitor_ends() {
    let (env, tmux) = bench();
    tmux.scripted_agent("one", "do it");
    let root = env.root().display().to_string();
    let pane = tmux.open(&["sh"], &[]);
    pane.say("printf '\\033]2;mine\\007'");
    pane.wait_format("#{pane_title}", "mine");
    let pid = || fs::read_to_string(env.root().join("pid")).unwrap().trim().to_owned();
    let signal = |name: &str| drop(Run::of(env.command("kill").args([name, &pid()]), b"").ok());
    type Way<'a> = (&'a str, &'a dyn Fn(), i32);
    let ways: [Way<'_>; 7] = [
        ("q", &|| pane.keys(&["q"]), 0),
        ("Escape", &|| pane.keys(&["Escape"]), 0),
        ("control-C", &|| pane.keys(&["C-c"]), 0),
        ("TERM", &|| signal("-TERM"), 143),
        ("HUP", &|| signal("-HUP"), 129),
        ("INT", &|| signal("-INT"), 130),
        ("KILL", &|| signal("-KILL"), 137),
    ];
    let state = "#{alternate_on} #{cursor_flag} #{wrap_flag} #{pane_title}";
    for (name, end, code) in ways {
        let run = "sh -c 'echo $$ > $R/pid; exec tow monitor'";
        pane.say(&format!(
            "clear; echo kept; R={root}; export R; stty -a > $R/before; {run}; echo $? > $R/code"
        ));
        pane.wait_screen_for("the list alone", |screen| screen.contains("idle") && !screen.contains("kept"));
        pane.wait_format(state, "1 0 0 1.");
        end();
        pane.wait_format(state, "0 1 1 mine");
        pane.wait_screen_for(name, |screen| screen.contains("kept") && !screen.contains("idle"));
        let read = |name: &str| fs::read_to_string(env.root().join(name)).unwrap_or_default();
        wait::until_evident(name, wait::PATIENCE, || {
            let found = read("code");
            if found.trim() == code.to_string() { Ok(()) } else { Err(found) }
        });
        pane.say("stty -a > $R/after");
        wait::until_evident(&format!("the modes to be back after {name}"), wait::PATIENCE, || {
            let (before, after) = (read("before"), read("after"));
            if !after.is_empty() && before == after { Ok(()) } else { Err(format!("{before}\n---\n{after}")) }
        });
        ["after", "code"].iter().for_each(|name| fs::remove_file(env.root().join(name)).unwrap());
    }
    wait_no_keeper(&env);
}

/// Whoever kept a terminal ends with the one that drew on it.
fn wait_no_keeper(env: &TestEnv) {
    wait::until_evident("no keeper to be left", wait::PATIENCE, || {
        let left = env.processes().into_iter().map(|process| process.command);
        let keepers: Vec<String> = left.filter(|command| command.contains("give-back")).collect();
        if keepers.is_empty() { Ok(()) } else { Err(keepers.join("\n")) }
    });
}

/// Waits until the shell edits its line: until then, the terminal echoes what is typed, and the shell once more.
fn wait_line_editor(env: &TestEnv, pane: &Pane) {
    let tty = pane.tmux().run(&["display-message", "-p", "-t", &pane.id, "#{pane_tty}"]);
    wait::until_evident("the shell to edit its line", wait::PATIENCE, || {
        let modes = Run::of(env.command("stty").args(["-a", "-F", tty.trim()]), b"").ok().stdout;
        // Unlike the monitor, the shell leaves the output to the terminal.
        let is_edited = modes.contains("-icanon") && !modes.contains("-opost");
        if is_edited { Ok(()) } else { Err(modes) }
    });
}

/// A shell that edits its line sets the terminal for itself as soon as the monitor is gone: that must stay.
#[test]
fn a_shell_that_has_the_terminal_again_after_a_kill_keeps_it_as_it_set_it() {
    let (env, tmux) = bench();
    let pane = tmux.open(&["bash", "--norc"], &[]);
    pane.say("echo before-$((1 + 1))");
    pane.wait_screen("before-2");
    for round in 3..6 {
        pane.say(&format!("sh -c 'echo $$ > {}/pid; exec tow monitor'", env.root().display()));
        pane.wait_format("#{alternate_on} #{cursor_flag}", "1 0");
        pane.wait_screen("no agent is running");
        let pid = fs::read_to_string(env.root().join("pid")).unwrap();
        Run::of(env.command("kill").args(["-KILL", pid.trim()]), b"").ok();
        pane.wait_format("#{alternate_on} #{cursor_flag} #{wrap_flag}", "0 1 1");
        wait_line_editor(&env, &pane);
        pane.say(&format!("echo after-$(({round} + 0))"));
        let screen = pane.wait_screen(&format!("after-{round}"));
        assert_eq!(screen.matches(&format!("echo after-$(({round}")).count(), 1, "echoed once: {screen}");
    }
    wait_no_keeper(&env);
}

#[test]
fn a_panic_is_told_on_the_screen_that_was_there_before() {
    let (_env, tmux) = bench();
    let pane = tmux.open(&["tow", "monitor"], &[("TOWLINE_TEST_PANIC", "monitor")]);
    let screen = pane.wait_end();
    assert!(screen.contains("the monitor panicked") && screen.contains("as was asked for"), "{screen}");
    assert!(screen.contains("[ended with 1]"), "{screen}");
    pane.wait_format("#{alternate_on} #{cursor_flag} #{wrap_flag}", "0 1 1");
    pane.say("stty -a");
    let modes = pane.wait_screen("rows");
    assert!(modes.contains(" icanon") && modes.contains(" echo ") && !modes.contains("-icanon"), "{modes}");
}

#[test]
fn a_terminal_that_goes_away_leaves_no_process_behind() {
    let (env, tmux) = bench();
    let keeper = tmux.open(&["sh"], &[]);
    let pane = monitor(&tmux, &[]);
    let pid = pane.program_pid();
    pane.close();
    let is_gone = || !fs::exists(format!("/proc/{pid}")).unwrap();
    wait::until("the monitor to end", wait::PATIENCE, || is_gone().then_some(()));
    wait_no_keeper(&env);
    keeper.close();
}

#[test]
fn one_page_and_one_object_need_no_terminal() {
    let (env, tmux) = bench();
    let long = tmux.scripted_agent("long-ago", "what was asked before");
    let other = tmux.scripted_agent("other", "build the 漢字 parser");
    other.say("UserPromptSubmit");
    env.wait_states(&["working", "idle"]);
    env.tow(&["monitor"]).exits(2).complains("needs a terminal").complains("tow monitor --once");
    let page = env.tow(&["monitor", "--once", "--width", "40"]).ok().stdout;
    assert!(page.contains("* working") && page.contains(". idle") && page.contains("project/main"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 40), "{page}");
    let sessions = |arguments: &[&str]| -> Vec<Value> {
        let printed = env.tow(&[&["monitor", "--json"], arguments].concat()).ok().json();
        printed["sessions"].as_array().unwrap().clone()
    };
    let all = sessions(&[]);
    assert_eq!(
        (all.len(), &all[0]["session"], &all[0]["state"]),
        (2, &json!("claude:other"), &json!("working"))
    );
    assert_eq!((&all[0]["agent"], &all[0]["branch"]), (&json!("claude"), &json!("main")));
    assert!(all[0]["started_at"].is_string() && all[0]["active_at"].is_string(), "{all:#?}");
    assert_eq!(sessions(&["--session", "oth"]).len(), 1);
    assert_eq!(sessions(&["--session", "nobody"]).len(), 0);
    env.tow(&["monitor", "--session"]).exits(2).complains("--session");
    long.say("SessionEnd");
    long.close();
    env.wait_states(&["working"]);
    let both = sessions(&["--all"]);
    assert_eq!((both.len(), &both[1]["state"]), (2, &json!("ended")), "{both:#?}");
    env.tow(&["monitor", "--once", "--all", "--width", "100"]).ok().prints("- ended");
}

#[test]
fn a_broken_configuration_is_named_with_its_line_and_the_fix_in_the_monitor_and_the_bar() {
    let (env, tmux) = bench();
    let _agent = tmux.scripted_agent("first", "mend the mast");
    let file = env.home().join(".config/towline/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[hook]\npatience = 1\n").unwrap();
    let pane = tmux.open(&["tow", "monitor"], &[]);
    pane.wait_screen("`tow config edit`): line 2: there is no key");
    env.tow(&["bar", "--refresh"]).ok();
    let shown = || tmux.run(&["show-options", "-gv", "@towline-status"]);
    wait::until_evident("the mark in the bar", wait::PATIENCE, || {
        let bar = shown();
        if bar.contains("config!") { Ok(()) } else { Err(bar) }
    });
    fs::remove_file(&file).unwrap();
    pane.keys(&["r"]);
    pane.wait_screen("? help");
}

#[test]
fn sizes_keys_and_turns_are_followed_while_it_runs() {
    let (_env, tmux) = bench();
    let first = tmux.scripted_agent("first", "mend the mast");
    let second = tmux.scripted_agent("second", "漢字かな🚀を直す");
    let watched = monitor(&tmux, &[]);
    second.say("UserPromptSubmit");
    watched.wait_screen("漢字かな🚀を直す");
    tmux.run(&["resize-window", "-t", &watched.id, "-x", "40", "-y", "9"]);
    let screen = watched.wait_screen_for("the narrow list", |screen| screen.contains(" ctx"));
    assert!(screen.lines().count() <= 9 && screen.contains("* working"), "{screen}");
    watched.keys(&["?"]);
    watched.wait_screen("go to the chosen agent");
    watched.keys(&["x"]);
    tmux.run(&["resize-window", "-t", &watched.id, "-x", "100", "-y", "30"]);
    watched.wait_screen("? help  Enter go");
    watched.keys(&["Tab"]);
    watched.wait_screen("claude:second");
    watched.keys(&["j"]);
    watched.wait_screen("claude:first");
    watched.keys(&["s"]);
    watched.wait_screen("by context");
    first.say("SessionEnd");
    watched.wait_screen("1 working");
    watched.keys(&["a"]);
    watched.wait_screen("- ended");
}

#[test]
fn the_popup_with_the_monitor_closes_where_it_led() {
    let (env, tmux) = bench();
    let agent = tmux.scripted_agent("one", "do it");
    let shell = tmux.open(&["bash", "--norc"], &[]);
    let outer = Tmux::named(&env, "outer").attach_to(&tmux);
    shell.say("tow tmux popup --monitor; echo closed-$?");
    outer.wait_screen("? help  Enter go");
    outer.wait_screen(". idle");
    outer.keys(&["Enter"]);
    wait::until("the agent's pane", wait::PATIENCE, || (current(&tmux) == agent.id).then_some(()));
    shell.wait_screen("closed-0");
    wait_no_keeper(&env);
}

#[test]
fn colours_are_shown_unless_they_are_not_wanted() {
    let (_env, tmux) = bench();
    let waiting = tmux.scripted_agent("one", "do it");
    waiting.say("UserPromptSubmit");
    waiting.say("PermissionRequest");
    let drawn = |pane: &Pane| tmux.run(&["capture-pane", "-p", "-e", "-t", &pane.id]);
    let coloured = monitor(&tmux, &[]);
    coloured.wait_screen("! blocked");
    assert!(drawn(&coloured).contains("\x1b[1m\x1b[31m") || drawn(&coloured).contains(";31m"));
    let plain = tmux.open(&["tow", "monitor"], &[("NO_COLOR", "1")]);
    plain.wait_screen("! blocked");
    assert!(!drawn(&plain).contains("31m"), "{}", drawn(&plain));
}

/// Printed, and held against a bound that only a busy loop would break: machines differ.
#[test]
fn a_monitor_that_nothing_happens_to_hardly_works() {
    let (_env, tmux) = bench();
    for id in ["a", "b", "c"] {
        tmux.scripted_agent(id, "do it");
    }
    let watched = monitor(&tmux, &[]);
    watched.wait_screen_for("all three", |screen| screen.matches("idle").count() >= 3);
    let pid = watched.program_pid();
    let ticks = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<u64> =
            stat.rsplit_once(") ").unwrap().1.split(' ').map(|field| field.parse().unwrap_or(0)).collect();
        // Its own and that of the children that it has waited for: user and system each.
        fields[11] + fields[12] + fields[13] + fields[14]
    };
    let before = ticks();
    let seconds = 12;
    wait::holds_within(Duration::from_secs(seconds), || false);
    let used = ticks() - before;
    // A tick is a hundredth of a second.
    println!("idle monitor over {seconds} s: {:.2} % of a processor", used as f64 / seconds as f64);
    assert!(used < seconds * 20, "{used} ticks in {seconds} s");
}
