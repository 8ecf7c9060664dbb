//! The user's own words outlive a full disk and a clock years ahead. `trials` combines these with damaged files and kills.

use std::fs;

use serde_json::json;
use towline_testkit::Run;

use crate::world::{World, session};

const NOON_MS: i64 = 1_800_000_000_000;
const DAY_MS: i64 = 86_400_000;

/// Memories in every state, and bookmarks with labels.
fn with_writing() -> World {
    let world = World::plain();
    world.env.set_now(NOON_MS);
    world.hooks_of_all_kinds(&session());
    let env = &world.env;
    for text in ["Always use tabs.", "Never push on Fridays.", "The mast is painted red.", "It was spaces."] {
        env.tow(&["remember", text]).ok();
    }
    env.tow(&["pin", "M1"]).ok();
    env.tow(&["edit", "M1", "--title", "Always use tabs, in Go too."]).ok();
    env.tow(&["hold", "M3", "--because", "a veto"]).ok();
    env.tow(&["supersede", "M4", "--by", "M1"]).ok();
    env.tow(&["bookmark", "before the storm", "--session", session().id.as_str()]).ok();
    env.wait_no_process();
    world.work();
    world
}

#[test]
fn a_full_disk_refuses_a_memory_or_keeps_it_and_loses_none_that_was_kept() {
    let world = World::mounted("mount -t tmpfs -o size=8m tmpfs $HOME");
    world.shell("tow remember 'The mast is red.'");
    world.shell("cat /dev/zero > $HOME/filler 2>/dev/null || true");
    let told = Run::of(world.command("tow").args(["remember", "The sail is blue."]), b"");
    world.shell("rm $HOME/filler");
    let all = world.shell("tow memories --all --all-projects --json").stdout;
    assert!(all.contains("The mast is red."), "{all}");
    assert_eq!(all.contains("The sail is blue."), told.status.success(), "{told:?}");
    world.shell("tow remember 'The sail is blue.'");
    let data = world.data();
    let memories = fs::read(data.memory_log()).expect("it can be read");
    let memories = String::from_utf8_lossy(&memories);
    assert!(memories.contains("The mast is red.") && memories.contains("The sail is blue."), "{memories}");
}

/// The doctor called it a fresh start, and only the next `tow remember` brought them back.
#[test]
fn memories_of_a_deleted_or_emptied_archive_were_gone_until_the_next_one_was_told() {
    let world = with_writing();
    let listed = || world.env.tow(&["memories", "--all", "--all-projects", "--json"]).ok().stdout;
    let (before, archive) = (listed(), world.data().archive());
    let lose: [&dyn Fn(); 2] = [&|| fs::remove_file(&archive).expect("it is there"), &|| {
        fs::write(&archive, "").expect("it is writable")
    }];
    for lose in lose {
        world.env.wait_no_process();
        lose();
        let mend = world.doctor().names(&["archive", "missing or empty", "memory log"]).mend("archive");
        assert_eq!(mend, "tow data work");
        world.shell(&mend);
        assert_eq!(listed(), before);
    }
}

/// The label's event did not say where its session runs, and the events that did were lost.
#[test]
fn a_label_that_was_set_after_the_journal_was_lost_had_no_project_after_a_rebuild() {
    let world = with_writing();
    let listed =
        || world.env.tow(&["bookmarks", "--all-projects", "--json"]).ok().json()["bookmarks"].clone();
    fs::remove_dir_all(world.data().journal()).expect("it is there");
    world.work();
    world.env.tow(&["bookmark", "after the storm", "--session", session().id.as_str()]).ok();
    world.env.wait_no_process();
    let before = listed();
    assert_eq!(before.as_array().map(Vec::len), Some(2), "{before}");
    for file in [world.data().database(), world.data().write_ahead_log()] {
        fs::remove_file(file).expect("it is there");
    }
    world.work();
    assert_eq!(listed(), before);
}

#[test]
fn a_clock_three_years_ahead_deletes_nothing_and_the_doctor_says_so() {
    let world = with_writing();
    let sent = world.store().count_events().expect("they can be counted");
    world.env.set_now(NOON_MS + 3 * 365 * DAY_MS);
    // The hook may start the upkeep that is due; otherwise the command does it.
    world.hook("SessionStart", &session());
    world.env.wait_no_process();
    let report = Run::of(world.command("tow").args(["work", "--json"]), b"").ok().json();
    assert_eq!((&report["expired_events"], &report["expired_conversations"]), (&json!(0), &json!(0)));
    assert!(world.store().count_events().expect("they can be counted") > sent);
    world.doctor().names(&["fault: clock", "1095 days", "tow data work --expire"]);
    let forced = world.env.person(&["work", "--expire", "--json"]).ok().json();
    assert!(forced["expired_events"].as_u64() >= Some(sent), "{forced}");
}

/// A pipe in the place of a transcript blocked every capture.
#[test]
fn a_pipe_in_the_place_of_a_transcript_holds_up_no_capture() {
    let world = World::plain();
    let pipe = world.env.root().join("pipe.jsonl");
    world.shell(&format!("mkfifo {}", pipe.display()));
    world.env.tow(&["capture", "claude", &pipe.display().to_string()]);
    world.env.wait_no_process();
    world.work();
    world.doctor().names(&["fault: store", "pipe.jsonl", "not a plain file"]);
}
