//! The model asks the past and adds to it, through the client.

use crate::desk::{Client, Desk, Way, answers};
use serde_json::{Value, json};
use std::fs;
use towline_testkit::{Claude, Model, Rule, Step, TestEnv, Tmux};

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
    desk.env.wait_no_process();
    let details = desk.env.tow(&["export"]).ok().stdout;
    assert!(details.contains("where does the keel leak"), "the call is captured");
    let answer = |line: &&str| line.contains("before the launch") && !line.contains(r#""kind":"memory""#);
    assert_eq!(details.lines().find(answer), None, "what was answered is known already");
}

#[test]
fn a_data_folder_of_its_own_is_the_one_that_the_server_reads() {
    for client in [Client::Claude(Claude::V2_1_325), Client::Codex] {
        let desk = Desk::new();
        desk.env.set("TOWLINE_HOME", desk.env.root().join("my data").display().to_string());
        let keel = desk.remember("The keel leaks at frame seven");
        client.install(&desk);
        let mut steps = client.finding_tools(Way::Settings);
        steps.push(client.call(Way::Settings, "search", json!({"query": "keel leaks"})));
        let told = desk.ask(client, "what do we know of the boat", steps);
        let found = answers(&told).pop().unwrap_or_default();
        assert!(found.contains(&keel), "{client:?}: {found}");
        assert!(!desk.env.data_dir().exists(), "{client:?} made a second store");
    }
}

#[test]
fn the_clients_own_list_names_the_server_that_a_bare_home_was_given() {
    for claude in Claude::ALL {
        let desk = Desk::new();
        desk.env.tow(&["install", "--agent", "claude"]).ok();
        let client = Client::Claude(claude);
        client.run(&desk, &["mcp", "list"]).ok().prints("towline: ").prints("Connected");
        desk.env.tow(&["doctor"]).prints("registered in");
        desk.env.tow(&["uninstall", "--agent", "claude"]).ok();
        let state = fs::read_to_string(desk.env.home().join(".claude.json")).unwrap();
        assert!(!state.contains("towline") && !state.contains("mcpServers"), "{state}");
    }
}

#[test]
fn a_running_client_neither_loses_the_entry_nor_what_it_remembers_in_2_1_197() {
    survives_a_running_client(Claude::V2_1_197);
}

#[test]
fn a_running_client_neither_loses_the_entry_nor_what_it_remembers_in_2_1_325() {
    survives_a_running_client(Claude::V2_1_325);
}

/// The client writes down what it did when it ends, among other times: over what it read before we came.
fn survives_a_running_client(claude: Claude) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    let model = Model::start([Rule::when("hello").then(Step::text("good day"))]);
    let pane = claude.interactive(&Tmux::start(&env), &model, &[]);
    env.tow(&["install", "--agent", "claude"]).ok();
    let state = || -> Value {
        serde_json::from_str(&fs::read_to_string(env.home().join(".claude.json")).unwrap()).unwrap()
    };
    let startups = state()["numStartups"].clone();
    pane.say("hello");
    pane.wait_screen("good day");
    claude.wait_idle(&pane);
    pane.say("/exit");
    pane.wait_end();
    let after = state();
    assert_eq!(after["mcpServers"]["towline"]["args"], json!(["mcp"]), "{after:#}");
    assert_eq!(after["numStartups"], startups);
    let project = &after["projects"][env.project().display().to_string()];
    assert!(project["lastSessionId"].is_string(), "what the client wrote at its end: {project:#}");
    env.tow(&["uninstall", "--agent", "claude"]).ok();
    let mut expected = after;
    expected.as_object_mut().unwrap().remove("mcpServers");
    assert_eq!(state(), expected, "everything else stays");
}
