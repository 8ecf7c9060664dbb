//! A database file that is damaged, or was written by a newer version.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use towline_store::DataFolder;

use crate::world::{World, session};

const PAGE: usize = 4096;

/// A world with some history, all of it in the database file itself.
fn with_history() -> (World, usize) {
    let world = World::plain();
    let sent = world.hooks_of_all_kinds(&session());
    world.env.wait_no_process();
    world.work();
    (world, sent)
}

/// Damages the file, and insists that it is moved aside as it is, rebuilt from the journal, and spoken of.
#[track_caller]
fn check_rebuilt(damage: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let (world, sent) = with_history();
    let database = world.data().database();
    let damaged = damage(fs::read(&database).expect("it can be read"));
    fs::write(&database, &damaged).expect("it can be written");
    world.doctor().names(&["database", "damaged", "tow data work"]);
    world.hook("UserPromptSubmit", &session());
    world.insist_on_events(&session(), sent + 1);
    let aside = set_aside(&world.data());
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert!(fs::read(&aside[0]).expect("it can be read") == damaged, "the damaged file was changed");
    let shown = aside[0].display().to_string();
    world.doctor().is_sound().names(&["fault: rebuilt", &shown, "nothing is lost"]);
    let told = world.hook("SessionStart", &session());
    assert!(told.stdout.contains(&shown), "the next session is told: {told:?}");
}

/// Databases that were moved aside, without their companions.
fn set_aside(home: &DataFolder) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.folder()).expect("it can be listed");
    let names = entries.map(|entry| entry.expect("it is there").file_name().to_string_lossy().into_owned());
    let is_companion = |name: &str| name.ends_with("-wal") || name.ends_with("-shm");
    let databases = names.filter(|name| name.contains(".damaged") && !is_companion(name));
    databases.map(|name| home.folder().join(name)).collect()
}

#[test]
fn garbage_is_moved_aside_and_rebuilt() {
    check_rebuilt(|bytes| bytes.iter().map(|byte| byte.wrapping_mul(31).wrapping_add(17)).collect());
}

#[test]
fn a_truncated_database_is_moved_aside_and_rebuilt() {
    check_rebuilt(|bytes| bytes[..bytes.len() / 2].to_vec());
}

#[test]
fn a_database_cut_within_its_header_is_moved_aside_and_rebuilt() {
    check_rebuilt(|bytes| bytes[..50].to_vec());
}

#[test]
fn an_empty_database_is_filled_from_the_journal() {
    let (world, sent) = with_history();
    fs::write(world.data().database(), "").expect("it can be written");
    world.hook("UserPromptSubmit", &session());
    world.insist_on_events(&session(), sent + 1);
    world.doctor().is_sound();
}

#[test]
fn a_rebuild_needs_no_folder_but_the_journal() {
    let (world, sent) = with_history();
    fs::remove_file(world.data().marks()).expect("it is there");
    fs::write(world.data().database(), [b'x'; 3 * PAGE]).expect("it can be written");
    world.hook("UserPromptSubmit", &session());
    world.insist_on_events(&session(), sent + 1);
    world.doctor().is_sound().names(&["fault: rebuilt", "damaged"]);
}

/// Any page: what the hook does not stumble over the doctor finds, and the mend that it names mends.
#[test]
fn any_flipped_page_is_found_and_mended() {
    let (world, mut sent) = with_history();
    let database = world.data().database();
    let sound = fs::read(&database).expect("it can be read");
    assert!(sound.len() > 10 * PAGE);
    let (mut stumbled, mut mended) = (0, 0);
    for page in 0..sound.len() / PAGE {
        // A process that still reads would leave pages in the log, and the file short.
        world.env.wait_no_process();
        world.work();
        let mut bytes = fs::read(&database).expect("it can be read");
        let Some(bytes_of_page) = bytes.get_mut(page * PAGE..(page + 1) * PAGE) else { break };
        bytes_of_page.iter_mut().for_each(|byte| *byte ^= 0xff);
        fs::write(&database, bytes).expect("it can be written");
        let kept = set_aside(&world.data()).len();
        world.hook("UserPromptSubmit", &session());
        sent += 1;
        if set_aside(&world.data()).len() > kept {
            stumbled += 1;
        } else if !world.store().complaints().is_ok_and(|complaints| complaints.is_empty()) {
            let mend = world.doctor().mend("database");
            world.shell(&mend);
            mended += 1;
        }
        world.insist_on_events(&session(), sent);
        world.doctor().is_sound();
    }
    println!("{stumbled} pages were noticed by the hook, {mended} by the doctor");
    assert!(stumbled > 0 && mended > 0);
}

/// Where the schema's number stands in the file: byte 60 of SQLite's header.
fn stamp_schema(home: &DataFolder, schema: u32) -> u32 {
    let file = File::options().read(true).write(true).open(home.database()).expect("it is there");
    let mut before = [0; 4];
    file.read_exact_at(&mut before, 60).expect("it has a header");
    file.write_all_at(&schema.to_be_bytes(), 60).expect("it is writable");
    u32::from_be_bytes(before)
}

#[test]
fn events_wait_in_the_journal_while_the_schema_is_a_newer_one() {
    let (world, mut sent) = with_history();
    let ours = stamp_schema(&world.data(), 99);
    assert_eq!(ours, towline_store::SCHEMA);
    sent += world.hooks_of_all_kinds(&session());
    world.doctor().names(&["database", "schema 99 is newer", "update tow"]);
    assert_eq!(stamp_schema(&world.data(), ours), 99);
    world.hook("UserPromptSubmit", &session());
    world.insist_on_events(&session(), sent + 1);
    world.doctor().is_sound();
}
