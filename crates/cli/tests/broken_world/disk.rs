//! A disk that is full, and one that cannot be written.

use std::fs;

use crate::world::{World, session};

/// Fills the disk of the home to the last byte.
const FILL: &str = "cat /dev/zero > $HOME/filler 2>/dev/null || true";
const FREE: &str = "rm $HOME/filler";

#[test]
fn a_disk_that_is_full_from_the_start_is_named() {
    let world = World::mounted(&format!("mount -t tmpfs -o size=4m tmpfs $HOME\n{FILL}"));
    world.hooks_of_all_kinds(&session());
    world
        .doctor()
        .names(&["data folder", "No space left", "free disk space"])
        .names(&["fault: journal", "No space left"]);
    world.shell(FREE);
    let sent = world.hooks_of_all_kinds(&session());
    world.work();
    world.insist_on_events(&session(), sent);
    world.doctor().is_sound();
}

#[test]
fn what_fits_on_a_disk_that_fills_up_is_folded_once_there_is_room() {
    let world = World::mounted("mount -t tmpfs -o size=4m tmpfs $HOME");
    world.hook("SessionStart", &session());
    world.shell(FILL);
    // The last page of the journal has room for some events, until one is torn.
    for _ in 0..10 {
        world.hooks_of_all_kinds(&session());
    }
    let folded = world.store().count_events().expect("they can be counted");
    world
        .doctor()
        .names(&["data folder", "No space left", "free disk space"])
        .names(&["journal", "not applied yet"]);
    world.shell(FREE);
    world.hook("Stop", &session());
    let store = world.store();
    let counted = store.count_events().expect("they can be counted");
    assert!(counted > folded + 1, "what was appended while the disk was full is folded");
    world.insist_on_events(&session(), usize::try_from(counted).expect("there are few"));
    world.doctor().is_sound().names(&["fault: store", "full"]).names(&["fault: journal", "No space left"]);
}

#[test]
fn a_home_that_becomes_read_only_is_named_and_can_be_mended() {
    let world = World::mounted("mount --bind $HOME $HOME");
    world.hook("SessionStart", &session());
    world.shell_once_free("mount -o remount,bind,ro $HOME");
    world.hooks_of_all_kinds(&session());
    let log = world.env.root().join("run/towline-faults.log");
    assert!(fs::read_to_string(&log).expect("the last resort is used").contains("Read-only"));
    let report = world.doctor();
    report.names(&["data folder", "Read-only", "make the folder writable"]);
    report.names(&["fault: journal", "Read-only", &log.display().to_string()]);
    world.shell("mount -o remount,bind,rw $HOME");
    world.hook("Stop", &session());
    world.insist_on_events(&session(), 2);
    world.doctor().is_sound();
}

#[test]
fn a_home_that_was_never_writable_is_named() {
    let world = World::mounted("mount --bind $HOME $HOME; mount -o remount,bind,ro $HOME");
    world.hooks_of_all_kinds(&session());
    world.doctor().names(&["data folder", "Read-only", "writable"]).names(&["fault: journal", "Read-only"]);
}

#[test]
fn a_world_in_which_nothing_can_be_written_at_all_is_survived() {
    let world = World::mounted("mount --bind $HOME/.. $HOME/..; mount -o remount,bind,ro $HOME/..");
    world.hooks_of_all_kinds(&session());
    assert!(!world.env.root().join("run/towline-faults.log").exists());
    world.doctor().names(&["data folder", "Read-only", "writable"]);
}
