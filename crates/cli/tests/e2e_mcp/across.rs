//! What one agent remembered is given to the next session of the other.

use crate::desk::{Client, Desk, Way, answers};
use serde_json::json;
use towline_testkit::{Claude, Request};

#[test]
fn what_2_1_197_remembered_is_given_to_codex_and_the_other_way_round() {
    there_and_back(Client::Claude(Claude::V2_1_197));
}

#[test]
fn what_2_1_325_remembered_is_given_to_codex_and_the_other_way_round() {
    there_and_back(Client::Claude(Claude::V2_1_325));
}

fn there_and_back(claude: Client) {
    let desk = Desk::new();
    // A loaded machine is slow, not wrong: the first prompt waits for what it is given.
    for (key, value) in [("hook.deadline_ms", "2500"), ("hook.patience_ms", "2000")] {
        desk.env.tow(&["config", "set", key, value]).ok();
    }
    claude.install(&desk);
    Client::Codex.install(&desk);
    let keel = remembers(&desk, claude, "keep in mind what you saw", "The keel leaks at frame seven");
    given(&desk.ask(Client::Codex, "begin with the hull", vec![]), &keel, "The keel leaks at frame seven");
    let mast = remembers(&desk, Client::Codex, "keep that in mind too", "The mast wants linseed oil");
    given(&desk.ask(claude, "go on with the rigging", vec![]), &mast, "The mast wants linseed oil");
}

/// The model keeps something by our tool; gives its id.
#[track_caller]
pub fn remembers(desk: &Desk, client: Client, prompt: &str, title: &str) -> String {
    let mut steps = client.finding_tools(Way::Settings);
    steps.push(client.call(Way::Settings, "remember", json!({"text": title, "type": "gotcha"})));
    let told = answers(&desk.ask(client, prompt, steps)).pop().unwrap_or_default();
    let inside = told.split("<towline-context>").nth(1).unwrap_or_default();
    inside.split_whitespace().next().unwrap_or_else(|| panic!("{told}")).to_owned()
}

/// Before the model said a word, by our hook alone.
#[track_caller]
pub fn given(request: &Request, id: &str, title: &str) {
    assert_eq!(request.step, 0);
    assert!(request.holds(title) && request.holds(&format!("{id} ")), "{id}: {:#}", request.body);
}
