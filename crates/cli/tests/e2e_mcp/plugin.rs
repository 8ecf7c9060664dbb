//! The plugin, loaded by the real clients from the folder in the repository, without a network.

use crate::desk::{CODEX, Client, Desk, Way, answers};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;
use towline_store::{DataFolder, Store};
use towline_testkit::Claude;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin");

#[test]
fn its_hooks_tools_and_skills_are_live_in_2_1_197() {
    is_live(Client::Claude(Claude::V2_1_197));
}

#[test]
fn its_hooks_tools_and_skills_are_live_in_2_1_325() {
    is_live(Client::Claude(Claude::V2_1_325));
}

#[test]
fn its_hooks_tools_and_skills_are_live_in_codex() {
    is_live(Client::Codex);
}

fn is_live(client: Client) {
    let desk = Desk::new();
    desk.env.tow(&["config", "set", "memory.give", "false"]).ok();
    let keel = desk.remember("The keel leaks at frame seven");
    client.seed(&desk, Way::Plugin);
    add(&desk, client);
    let mut steps = client.finding_tools(Way::Plugin);
    steps.push(client.call(Way::Plugin, "search", json!({"query": "keel leaks"})));
    let told = desk.ask(client, "what do we know of the boat", steps);
    let found = answers(&told).pop().unwrap_or_else(|| panic!("{:#}", told.body));
    assert!(found.contains(&keel) && found.contains("The keel leaks"), "{found}");
    assert!(told.holds("Ask what earlier sessions did and learned"), "the skill is listed");
    desk.env.tow(&["work", "--quiet"]).ok();
    let store = Store::read(&DataFolder::at(desk.env.data_dir()), Duration::from_secs(5)).unwrap().unwrap();
    let agents: Vec<String> = store.sessions().unwrap().iter().map(|it| it.key.agent.to_string()).collect();
    assert_eq!(agents, [client.agent()], "its hooks were heard");
}

#[test]
fn nothing_is_registered_beside_it_and_a_second_registration_is_named() {
    for client in [Client::Claude(Claude::V2_1_325), Client::Codex] {
        let desk = Desk::new();
        client.seed(&desk, Way::Plugin);
        let install = ["install", "--agent", client.agent()];
        desk.env.tow(&install).ok();
        add(&desk, client);
        let check = || {
            let doctor = desk.env.tow(&["doctor", "--json"]).json();
            let checks = doctor["checks"].as_array().unwrap().clone();
            checks.into_iter().find(|check| check["name"] == format!("{} hooks", client.agent())).unwrap()
        };
        let twice = check();
        assert!(
            twice["detail"].as_str().unwrap().contains("registered twice: by the plugin towline@towline")
        );
        desk.env.tow(&install).ok().prints("the hooks in the settings are a second set");
        let mend: Vec<&str> = twice["mend"].as_str().unwrap().split(' ').skip(1).collect();
        desk.env.tow(&mend).ok();
        assert_eq!(check()["status"], "good", "{}", check());
        desk.env.tow(&install).ok().prints("nothing was registered beside it");
        assert_eq!(check()["status"], "good");
        for file in [".claude/settings.json", ".claude.json", ".codex/hooks.json", ".codex/config.toml"] {
            let text = fs::read_to_string(desk.env.home().join(file)).unwrap_or_default();
            assert!(!text.contains("/tow\"") && !text.contains("/tow hook"), "{file}: {text}");
        }
    }
}

/// As a person adds it.
#[track_caller]
fn add(desk: &Desk, client: Client) {
    let folder = Path::new(FOLDER).canonicalize().unwrap().display().to_string();
    client.run(desk, &["plugin", "marketplace", "add", &folder]).ok();
    match client {
        Client::Claude(_) => drop(client.run(desk, &["plugin", "install", "towline@towline"]).ok()),
        Client::Codex => {
            client.run(desk, &["plugin", "add", "towline@towline"]).ok();
            CODEX.trust_hooks(&desk.env);
        }
    }
}
