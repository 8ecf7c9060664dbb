//! What a load changes in a server, and that an unload gives all of it back.

use crate::{bars, everything, hermetic, option, server, tow_tmux};
use std::fs;
use towline_testkit::Tmux;

/// Settings of a user who uses everything that we use, too.
const RICH: &[&[&str]] = &[
    &["set-option", "-g", "status-right", "#(date) it's \"mine\" é ⚡ #{?client_prefix,P,} 100%% \\;"],
    &["set-option", "-g", "status-right-length", "63"],
    &["set-option", "-g", "status-interval", "42"],
    &["set-option", "-gw", "window-status-format", "#I:#W#F"],
    &["set-option", "-g", "@towline-window-marker", "on"],
    &["set-option", "-g", "@towline-key-jump", "C-j"],
    &["set-option", "-g", "@towline-key-popup", "\\;"],
    &["bind-key", "-r", "-N", "mine; isn't it? \"$x\" é", "a", "display-message", "it's #{pane_id} $HOME ~"],
    &["set-hook", "-g", "session-window-changed", "display-message one"],
    &["set-hook", "-g", "session-window-changed[7]", "display-message seven"],
    &["set-hook", "-g", "client-attached[7701]", "display-message \"theirs\" ; display-message 'too'"],
    &["set-hook", "-gw", "window-pane-changed", "run-shell true"],
];

fn set(tmux: &Tmux, settings: &[&[&str]]) {
    settings.iter().for_each(|words| drop(tmux.run(words)));
}

#[track_caller]
fn check_given_back(settings: &[&[&str]]) {
    let env = hermetic();
    let tmux = server(&env);
    set(&tmux, settings);
    let before = everything(&tmux);
    tow_tmux(&tmux, "load").ok().prints("loaded into");
    let loaded = everything(&tmux);
    assert!(option(&tmux, "status-right").contains("bar --refresh --looking-at #{pane_id}"), "{loaded}");
    tow_tmux(&tmux, "load").ok().prints("loaded already");
    assert_eq!(everything(&tmux), loaded, "a second load changes nothing");
    tmux.run(&["set-option", "-p", "-t", "%0", "@towline-state", "completed"]);
    tmux.run(&["set-option", "-w", "-t", "%0", "@towline-mark", "+"]);
    tmux.run(&["set-option", "-g", "@towline-status", "1+"]);
    tow_tmux(&tmux, "unload").ok().prints("taken out of");
    assert_same(&everything(&tmux), &before);
    tow_tmux(&tmux, "unload").ok().prints("nothing of ours");
    assert_same(&everything(&tmux), &before);
}

#[track_caller]
fn assert_same(after: &str, before: &str) {
    let lost: Vec<&str> = before.lines().filter(|line| !after.contains(line)).collect();
    let left: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert!(after == before, "lost: {lost:#?}\nleft: {left:#?}");
}

// TRK-28.
#[test]
fn a_server_with_tmuxs_own_settings_gets_all_of_them_back() {
    check_given_back(&[]);
}

// TRK-28.
#[test]
fn a_server_with_settings_of_the_users_own_gets_all_of_them_back() {
    check_given_back(RICH);
}

// TRK-20: the interval is only ever lowered.
#[test]
fn an_interval_is_lowered_if_it_is_higher_or_never_and_given_back() {
    for (given, loaded) in [("60", "5"), ("0", "5"), ("2", "2")] {
        let env = hermetic();
        let tmux = server(&env);
        tmux.run(&["set-option", "-g", "status-interval", given]);
        let before = everything(&tmux);
        tow_tmux(&tmux, "load").ok();
        assert_eq!(option(&tmux, "status-interval"), loaded);
        tow_tmux(&tmux, "unload").ok();
        assert_same(&everything(&tmux), &before);
    }
}

// TRK-20: keybinding `a`; empty options bind nothing.
#[test]
fn keys_are_bound_as_the_options_say_and_released_when_they_say_otherwise() {
    let env = hermetic();
    let tmux = server(&env);
    set(&tmux, RICH);
    let theirs = tmux.run(&["list-keys", "-T", "prefix", "a"]);
    tow_tmux(&tmux, "load").ok();
    let bound = |key: &str| tmux.run(&["list-keys", "-T", "prefix", key]);
    assert!(bound("a").contains("tow menu"), "{}", bound("a"));
    assert!(bound("C-j").contains("tow next"), "{}", bound("C-j"));
    assert!(
        bound("\\;").contains("display-popup") && bound("\\;").contains("tow status --watch"),
        "{}",
        bound("\\;")
    );

    tmux.run(&["set-option", "-g", "@towline-key", "b"]);
    tmux.run(&["set-option", "-g", "@towline-key-popup", ""]);
    tow_tmux(&tmux, "load").ok().prints("loaded into");
    assert_eq!(bound("a"), theirs);
    assert!(bound("b").contains("tow menu") && bound("\\;").contains("last-pane"));
}

#[test]
fn a_bar_that_the_user_placed_stays_there_and_only_the_refresh_is_added() {
    let env = hermetic();
    let tmux = server(&env);
    tmux.run(&["set-option", "-g", "status-left", "[#{@towline-status}] "]);
    let (before, length) = (everything(&tmux), option(&tmux, "status-right-length"));
    tow_tmux(&tmux, "load").ok();
    assert_eq!((bars(&tmux), option(&tmux, "status-right-length")), (0, length));
    assert!(option(&tmux, "status-right").starts_with("#("), "{}", option(&tmux, "status-right"));
    tow_tmux(&tmux, "unload").ok();
    assert_same(&everything(&tmux), &before);
}

#[test]
fn what_the_user_changed_meanwhile_stays_and_only_our_part_goes() {
    let env = hermetic();
    let tmux = server(&env);
    tow_tmux(&tmux, "load").ok();
    let ours = option(&tmux, "status-right");
    tmux.run(&["set-option", "-g", "status-right", &format!("#(before){ours} behind")]);
    tmux.run(&["set-option", "-g", "status-interval", "30"]);
    tmux.run(&["bind-key", "a", "new-window"]);
    tow_tmux(&tmux, "unload").ok();
    assert_eq!(option(&tmux, "status-interval"), "30");
    assert!(tmux.run(&["list-keys", "-T", "prefix", "a"]).contains("new-window"));
    let left = option(&tmux, "status-right");
    assert!(left.starts_with("#(before)#{?") && left.ends_with(" behind") && !left.contains("tow"), "{left}");
}

/// tmux prints a lone `;` in a binding as if it parted two commands.
#[test]
fn a_key_whose_binding_could_not_be_given_back_is_left_alone() {
    let env = hermetic();
    let tmux = server(&env);
    let file = env.root().join("keys.conf");
    fs::write(&file, "bind-key a display-message '\\;'\n").unwrap();
    tmux.run(&["source-file", &file.display().to_string()]);
    let before = everything(&tmux);
    tow_tmux(&tmux, "load").ok().complains("the key `a` was left alone");
    assert!(tmux.run(&["list-keys", "-T", "prefix", "a"]).contains("display-message"));
    tow_tmux(&tmux, "unload").ok();
    assert_same(&everything(&tmux), &before);
}

// TRK-20: options that make no sense are named, and the defaults are used.
#[test]
fn options_that_make_no_sense_are_named_and_the_rest_is_loaded() {
    let env = hermetic();
    let tmux = server(&env);
    tmux.run(&["set-option", "-g", "@towline-status-interval", "soon"]);
    tmux.run(&["set-option", "-g", "@towline-key-jump", "NoSuchKey"]);
    tmux.run(&["set-option", "-g", "@towline-key-popup", "a"]);
    let run = tow_tmux(&tmux, "load").ok().complains("@towline-status-interval must be seconds");
    run.complains("tmux knows no key `NoSuchKey`").complains("the key `a` is asked for twice");
    assert_eq!((bars(&tmux), option(&tmux, "status-interval")), (1, "5".to_owned()));
}

/// In a plain locale tmux shows `_` for what is not ASCII, unless it is told otherwise.
#[test]
fn text_that_is_not_ascii_survives_a_plain_locale() {
    let env = hermetic();
    let tmux = server(&env);
    set(&tmux, RICH);
    let before = everything(&tmux);
    env.set("LANG", "C");
    tow_tmux(&tmux, "load").ok();
    tow_tmux(&tmux, "unload").ok();
    env.set("LANG", "C.UTF-8");
    assert_same(&everything(&tmux), &before);
}

// TRK-29.
#[test]
fn a_tmux_older_than_3_0_is_refused_and_nothing_is_changed() {
    let env = hermetic();
    let asked = env.root().join("asked");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {}\ncase \"$*\" in -V) echo tmux 2.9a;; *version*) echo 2.9a;; *pid*) echo 7;; *) exit 1;; esac\n",
        asked.display()
    );
    env.script("tmux", &script);
    env.tow(&["tmux", "load", "--socket", "/nowhere"])
        .exits(2)
        .complains("tmux 2.9a is too old")
        .complains("3.0");
    env.tow(&["install", "--tmux"]).exits(2).complains("tmux 2.9a is too old").prints("tmux: not changed");
    let asked = fs::read_to_string(asked).unwrap();
    assert!(asked.lines().all(|line| line == "-V" || line.contains("display-message -p")), "{asked}");
    assert!(!env.home().join(".tmux.conf").exists());
}

#[test]
fn where_no_server_is_the_command_says_so_and_starts_none() {
    let env = hermetic();
    env.tow(&["tmux", "load"]).exits(2).complains("this shell does not run in tmux").complains("--socket");
    let tmux = Tmux::start(&env);
    tow_tmux(&tmux, "load").exits(2).complains("no tmux server answers");
    env.set("TMUX", format!("{},1,0", tmux.socket().display()));
    env.tow(&["tmux", "unload"]).exits(2).complains("does not answer");
    assert!(!tmux.is_running());
}
