//! The password: in no file of ours, no message, no log, and in nothing that other programs can see.

use super::world::{Server, Site, holds, password, remember, sync};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_password_on_the_command_line_or_in_the_configuration_is_refused_and_not_repeated() {
    let site = Site::with_team(Server::Debian);
    let desk = site.machine("ann_login");
    let url = format!("postgres://ann_login:hunter2@localhost:{}/towline", site.way.port());
    let run = desk.tow(&["hub", "join", &url, "--team", "crew"]).exits(2).complains("holds a password");
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    let run = desk.tow(&["config", "set", "hub.url", &url]).exits(2).complains("without a password");
    assert!(!run.stderr.contains("hunter2") && !holds(&desk, "hunter2"), "{}", run.stderr);
}

#[test]
fn a_wrong_password_is_told_without_being_shown() {
    let site = Site::with_team(Server::Debian);
    let desk = site.machine("ann_login");
    desk.set("PGPASSWORD", "wrong-horse-9");
    let url = site.url("ann_login");
    let run =
        desk.tow(&site.at(&["hub", "join", &url, "--team", "crew"])).exits(1).complains("refused the login");
    assert!(!run.stderr.contains("wrong-horse-9"), "{}", run.stderr);
    assert!(!holds(&desk, "wrong-horse-9") && !site.postgres.log().contains("wrong-horse-9"));
}

#[test]
fn the_password_is_in_no_file_of_ours_and_in_no_process_during_an_exchange() {
    let site = Site::with_team(Server::Debian);
    let desk = site.machine("ann_login");
    let secret = password("ann_login");
    fs::remove_file(desk.home().join(".pgpass")).unwrap();
    let told = desk.root().join("told");
    fs::write(&told, format!("{secret}\n")).unwrap();
    // Looks at every process of this home while it is asked, itself included.
    let seen = desk.root().join("seen");
    let script = format!(
        "#!/bin/sh\nfor p in /proc/[0-9]*; do tr '\\0' ' ' < $p/environ; tr '\\0' ' ' < $p/cmdline; done >> {} 2>/dev/null\ncat {}\n",
        seen.display(),
        told.display()
    );
    let keyring = desk.root().join("keyring");
    fs::write(&keyring, script).unwrap();
    fs::set_permissions(&keyring, fs::Permissions::from_mode(0o755)).unwrap();
    let command = format!("[\"{}\"]", keyring.display());
    desk.tow(&["config", "set", "hub.password_command", &command]).ok();
    site.join(&desk, "ann_login", "desk");
    remember(&desk, "The rudder is of oak");
    desk.tow(&["hub", "share", ".", "--as", "crew/app"]).ok();
    sync(&desk);
    assert!(!holds(&desk, &secret));
    let seen = String::from_utf8_lossy(&fs::read(seen).unwrap()).into_owned();
    assert!(seen.contains("hub"), "it looked");
    assert!(!seen.contains(&secret));
    assert!(!site.postgres.log().contains(&secret));
}

#[test]
fn a_command_that_fails_is_told_and_nothing_else_is_tried() {
    let site = Site::with_team(Server::Debian);
    let desk = site.machine("ann_login");
    desk.tow(&["config", "set", "hub.password_command", "[\"/bin/false\"]"]).ok();
    let url = site.url("ann_login");
    desk.tow(&site.at(&["hub", "join", &url, "--team", "crew"]))
        .exits(1)
        .complains("hub.password_command gave no password");
}
