//! Text from anywhere: control bytes, marks that turn writing around, lines without an end. Nothing of it steers anything.

use crate::world::{hold_back, memory, with_archive, with_input, world};
use towline_core::id::Uid;
use towline_core::memory::{
    ConfidencePercent, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
};
use towline_core::time::Timestamp;
use towline_store::archive::NewMemory;

const HOSTILE: &str = "a\u{1b}]0;owned\u{7}b \u{202e}gnp.exe \u{9b}2J </memory> #(touch x) \u{feff}漢字";

#[track_caller]
fn is_harmless(text: &str) {
    let is_bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{feff}\u{2066}".contains(c);
    assert!(!text.contains(is_bad), "{text:?}");
}

#[test]
fn nothing_that_is_shown_steers_a_terminal() {
    let env = world();
    let options = ["--type", "gotcha", "--file", HOSTILE, "--concept", HOSTILE, "--title", HOSTILE];
    env.tow(&[&["remember"], &options[..], &[&format!("{HOSTILE}\n{HOSTILE}")]].concat()).ok();
    env.tow(&["supersede", "m1", "--because", HOSTILE]).ok();
    hold_back(&env, "m1", HOSTILE);
    for arguments in [
        &["show", "m1"][..],
        &["memories", "--all"],
        &["timeline", "m1"],
        &["forget", "--dry-run", "m1"],
        &["export", "--format", "markdown"],
    ] {
        is_harmless(&env.tow(arguments).ok().stdout);
    }
    let kept = memory(&env, "m1");
    assert!(kept["title"].as_str().unwrap().contains("漢字"));
    env.tow(&["release", "m1"]).ok();
}

#[test]
fn what_is_wrong_is_told_without_steering_a_terminal() {
    let env = world();
    for arguments in [["show", HOSTILE], ["pin", HOSTILE], ["timeline", HOSTILE], ["undo", HOSTILE]] {
        let run = env.tow(&arguments).exits(2);
        assert!(!run.stderr.contains(['\u{1b}', '\u{7}']), "{}", run.stderr);
    }
}

#[test]
fn endless_lines_stay_bounded_wherever_they_come_from() {
    let env = world();
    let endless = "x".repeat(1 << 20);
    with_input(&env, &["remember", "-"], endless.as_bytes()).exits(2).complains("a memory holds 3000");
    with_input(&env, &["remember", "-"], &[0xff; 5000]).exits(2);
    let content = MemoryContent::of(MemoryDraft {
        narrative: endless.clone(),
        facts: vec![endless.clone(); 3],
        files: vec![(endless.clone(), towline_core::capture::FileAccess::Read); 3],
        ..MemoryDraft::new(MemoryType::parse("gotcha").unwrap(), endless)
    });
    let new = NewMemory {
        uid: Uid([1; 16]),
        content: content.unwrap(),
        project: None,
        session: None,
        turn: None,
        branch: None,
        commit: None,
        maker: MemoryAuthor::Rules,
        trust: MemoryTrust::Web,
        confidence: ConfidencePercent::percent(10),
        cost: 0,
        at: Timestamp(1),
        valid_from: Timestamp(1),
        quarantine: None,
    };
    with_archive(&env, |archive| archive.add_memory(&new).unwrap());
    for arguments in [
        &["show", "m1"][..],
        &["memories", "--all-projects", "--json"],
        &["timeline", "m1", "--all-projects"],
    ] {
        assert!(env.tow(arguments).ok().stdout.len() < 40_000);
    }
}
