//! `tow data forget` by every scope: what was meant is in no file, everything else stays, and nothing comes back.

use crate::script::Shape;
use crate::world::{PATIENCE, Words, World, padded};
use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use towline_core::forget::ForgetText;
use towline_core::id::Uid;
use towline_store::archive::{Archive, EraseMode, EraseScope};
use towline_store::lock::ArchiveLock;

/// Two agents, two projects: `first-aa` with three turns, `second-b` with two.
fn lived() -> World {
    let world = World::new();
    let project = world.env.project();
    world.session(Shape::Claude, "first-aaaaaaaa", (&project, 3));
    let elsewhere = world.elsewhere();
    world.session(Shape::Codex, "second-bbbbbbbb", (&elsewhere, 2));
    for (session, turns) in [("first-aaaaaaaa", 3), ("second-bbbbbbbb", 2)] {
        (1..=turns).for_each(|turn| world.has_all_of(&Words::of(session, turn)));
    }
    world
}

/// Reads all transcripts again, first as they are known, then into an archive made anew.
fn read_again(world: &World) {
    world.tow(&["import"]).ok();
    world.tow(&["import", "--rebuild"]).ok();
    world.tow(&["work", "--rebuild"]).ok();
    // What was set aside is not what is read.
    for path in fs::read_dir(world.env.data_dir()).unwrap().map(|entry| entry.unwrap().path()) {
        if path.to_string_lossy().contains(".damaged-") {
            fs::remove_file(path).unwrap();
        }
    }
}

#[track_caller]
fn check(arguments: &[&str], gone: &[(&str, u32)], stays: &[(&str, u32)]) {
    let world = lived();
    let given_out = world.env.home().join("all.jsonl");
    let given_out = given_out.to_string_lossy();
    world.tow(&["export", "--all-projects", "--output", &given_out]).ok();
    let arguments = [&["forget", "--yes"], arguments].concat();
    world.tow(&arguments).ok().prints("forgot");
    let look = |world: &World| {
        gone.iter().for_each(|(session, turn)| world.has_none_of(&Words::of(session, *turn)));
        stays.iter().for_each(|(session, turn)| world.has_all_of(&Words::of(session, *turn)));
    };
    look(&world);
    read_again(&world);
    world.tow(&["import", &given_out]).ok();
    look(&world);
}

const FIRST: &str = "first-aaaaaaaa";
const SECOND: &str = "second-bbbbbbbb";

#[test]
fn a_forgotten_turn_is_in_no_file_and_does_not_come_back() {
    check(&["aaaaaaaa#2"], &[(FIRST, 2)], &[(FIRST, 1), (FIRST, 3), (SECOND, 1), (SECOND, 2)]);
}

#[test]
fn the_last_turns_can_be_forgotten_though_a_reader_remembers_them() {
    check(&["bbbbbbbb#2"], &[(SECOND, 2)], &[(SECOND, 1), (FIRST, 3)]);
    check(&["aaaaaaaa#2-3"], &[(FIRST, 2), (FIRST, 3)], &[(FIRST, 1), (SECOND, 2)]);
}

#[test]
fn a_forgotten_session_is_in_no_file_and_others_stay() {
    let others = [(SECOND, 1), (SECOND, 2)];
    check(&["first-aa"], &[(FIRST, 1), (FIRST, 2), (FIRST, 3)], &others);
}

#[test]
fn a_forgotten_project_is_in_no_file_by_its_name_or_its_folder() {
    let (gone, stays) = ([(SECOND, 1), (SECOND, 2)], [(FIRST, 1), (FIRST, 2), (FIRST, 3)]);
    check(&["--project", "elsewhere"], &gone, &stays);
    check(&["--project", "../elsewhere"], &gone, &stays);
}

#[test]
fn a_forgotten_time_is_in_no_file_whoever_was_at_work() {
    // The second turn of each session, which begin a little more than a minute after the first.
    let (since, until) = ("2026-11-14T23:47:30Z", "2026-11-14T23:48:20Z");
    let stays = [(FIRST, 1), (FIRST, 3), (SECOND, 1)];
    check(&["--since", since, "--until", until], &[(FIRST, 2), (SECOND, 2)], &stays);
}

#[test]
fn a_forgotten_text_is_in_no_file_in_any_case_and_only_what_held_it_goes() {
    let world = lived();
    world
        .tow(&["forget", "--yes", "--match", "ZEPHYR Output of first-aaaaaaaa in 2"])
        .ok()
        .prints("1 tool inputs and outputs");
    let words = Words::of(FIRST, 2);
    assert_eq!(world.places_of(&words.output), Vec::<String>::new());
    assert_ne!(world.places_of(&words.answer), Vec::<String>::new());
    world.tow(&["forget", "--yes", "--match", "zephyr"]).ok();
    assert_eq!(world.places_of("zephyr"), Vec::<String>::new());
    read_again(&world);
    assert_eq!(world.places_of("zephyr"), Vec::<String>::new());
    let kept = world.archive().latest_conversations(None, 10).unwrap();
    assert_eq!(kept.iter().map(|one| one.turns).sum::<u32>(), 5, "the turns stay, without words");
}

#[test]
fn a_text_can_be_given_by_standard_input_and_one_that_is_too_short_is_refused() {
    let world = lived();
    world.env.person_with_input(&["forget", "--yes", "--match", "-"], b"zephyr answer\n").ok();
    assert_eq!(world.places_of("zephyr answer"), Vec::<String>::new());
    world.tow(&["forget", "--yes", "--match", "ab"]).exits(2).complains("too short");
}

#[test]
fn a_text_that_stands_only_in_a_packed_detail_is_found() {
    let world = World::new();
    let project = world.env.project();
    let mut script = world.session(Shape::Claude, FIRST, (&project, 1));
    let hidden = padded("the word quillon").replace("line 3 ", "line q ");
    script
        .prompt("print")
        .tool("Bash", json!({"command": "x"}), &hidden)
        .answer("done")
        .save(&world.env.home());
    world.tow(&["capture", "claude", &script.path(&world.env.home()).display().to_string()]).ok();
    assert!(world.places_of("quillon").iter().any(|place| place.starts_with("unpacked")));
    world.tow(&["forget", "--yes", "--match", "quillon"]).ok().prints("1 tool inputs and outputs");
    assert_eq!(world.places_of("quillon"), Vec::<String>::new());
}

#[test]
fn a_text_that_stands_only_in_the_journal_is_found() {
    let world = lived();
    let script = crate::script::Script::new(Shape::Claude, "third-cccccccc", &world.env.project());
    let record = json!({"event": {"uid": "0190a000-0000-7000-8000-000000000001", "at": script.at, "session": "claude:third-cccccccc",
        "happening": {"prompt_submitted": {"prompt": "the word quillon", "origin": "human"}}}});
    let record: towline_store::journal::JournalRecord = serde_json::from_value(record).unwrap();
    towline_store::journal::append(&world.home(), &[record]).unwrap();
    assert!(world.places_of("quillon").iter().all(|place| place.starts_with("journal")));
    world.tow(&["forget", "--yes", "--match", "Quillon"]).ok();
    assert_eq!(world.places_of("quillon"), Vec::<String>::new());
    assert!(world.store().session(&crate::world::key("claude:third-cccccccc")).unwrap().is_some());
}

#[test]
fn a_text_that_stands_only_in_the_log_of_the_archive_is_gone() {
    let world = lived();
    let home = world.home();
    // Erased from the tables, and killed before anything was cleared out.
    {
        let lock = ArchiveLock::take_within(&home, std::iter::repeat_n(Duration::from_millis(20), 500))
            .unwrap()
            .unwrap();
        let mut archive = Archive::open(&home, &lock, PATIENCE, Uid([1; 16])).unwrap();
        let needle = Arc::new(ForgetText::new("zephyr answer of first").unwrap());
        archive
            .erase(&EraseScope::Text(needle), EraseMode::ForGood, towline_core::time::Timestamp(9))
            .unwrap();
    }
    assert!(world.places_of("zephyr answer of first").contains(&"archive.db-wal".to_owned()));
    world.tow(&["forget", "--yes", "--match", "zephyr answer of first"]).ok();
    assert_eq!(world.places_of("zephyr answer of first"), Vec::<String>::new());
}

#[test]
fn nothing_goes_without_a_yes_and_a_dry_run_changes_nothing() {
    let world = lived();
    world.tow(&["forget", FIRST]).exits(2).complains("--yes");
    let plan = world.tow(&["forget", FIRST, "--dry-run", "--json"]).ok().json();
    assert_eq!((&plan["forgotten"], &plan["archive"]["turns"]), (&json!(false), &json!(3)));
    assert_eq!((&plan["database"]["sessions"], &plan["database"]["turns"]), (&json!(1), &json!(3)));
    (1..=3).for_each(|turn| world.has_all_of(&Words::of(FIRST, turn)));
    let done = world.tow(&["forget", FIRST, "--yes", "--json"]).ok().json();
    for part in ["archive", "database", "journal"] {
        assert_eq!(done[part], plan[part], "what was shown is what went: {part}");
    }
    world.tow(&["forget", FIRST, "--yes"]).exits(2).complains("no session's id");
    world.tow(&["forget", "--yes"]).exits(2).complains("nothing was named");
    world.tow(&["forget", "aaaaaaaa#1.2", "--yes"]).exits(2).complains("--match");
}

#[test]
fn a_session_that_goes_on_after_it_was_forgotten_is_captured_from_then_on() {
    let world = World::new();
    let project = world.env.project();
    let mut script = world.session(Shape::Claude, FIRST, (&project, 2));
    world.env.set_now(script.at);
    world.tow(&["forget", FIRST, "--yes"]).ok();
    script.later(60);
    world.turn(&mut script, &Words::of(FIRST, 3));
    world.has_all_of(&Words::of(FIRST, 3));
    (1..=2).for_each(|turn| world.has_none_of(&Words::of(FIRST, turn)));
}

#[test]
fn forgetting_today_says_nothing_of_the_rest_of_the_day() {
    let world = World::new();
    let project = world.env.project();
    let mut script = world.session(Shape::Claude, FIRST, (&project, 1));
    world.env.set_now(script.at);
    world.tow(&["forget", "today", "--yes"]).ok();
    world.has_none_of(&Words::of(FIRST, 1));
    script.later(60);
    world.turn(&mut script, &Words::of(FIRST, 2));
    world.has_all_of(&Words::of(FIRST, 2));
    world.has_none_of(&Words::of(FIRST, 1));
}

#[test]
fn a_rebuilt_database_knows_what_the_erased_one_knew() {
    let world = lived();
    world.tow(&["forget", "aaaaaaaa#2", "--yes"]).ok();
    world.tow(&["forget", "--match", "zephyr prompt of second-bbbbbbbb in 1", "--yes"]).ok();
    let before = world.told();
    world.tow(&["work", "--rebuild"]).ok();
    assert_eq!(world.told(), before);
}

#[test]
fn databases_that_were_set_aside_are_named_and_deleted() {
    let world = lived();
    world.tow(&["import", "--rebuild"]).ok();
    world.tow(&["work", "--rebuild"]).ok();
    world.tow(&["forget", "--match", "zephyr", "--dry-run"]).ok().prints("cannot be cleaned");
    world.tow(&["forget", "--match", "zephyr", "--yes", "--keep-aside"]).ok().prints("may hold it still");
    assert!(world.places_of("zephyr").iter().all(|place| place.contains(".damaged-")));
    assert_ne!(world.places_of("zephyr"), Vec::<String>::new());
    world.tow(&["forget", "--match", "zephyr", "--yes"]).ok().prints("deleted");
    assert_eq!(world.places_of("zephyr"), Vec::<String>::new());
}

#[test]
fn lines_of_logs_and_what_the_bars_were_told_lose_the_text_too() {
    let world = lived();
    let data = world.env.data_dir();
    fs::write(data.join("faults.log"), "1 store zephyr is full\n2 store another\n").unwrap();
    fs::write(world.env.root().join("run/towline-faults.log"), "3 store Zephyr\n").unwrap();
    fs::create_dir_all(data.join("bars")).unwrap();
    fs::write(data.join("bars/99"), "{\"text\":\"zephyr\"}").unwrap();
    fs::create_dir_all(data.join("backups/claude")).unwrap();
    fs::write(data.join("backups/claude/settings.json"), "{}").unwrap();
    world.tow(&["forget", "--match", "zephyr", "--yes"]).ok();
    assert_eq!(world.places_of("zephyr"), Vec::<String>::new());
    assert_eq!(fs::read_to_string(data.join("faults.log")).unwrap(), "2 store another\n");
    assert!(data.join("backups/claude/settings.json").exists());
}

#[test]
fn a_helpers_words_go_with_the_turn_in_which_it_was_asked() {
    let world = World::new();
    let project = world.env.project();
    let mut script = crate::script::Script::new(Shape::Claude, FIRST, &project);
    script.prompt("first").answer("one").later(60);
    script.prompt("second");
    let mut helper = script.of_helper("ab12");
    helper
        .prompt("zephyr asked")
        .tool("Bash", json!({"command": "x"}), &padded("zephyr output"))
        .answer("zephyr said");
    script.later(30).answer("two");
    script.save(&world.env.home());
    helper.save(&world.env.home());
    world.tow(&["import"]).ok();
    assert_ne!(world.places_of("zephyr said"), Vec::<String>::new());
    world.tow(&["forget", "aaaaaaaa#2", "--yes"]).ok();
    assert_eq!(world.places_of("zephyr"), Vec::<String>::new());
    read_again(&world);
    assert_eq!(world.places_of("zephyr"), Vec::<String>::new());
}

#[test]
fn a_turn_that_a_fork_has_copied_goes_from_both_sessions() {
    let world = World::new();
    let project = world.env.project();
    let mut script = crate::script::Script::new(Shape::Claude, FIRST, &project);
    script.prompt("zephyr asked").answer("zephyr said").prompt("more").answer("two");
    script.save(&world.env.home());
    let text = fs::read_to_string(script.path(&world.env.home())).unwrap();
    // A fork has the entries with their ids in a file of its own.
    let fork = text.replace("\"sessionId\":\"first-aaaaaaaa\"", "\"sessionId\":\"forked-dddddddd\"");
    fs::write(script.path(&world.env.home()).with_file_name("forked-dddddddd.jsonl"), fork).unwrap();
    world.tow(&["import"]).ok();
    assert_eq!(world.archive().latest_conversations(None, 10).unwrap().len(), 2);
    world.tow(&["forget", "aaaaaaaa#1", "--yes"]).ok().prints("2 turns");
    assert_eq!(world.places_of("zephyr"), Vec::<String>::new());
    read_again(&world);
    assert_eq!(world.places_of("zephyr"), Vec::<String>::new());
}
