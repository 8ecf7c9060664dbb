//! The user's own words outlive everything that happens to the files: kills, damaged pages, emptied and deleted files, a
//! clock years ahead, a full disk.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use towline_testkit::Run;
use towline_testkit::mutate::Dice;

use crate::world::{World, session};

const NOON_MS: i64 = 1_800_000_000_000;
const DAY_MS: i64 = 86_400_000;
const PAGE: usize = 4096;
/// Told again and again, which is counted.
const USE: &str = "Use the product.";

/// How many injuries there are: `TOWLINE_INJURIES` asks for more than a suite has time for.
fn injuries() -> u64 {
    let asked = std::env::var("TOWLINE_INJURIES");
    asked.ok().and_then(|injuries| injuries.parse().ok()).unwrap_or(24)
}

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

/// Everything that the user wrote, as the product shows it.
#[track_caller]
fn written(world: &World) -> Value {
    let env = &world.env;
    let all = env.tow(&["memories", "--all", "--all-projects", "--limit", "5000", "--json"]).ok().json();
    let mut memories = all["memories"].as_array().expect("they are listed").clone();
    memories.retain(|memory| memory["title"] != USE);
    memories.sort_by_key(|memory| memory["id"].as_str().map(str::to_owned));
    let marks = env.tow(&["bookmarks", "--all-projects", "--json"]).ok().json();
    let label = |mark: &Value| json!([mark["label"], mark["session"], mark["set_at"]]);
    let labels: Vec<Value> = marks["bookmarks"].as_array().into_iter().flatten().map(label).collect();
    json!({"memories": memories, "labels": labels})
}

type Injury = fn(&World, &mut Dice);

const INJURIES: [(&str, Injury); 8] = [
    ("archive pages", |world, dice| damage(world.data().archive(), dice)),
    ("archive emptied", |world, _| fs::write(world.data().archive(), "").expect("it is writable")),
    ("archive deleted", |world, _| fs::remove_file(world.data().archive()).expect("it is there")),
    ("log pages", |world, dice| damage(world.data().memory_log(), dice)),
    ("log emptied", |world, _| fs::write(world.data().memory_log(), "").expect("it is writable")),
    ("database pages", |world, dice| damage(world.data().database(), dice)),
    ("database emptied", |world, _| fs::write(world.data().database(), "").expect("it is writable")),
    ("clock ahead", |world, dice| {
        let years = 1 + i64::try_from(dice.below(4)).expect("it is small");
        world.env.set_now(NOON_MS + years * 365 * DAY_MS);
        world.hook("Stop", &session());
        world.work();
    }),
];

/// Flips four pages, or what there is of them.
fn damage(file: PathBuf, dice: &mut Dice) {
    let mut bytes = fs::read(&file).expect("it can be read");
    for _ in 0..4 {
        let page = dice.below(bytes.len().div_ceil(PAGE));
        bytes.iter_mut().skip(page * PAGE).take(PAGE).for_each(|byte| *byte ^= 0xff);
    }
    fs::write(&file, bytes).expect("it can be written");
}

/// An agent's `tow remember`, killed at some point. Returns whether it said that it was done.
fn killed(world: &World, text: &str, dice: &mut Dice) -> bool {
    let mut command = world.env.command("tow");
    command.args(["remember", text]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    for _ in 0..dice.below(60_000) {
        if child.try_wait().expect("it is ours").is_some() {
            break;
        }
    }
    let _ = child.kill();
    child.wait().expect("it is ours").success()
}

/// Uses the product, and does what the doctor says.
#[track_caller]
fn use_and_mend(world: &World) {
    world.env.set_now(NOON_MS + DAY_MS);
    world.hook("UserPromptSubmit", &session());
    world.env.wait_no_process();
    Run::of(world.command("tow").arg("work"), b"");
    for name in ["archive", "database"] {
        if let Some(mend) = world.doctor().mend_of(name) {
            world.shell(&mend);
        }
    }
    // A writer brings back what the archive lacks.
    world.env.tow(&["remember", USE]).ok();
}

#[test]
fn what_the_user_wrote_survives_kills_damage_and_wrong_clocks_byte_for_byte() {
    let (world, mut dice) = (with_writing(), Dice::new(21, 6));
    use_and_mend(&world);
    let mut before = written(&world);
    let mut counts = std::collections::BTreeMap::new();
    for injury in 0..injuries() {
        world.env.wait_no_process();
        let text = format!("Rule number {injury} of the ship.");
        let is_done = killed(&world, &text, &mut dice);
        // A command that was killed between the log and the archive is done by the next writer.
        world.env.tow(&["remember", USE]).ok();
        let after = written(&world);
        let is_there = after.to_string().contains(&text);
        assert!(is_there || !is_done, "{text} was stored, and is gone");
        if is_there {
            before = after;
        }
        let (name, injure) = INJURIES[dice.below(INJURIES.len())];
        injure(&world, &mut dice);
        use_and_mend(&world);
        assert_eq!(written(&world), before, "after {name}, injury {injury}");
        *counts.entry(name).or_insert(0) += 1;
    }
    println!("{} injuries: all that the user wrote is there, byte for byte ({counts:?})", injuries());
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
    world.doctor().names(&["fault: clock", "1095 days", "tow work --expire"]);
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
