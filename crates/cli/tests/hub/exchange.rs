//! What goes and what comes: between a person's machines, and between people.

use super::world::{KEY, Server, Site, holds, id_of, remember, sync, titles};
use serde_json::Value;
use std::fs::File;
use std::process::{Child, Stdio};
use std::time::Duration;
use towline_testkit::wait;

fn a_memory_goes_to_others_and_is_forgotten_everywhere(server: Server) {
    let site = Site::with_team(server);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    remember(&desk, "The halyard winch needs grease every spring");
    assert!(sync(&desk)["sent"].as_u64().unwrap() >= 1);
    assert!(sync(&cabin)["taken"].as_u64().unwrap() >= 1);
    let id = id_of(&cabin, "halyard winch");
    let shown = cabin.tow(&["show", &id, "--json"]).ok().json();
    assert!(shown.to_string().contains("ann"), "whose it is: {shown}");
    cabin.tow(&["forget", &id, "--yes"]).ok();
    sync(&cabin);
    sync(&desk);
    assert!(!holds(&cabin, "halyard winch") && holds(&desk, "halyard winch"), "hers is not his to erase");
    let id = id_of(&desk, "halyard winch");
    desk.tow(&["forget", &id, "--yes"]).ok();
    remember(&cabin, "The halyard winch is bob's to grease");
    sync(&cabin);
    sync(&desk);
    // Ann administers the team.
    let his = id_of(&desk, "halyard winch");
    desk.tow(&["forget", &his, "--yes"]).ok();
    sync(&desk);
    sync(&cabin);
    assert!(!titles(&desk).iter().any(|title| title.contains("halyard")), "{:?}", titles(&desk));
    assert!(!holds(&desk, "halyard winch") && !holds(&cabin, "halyard winch"));
    let kept = desk.tow(&["hub", "export", "-"]).ok().stdout;
    assert!(kept.contains("\"forgotten\"") && !kept.contains("halyard"), "{kept}");
}

#[test]
fn a_memory_goes_to_others_and_is_forgotten_everywhere_with_tls() {
    a_memory_goes_to_others_and_is_forgotten_everywhere(Server::Debian);
}

#[test]
fn a_memory_goes_to_others_and_is_forgotten_everywhere_with_vectors() {
    a_memory_goes_to_others_and_is_forgotten_everywhere(Server::Vectors);
}

fn private_memory(server: Server) {
    let site = Site::with_team(server);
    let desk = site.machine("ann_login");
    site.join(&desk, "ann_login", "desk");
    remember(&desk, "The keel is of lead");
    sync(&desk);
    assert_eq!(desk.tow(&["hub", "export", "-"]).ok().stdout, "");
    desk.tow(&["hub", "share", ".", "--as", KEY, "--dry-run"]).ok().prints("would be shared");
    desk.tow(&["hub", "share", ".", "--as", KEY]).ok().prints("is shared as crew/app");
    sync(&desk);
    let cabin = site.sharing("bob_login", "cabin");
    assert!(titles(&cabin).iter().any(|title| title.contains("keel")));
    let id = id_of(&desk, "keel");
    desk.tow(&["hub", "private", &id]).ok().prints("stays here");
    sync(&desk);
    sync(&cabin);
    assert!(!titles(&cabin).iter().any(|title| title.contains("keel")), "{:?}", titles(&cabin));
    assert!(titles(&desk).iter().any(|title| title.contains("keel")), "it stays with its person");
    desk.tow(&["hub", "private", "--off", &id]).ok();
    sync(&desk);
    sync(&cabin);
    assert!(titles(&cabin).iter().any(|title| title.contains("keel")));
}

#[test]
fn nothing_is_shared_that_was_not_chosen_and_a_private_memory_comes_back_with_tls() {
    private_memory(Server::Debian);
}

#[test]
fn nothing_is_shared_that_was_not_chosen_and_a_private_memory_comes_back_with_vectors() {
    private_memory(Server::Vectors);
}

#[test]
fn who_asks_for_an_exchange_waits_for_the_one_that_runs_already() {
    let site = Site::with_team(Server::Debian);
    let desk = site.sharing("ann_login", "desk");
    remember(&desk, "The bilge pump wants a new seal");
    desk.wait_no_process();
    let running = File::open(desk.data_dir().join("hub.lock")).unwrap();
    running.lock().unwrap();
    let mut command = desk.command(env!("CARGO_BIN_EXE_tow"));
    let mut asked = command.args(["hub", "sync"]).stdout(Stdio::null()).spawn().unwrap();
    let ended = |asked: &mut Child| asked.try_wait().unwrap();
    assert!(!wait::holds_within(Duration::from_millis(300), || ended(&mut asked).is_some()));
    drop(running);
    assert!(wait::until("the exchange", wait::PATIENCE, || ended(&mut asked)).success());
}

#[test]
fn what_went_came_and_waits_is_told_by_project_and_by_kind() {
    let site = Site::with_team(Server::Debian);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    // The next exchange looks at the rows that came.
    [&desk, &cabin, &desk, &cabin].into_iter().for_each(|machine| drop(sync(machine)));
    let project = |env: &towline_testkit::TestEnv| {
        let status = env.tow(&["hub", "status", "--json"]).ok().json();
        ["sent", "taken", "waiting"].map(|what| status["projects"][0][what].as_u64().unwrap())
    };
    assert_eq!((project(&desk), project(&cabin)), ([1, 1, 0], [1, 1, 0]));
    desk.wait_no_process();
    remember(&desk, "The ensign is in the chest");
    let would = desk.tow(&["hub", "sync", "--dry-run", "--json"]).ok().json();
    assert_eq!((&would["rows"], &would["kinds"]["memory"]), (&1.into(), &1.into()), "{would}");
    let [sent, taken, waiting] = project(&desk);
    assert!((sent, taken) == (1, 1) && waiting > 0, "nothing went by asking: {waiting}");
    assert_eq!(sync(&desk)["sent"], would["rows"]);
    desk.tow(&["hub", "status"]).ok().prints("2 rows sent, 1 taken, 0 changes wait");
    desk.tow(&["hub", "sync", "--dry-run"]).ok().prints("0 rows would go");
}

fn team_search(server: Server) {
    let site = Site::with_team(server);
    let (desk, cabin) = (site.sharing("ann_login", "desk"), site.sharing("bob_login", "cabin"));
    cabin.tow(&["config", "set", "hub.search_ms", "20000"]).ok();
    remember(&desk, "The anchor chain is fifty metres long");
    sync(&desk);
    let found = cabin.tow(&["search", "--team", "anchor", "chain", "--json", "--all-projects"]).ok().json();
    let hits = |found: &Value| -> Vec<Value> {
        let all = found["results"].as_array().unwrap().iter();
        all.filter(|hit| hit["title"].as_str().unwrap().contains("anchor")).cloned().collect()
    };
    let [hit] = hits(&found).try_into().unwrap();
    assert_eq!((&hit["from"], &hit["person"]), (&"hub".into(), &"ann".into()), "{hit}");
    assert_eq!(hit["machine"], "desk");
    let text = cabin.tow(&["search", "--team", "anchor", "chain", "--all-projects"]).ok();
    assert!(text.stdout.contains("of ann on desk"), "{}", text.stdout);
    sync(&cabin);
    let found = cabin.tow(&["search", "--team", "anchor", "chain", "--json", "--all-projects"]).ok().json();
    let [hit] = hits(&found).try_into().unwrap();
    assert_eq!(hit.get("from"), None, "what is here is shown once, from here: {hit}");
    assert_eq!((&hit["person"], &hit["machine"]), (&"ann".into(), &"desk".into()), "{hit}");
    let id = hit["id"].as_str().unwrap();
    cabin.tow(&["memories"]).ok().prints("from ann on desk");
    cabin.tow(&["show", id]).ok().prints("from: ann on desk");
    cabin.tow(&["context", "--fresh"]).ok().prints("from ann on desk");
}

#[test]
fn what_the_team_knows_is_found_with_what_is_here_and_shown_once_with_tls() {
    team_search(Server::Debian);
}

#[test]
fn what_the_team_knows_is_found_with_what_is_here_and_shown_once_with_vectors() {
    team_search(Server::Vectors);
}

fn fleet(server: Server) {
    let site = Site::with_team(server);
    let desk = site.sharing("ann_login", "desk");
    let laptop = site.sharing("ann_login", "laptop");
    let _cabin = site.sharing("bob_login", "cabin");
    let fleet = laptop.tow(&["status", "--fleet", "--json"]).ok().json();
    let mut names: Vec<&str> = fleet["machines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|machine| machine["machine"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["desk", "laptop"]);
    desk.tow(&["status", "--fleet"]).ok().prints("laptop");
}

#[test]
fn the_fleet_is_ones_own_machines_and_nobody_elses_with_tls() {
    fleet(Server::Debian);
}

#[test]
fn the_fleet_is_ones_own_machines_and_nobody_elses_with_vectors() {
    fleet(Server::Vectors);
}

fn taken_out(server: Server) {
    let site = Site::with_team(server);
    let desk = site.sharing("ann_login", "desk");
    let file = desk.root().join("hub.jsonl");
    desk.tow(&["hub", "export", file.to_str().unwrap()]).ok();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(
        text.lines().any(|line| line.contains("desk keeps its tools") && line.contains("\"person\":\"ann\""))
    );
    let lines = desk.tow(&["hub", "export", "-"]).ok().stdout;
    assert_eq!(lines, text);
}

#[test]
fn everything_of_ones_own_can_be_taken_out_of_the_hub_as_lines_with_tls() {
    taken_out(Server::Debian);
}

#[test]
fn everything_of_ones_own_can_be_taken_out_of_the_hub_as_lines_with_vectors() {
    taken_out(Server::Vectors);
}
