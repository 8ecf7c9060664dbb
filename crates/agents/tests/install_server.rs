//! Our MCP server entry in the agents' settings, with every kind of existing file.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};
use tempfile::TempDir;
use towline_agents::Agent;
use towline_agents::settings::{
    DataVariable, ManagedContent, McpServerEntry, OriginalsArchive, RefusalCause, RetryPace, ServerState,
};

const ALONE: RetryPace = RetryPace { pause: Duration::ZERO, quiet_looks: 0, max_looks: 8 };

struct Home {
    root: TempDir,
    agent: Agent,
    places: Vec<DataVariable>,
}

impl Home {
    fn of(agent: Agent) -> Home {
        Home { root: tempfile::tempdir().unwrap(), agent, places: vec![] }
    }

    fn holding(agent: Agent, text: &str) -> Home {
        let home = Home::of(agent);
        fs::write(home.file(), text).unwrap();
        home
    }

    fn among(self, value: Option<&str>) -> Home {
        let places = vec![("TOWLINE_HOME", value.map(str::to_owned)), ("XDG_DATA_HOME", None)];
        Home { places, ..self }
    }

    fn file(&self) -> PathBuf {
        let name = if self.agent == Agent::Claude { ".claude.json" } else { "config.toml" };
        self.root.path().join(name)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn server(&self) -> McpServerEntry {
        self.server_at("/opt/tow")
    }

    fn server_at(&self, tow: &str) -> McpServerEntry {
        self.agent.mcp_server(&self.file(), Path::new(tow), &self.places).unwrap()
    }

    fn archive(&self) -> OriginalsArchive {
        OriginalsArchive::new(self.root.path().join("backups"))
    }

    fn standing(&self) -> ServerState {
        self.server().inspect_file(ALONE).unwrap()
    }

    /// The text with our entry, which a second run leaves unchanged.
    #[track_caller]
    fn installed(&self) -> String {
        self.server().apply(&self.archive(), ALONE).unwrap();
        assert_eq!(self.standing(), ServerState::Right);
        let text = self.text();
        assert!(self.server().apply(&self.archive(), ALONE).unwrap().plan.is_empty());
        assert_eq!(self.text(), text, "a second run changes nothing");
        text
    }

    fn uninstall(&self) {
        self.server().remove(&self.archive(), ALONE).unwrap();
    }

    /// Discards the record of the original.
    fn forget_notes(&self) {
        fs::remove_dir_all(self.root.path().join("backups")).unwrap();
    }
}

/// Checks the installed text, the restored original, and the result of an uninstall without a record.
#[track_caller]
fn check(agent: Agent, before: &str, after: &str, without_note: &str) {
    let home = Home::holding(agent, before);
    assert_eq!(home.standing(), ServerState::Missing);
    assert_eq!(home.installed(), after);
    home.uninstall();
    assert_eq!(home.text(), before, "the bytes of before");
    home.installed();
    home.forget_notes();
    home.uninstall();
    assert_eq!(home.text(), without_note, "our entry alone");
}

const ENTRY: &str = r#"{"type":"stdio","command":"/opt/tow","args":["mcp"]}"#;
const TABLE: &str = "[mcp_servers.towline]\ncommand = \"/opt/tow\"\nargs = [\"mcp\"]\n";

#[test]
fn a_missing_file_is_made_and_taken_away_again() {
    for agent in Agent::ALL {
        let home = Home::of(agent);
        home.installed();
        assert_eq!(fs::metadata(home.file()).unwrap().permissions().mode() & 0o777, 0o600);
        home.uninstall();
        assert!(!home.file().exists());
    }
}

#[test]
fn only_replaced_bytes_are_kept_and_the_first_original_is_restored() {
    for (agent, private) in [
        (Agent::Claude, "{\"projects\":{\"/secret/boat\":{\"history\":[\"paint it\"]}}}"),
        (Agent::Codex, "[projects.\"/secret/boat\"]\ntrust_level = \"trusted\"\n"),
    ] {
        let home = Home::holding(agent, private);
        home.server_at("/older/tow").apply(&home.archive(), ALONE).unwrap();
        home.installed();
        let folder = home.root.path().join("backups").join(agent.name());
        for entry in fs::read_dir(folder).unwrap() {
            let kept = fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(!kept.contains("secret") && !kept.contains("paint"), "{kept}");
        }
        home.uninstall();
        assert_eq!(home.text(), private);
        home.installed();
        fs::write(home.file(), format!("{}\n", home.text())).unwrap();
        home.uninstall();
        assert_eq!(home.text(), format!("{private}\n"), "also where somebody wrote since");
        assert!(!fs::read_dir(home.root.path().join("backups").join(agent.name())).unwrap().any(|_| true));
    }
}

#[test]
fn json_of_every_layout_keeps_its_bytes() {
    let json = |before: &str, after: &str, left: &str| check(Agent::Claude, before, after, left);
    json("{}", &pretty("  ", "\n", ""), "{}");
    json("{\"a\":1}", &format!(r#"{{"a":1,"mcpServers":{{"towline":{ENTRY}}}}}"#), "{\"a\":1}");
    json(
        "{\"mcpServers\":{\"x\":{\"command\":\"y\"}},\"a\":1}\n",
        &format!("{{\"mcpServers\":{{\"x\":{{\"command\":\"y\"}},\"towline\":{ENTRY}}},\"a\":1}}\n"),
        "{\"mcpServers\":{\"x\":{\"command\":\"y\"}},\"a\":1}\n",
    );
    json(
        "{\n  \"mcpServers\": {},\n  \"a\": 1e3\n}",
        "{\n  \"mcpServers\": {\n    \"towline\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/tow\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  },\n  \"a\": 1e3\n}",
        "{\n  \"a\": 1e3\n}",
    );
    let crlf = "\u{feff}{\r\n\t\"a\": [1,\r\n 2]\r\n}\r\n";
    let home = Home::holding(Agent::Claude, crlf);
    let after = home.installed();
    assert!(after.starts_with("\u{feff}{\r\n\t\"a\": [1,\r\n 2],\r\n\t\"mcpServers\": {\r\n"), "{after:?}");
    assert!(!after.replace("\r\n", "").contains('\n'));
    home.uninstall();
    assert_eq!(home.text(), crlf);
}

/// Our entry alone in an object that is spread over lines.
fn pretty(unit: &str, end: &str, behind: &str) -> String {
    let line = |depth: usize, text: &str| format!("{}{text}{end}", unit.repeat(depth));
    let lines = [
        line(1, "\"mcpServers\": {"),
        line(2, "\"towline\": {"),
        line(3, "\"type\": \"stdio\","),
        line(3, "\"command\": \"/opt/tow\","),
        line(3, "\"args\": ["),
        line(4, "\"mcp\""),
        line(3, "]"),
        line(2, "}"),
        line(1, "}"),
    ];
    format!("{{{end}{}}}{behind}", lines.concat())
}

#[test]
fn a_blank_file_counts_as_no_settings() {
    for (agent, blank) in
        [(Agent::Claude, ""), (Agent::Claude, " \n"), (Agent::Codex, ""), (Agent::Codex, "\n")]
    {
        let home = Home::holding(agent, blank);
        home.installed();
        home.uninstall();
        assert_eq!(home.text(), blank);
    }
}

#[test]
fn toml_of_every_form_keeps_its_bytes() {
    let toml = |before: &str, after: &str, left: &str| check(Agent::Codex, before, after, left);
    toml("a = 1\n", &format!("a = 1\n\n{TABLE}"), "a = 1\n");
    toml("a = 1", &format!("a = 1\n\n{TABLE}"), "a = 1\n");
    toml("# only a comment\n\n", &format!("# only a comment\n\n{TABLE}"), "# only a comment\n");
    let other = "[mcp_servers.x] # theirs\ncommand   =   'y'\nargs = [\n  'z', # last\n]\n\n[features]\nb = true # why\n";
    toml(other, &format!("{other}\n{TABLE}"), other);
    let crlf = "a = 1\r\n[b]\r\nc = \"\"\"x\r\ny\"\"\"\r\n";
    toml(crlf, &format!("{crlf}\r\n{}", TABLE.replace('\n', "\r\n")), crlf);
    let marked = "\u{feff}a = 1\n";
    toml(marked, &format!("{marked}\n{TABLE}"), marked);
    toml(
        "mcp_servers = { x = { command = 'y' } } # all of them\nz = 1\n",
        "mcp_servers = { x = { command = 'y' }, towline = { command = \"/opt/tow\", args = [\"mcp\"] } } # all of them\nz = 1\n",
        "mcp_servers = { x = { command = 'y' } } # all of them\nz = 1\n",
    );
    toml(
        "mcp_servers = {}\n",
        "mcp_servers = { towline = { command = \"/opt/tow\", args = [\"mcp\"] } }\n",
        "mcp_servers = {}\n",
    );
    let dotted = "mcp_servers.x.command = 'y'\n[mcp_servers.x.env]\nA = 'b'\n";
    toml(dotted, &format!("{dotted}\n{TABLE}"), dotted);
    let headed = "[mcp_servers]\nx = { command = 'y' }\n";
    toml(headed, &format!("{headed}\n{TABLE}"), headed);
}

#[test]
fn our_table_goes_from_wherever_it_stands_and_its_neighbours_stay() {
    let check = |before: &str, after: &str| {
        let home = Home::holding(Agent::Codex, before);
        home.uninstall();
        assert_eq!(home.text(), after);
    };
    let ours =
        "[mcp_servers.towline]\n# where it lies\ncommand = \"/old/tow\"\nargs = [\n  \"mcp\",\n] # so\n";
    check(&format!("a = 1\n\n{ours}\n# of b\n[b]\nc = 1\n"), "a = 1\n\n# of b\n[b]\nc = 1\n");
    check(&format!("{ours}[b]\nc = 1\n"), "[b]\nc = 1\n");
    let env = "[mcp_servers.towline.env]\nX = \"y\"\n[mcp_servers.towline.tools.search]\napproval_mode = \"auto\"\n";
    check(&format!("a = 1\n\n{ours}\n[b]\n\n{env}"), "a = 1\n\n[b]\n");
    check(
        "[mcp_servers]\ntowline.command = \"tow\"\ntowline.args = [\"mcp\"]\nx.command = \"y\"\n",
        "[mcp_servers]\nx.command = \"y\"\n",
    );
    check(
        "[mcp_servers]\ntowline = { command = \"tow\", args = [\"mcp\"] } # gone\nx.command = \"y\"\n",
        "[mcp_servers]\nx.command = \"y\"\n",
    );
    check(
        "mcp_servers = { towline = { args = [\"mcp\"], command = \"tow\" }, x = { url = \"u\" } }",
        "mcp_servers = { x = { url = \"u\" } }",
    );
}

#[test]
fn an_entry_of_another_path_is_brought_up_to_date_and_what_a_person_added_stays() {
    let check = |agent: Agent, before: &str, after: &str| {
        let home = Home::holding(agent, before).among(None);
        assert_eq!(home.standing(), ServerState::Outdated, "{before}");
        assert_eq!(home.installed(), after);
    };
    check(
        Agent::Claude,
        r#"{"mcpServers": {"towline": {"command": "/old/tow", "args": ["mcp", "--read-only"], "timeout": 9}}}"#,
        r#"{"mcpServers": {"towline": {"command": "/opt/tow", "args": ["mcp", "--read-only"], "timeout": 9}}}"#,
    );
    check(
        Agent::Codex,
        "[mcp_servers.towline]\nargs = ['mcp', '--read-only'] # mine\ncommand = 'tow'  # old\nenabled = false\n[b]\n",
        "[mcp_servers.towline]\nargs = ['mcp', '--read-only'] # mine\ncommand = \"/opt/tow\"  # old\nenabled = false\n[b]\n",
    );
    check(
        Agent::Codex,
        "mcp_servers.towline = { command = \"/a b/tow\", args = [\"mcp\"] }\n",
        "mcp_servers.towline = { command = \"/opt/tow\", args = [\"mcp\"] }\n",
    );
}

#[test]
fn variables_that_decide_where_the_data_lies_are_written_and_taken_back() {
    let data = Some("/my data");
    for (agent, before) in [
        (Agent::Claude, "{\"a\":1}\n"),
        (Agent::Codex, "a = 1\n"),
        (Agent::Codex, "mcp_servers = { x = { command = \"y\" } }\n"),
    ] {
        let home = Home::holding(agent, before);
        let plain = home.installed();
        let home = home.among(data);
        assert_eq!(home.standing(), ServerState::Outdated);
        let with = home.installed();
        assert!(
            with.contains("TOWLINE_HOME") && with.contains("/my data") && !with.contains("XDG"),
            "{with}"
        );
        let home = home.among(None);
        assert_eq!(home.standing(), ServerState::Outdated);
        let without = home.installed().replace(",\"env\":{}", "");
        assert_eq!(without, plain);
        let fresh = Home::holding(agent, before).among(data);
        assert_eq!(fresh.installed(), with, "at once or later");
    }
}

#[test]
fn variables_of_others_stay_in_every_form() {
    let check = |agent: Agent, before: &str, after: &str| {
        assert_eq!(Home::holding(agent, before).among(Some("/d")).installed(), after);
    };
    check(
        Agent::Claude,
        r#"{"mcpServers":{"towline":{"command":"/opt/tow","args":["mcp"],"env":{"A":"b","XDG_DATA_HOME":"/x"}}}}"#,
        r#"{"mcpServers":{"towline":{"command":"/opt/tow","args":["mcp"],"env":{"A":"b","TOWLINE_HOME":"/d"}}}}"#,
    );
    check(
        Agent::Codex,
        "[mcp_servers.towline]\ncommand = \"/opt/tow\"\nargs = [\"mcp\"]\n\n[mcp_servers.towline.env]\nA = \"b\"\nXDG_DATA_HOME = \"/x\"\n",
        "[mcp_servers.towline]\ncommand = \"/opt/tow\"\nargs = [\"mcp\"]\nenv = { A = \"b\", TOWLINE_HOME = \"/d\" }\n",
    );
    check(
        Agent::Codex,
        "[mcp_servers.towline]\ncommand = \"/old/tow\"\nargs = [\"mcp\"]\nenv = { A = \"b\" }\n",
        "[mcp_servers.towline]\ncommand = \"/opt/tow\"\nargs = [\"mcp\"]\nenv = { A = \"b\", TOWLINE_HOME = \"/d\" }\n",
    );
}

#[test]
fn a_foreign_server_of_our_name_is_left_alone_and_named() {
    for (agent, theirs) in [
        (Agent::Claude, r#"{"mcpServers":{"towline":{"command":"/bin/boat","args":["mcp"]}}}"#),
        (Agent::Claude, r#"{"mcpServers":{"towline":{"command":"tow","args":["serve"]}}}"#),
        (Agent::Claude, r#"{"mcpServers":{"towline":{"type":"http","url":"http://x/mcp"}}}"#),
        (Agent::Claude, r#"{"mcpServers":{"towline":null}}"#),
        (Agent::Codex, "[mcp_servers.towline]\nurl = \"http://x/mcp\"\n"),
        (Agent::Codex, "mcp_servers.towline = \"tow mcp\"\n"),
    ] {
        let home = Home::holding(agent, theirs);
        assert_eq!(home.standing(), ServerState::Foreign, "{theirs}");
        let refusal = home.server().apply(&home.archive(), ALONE).unwrap_err();
        assert!(
            matches!(refusal.cause, RefusalCause::ServerNotOurs { .. }) && refusal.hint().contains("towline")
        );
        home.uninstall();
        assert_eq!(home.text(), theirs);
    }
}

#[test]
fn a_file_that_cannot_be_edited_is_refused_with_its_reason_and_left_alone() {
    for (agent, broken, reason) in [
        (Agent::Claude, "{\n  // a comment\n}", "line 2"),
        (Agent::Claude, "[]", "holds no JSON object"),
        (Agent::Claude, r#"{"mcpServers":[]}"#, "holds no servers"),
        (Agent::Codex, "a = 1\n[b\n", "line 2"),
        (Agent::Codex, "mcp_servers = 3\n", "holds no servers"),
    ] {
        let home = Home::holding(agent, broken);
        let refusal = home.server().apply(&home.archive(), ALONE).unwrap_err();
        assert!(refusal.cause.to_string().contains(reason), "{}", refusal.cause);
        assert_eq!(home.text(), broken);
    }
}

#[test]
fn foreign_changes_stay_when_our_entry_is_removed() {
    let home = Home::holding(Agent::Claude, "{\"a\":1}");
    home.installed();
    let mut value: Value = serde_json::from_str(&home.text()).unwrap();
    value["b"] = json!(2);
    fs::write(home.file(), serde_json::to_string_pretty(&value).unwrap()).unwrap();
    home.uninstall();
    assert_eq!(serde_json::from_str::<Value>(&home.text()).unwrap(), json!({"a": 1, "b": 2}));

    let home = Home::holding(Agent::Codex, "a = 1\n");
    home.installed();
    fs::write(home.file(), format!("{}\n[mcp_servers.y]\ncommand = \"z\"\n", home.text())).unwrap();
    home.uninstall();
    assert_eq!(home.text(), "a = 1\n\n[mcp_servers.y]\ncommand = \"z\"\n");
}

#[test]
fn the_file_of_the_client_is_found_as_the_client_finds_it() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().display().to_string();
    let with = |config: Option<String>| {
        let home = home.clone();
        move |name: &str| match name {
            "HOME" => Some(home.clone()),
            "CLAUDE_CONFIG_DIR" => config.clone(),
            _ => None,
        }
    };
    let file = |config: Option<&str>| Agent::Claude.servers_file(&with(config.map(str::to_owned))).unwrap();
    assert_eq!(file(None), root.path().join(".claude.json"));
    assert_eq!(file(Some("")), root.path().join(".claude.json"));
    assert_eq!(file(Some("/c")), Path::new("/c/.claude.json"));
    fs::create_dir(root.path().join(".claude")).unwrap();
    fs::write(root.path().join(".claude/.config.json"), "{}").unwrap();
    assert_eq!(
        file(None),
        root.path().join(".claude/.config.json"),
        "an older file is still the one it uses"
    );
    let codex = Agent::Codex.servers_file(&with(None)).unwrap();
    assert_eq!(codex, root.path().join(".codex/config.toml"));
    let copilot = Agent::Copilot.servers_file(&with(None)).unwrap();
    assert_eq!(copilot, root.path().join(".copilot/mcp-config.json"));
}

/// A client that rewrites the whole file all the time, as the real one does with its state.
#[test]
fn a_client_that_keeps_rewriting_the_file_loses_nothing_and_takes_nothing() {
    const REWRITES: u64 = 400;
    const PACE: RetryPace = RetryPace { pause: Duration::from_millis(10), quiet_looks: 50, max_looks: 3000 };
    let home = Home::holding(Agent::Claude, r#"{"count":0,"mcpServers":{"x":{"command":"y"}}}"#);
    let file = home.file();
    let rewrite = |count: u64| {
        let mut value: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        value["count"] = json!(count);
        let new = file.with_extension("client");
        fs::write(&new, serde_json::to_string_pretty(&value).unwrap()).unwrap();
        fs::rename(&new, &file).unwrap();
    };
    let start = Barrier::new(2);
    let during = |act: &dyn Fn()| {
        thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                (1..=REWRITES).for_each(rewrite);
            });
            start.wait();
            act();
        });
    };
    during(&|| drop(home.server().apply(&home.archive(), PACE).unwrap()));
    let found: Value = serde_json::from_str(&home.text()).unwrap();
    assert_eq!((&found["count"], &found["mcpServers"]["x"]["command"]), (&json!(REWRITES), &json!("y")));
    assert_eq!(home.standing(), ServerState::Right);
    during(&|| drop(home.server().remove(&home.archive(), PACE).unwrap()));
    let found: Value = serde_json::from_str(&home.text()).unwrap();
    assert_eq!(found, json!({"count": REWRITES, "mcpServers": {"x": {"command": "y"}}}));
}
