//! The model asks the past and adds to it, through the client.

use crate::desk::{Client, Desk, Way, answers};
use serde_json::json;
use towline_testkit::Claude;

#[test]
fn the_model_searches_looks_around_gets_and_remembers_in_2_1_197() {
    asks_the_past(Client::Claude(Claude::V2_1_197));
}

#[test]
fn the_model_searches_looks_around_gets_and_remembers_in_2_1_325() {
    asks_the_past(Client::Claude(Claude::V2_1_325));
}

#[test]
fn the_model_searches_looks_around_gets_and_remembers_in_codex() {
    asks_the_past(Client::Codex);
}

fn asks_the_past(client: Client) {
    let desk = Desk::new();
    // What a session is given unasked must not be taken for an answer.
    desk.env.tow(&["config", "set", "memory.give", "false"]).ok();
    let older = desk.remember("The mast is painted with linseed oil\nTar does not hold on ash wood.");
    let wanted = desk.remember("The keel leaks at frame seven\nCaulk it with oakum before the launch.");
    client.install(&desk);
    let call = |tool: &str, input| client.call(Way::Settings, tool, input);
    let steps = client.finding_tools(Way::Settings).into_iter().chain([
        call("search", json!({"query": "where does the keel leak", "kind": "memory"})),
        call("timeline", json!({"around": wanted})),
        call("get", json!({"ids": [wanted]})),
        call(
            "remember",
            json!({"text": "The rudder is of oak\nIt was changed after the storm.", "type": "discovery"}),
        ),
    ]);
    let told = desk.ask(client, "what do we know of the boat", steps.collect());
    let [found, around, whole, kept] = answers(&told).try_into().unwrap_or_else(|all| panic!("{all:#?}"));
    assert!(found.contains(&wanted) && found.contains("The keel leaks at frame seven"), "{found}");
    assert!(
        around.contains(&older) && around.contains("linseed oil") && around.contains(&wanted),
        "{around}"
    );
    assert!(whole.contains("Caulk it with oakum before the launch."), "{whole}");
    let memories = desk.env.tow(&["memories"]).ok().stdout;
    let rudder = memories
        .lines()
        .find(|line| line.contains("The rudder is of oak"))
        .unwrap_or_else(|| panic!("{memories}"));
    let id = rudder.split_whitespace().next().unwrap();
    assert!(kept.contains(id), "{kept}\n{memories}");
}
