//! Many agents in real tmux: what each pane and window shows, who has seen what, who is found without hooks, who is gone.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod sitter;

use serde_json::{Value, json};
use sitter::Sitter;
use std::path::Path;
use towline_testkit::{TestEnv, Tmux, wait};

fn world() -> (TestEnv, Tmux) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let tmux = Tmux::start(&env);
    (env, tmux)
}

/// A pane says `tow ARGUMENTS`, as tmux itself would run it: inside the server.
fn tow_inside(tmux: &Tmux, arguments: &str) {
    tmux.run(&["run-shell", &format!("tow {arguments}")]);
}

#[test]
fn each_pane_and_window_carries_the_state_of_its_agent() {
    let (_env, tmux) = world();
    let (first, second) = (Sitter::sit(&tmux, "one"), Sitter::sit(&tmux, "two"));
    first.pane.wait_format("#{@towline-state}", "idle");
    first.prompt("go");
    second.prompt("go");
    second.ask("Bash");
    // The marks are those of the windows.
    first.pane.wait_format("#{@towline-state} #{@towline-mark}", "working *");
    second.pane.wait_format("#{@towline-state} #{@towline-mark}", "blocked !");

    // Both in one window: the window shows the more urgent of them, whichever was told last.
    tmux.run(&["join-pane", "-s", &second.pane.id, "-t", &first.pane.id]);
    first.stop();
    let window =
        || tmux.run(&["show-options", "-wqv", "-t", &first.pane.id, "@towline-state"]).trim().to_owned();
    first.pane.wait_format("#{@towline-state}", "completed");
    wait::until_evident("the window to be blocked", wait::PATIENCE, || {
        if window() == "blocked" { Ok(()) } else { Err(window()) }
    });
    // The blocked one is gone with its pane; nothing of it stays in the window.
    second.pane.close();
    wait::until_evident("the window to be completed", wait::PATIENCE, || {
        tow_inside(&tmux, "bar --refresh");
        if window() == "completed" { Ok(()) } else { Err(window()) }
    });
}

/// TRK-10: by focus, and by the refresh after the grace period. Never by an attached client that nobody uses.
#[test]
fn what_finished_is_seen_by_turning_to_it_or_by_having_it_in_view_for_a_while() {
    let (env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("go");
    sitter.stop();
    let seen = || env.seats()[0]["seen"].as_bool().unwrap();
    assert!(!seen());
    tow_inside(&tmux, "bar --refresh --focused %99");
    assert!(!seen(), "another pane");
    tow_inside(&tmux, &format!("bar --refresh --looking-at {}", sitter.pane.id));
    assert!(!seen(), "no client shows it");
    tow_inside(&tmux, &format!("bar --refresh --focused {}", sitter.pane.id));
    assert!(seen());
    assert_eq!(env.seats()[0]["state"], "completed", "looking changes nothing of what the agent is doing");
    sitter.pane.wait_format("#{@towline-state}", "idle");

    sitter.prompt("again");
    sitter.stop();
    sitter.pane.wait_format("#{@towline-state}", "completed");
    let watched = Tmux::named(&env, "outer").attach_to(&tmux);
    tmux.run(&["select-window", "-t", &sitter.pane.id]);
    watched.keys(&["Space"]);
    wait::until("the grace period to be over", wait::PATIENCE, || {
        tow_inside(&tmux, &format!("bar --refresh --looking-at {}", sitter.pane.id));
        seen().then_some(())
    });
}

/// TRK-20: icons, colours, project name.
#[test]
fn the_users_options_decide_how_the_bar_looks() {
    let (_env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    for (option, value) in [
        ("icon-working", "#(touch x)"),
        ("colour-working", "blue"),
        ("colour-idle", "red]#(touch x)"),
        ("background", "white"),
        ("show-project", "on"),
    ] {
        tmux.run(&["set-option", "-g", &format!("@towline-{option}"), value]);
    }
    // What is remembered of the options is at most a minute old; the menu always asks.
    tmux.run(&["run-shell", "tow menu || true"]);
    sitter.prompt("go");
    let project = sitter.pane.format("#{b:pane_current_path}");
    let bar = format!(
        "#[default,fg=blue,bg=white] 1##(touch x)#[default,fg=colour250,bg=white] @{project}#[noreverse] #[default]"
    );
    wait::until_evident("the bar", wait::PATIENCE, || {
        let shown = tmux.run(&["show-options", "-gqv", "@towline-status"]);
        if shown.trim() == bar { Ok(()) } else { Err(shown) }
    });
}

/// TRK-24: a seat without a session.
#[test]
fn an_agent_without_hooks_is_found_and_leaves_when_it_ends() {
    let (env, tmux) = world();
    env.link("claude", "/bin/bash");
    let pane = tmux.open(&["claude", "-c", "read line"], &[]);
    wait::until("the agent to run", wait::PATIENCE, || {
        let strays = env.tow(&["scan", "--json"]).ok().json()["strays"].as_array().unwrap().clone();
        (strays.len() == 1 && strays[0]["pane"] == pane.id.as_str()).then_some(())
    });
    let listed = &env.seats()[0];
    assert_eq!((&listed["session"], &listed["state"]), (&Value::Null, &json!("idle")));
    env.tow(&["why", &pane.id]).exits(2).complains("nothing was heard of the agent");
    // Once it tells of itself it is one seat, not two.
    let sitter = Sitter::sit(&tmux, "hooked");
    assert_eq!(env.seats().len(), 2);
    pane.keys(&["Enter"]);
    pane.wait_end();
    let left: Vec<Value> = env.seats().iter().map(|seat| seat["pane"].clone()).collect();
    assert_eq!(left, [json!(sitter.pane.id)]);
    env.tow(&["scan"]).ok().prints("no agent has our hooks");
}

/// TRK-12, TRK-23: one agent per pane, and no ghosts.
#[test]
fn a_session_that_was_killed_leaves_and_the_next_one_takes_its_pane() {
    let (env, tmux) = world();
    let first = Sitter::sit(&tmux, "one");
    first.prompt("go");
    env.command("kill").args(["-9", &first.pane.program_pid().to_string()]).status().unwrap();
    first.pane.wait_screen("[ended with ");
    let second = Sitter::run_in(&tmux, "two", &env.project(), |program| {
        first.pane.say(&program.join(" "));
        first.pane.clone()
    });
    let listed = env.seats();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["session"], "claude:two");
    second.prompt("go");
    assert_eq!(env.seats()[0]["state"], "working");
}

/// TRK-23: a killed server takes its panes with it; what is remembered of it goes too.
#[test]
fn a_killed_server_leaves_no_ghost() {
    let (env, tmux) = world();
    Sitter::sit(&tmux, "one").prompt("go");
    tmux.run(&["kill-server"]);
    wait::until("the agents to be gone", wait::PATIENCE, || env.seats().is_empty().then_some(()));
    let files = || {
        let names =
            std::fs::read_dir(env.data_dir().join("bars")).unwrap().map(|entry| entry.unwrap().file_name());
        names
            .filter_map(|name| {
                name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit()).then_some(name)
            })
            .count()
    };
    env.tow(&["cleanup", "--dry-run"]).ok();
    env.tow(&["cleanup"]).ok();
    assert_eq!(files(), 0);
    env.tow(&["cleanup"]).ok().prints("there is nothing to clean up");
}

/// A refresh that finds nothing changed opens nothing and tells nobody; one that does not know looks.
#[test]
fn a_refresh_without_news_spawns_nothing() {
    let (env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("go");
    sitter.pane.wait_format("#{@towline-state}", "working");
    let log = env.root().join("tmux.log");
    let folders = env.variables()["PATH"].clone();
    let real = folders
        .split(':')
        .map(|folder| Path::new(folder).join("tmux"))
        .find_map(|file| file.canonicalize().ok())
        .unwrap();
    env.script("tmux", &format!("echo \"$@\" >> {}\nexec {} \"$@\"\n", log.display(), real.display()));
    // The bench's own calls name a configuration.
    let is_ours = |line: &&str| !line.contains("-f /dev/null");
    let spawns = || std::fs::read_to_string(&log).unwrap_or_default().lines().filter(is_ours).count();
    env.tow(&["bar", "--refresh"]).ok();
    let before = spawns();
    for _ in 0..5 {
        env.tow(&["bar", "--refresh"]).ok();
    }
    sitter.tell("PostToolUse", json!({"tool_name": "Read", "tool_input": {}, "tool_response": {}}));
    sitter.tell("Notification", json!({"notification_type": "idle_prompt"}));
    assert_eq!(spawns(), before);
    sitter.stop();
    sitter.pane.wait_format("#{@towline-state}", "completed");
    assert_eq!(spawns(), before + 1, "one change, one spawn");
}

#[test]
fn a_menu_opens_though_a_prompt_ends_in_a_semicolon() {
    let (env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("fix foo();");
    let watched = Tmux::named(&env, "outer").attach_to(&tmux);
    let shell = tmux.open(&["bash"], &[]);
    shell.say("tow menu; echo exit-$?");
    watched.wait_screen("fix foo();");
    watched.keys(&["q"]);
    shell.wait_screen("exit-0");
}

#[test]
fn a_server_that_hangs_does_not_hold_up_the_bars_of_others() {
    let (env, tmux) = world();
    let hung = Tmux::named(&env, "hung");
    let (first, second) = (Sitter::sit(&tmux, "one"), Sitter::sit(&hung, "two"));
    first.prompt("go");
    second.prompt("go");
    second.pane.wait_format("#{@towline-state}", "working");
    let server = second.pane.format("#{pid}");
    let signal = |name: &str| assert!(env.command("kill").args([name, &server]).status().unwrap().success());
    signal("-STOP");
    let bar = || tmux.run(&["show-options", "-gqv", "@towline-status"]);
    first.ask("Bash");
    first.pane.wait_format("#{@towline-state}", "blocked");
    first.stop();
    first.pane.wait_format("#{@towline-state}", "completed");
    assert!(bar().contains(" 1*#[default,fg=colour114,bg=colour235] 1+#["), "{}", bar());
    signal("-CONT");
    // What it missed is made up for.
    wait::until_evident("the other bar", wait::PATIENCE, || {
        env.tow(&["bar", "--refresh"]).ok();
        let other = hung.run(&["show-options", "-gqv", "@towline-status"]);
        if other == bar() { Ok(()) } else { Err(other) }
    });
}

#[test]
fn a_server_that_was_started_anew_on_the_same_socket_keeps_its_bar() {
    let (env, tmux) = world();
    let before = Sitter::sit(&tmux, "one");
    before.prompt("go");
    before.pane.wait_format("#{@towline-state}", "working");
    tmux.run(&["kill-server"]);
    let after = Sitter::sit(&tmux, "two");
    after.prompt("go");
    after.ask("Bash");
    after.pane.wait_format("#{@towline-state}", "blocked");
    for _ in 0..3 {
        env.tow(&["status"]).ok();
        env.tow(&["bar", "--refresh"]).ok();
    }
    assert_eq!(after.pane.format("#{@towline-state}"), "blocked");
    assert!(tmux.run(&["show-options", "-gqv", "@towline-status"]).contains("1!"));
}

/// Nobody waits for a push: whether tmux did it is seen when its options are read again.
#[test]
fn what_tmux_refused_to_show_is_pushed_again() {
    let (env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("go");
    sitter.pane.wait_format("#{@towline-state}", "working");
    let real = std::fs::read_link(env.root().join("bin/tmux")).unwrap();
    let refusing = format!("case \"$*\" in *set-option*) exit 1;; esac\nexec {} \"$@\"\n", real.display());
    env.script("tmux", &refusing);
    sitter.stop();
    assert_eq!(sitter.pane.format("#{@towline-state}"), "working");
    env.link("tmux", real);
    for entry in std::fs::read_dir(env.data_dir().join("bars")).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|extension| extension == "options") {
            std::fs::remove_file(entry).unwrap();
        }
    }
    env.tow(&["bar", "--refresh"]).ok();
    sitter.pane.wait_format("#{@towline-state}", "completed");
}

#[test]
fn what_hooks_pushed_goes_with_the_hooks() {
    let (env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("go");
    sitter.pane.wait_format("#{@towline-state}", "working");
    env.tow(&["uninstall"]).ok();
    let options =
        [tmux.run(&["show-options", "-g"]), tmux.run(&["show-options", "-p", "-t", &sitter.pane.id])];
    assert!(options.iter().all(|text| !text.contains("towline")), "{options:?}");
    assert_eq!(tmux.run(&["show-options", "-wqv", "-t", &sitter.pane.id, "@towline-state"]), "");
}

#[test]
fn an_agent_in_an_excluded_folder_leaves_no_trace_though_it_runs_without_hooks() {
    let (env, tmux) = world();
    env.link("claude", "/bin/bash");
    let project = env.project().display().to_string();
    env.tow(&["config", "set", "privacy.exclude_projects", &format!("[{project:?}]")]).ok();
    tmux.open(&["claude", "-c", "read line"], &[]);
    let other = tmux.open(&["sh", "-c", "cd / && exec claude -c 'read line'"], &[]);
    wait::until("the other agent", wait::PATIENCE, || {
        let found = env.seats();
        found.iter().any(|seat| seat["pane"] == other.id.as_str()).then_some(())
    });
    assert_eq!(env.seats().len(), 1);
    let kept = std::fs::read_to_string(env.data_dir().join("bars/strays")).unwrap();
    assert!(!kept.contains(&project), "{kept}");
}

#[test]
fn a_pane_is_the_one_of_the_server_that_asks() {
    let (env, tmux) = world();
    let other = Tmux::named(&env, "other");
    let (here, there) = (Sitter::sit(&tmux, "here"), Sitter::sit(&other, "there"));
    assert_eq!(here.pane.id, there.pane.id);
    env.tow(&["why", &here.pane.id]).exits(2).complains("several agents fit");
    tow_inside(&tmux, &format!("why {} > why.txt", here.pane.id));
    let said = std::fs::read_to_string(env.project().join("why.txt")).unwrap();
    assert!(said.contains("claude:here is idle"), "{said}");
}

#[test]
fn a_pane_that_nobody_is_attached_to_is_not_seen_by_going_there() {
    let (env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("go");
    sitter.stop();
    env.tow(&["next"]).exits(2).complains("nobody is attached to see it").complains("attach");
    assert_eq!(env.seats()[0]["seen"], false);
}
