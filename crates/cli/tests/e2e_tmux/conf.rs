//! Our block in a user's tmux.conf: added, renewed and taken out without a trace.

use crate::{bars, everything, hermetic, server, wait_loaded};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use towline_testkit::{Run, TestEnv, Tmux};

const MINE: &str = "set -g status-right 'mine'\nbind-key a display-message mine";

fn conf_of(env: &TestEnv) -> PathBuf {
    env.home().join(".tmux.conf")
}

fn read(env: &TestEnv) -> String {
    fs::read_to_string(conf_of(env)).unwrap()
}

fn blocks(text: &str) -> usize {
    text.matches("# >>> towline >>>\n").count()
}

// TRK-27, TRK-28.
#[test]
fn a_home_without_a_configuration_gets_one_and_loses_it_again() {
    let env = hermetic();
    env.tow(&["install", "--tmux", "--dry-run"]).ok().prints("+# >>> towline >>>");
    assert!(!conf_of(&env).exists(), "a dry run writes nothing");
    env.tow(&["install", "--tmux"]).ok().prints("tmux: made").prints("next: tmux source-file");
    let text = read(&env);
    assert!(
        text.starts_with("# >>> towline >>>\nrun-shell -b ") && text.ends_with("\n# <<< towline <<<\n"),
        "{text}"
    );
    env.tow(&["install", "--tmux"]).ok().prints("tmux: the bar is loaded already");
    assert_eq!(read(&env), text);
    env.tow(&["uninstall", "--tmux", "--dry-run"]).ok().prints("-# >>> towline >>>");
    env.tow(&["uninstall"]).ok().prints("tmux: removed");
    assert!(!conf_of(&env).exists());
    env.tow(&["uninstall", "--tmux"]).ok().prints("tmux: there is nothing of ours");
    assert!(
        !env.tow(&["uninstall"]).ok().stdout.contains("tmux"),
        "it was never there, for all the user knows"
    );
}

// TRK-27, TRK-28.
#[test]
fn a_configuration_is_given_back_byte_for_byte_with_its_mode_and_through_its_link() {
    for text in [MINE, "", "\n", "# crlf\r\nset -g mouse on\r\n", "set -g x \\"] {
        let env = hermetic();
        let real = env.home().join("dotfiles.conf");
        fs::write(&real, text).unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o444)).unwrap();
        symlink("dotfiles.conf", conf_of(&env)).unwrap();
        env.tow(&["install", "--tmux"]).ok().prints("tmux: changed");
        assert!(read(&env).starts_with(text) && blocks(&read(&env)) == 1, "{}", read(&env));
        env.tow(&["uninstall", "--tmux"]).ok().prints("tmux: changed");
        assert_eq!(read(&env), text);
        assert!(conf_of(&env).is_symlink());
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o7777, 0o444);
    }
}

#[test]
fn only_our_block_goes_from_a_configuration_that_was_edited_since() {
    let env = hermetic();
    fs::write(conf_of(&env), "first\n").unwrap();
    env.tow(&["install", "--tmux"]).ok();
    let twice = format!("new\n{}\nlast\n{}", read(&env), read(&env).replace("first\n", ""));
    fs::write(conf_of(&env), &twice).unwrap();
    env.tow(&["install", "--tmux"]).ok().prints("tmux: changed");
    assert_eq!(blocks(&read(&env)), 1, "{}", read(&env));
    env.tow(&["uninstall", "--tmux"]).ok();
    assert_eq!(read(&env), "new\nfirst\n\nlast\n");
}

#[test]
fn a_block_that_somebody_broke_is_refused_with_its_line() {
    let env = hermetic();
    let broken = "mine\n# >>> towline >>>\nrun-shell x\nmore of mine\n";
    fs::write(conf_of(&env), broken).unwrap();
    let run = env.tow(&["install", "--tmux"]).exits(1).prints("tmux: not changed");
    run.complains("line 2 opens our block").complains("hint: Remove line 2");
    env.tow(&["uninstall"]).exits(1).complains("line 2");
    assert_eq!(read(&env), broken);
    env.tow(&["doctor"]).prints("line 2 opens our block");
}

#[test]
fn a_configuration_below_the_xdg_folder_is_used_where_there_is_one() {
    let env = hermetic();
    let usual = env.home().join(".config/tmux/tmux.conf");
    fs::create_dir_all(usual.parent().unwrap()).unwrap();
    fs::write(&usual, MINE).unwrap();
    env.tow(&["install", "--tmux"]).ok().prints(".config/tmux/tmux.conf");
    // One that is made later is no reason for a second block.
    fs::write(conf_of(&env), "mine\n").unwrap();
    env.tow(&["install", "--tmux"]).ok().prints("the bar is loaded already");
    assert_eq!(read(&env), "mine\n");
    env.tow(&["uninstall"]).ok();
    assert_eq!(fs::read_to_string(&usual).unwrap(), MINE);

    env.set("XDG_CONFIG_HOME", env.root().join("xdg").display().to_string());
    fs::remove_file(conf_of(&env)).unwrap();
    let given = env.root().join("xdg/tmux/tmux.conf");
    fs::create_dir_all(given.parent().unwrap()).unwrap();
    fs::write(&given, MINE).unwrap();
    env.tow(&["install", "--tmux"]).ok().prints("xdg/tmux/tmux.conf");
    env.tow(&["uninstall"]).ok();
    assert_eq!(fs::read_to_string(&given).unwrap(), MINE);
}

// TRK-27: everything of ours goes with one command, in files and in servers that run.
#[test]
fn a_plain_uninstall_takes_us_out_of_agents_tmux_and_the_servers_that_were_loaded() {
    let env = hermetic();
    fs::create_dir_all(env.home().join(".claude")).unwrap();
    let (tmux, other) = (server(&env), Tmux::named(&env, "other"));
    other.open(&["sh"], &[]);
    let before = [everything(&tmux), everything(&other)];
    for tmux in [&tmux, &other] {
        let pid = tmux.run(&["display-message", "-p", "#{pid}"]);
        env.set("TMUX", format!("{},{},0", tmux.socket().display(), pid.trim()));
        env.tow(&["install", "--tmux"]).ok().prints("tmux: changed the server on");
        assert_eq!(bars(tmux), 1);
    }
    env.tow(&["doctor"]).prints("loaded by ");
    env.unset("TMUX");
    let report = env.tow(&["uninstall", "--dry-run", "--json"]).ok().json();
    assert_eq!(
        (report["agents"].as_array().unwrap().len(), report["tmux"]["servers"].as_array().unwrap().len()),
        (1, 2)
    );
    assert_eq!(bars(&tmux), 1);
    let run = env.tow(&["uninstall"]).ok().prints("Claude Code: removed").prints("tmux: removed");
    run.prints("tmux: changed the server on");
    assert_eq!([everything(&tmux), everything(&other)], before);
    assert!(!conf_of(&env).exists() && !env.home().join(".claude/settings.json").exists());
}

#[test]
fn an_uninstall_of_one_part_leaves_the_other() {
    let env = hermetic();
    fs::create_dir_all(env.home().join(".claude")).unwrap();
    env.tow(&["install"]).ok().prints("`tow install --tmux`");
    let report = env.tow(&["install", "--tmux", "--json"]).ok().json();
    assert_eq!(report["tmux"]["files"][0]["changed"], true);
    assert!(!env.tow(&["install"]).ok().stdout.contains("tow install --tmux"), "it is done already");
    env.tow(&["uninstall", "--agent", "claude"]).ok();
    assert_eq!(blocks(&read(&env)), 1);
    env.tow(&["install"]).ok();
    env.tow(&["uninstall", "--tmux"]).ok();
    assert!(!conf_of(&env).exists() && env.home().join(".claude/settings.json").exists());
}

#[test]
fn the_doctor_says_what_is_missing_in_tmux() {
    let env = hermetic();
    env.tow(&["doctor"]).ok().prints("tmux bar").prints("not set up; `tow install --tmux`");
    let tmux = server(&env);
    let pid = tmux.run(&["display-message", "-p", "#{pid}"]);
    env.tow(&["install", "--tmux"]).ok();
    env.set("TMUX", format!("{},{},0", tmux.socket().display(), pid.trim()));
    env.tow(&["doctor"]).ok().prints("this server runs without it").prints("fix: tow tmux load");
    env.tow(&["tmux", "load"]).ok();
    env.tow(&["doctor"]).ok().prints("loaded by ");
    tmux.run(&["set-option", "-g", "status-right", "a theme's"]);
    tmux.run(&["set-option", "-g", "@towline-show-project", "perhaps"]);
    env.tow(&["doctor"])
        .ok()
        .prints("over what was loaded")
        .prints("@towline-show-project must be on or off");
    fs::write(conf_of(&env), read(&env).replace("tow tmux load", "tow tmux reload")).unwrap();
    env.tow(&["doctor"]).ok().prints("our block in ").prints("fix: tow install --tmux");
    wait_loaded(&tmux);
}

#[test]
fn a_server_that_hangs_holds_up_neither_doctor_nor_uninstall_and_is_named() {
    let env = hermetic();
    let tmux = server(&env);
    let pid = tmux.run(&["display-message", "-p", "#{pid}"]).trim().to_owned();
    env.set("TMUX", format!("{},{pid},0", tmux.socket().display()));
    env.tow(&["install", "--tmux"]).ok();
    env.keep_usual_limits();
    let signal = |name: &str| drop(Run::of(env.command("kill").args([name, &pid]), b"").ok());
    signal("-STOP");
    env.tow(&["doctor"]).ok().prints("does not answer");
    let run = env.tow(&["uninstall"]).ok().prints("tmux: removed").complains("does not answer");
    run.prints("next: tow tmux unload --socket");
    signal("-CONT");
    assert_eq!(bars(&tmux), 1);
    env.tow(&["uninstall"]).ok().prints("tmux: changed the server on");
    assert_eq!(bars(&tmux), 0);
}

#[test]
fn a_configuration_that_cannot_be_written_is_refused_and_the_server_is_left_alone() {
    let env = hermetic();
    let tmux = server(&env);
    let pid = tmux.run(&["display-message", "-p", "#{pid}"]).trim().to_owned();
    env.set("TMUX", format!("{},{pid},0", tmux.socket().display()));
    fs::create_dir(conf_of(&env)).unwrap();
    env.tow(&["install", "--tmux"]).exits(1).complains("is not a regular file").prints("tmux: not changed");
    assert_eq!(bars(&tmux), 0);
}
