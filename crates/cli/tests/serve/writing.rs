//! Changing memories over the API: only where it is allowed, and then as the verbs do.

use super::world::{World, serve};
use serde_json::json;

#[test]
fn a_server_that_only_reads_changes_nothing() {
    let world = World::new(&[]);
    for head in ["POST /v1/memories/m1/pin", "DELETE /v1/memories/m1", "POST /v1/undo"] {
        let body = json!({"id": "m1"});
        let answer = world.ask(head, Some(&body)).is(403).json();
        assert_eq!(answer["error"]["next"], "Start it by `tow data serve --write`.", "{head}");
    }
    assert_eq!(world.get("/v1/health").json()["write"], false);
    assert!(world.get("/v1/memories/m1").json()["memory"]["pinned_at"].is_null());
}

#[test]
fn memories_are_made_changed_held_back_and_erased() {
    let world = World::new(&["--write"]);
    let made = json!({"text": "Ropes are dried first", "type": "gotcha", "concepts": ["ropes"], "project": "project"});
    let made = world.ask("POST /v1/memories", Some(&made)).is(200).json();
    let id = made["id"].as_str().unwrap().to_owned();
    let path = |what: &str| format!("{what} /v1/memories/{id}");
    let edited = world.ask(&path("PATCH"), Some(&json!({"title": "Ropes are dried last"}))).is(200).json();
    assert_eq!(edited["memory"]["title"], "Ropes are dried last");
    let post =
        |what: &str, body| world.ask(&format!("POST /v1/memories/{id}/{what}"), Some(&body)).is(200).json();
    assert!(post("pin", json!({}))["memories"][0]["pinned_at"].is_string());
    assert!(post("unpin", json!({}))["memories"][0]["pinned_at"].is_null());
    assert_eq!(post("hold", json!({"because": "old"}))["memories"][0]["held_back"], "old");
    assert_eq!(world.get("/v1/memories?held=true").json()["items"][0]["id"], id.as_str());
    assert!(post("release", json!({}))["memories"][0]["held_back"].is_null());
    assert_eq!(
        post("supersede", json!({"by": "m1", "because": "newer"}))["memory"]["superseded"]["by"],
        "m1"
    );
    world.ask("POST /v1/undo", Some(&json!({"id": id}))).is(200);
    assert!(world.get(&format!("/v1/memories/{id}")).json()["memory"]["superseded"].is_null());
    world.ask(&path("DELETE"), Some(&json!({}))).is(200);
    world.get(&format!("/v1/memories/{id}")).is(404);
}

#[test]
fn nothing_but_a_memory_is_forgotten_and_standard_input_is_nobodys() {
    let world = World::new(&["--write"]);
    for id in ["3d256398", "3d256398%231", "yesterday", "--match=x", "-"] {
        world.ask(&format!("DELETE /v1/memories/{id}"), Some(&json!({}))).is(404);
    }
    world.ask("POST /v1/memories", Some(&json!({"text": "-"}))).is(422);
    world.get("/v1/sessions/3d256398").is(200);
}

#[test]
fn what_cannot_be_taken_is_told_apart_from_what_is_not_there() {
    let world = World::new(&["--write"]);
    let edit = |id: &str, body| world.ask(&format!("PATCH /v1/memories/{id}"), Some(&body));
    let refused = edit("m1", json!({"type": "no/type"})).is(400).json();
    assert_eq!(refused["error"]["what"], "`no/type` is no type of a memory");
    edit("m1", json!({"title": " "})).is(400);
    edit("m99", json!({"title": "Nothing"})).is(404);
    edit("yesterday", json!({"title": "Nothing"})).is(404);
}

#[test]
fn several_memories_are_given_at_once_in_the_order_asked_for() {
    let world = World::new(&[]);
    let body = json!({"ids": ["m3", "m99", "m1"]});
    let found = world.ask("POST /v1/memories/batch", Some(&body)).is(200).json();
    let ids: Vec<&str> =
        found["items"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["m3", "m1"]);
}

#[test]
fn what_an_agent_proposes_is_listed_accepted_and_rejected_by_the_viewer() {
    let world = World::new(&["--write"]);
    for text in ["Ropes are dried first", "Blocks are greased in May"] {
        world.env.unattended(&["remember", "--pin", text]).ok();
    }
    let open = || {
        let list = world.get("/v1/memories?proposed=true").is(200).json();
        list["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(open(), ["m5", "m4"]);
    let answer = |what: &str| world.ask(&format!("POST /v1/memories/{what}"), Some(&json!({})));
    let accepted = answer("m4/accept").is(200).json()["memories"][0].clone();
    assert_eq!(accepted["level"], "person");
    assert!(accepted["pinned_at"].is_string());
    assert!(answer("m5/reject").is(200).json()["memories"][0]["pinned_at"].is_null());
    assert_eq!(open(), [""; 0]);
    answer("m5/accept").is(404);
    world.get("/v1/memories?proposed=true&held=true").is(400);
}

#[test]
fn a_server_that_an_agent_started_decides_nothing() {
    let World { env, server } = World::new(&["--write"]);
    drop(server);
    env.unattended(&["remember", "--pin", "Ropes are dried first"]).ok();
    env.set("CLAUDE_CODE_SESSION_ID", "11111111-1111-4111-8111-111111111111");
    let world = World { server: serve(&env, &["--write"]), env };
    for head in [
        "POST /v1/memories/m4/accept",
        "POST /v1/memories/m4/reject",
        "POST /v1/memories/m1/pin",
        "DELETE /v1/memories/m1",
    ] {
        let refused = world.ask(head, Some(&json!({}))).is(403).json();
        let what = refused["error"]["what"].as_str().unwrap_or_default().to_owned();
        assert!(what.contains("only a person can"), "{head}: {refused}");
    }
    let memory = world.get("/v1/memories/m4").json()["memory"].clone();
    assert!(memory["pinned_at"].is_null() && memory["proposed_at"].is_string(), "{memory}");
}
