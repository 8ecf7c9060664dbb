//! `tow install`, `tow uninstall` and `tow doctor` on the server of tools: what is written, told, left out and given back.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use towline_testkit::TestEnv;

const BOTH: [&str; 4] = ["--agent", "claude", "--agent", "codex"];

struct Desk {
    env: TestEnv,
}

impl Desk {
    fn new() -> Desk {
        Desk { env: TestEnv::new(env!("CARGO_BIN_EXE_tow")) }
    }

    fn holding(claude: &str, codex: &str) -> Desk {
        let desk = Desk::new();
        fs::create_dir_all(desk.env.home().join(".claude")).unwrap();
        fs::create_dir_all(desk.env.home().join(".codex")).unwrap();
        fs::write(desk.json(), claude).unwrap();
        fs::write(desk.toml(), codex).unwrap();
        desk
    }

    fn json(&self) -> PathBuf {
        self.env.home().join(".claude.json")
    }

    fn toml(&self) -> PathBuf {
        self.env.home().join(".codex/config.toml")
    }

    fn texts(&self) -> [String; 2] {
        [self.json(), self.toml()].map(|file| fs::read_to_string(file).unwrap_or_default())
    }

    #[track_caller]
    fn run(&self, verb: &str, more: &[&str]) -> towline_testkit::Run {
        self.env.tow(&[&[verb], &BOTH[..], more].concat()).ok()
    }

    fn tow(&self) -> String {
        self.env.root().join("bin/tow").display().to_string()
    }

    /// What the doctor says of both.
    fn doctor(&self) -> [(String, String); 2] {
        let doctor = self.env.tow(&["doctor", "--json"]).json();
        let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
        ["claude mcp", "codex mcp"].map(|name| {
            let checks = doctor["checks"].as_array().unwrap();
            let check = checks.iter().find(|check| check["name"] == name).unwrap();
            (text(check, "status"), text(check, "detail"))
        })
    }
}

#[track_caller]
fn says(doctor: &[(String, String); 2], status: &str, detail: &str) {
    for (found, said) in doctor {
        assert!(found == status && said.contains(detail), "{found}: {said}");
    }
}

#[test]
fn the_server_is_entered_once_shown_and_given_back() {
    let before = ["{\n  \"numStartups\": 3\n}\n", "model = \"m\" # mine\r\n[features]\r\napps = false\r\n"];
    let desk = Desk::holding(before[0], before[1]);
    desk.run("install", &["--dry-run"]).prints("+[mcp_servers.towline]").prints("+  \"mcpServers\": {");
    assert_eq!(desk.texts(), before, "a dry run writes nothing");
    says(&desk.doctor(), "good", "not registered");

    let report = desk.run("install", &["--json"]).json();
    let changed = |report: &Value| {
        let agents = report["agents"].as_array().unwrap();
        agents.iter().map(|row| row["mcp"]["changed"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(changed(&report), [true, true]);
    let [claude, codex] = desk.texts();
    let claude: Value = serde_json::from_str(&claude).unwrap();
    let entry = json!({"type": "stdio", "command": desk.tow(), "args": ["mcp"]});
    assert_eq!(claude, json!({"numStartups": 3, "mcpServers": {"towline": entry}}));
    let table = format!("\r\n[mcp_servers.towline]\r\ncommand = \"{}\"\r\nargs = [\"mcp\"]\r\n", desk.tow());
    assert_eq!(codex, format!("{}{table}", before[1]));
    says(&desk.doctor(), "good", "registered in");
    assert_eq!(changed(&desk.run("install", &["--json"]).json()), [false, false]);

    desk.run("uninstall", &["--dry-run"]).prints("-[mcp_servers.towline]");
    desk.run("uninstall", &[]);
    assert_eq!(desk.texts(), before);
}

#[test]
fn a_home_without_files_gets_them_and_loses_them_again() {
    let desk = Desk::new();
    desk.run("install", &[]).prints(".claude.json").prints("config.toml");
    assert!(desk.json().exists() && desk.toml().exists());
    desk.run("uninstall", &[]);
    assert!(!desk.json().exists() && !desk.env.home().join(".codex").exists());
}

#[test]
fn without_mcp_it_is_left_out_and_an_uninstall_still_takes_it_away() {
    let desk = Desk::new();
    let report = desk.run("install", &["--no-mcp", "--json"]).json();
    assert_eq!(report["agents"][0]["mcp"], Value::Null);
    assert!(!desk.json().exists() && !desk.toml().exists());
    says(&desk.doctor(), "good", "not registered");
    desk.run("install", &[]);
    desk.run("install", &["--no-mcp"]);
    says(&desk.doctor(), "good", "registered in");
    desk.run("uninstall", &[]);
    assert!(!desk.json().exists() && !desk.toml().exists());
}

#[test]
fn an_entry_of_a_program_that_moved_is_named_and_mended() {
    let desk = Desk::holding(
        r#"{"mcpServers":{"towline":{"command":"/old/tow","args":["mcp"]}}}"#,
        "[mcp_servers.towline]\ncommand = \"/old/tow\"\nargs = [\"mcp\"]\n",
    );
    says(&desk.doctor(), "warning", "lies elsewhere");
    desk.run("install", &[]);
    says(&desk.doctor(), "good", "registered in");
    assert!(desk.texts().iter().all(|text| text.contains(&desk.tow()) && !text.contains("/old/")));
}

#[test]
fn somebody_elses_server_of_that_name_stays_and_is_named() {
    let theirs = [
        r#"{"mcpServers":{"towline":{"command":"/bin/boat"}}}"#,
        "[mcp_servers.towline]\nurl = \"http://localhost/boat\"\n",
    ];
    let desk = Desk::holding(theirs[0], theirs[1]);
    desk.run("install", &[]).complains("its server `towline` is not ours").prints("hooks.json");
    says(&desk.doctor(), "warning", "is not ours");
    desk.run("uninstall", &[]);
    assert_eq!(desk.texts(), theirs);
}

#[test]
fn what_cannot_be_edited_is_named_and_keeps_nothing_else_from_being_done() {
    let broken = ["{ nothing", "[[["];
    let desk = Desk::holding(broken[0], broken[1]);
    desk.run("install", &[]).complains(".claude.json").complains("config.toml").complains("line 1");
    assert!(desk.env.home().join(".claude/settings.json").exists());
    assert!(desk.env.home().join(".codex/hooks.json").exists());
    assert_eq!(desk.texts(), broken);
    says(&desk.doctor(), "warning", "line 1");

    // Root may write whatever its mode says: what nobody can write stands for what we may not.
    let desk = Desk::new();
    fs::create_dir_all(desk.json()).unwrap();
    desk.env.tow(&["install", "--agent", "claude"]).ok().complains("is not a regular file");
    assert!(desk.env.home().join(".claude/settings.json").exists());
}

#[test]
fn a_folder_of_its_own_for_the_data_is_written_into_the_entry() {
    let desk = Desk::new();
    let data = desk.env.root().join("my data").display().to_string();
    desk.env.set("TOWLINE_HOME", data.as_str());
    desk.env.set("XDG_DATA_HOME", "not/absolute");
    desk.run("install", &[]);
    let [claude, codex] = desk.texts();
    let claude: Value = serde_json::from_str(&claude).unwrap();
    assert_eq!(claude["mcpServers"]["towline"]["env"], json!({"TOWLINE_HOME": data}));
    assert!(codex.ends_with(&format!("env = {{ TOWLINE_HOME = \"{data}\" }}\n")), "{codex}");
    says(&desk.doctor(), "good", "registered in");
    desk.env.unset("TOWLINE_HOME");
    says(&desk.doctor(), "warning", "data folder that lies elsewhere");
}

#[test]
fn the_folder_that_the_client_was_told_to_use_is_used() {
    let desk = Desk::new();
    let folders = ["one", "two"].map(|name| desk.env.root().join(name));
    desk.env.set("CLAUDE_CONFIG_DIR", folders[0].display().to_string());
    desk.env.set("CODEX_HOME", folders[1].display().to_string());
    desk.run("install", &[]);
    assert!(folders[0].join(".claude.json").exists() && folders[1].join("config.toml").exists());
    assert!(!desk.json().exists() && !desk.toml().exists());
    desk.run("uninstall", &[]);
    assert!(!folders[0].exists() && !folders[1].exists());
}
