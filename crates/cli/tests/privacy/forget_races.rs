//! Forgetting while others are at work, and forgetting that is killed: nothing is lost, and a second try does it fully.

use crate::script::{Script, Shape};
use crate::world::{Words, World};
use serde_json::json;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;
use towline_testkit::wait;

const FIRST: &str = "first-aaaaaaaa";

/// Some sessions of which one is to be forgotten, and something set aside.
fn lived() -> World {
    let world = World::new();
    let project = world.env.project();
    world.session(Shape::Claude, FIRST, (&project, 2));
    world.session(Shape::Codex, "second-bbbbbbbb", (&project, 1));
    world.tow(&["import", "--rebuild"]).ok();
    world
}

fn start(world: &World, arguments: &[&str]) -> Child {
    let mut command = world.env.person_command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Starts to forget, kills it as soon as `sign` is seen, and forgets again.
#[track_caller]
fn check_killed(arguments: &[&str], sign: impl Fn(&Path) -> bool) {
    let world = lived();
    let all = [&["forget", "--yes"], arguments].concat();
    let mut child = start(&world, &all);
    let data = world.env.data_dir();
    wait::until("the sign, or the end", wait::PATIENCE, || {
        (sign(&data) || child.try_wait().unwrap().is_some()).then_some(())
    });
    // It may have ended by itself: then there is nothing to kill, and nothing to be left.
    let _ = child.kill();
    child.wait().unwrap();
    world.env.wait_no_process();
    let again = world.tow(&all);
    let is_done = again.status.success()
        || again.stderr.contains("no session's id")
        || again.stderr.contains("no turn");
    assert!(is_done, "{again:#?}");
    (1..=2).for_each(|turn| world.has_none_of(&Words::of(FIRST, turn)));
    world.has_all_of(&Words::of("second-bbbbbbbb", 1));
    assert!(!data.join("erasing").exists());
    let before = world.told();
    world.tow(&["work", "--rebuild"]).ok();
    assert_eq!(world.told(), before);
}

#[test]
fn forgetting_that_is_killed_at_its_beginning_is_done_by_a_second_try() {
    check_killed(&[FIRST], |data| data.join("erasing").exists());
}

#[test]
fn forgetting_that_is_killed_when_the_journal_is_sealed_is_done_by_a_second_try() {
    check_killed(&[FIRST], |data| data.join("journal/00000001.sealed").exists());
    check_killed(&["aaaaaaaa#1-2"], |data| data.join("journal/00000001.sealed.new").exists());
}

#[test]
fn forgetting_that_is_killed_when_set_aside_files_are_deleted_is_done_by_a_second_try() {
    let aside = |data: &Path| {
        let names = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().contains(".damaged-")).count()
    };
    check_killed(&[FIRST], |data| data.join("erasing").exists() && aside(data) == 0);
}

#[test]
fn forgetting_that_is_killed_once_the_marks_are_kept_is_done_by_a_second_try() {
    check_killed(&[FIRST], |data| data.join("forgotten").exists());
    check_killed(&["--match", FIRST_WORDS], |data| data.join("forgotten").exists());
}

#[test]
fn forgetting_that_is_killed_again_and_again_is_done_at_last_and_loses_nothing_else() {
    let world = lived();
    let all = ["forget", "--yes", "--match", FIRST_WORDS];
    for moment in (1..40).map(|step| Duration::from_millis(step * 7)) {
        let mut child = start(&world, &all);
        let has_ended = wait::holds_within(moment, || child.try_wait().unwrap().is_some());
        if !has_ended {
            child.kill().unwrap();
        }
        child.wait().unwrap();
    }
    world.tow(&all).ok();
    (1..=2).for_each(|turn| world.has_none_of(&Words::of(FIRST, turn)));
    world.has_all_of(&Words::of("second-bbbbbbbb", 1));
    let before = world.told();
    assert_eq!(world.store().hook_turns(&crate::world::key("claude:first-aaaaaaaa")).unwrap().len(), 2);
    world.tow(&["work", "--rebuild"]).ok();
    assert_eq!(world.told(), before);
}

/// Holds of all that the first session said and of nothing else.
const FIRST_WORDS: &str = "of first-aaaaaaaa in";

#[test]
fn an_interrupted_clearing_out_is_finished_by_the_next_work() {
    let world = lived();
    // The import has started one that may be past it by now.
    world.env.wait_no_process();
    std::fs::write(world.env.data_dir().join("erasing"), "").unwrap();
    world.tow(&["work"]).ok();
    assert!(!world.env.data_dir().join("erasing").exists());
}

#[test]
fn hooks_that_run_at_the_same_time_lose_nothing() {
    let world = lived();
    let rounds = 25;
    thread::scope(|scope| {
        for name in ["third-cccccccc", "fourth-dddddddd"] {
            let world = &world;
            scope.spawn(move || {
                let script = Script::new(Shape::Claude, name, &world.env.project());
                for round in 0..rounds {
                    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": script.session,
                        "cwd": script.folder(), "prompt": format!("{name} asks {round}.")});
                    world.env.hook("claude", prompt.to_string()).ok();
                }
            });
        }
        for turn in 1..=2 {
            world.tow(&["forget", "--yes", "--match", &Words::of(FIRST, turn).prompt]).ok();
        }
        world.tow(&["forget", "--yes", FIRST]).ok();
    });
    world.tow(&["work"]).ok();
    world.env.wait_no_process();
    let heard = |world: &World| -> Vec<usize> {
        let of = |name: &str| world.store().hook_turns(&crate::world::key(name)).unwrap().len();
        ["claude:third-cccccccc", "claude:fourth-dddddddd"].map(of).to_vec()
    };
    assert_eq!(heard(&world), [rounds, rounds]);
    world.tow(&["work", "--rebuild"]).ok();
    assert_eq!(heard(&world), [rounds, rounds]);
    (1..=2).for_each(|turn| world.has_none_of(&Words::of(FIRST, turn)));
}
