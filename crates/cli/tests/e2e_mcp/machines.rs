//! What one agent learnt on one machine is given to another agent on another machine, by way of a hub, and can be forgotten
//! from there.

use crate::across::{given, remembers};
use crate::desk::{Client, Desk};
use towline_testkit::{Claude, Postgres};

const PASSWORD: &str = "over the water";
const SAID: &str = "The keel leaks at frame seven";

#[test]
fn what_claude_learnt_on_one_machine_is_given_to_codex_on_another_and_forgotten_from_there() {
    let hub = Postgres::debian();
    hub.create_login("ann", PASSWORD, "towline");
    let [here, there] = [Desk::new(), Desk::new()];
    let claude = Client::Claude(Claude::V2_1_325);
    claude.install(&here);
    Client::Codex.install(&there);
    join(&here, &hub, "laptop");
    let keel = remembers(&here, claude, "keep in mind what you saw", SAID);
    here.env.tow(&["hub", "share", ".", "--as", "boat"]).ok();
    here.env.tow(&["hub", "sync"]).ok();

    join(&there, &hub, "desktop");
    there.remember("The desk has its own notes");
    there.env.tow(&["hub", "share", ".", "--as", "boat"]).ok();
    there.env.tow(&["hub", "sync"]).ok();
    let id = called(&there);
    given(&there.ask(Client::Codex, "begin with the hull", vec![]), &id, SAID);

    there.env.tow(&["forget", &id, "--yes"]).ok();
    there.env.tow(&["hub", "sync"]).ok();
    here.env.tow(&["hub", "sync"]).ok();
    here.env.tow(&["show", &keel]).exits(2);
    assert_eq!(
        here.env.tow(&["search", "keel", "--kind", "memory", "--json"]).ok().json()["results"],
        serde_json::json!([])
    );
    assert!(!here.env.tow(&["hub", "export", "-"]).ok().stdout.contains(SAID));
    assert!(!hub.dumped("towline").contains(SAID), "the hub still has it");
}

/// The first machine makes the hub, too.
#[track_caller]
fn join(desk: &Desk, hub: &Postgres, name: &str) {
    for (key, value) in [("hook.deadline_ms", "2500"), ("hook.patience_ms", "2000")] {
        desk.env.tow(&["config", "set", key, value]).ok();
    }
    desk.env.set("PGPASSWORD", PASSWORD);
    let (url, ca) =
        (format!("postgres://ann@localhost:{}/towline", hub.port()), hub.ca().display().to_string());
    if name == "laptop" {
        desk.env.tow(&["hub", "init", &url, "--ca", &ca, "--team", "me", "--as", "ann"]).ok();
    }
    desk.env.tow(&["hub", "join", &url, "--ca", &ca, "--team", "me", "--machine", name]).ok();
}

/// What the memory is called on this machine.
#[track_caller]
fn called(desk: &Desk) -> String {
    let listed = desk.env.tow(&["memories", "--json"]).ok().json();
    let rows = listed["memories"].as_array().unwrap();
    let row = rows.iter().find(|row| row["title"].as_str().is_some_and(|title| title.contains(SAID)));
    row.unwrap_or_else(|| panic!("{listed:#}"))["id"].as_str().unwrap().to_owned()
}
