//! An environment with recorded sessions and some memories, and a server on it.

use super::client::{Response, send};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use towline_testkit::TestEnv;

/// Sunday, 15 November 2026, 12:00 in universal time: the recorded sessions are of that morning.
pub const NOON: i64 = 1_794_744_000_000;

/// The session that is there, by what it is called.
pub const SESSION: &str = "3d256398";

const FOLDER_OF_RECORDING: &str = "/home/dev/project";

pub struct World {
    pub env: TestEnv,
    pub server: Served,
}

/// A server, for as long as this is kept.
pub struct Served {
    child: Child,
    pub said: Value,
    pub port: u16,
}

impl World {
    /// With one session and three memories.
    pub fn new(options: &[&str]) -> World {
        let env = empty();
        let text = fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts/claude-2.1.325-words.jsonl"),
        );
        let text = text.unwrap().replace(FOLDER_OF_RECORDING, &env.project().display().to_string());
        let folder = env.home().join(".claude/projects/-project");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("9688aa26-d77e-4b60-9250-d3853d256398.jsonl"), text).unwrap();
        env.tow(&["import"]).ok();
        // The import distils in the background; its summary must not come late.
        env.wait_no_process();
        env.tow(&["remember", "--type=decision", "The mast is painted white"]).ok();
        env.tow(&["remember", "--file=src/sail.rs", "--concept=sails", "Sails are cut in src/sail.rs"]).ok();
        env.tow(&["remember", "--type=gotcha", "The anchor chain is two metres short"]).ok();
        let server = serve(&env, options);
        World { env, server }
    }

    pub fn token(&self) -> String {
        self.server.said["token"].as_str().unwrap().to_owned()
    }

    pub fn events_token(&self) -> String {
        fs::read_to_string(self.env.data_dir().join("serve/events-token")).unwrap()
    }

    pub fn get(&self, path: &str) -> Response {
        self.ask(&format!("GET {path}"), None)
    }

    /// What a page of our own would send.
    pub fn ask(&self, head: &str, body: Option<&Value>) -> Response {
        let (host, bearer) = (self.host(), format!("Bearer {}", self.token()));
        let mut headers = vec![("Host", host.as_str()), ("Authorization", bearer.as_str())];
        headers.extend([("X-Towline", "1"), ("Content-Type", "application/json")]);
        let body = body.map(Value::to_string).unwrap_or_default();
        send(self.server.port, head, &headers, body.as_bytes())
    }

    /// What a host sends.
    pub fn tell(&self, path: &str, body: &Value) -> Response {
        let (host, bearer) = (self.host(), format!("Bearer {}", self.events_token()));
        let headers =
            [("Host", host.as_str()), ("Authorization", &bearer), ("Content-Type", "application/json")];
        send(self.server.port, &format!("POST {path}"), &headers, body.to_string().as_bytes())
    }

    /// All bytes of the journal, as text.
    pub fn journal(&self) -> String {
        let files = fs::read_dir(self.env.data_dir().join("journal")).unwrap().flatten();
        let files = files.filter(|file| file.path().is_file());
        files.map(|file| String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned()).collect()
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.server.port)
    }
}

pub fn empty() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", "UTC");
    env.set_now(NOON);
    env
}

/// Starts a server and waits until it says where it listens.
pub fn serve(env: &TestEnv, options: &[&str]) -> Served {
    let mut command: Command = env.command(env.root().join("bin/tow"));
    command.args(["serve", "--json"]).args(options);
    if !options.iter().any(|option| ["--socket", "--port"].contains(option)) {
        command.args(["--port", "0"]);
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    let address = said["address"].as_str().unwrap();
    let port = address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0);
    Served { child, said, port }
}

impl Served {
    /// The address that logs in once, without the server's own.
    pub fn login(&self) -> String {
        let url = self.said["url"].as_str().unwrap();
        url.strip_prefix(self.said["address"].as_str().unwrap()).unwrap().to_owned()
    }

    /// The cookie of a browser that logs in at this path: its name and value.
    pub fn cookie(&self, login: &str) -> String {
        let host = format!("127.0.0.1:{}", self.port);
        let entered = send(self.port, &format!("GET {login}"), &[("Host", &host)], b"").is(303);
        entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    /// The status of a request for the page with this cookie.
    pub fn page_with(&self, cookie: &str) -> u16 {
        let host = format!("127.0.0.1:{}", self.port);
        send(self.port, "GET /", &[("Host", &host), ("Cookie", cookie)], b"").status
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended, and well.
    pub fn ended(&mut self) -> Option<bool> {
        self.child.try_wait().unwrap().map(|status| status.success())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _waited = self.child.wait();
    }
}
