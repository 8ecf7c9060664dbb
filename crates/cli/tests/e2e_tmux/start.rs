//! Servers that load us by themselves: at their start, at a reload of their configuration, through a plugin manager.

use crate::{bars, everything, hermetic, option, server, tow_tmux, wait_loaded};
use std::fs;
use std::path::Path;
use towline_testkit::{Run, TestEnv, Tmux, wait};

/// Starts a server as a person does, who has a configuration.
fn started_with_conf(env: &TestEnv, name: &str) -> Tmux {
    let tmux = Tmux::named(env, name);
    let conf = env.home().join(".tmux.conf");
    let mut command = env.command("tmux");
    command.arg("-S").arg(tmux.socket()).arg("-f").arg(conf).args([
        "new-session",
        "-d",
        "-x",
        "150",
        "-y",
        "50",
        "sh",
    ]);
    Run::of(&mut command, b"").ok();
    tmux
}

// TRK-27: the line in tmux.conf; a config reload loses nothing.
#[test]
fn a_server_loads_us_at_its_start_and_a_reload_loses_and_doubles_nothing() {
    let env = hermetic();
    let conf = env.home().join(".tmux.conf");
    let mine = |text: &str| {
        format!(
            "set -g status-right '{text}'\nset -g status-interval 30\nbind-key a display-message '{text}'\n"
        )
    };
    fs::write(&conf, mine("old")).unwrap();
    env.tow(&["install", "--tmux"]).ok();
    let block = fs::read_to_string(&conf).unwrap().replace(&mine("old"), "");
    let tmux = started_with_conf(&env, "started");
    wait_loaded(&tmux);
    let loaded = everything(&tmux);
    assert!(bars(&tmux) == 1 && option(&tmux, "status-interval") == "5", "{loaded}");

    let reload = || drop(tmux.run(&["source-file", &conf.display().to_string()]));
    let wait_bar = |text: &str| {
        wait::until_evident("the bar to be back", wait::PATIENCE, || {
            let whole = bars(&tmux) == 1 && option(&tmux, "status-interval") == "5";
            let bound = tmux.run(&["list-keys", "-T", "prefix", "a"]).contains("tow menu");
            let done = whole && bound && option(&tmux, "status-right").ends_with(text);
            if done { Ok(()) } else { Err(everything(&tmux)) }
        });
    };
    for _ in 0..3 {
        reload();
        wait_bar("old");
    }
    assert_eq!(everything(&tmux), loaded);

    fs::write(&conf, format!("{}{block}", mine("new"))).unwrap();
    reload();
    wait_bar("new");
    tow_tmux(&tmux, "unload").ok();
    fs::write(&conf, mine("new")).unwrap();
    let plain = started_with_conf(&env, "plain");
    let without_socket = |tmux: &Tmux| everything(tmux).replace(&tmux.socket().display().to_string(), "");
    assert_eq!(without_socket(&tmux), without_socket(&plain));
}

#[test]
fn a_line_whose_program_is_gone_disturbs_nobody() {
    let env = hermetic();
    let conf = env.home().join(".tmux.conf");
    env.tow(&["install", "--tmux"]).ok();
    let text = fs::read_to_string(&conf)
        .unwrap()
        .replace("/tow tmux load", "/gone tmux load")
        .replace("/tow ||", "/gone ||");
    fs::write(&conf, format!("{text}set -g @reached yes\n")).unwrap();
    assert!(text.contains("-x ") && text.matches("/gone").count() == 2, "{text}");
    let tmux = started_with_conf(&env, "started");
    let watched = Tmux::named(&env, "outer").attach_to(&tmux);
    tmux.run(&["source-file", &conf.display().to_string()]);
    tmux.run(&["run-shell", "true"]);
    assert_eq!(
        (option(&tmux, "@reached"), option(&tmux, "@towline-undo")),
        ("yes".to_owned(), String::new())
    );
    assert!(!watched.screen().contains("gone"), "{}", watched.screen());
}

fn plugin() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../towline.tmux")
        .canonicalize()
        .unwrap()
        .display()
        .to_string()
}

// The entry for plugin managers, which run it from within the server.
#[test]
fn the_plugin_loads_us_and_says_how_to_get_the_program_if_there_is_none() {
    let env = hermetic();
    let tmux = server(&env);
    let watched = Tmux::named(&env, "outer").attach_to(&tmux);
    let before = everything(&tmux);
    tmux.run(&["run-shell", &plugin()]);
    assert_eq!(bars(&tmux), 1);
    tow_tmux(&tmux, "unload").ok();
    assert_eq!(everything(&tmux), before);

    tmux.run(&["set-option", "-g", "display-time", "0"]);
    fs::remove_file(env.root().join("bin/tow")).unwrap();
    tmux.run(&["run-shell", &plugin()]);
    watched.wait_screen("towline: the program tow is not installed");
    assert_eq!(bars(&tmux), 0);
    watched.keys(&["x"]);

    let cargo = env.home().join(".cargo/bin");
    fs::create_dir_all(&cargo).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tow"), cargo.join("tow")).unwrap();
    tmux.run(&["run-shell", &plugin()]);
    assert_eq!(bars(&tmux), 1);
}
