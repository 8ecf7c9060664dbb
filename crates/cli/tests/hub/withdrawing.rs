//! Taking a project back: from the hub, and from everybody who has it.

use super::talk::Talk;
use super::world::{KEY, NOON, Server, Site, holds, remember, sync, titles};
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::memory::{
    ConfidencePercent, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
};
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_store::archive::{Archive, NewMemory};
use towline_store::lock::ArchiveLock;
use towline_testkit::{TestEnv, wait};

/// One of each kind of row that travels.
const WORDS: [&str; 8] = [
    "topsail halyard",
    "tarred twine",
    "marline",
    "bitterend",
    "kestrel",
    "stormglass",
    "heronry",
    "oldoakum",
];

/// What a session said and did, a memory, one that no longer holds and why, a bookmark and a baton.
fn live_through(desk: &TestEnv) {
    let talk = Talk::begin(desk, "desk-one", NOON);
    let answer = "I spliced it with marline.\n\nNext steps:\n- whip the bitterend of the halyard";
    talk.turn("mend the topsail halyard", "tarred twine is in the locker", answer);
    remember(desk, "The kestrel nests in the mast");
    let old = remember(desk, "The heronry is to port");
    desk.tow(&["supersede", &old, "--because", "oldoakum says otherwise"]).ok();
    desk.tow(&["bookmark", "stormglass", "--session", "desk-one"]).ok();
    talk.pass_baton();
}

#[track_caller]
fn holds_all(site: &Site, envs: &[&TestEnv]) {
    let dumped = site.postgres.dumped("towline");
    for word in WORDS {
        assert!(dumped.contains(word), "the hub has no `{word}`");
        assert!(envs.iter().all(|env| holds(env, word)), "`{word}` is missing");
    }
}

#[track_caller]
fn hub_holds_nothing(site: &Site) {
    let dumped = site.postgres.dumped("towline");
    for word in WORDS.iter().flat_map(|words| words.split_whitespace()) {
        assert!(!dumped.contains(word), "the hub still has `{word}`");
    }
}

#[track_caller]
fn holds_nothing(env: &TestEnv) {
    env.wait_no_process();
    for word in WORDS.iter().flat_map(|words| words.split_whitespace()) {
        assert!(!holds(env, word), "`{word}` is still there");
    }
}

fn status(env: &TestEnv) -> Value {
    env.tow(&["hub", "status", "--json"]).ok().json()
}

fn a_project_comes_back_with_all_that_its_person_gave(server: Server) {
    let site = Site::with_team(server);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    live_through(&desk);
    let share = |env: &TestEnv| {
        env.tow(&["hub", "share", ".", "--as", KEY, "--details"]).ok();
        env.wait_no_process();
        sync(env)
    };
    share(&desk);
    sync(&cabin);
    cabin.tow(&["work"]).ok();
    holds_all(&site, &[&desk, &cabin]);
    let would = desk.tow(&["hub", "unshare", ".", "--withdraw", "--dry-run", "--json"]).ok().json();
    for kind in ["memory", "line", "body", "detail", "bookmark", "baton", "summary"] {
        assert!(would["kinds"][kind].as_u64().unwrap() > 0, "{kind}: {would}");
    }
    holds_all(&site, &[&desk, &cabin]);
    let done = desk.tow(&["hub", "unshare", ".", "--withdraw", "--json"]).ok().json();
    assert_eq!(done["rows"], would["rows"], "{done}");
    hub_holds_nothing(&site);
    assert_eq!(status(&desk)["projects"], Value::Array(vec![]));
    sync(&cabin);
    holds_nothing(&cabin);
    assert!(titles(&cabin).iter().any(|title| title.contains("cabin keeps its tools")), "his own stays");
    assert!(site.postgres.dumped("towline").contains("cabin keeps its tools"), "and the hub has it");
    assert!(WORDS.iter().all(|word| holds(&desk, word)), "hers stays with her");
    remember(&desk, "The kestrel has left");
    sync(&desk);
    hub_holds_nothing(&site);
    share(&desk);
    sync(&cabin);
    cabin.tow(&["work"]).ok();
    holds_all(&site, &[&desk, &cabin]);
    desk.tow(&["hub", "leave", "--withdraw", "--dry-run"]).ok().prints("rows would be taken back");
    desk.tow(&["hub", "leave", "--withdraw"]).ok().prints("rows were taken back");
    assert_eq!(status(&desk)["joined"], false);
    hub_holds_nothing(&site);
    sync(&cabin);
    holds_nothing(&cabin);
}

#[test]
fn a_project_comes_back_with_all_that_its_person_gave_with_tls() {
    a_project_comes_back_with_all_that_its_person_gave(Server::Debian);
}

#[test]
fn a_project_comes_back_with_all_that_its_person_gave_with_vectors() {
    a_project_comes_back_with_all_that_its_person_gave(Server::Vectors);
}

/// More than one page of memories.
fn remember_many(env: &TestEnv, count: u32) {
    let home = DataFolder::at(env.data_dir());
    let pauses = std::iter::repeat_n(Duration::from_millis(20), 500);
    let lock = ArchiveLock::take_within(&home, pauses).unwrap().unwrap();
    let archive = Archive::open(&home, &lock, Duration::ZERO, Uid([7; 16])).unwrap();
    let project = archive.shared_projects().unwrap().remove(0).row;
    let add = |number: u32| {
        let title = format!("Rope {number} is of hemp");
        let kind = MemoryType::parse("discovery").unwrap();
        archive.add_memory(&NewMemory {
            uid: Uid::derived(Timestamp(NOON), &[&title]),
            content: MemoryContent::of(MemoryDraft::new(kind, &title)).unwrap(),
            project: Some(project),
            session: None,
            turn: None,
            branch: None,
            commit: None,
            maker: MemoryAuthor::Rules,
            trust: MemoryTrust::Agent,
            confidence: ConfidencePercent::percent(70),
            cost: 1,
            at: Timestamp(NOON),
            valid_from: Timestamp(NOON),
            quarantine: None,
        })
    };
    archive.in_transaction(|| (0..count).try_for_each(|number| add(number).map(drop))).unwrap();
}

fn count(site: &Site, which: &str) -> u32 {
    let query = format!("select count(*) from towline.rows where words like '%of hemp%' {which}");
    site.postgres.run_in("towline", &query).trim().parse().unwrap()
}

#[test]
fn killed_half_way_the_next_exchange_goes_on_and_only_then_the_project_is_off() {
    let site = Site::with_team(Server::Debian);
    let desk = site.sharing("ann_login", "desk");
    remember_many(&desk, 1_300);
    sync(&desk);
    desk.wait_no_process();
    assert_eq!(count(&site, ""), 1_300);
    site.way.slow(Duration::from_millis(40));
    let mut command = desk.command(env!("CARGO_BIN_EXE_tow"));
    let mut child = command
        .args(["hub", "unshare", ".", "--withdraw"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait::until("the first page", wait::PATIENCE, || (count(&site, "") < 1_300).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    site.way.cut();
    let left = count(&site, "");
    assert!((1..1_300).contains(&left), "{left}");
    desk.tow(&["hub", "sync"]).exits(1);
    let standing = desk.tow(&["hub", "status"]).ok().stdout;
    assert!(standing.contains("is being taken back"), "{standing}");
    remember(&desk, "Rope 9999 is of hemp");
    site.way.heal();
    let done = sync(&desk);
    assert!(done["withdrawn"].as_u64().unwrap() >= u64::from(left), "{done}");
    assert_eq!(count(&site, ""), 0);
    assert_eq!(status(&desk)["leaving"], Value::Array(vec![]));
    assert_eq!(
        desk.tow(&["memories", "--json", "--limit", "2000", "--all"]).ok().json()["memories"]
            .as_array()
            .unwrap()
            .len(),
        1_302
    );
}

#[test]
fn what_another_machine_of_the_same_person_made_stays_there_and_goes_again_when_it_shares_anew() {
    let site = Site::with_team(Server::Debian);
    let (desk, laptop) = (site.sharing("ann_login", "desk"), site.sharing("ann_login", "laptop"));
    let cabin = site.sharing("bob_login", "cabin");
    remember(&laptop, "The heronry is to port");
    Talk::begin(&laptop, "laptop-one", NOON).turn("paint the stormglass", "red lead", "It is red");
    sync(&laptop);
    sync(&desk);
    sync(&cabin);
    assert!(titles(&cabin).iter().any(|title| title.contains("heronry")) && holds(&cabin, "stormglass"));
    desk.tow(&["hub", "unshare", ".", "--withdraw"]).ok();
    sync(&laptop);
    sync(&cabin);
    hub_holds_nothing(&site);
    holds_nothing(&cabin);
    assert!(titles(&laptop).iter().any(|title| title.contains("heronry")), "{:?}", titles(&laptop));
    laptop.tow(&["context", "laptop-one"]).ok().prints("paint the stormglass");
    laptop.tow(&["hub", "share", ".", "--as", KEY]).ok();
    laptop.wait_no_process();
    sync(&laptop);
    sync(&cabin);
    assert!(titles(&cabin).iter().any(|title| title.contains("heronry")), "{:?}", titles(&cabin));
    assert!(holds(&cabin, "stormglass"));
}

#[test]
fn a_project_that_is_only_unshared_stays_with_the_others() {
    let site = Site::with_team(Server::Debian);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    live_through(&desk);
    sync(&desk);
    desk.tow(&["hub", "unshare", "."]).ok().prints("stays with the others");
    sync(&desk);
    sync(&cabin);
    assert!(holds(&cabin, "kestrel") && holds(&cabin, "stormglass"), "the bookmark, too");
    assert!(site.postgres.dumped("towline").contains("stormglass"));
}
