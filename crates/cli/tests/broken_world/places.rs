//! Homes and folders that are missing, or are not what they should be.

use std::fs;

use towline_store::DataFolder;
use towline_testkit::Run;

use crate::common::{payload, store_in};
use crate::world::{World, sane, session};

#[test]
fn a_home_that_does_not_exist_is_made() {
    let world = World::plain();
    let home = world.env.root().join("never/made");
    world.env.set("HOME", home.display().to_string());
    let sent = world.hooks_of_all_kinds(&session());
    world.env.wait_no_process();
    world.work();
    let events = store_in(&DataFolder::at(home.join(".local/share/towline"))).events(&session());
    assert!(events.expect("they can be read").len() >= sent);
    world.doctor().is_sound();
}

#[test]
fn a_home_that_cannot_be_made_is_named() {
    let world = World::plain();
    let file = world.env.root().join("file");
    fs::write(&file, "").expect("the root is writable");
    world.env.set("HOME", file.join("home").display().to_string());
    world.hooks_of_all_kinds(&session());
    world.doctor().names(&["data folder", "cannot be made"]).names(&["fault: journal", "towline-faults.log"]);
}

/// Without HOME the user's entry tells where home is.
#[test]
fn a_missing_home_is_looked_up() {
    let entry = "printf 'root:x:0:0::%s:/bin/sh\\n' $HOME > $TMPDIR/passwd";
    let world = World::mounted(&format!("{entry}; mount --bind $TMPDIR/passwd /etc/passwd"));
    world.env.unset("HOME");
    let sent = world.hooks_of_all_kinds(&session());
    world.work();
    world.insist_on_events(&session(), sent);
    world.doctor().is_sound();
}

/// The user has no entry either.
#[test]
fn no_home_at_all_is_named() {
    let world = World::plain();
    world.env.unset("HOME");
    let nobody = |verb: &[&str]| {
        let mut unshare = world.command("unshare");
        unshare.args(["--user", "--map-user=54321", "tow"]).args(verb);
        unshare
    };
    sane(nobody(&["hook", "claude"]), &payload("SessionStart", &session(), "")).is_silent();
    let log = world.env.root().join("run/towline-faults.log");
    assert!(fs::read_to_string(log).expect("the last resort is used").contains("without a home"));
    Run::of(&mut nobody(&["doctor", "--json"]), b"").exits(1).complains("HOME");
    for verb in [&[][..], &["status"], &["search", "x"], &["setup", "--yes"]] {
        let run = Run::of(&mut nobody(verb), b"").exits(1);
        run.complains("HOME is not set and the user has no entry").complains("Set HOME, or TOWLINE_HOME");
    }
}

#[test]
fn a_data_folder_that_is_a_file_is_named() {
    let world = World::plain();
    let file = world.env.root().join("file");
    fs::write(&file, "kept").expect("the root is writable");
    world.env.set("TOWLINE_HOME", file.display().to_string());
    world.hooks_of_all_kinds(&session());
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "kept");
    let shown = file.display().to_string();
    world
        .doctor()
        .names(&["data folder", &shown, "not a folder"])
        .names(&["fault: journal", "Not a directory"]);
}

#[test]
fn a_journal_that_is_a_file_is_named_and_can_be_mended() {
    let world = World::plain();
    world.hook("SessionStart", &session());
    let journal = world.data().journal();
    fs::rename(&journal, journal.with_extension("away")).expect("it is there");
    fs::write(&journal, "").expect("the folder is writable");
    world.hooks_of_all_kinds(&session());
    let report = world.doctor();
    report
        .names(&["journal", "Not a directory", &journal.display().to_string()])
        .names(&["fault: journal", "Not a directory"]);
    fs::remove_file(&journal).expect("it is there");
    fs::rename(journal.with_extension("away"), &journal).expect("it is there");
    world.hook("Stop", &session());
    world.insist_on_events(&session(), 2);
    world.doctor().is_sound();
}

#[test]
fn a_journal_that_was_removed_is_begun_anew() {
    let world = World::plain();
    let before = world.hooks_of_all_kinds(&session());
    // Events that only the journal holds are lost with it.
    world.insist_on_events(&session(), before);
    fs::remove_dir_all(world.data().journal()).expect("it is there");
    let sent = world.hooks_of_all_kinds(&session());
    world.work();
    world.insist_on_events(&session(), before + sent);
    world.doctor().is_sound();
}
