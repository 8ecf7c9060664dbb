//! A baton that is passed on one machine and taken on another of the same person.

use super::talk::Talk;
use super::world::{KEY, NOON, Server, Site, holds, sync};
use serde_json::Value;
use towline_testkit::TestEnv;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// A session of the desk that worked and passed its baton, told to the hub.
fn pass_on(desk: &TestEnv, id: &'static str, at: i64) {
    let talk = Talk::begin(desk, id, at);
    let answer = "I spliced it with marline.\n\nNext steps:\n- whip the bitterend of the halyard";
    talk.turn("mend the topsail halyard", "tarred twine is in the locker", answer);
    talk.pass_baton();
    sync(desk);
}

fn batons(env: &TestEnv) -> Vec<Value> {
    env.tow(&["baton", "--list", "--json"]).ok().json()["batons"].as_array().unwrap().clone()
}

/// Every decision as `heir way from on machine`, oldest first.
fn decisions(env: &TestEnv) -> Vec<String> {
    let log = env.tow(&["inherit", "log", "--all-projects", "--json"]).ok().json();
    let word = |row: &Value, name: &str| row[name].as_str().unwrap_or("-").to_owned();
    let told = |row: &Value| ["heir", "way", "from", "machine"].map(|name| word(row, name)).join(" ");
    log["decisions"].as_array().unwrap().iter().rev().map(told).collect()
}

#[test]
fn the_next_session_on_another_machine_takes_the_baton_once_and_says_what_stayed_there() {
    let site = Site::with_team(Server::Debian);
    let (desk, laptop) = (site.sharing("ann_login", "desk"), site.sharing("ann_login", "laptop"));
    pass_on(&desk, "far-one", NOON);
    sync(&laptop);
    assert_eq!(batons(&laptop)[0]["machine"], "desk", "{:?}", batons(&laptop));
    laptop.tow(&["baton", "--list"]).ok().prints(" on desk, for ");
    let given = Talk::begin(&laptop, "near-two", NOON + 10 * MINUTE).given("go on");
    assert!(given.contains("Carried over by Towline from session claude:far-one"), "{given}");
    assert!(given.contains("It ran on desk") && given.contains("what was said, its tool calls"), "{given}");
    assert!(given.contains("mend the topsail halyard — ran"), "its line came: {given}");
    assert!(given.contains("Summary of that session") && given.contains("whip the bitterend"), "{given}");
    assert!(!given.contains("last directive") && !given.contains("tarred twine"), "no words did: {given}");
    let again = Talk::begin(&laptop, "near-three", NOON + 11 * MINUTE).given("go on");
    assert!(!again.contains("Carried over"), "{again}");
    assert_eq!(decisions(&laptop), ["claude:near-two baton claude:far-one desk"]);
    laptop.tow(&["inherit", "log", "--all-projects"]).ok().prints("← claude far-one on desk (baton");
    laptop.tow(&["context", "far-one"]).ok().prints("It ran on desk");
    assert!(batons(&laptop).is_empty());
    assert_eq!(batons(&desk).len(), 1, "nobody has told it yet");
    sync(&laptop);
    sync(&desk);
    assert!(batons(&desk).is_empty(), "{:?}", batons(&desk));
    let late = Talk::begin(&desk, "far-four", NOON + 12 * MINUTE).given("go on");
    assert!(!late.contains("Carried over"), "it was taken on the laptop: {late}");
}

#[test]
fn with_bodies_the_last_turns_come_too_and_a_clock_that_is_ahead_gives_no_longer_life() {
    let site = Site::with_team(Server::Debian);
    let (desk, laptop) = (site.sharing("ann_login", "desk"), site.sharing("ann_login", "laptop"));
    desk.tow(&["hub", "share", ".", "--as", KEY, "--bodies"]).ok();
    desk.wait_no_process();
    pass_on(&desk, "far-one", NOON + 24 * HOUR);
    sync(&laptop);
    let late = Talk::begin(&laptop, "near-late", NOON + 62 * MINUTE).given("go on");
    assert!(!late.contains("Carried over"), "an hour after it came it is no more: {late}");
    assert!(decisions(&laptop)[0].starts_with("claude:near-late none"), "{:?}", decisions(&laptop));
    let given = Talk::begin(&laptop, "near-two", NOON + 30 * MINUTE).given("go on");
    assert!(given.contains("The person's last directive (far-one#1"), "{given}");
    assert!(given.contains("I spliced it with marline") && !given.contains("tarred twine"), "{given}");
    assert!(given.contains("Only there, and not on this one: its tool calls."), "{given}");
}

#[test]
fn beside_a_baton_of_this_machine_a_person_chooses_and_a_fresh_start_is_heard_of_elsewhere() {
    let site = Site::with_team(Server::Debian);
    let (desk, laptop) = (site.sharing("ann_login", "desk"), site.sharing("ann_login", "laptop"));
    let own = Talk::begin(&laptop, "near-one", NOON);
    own.turn("paint the mast", "red lead", "The mast is red");
    own.pass_baton();
    pass_on(&desk, "far-one", NOON);
    sync(&laptop);
    let heir = Talk::begin(&laptop, "near-two", NOON + MINUTE);
    let said = heir.prompt("go on")["systemMessage"].as_str().unwrap_or("").to_owned();
    assert!(said.contains("claude:far-one on desk") && said.contains("near-one"), "{said}");
    laptop.set_now(NOON + 2 * MINUTE);
    laptop
        .tow(&["inherit", "take", "far-one", "--session", "near-two"])
        .ok()
        .prints("goes on with claude far-one");
    let given = heir.given("go on");
    assert!(given.contains("from session claude:far-one") && given.contains("It ran on desk"), "{given}");
    assert_eq!(
        decisions(&laptop),
        ["claude:near-two ambiguous - -", "claude:near-two taken claude:far-one desk"]
    );
    pass_on(&desk, "far-two", NOON + 3 * MINUTE);
    laptop.tow(&["baton", "--drop", "--session", "near-one"]).ok();
    sync(&laptop);
    assert_eq!(batons(&laptop)[0]["session"], "claude:far-two", "{:?}", batons(&laptop));
    desk.tow(&["fresh", "--session", "far-two"]).ok();
    sync(&desk);
    sync(&laptop);
    let fresh = Talk::begin(&laptop, "near-three", NOON + 4 * MINUTE).given("go on");
    assert!(!fresh.contains("Carried over"), "{fresh}");
}

/// Whoever forgets it, where it was passed or where it came to.
#[test]
fn with_its_session_a_baton_is_forgotten_everywhere_and_taken_nowhere() {
    let site = Site::with_team(Server::Debian);
    let (desk, laptop) = (site.sharing("ann_login", "desk"), site.sharing("ann_login", "laptop"));
    let rounds = [(NOON, "far-one", &desk, &laptop), (NOON + 10 * MINUTE, "far-two", &laptop, &desk)];
    for (at, id, forgetful, other) in rounds {
        [&desk, &laptop].into_iter().for_each(|machine| machine.set_now(at));
        pass_on(&desk, id, at);
        desk.tow(&["bookmark", "stormglass", "--session", id]).ok();
        // The bookmark's code state is recorded in the background, and would be told after the session is forgotten.
        desk.wait_no_process();
        sync(&desk);
        sync(&laptop);
        assert_eq!(batons(&laptop)[0]["session"], format!("claude:{id}"), "{:?}", batons(&laptop));
        assert!(holds(&laptop, "stormglass"), "the bookmark came, too");
        forgetful.tow(&["forget", id, "--yes"]).ok();
        sync(forgetful);
        sync(other);
        // The machine that captured the session withdraws its summary from the hub with its next sync, which is due after a
        // minute.
        [&desk, &laptop].into_iter().for_each(|machine| work_later(machine, at + 2 * MINUTE));
        for machine in [&desk, &laptop] {
            machine.wait_no_process();
            assert!(batons(machine).is_empty(), "{id}: {:?}", batons(machine));
            for word in ["bitterend", "stormglass"] {
                assert!(!holds(machine, word), "{id}: {word}");
            }
        }
        let kept = desk.tow(&["hub", "export", "-"]).ok().stdout;
        assert!(!kept.contains("bitterend") && !kept.contains("stormglass"), "{kept}");
        assert_eq!(sync(other)["sent"], 0, "nobody tells what everybody knows");
    }
    for (machine, heir) in [(&laptop, "near-three"), (&desk, "far-three")] {
        let given = Talk::begin(machine, heir, NOON + 15 * MINUTE).given("go on");
        assert!(!given.contains("Carried over"), "{given}");
    }
}

/// Background work at this time. With a clock that stands still, whether its sync is due depended on the load.
fn work_later(machine: &TestEnv, at: i64) {
    machine.wait_no_process();
    machine.set_now(at);
    machine.tow(&["work"]).ok();
}

#[test]
fn a_teammates_baton_is_shown_and_never_taken() {
    let site = Site::with_team(Server::Debian);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    pass_on(&desk, "far-one", NOON);
    sync(&cabin);
    cabin.tow(&["status"]).ok();
    let own = Talk::begin(&cabin, "near-one", NOON + MINUTE);
    let shown = batons(&cabin);
    assert_eq!((shown.len(), &shown[0]["person"]), (1, &"ann".into()), "{shown:?}");
    cabin.tow(&["baton", "--list"]).ok().prints("of ann, which is theirs to take");
    let given = own.given("go on");
    assert!(!given.contains("Carried over"), "{given}");
    assert!(decisions(&cabin).is_empty(), "{:?}", decisions(&cabin));
}
