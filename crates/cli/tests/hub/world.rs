//! A hub of a test's own, and machines that join it.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use towline_testkit::{Cut, Postgres, Run, TestEnv};

/// Sunday, 15 November 2026, 12:00 in universal time.
pub const NOON: i64 = 1_794_744_000_000;
pub const KEY: &str = "crew/app";

/// Which server it is: every story is told of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// Debian's, with TLS.
    Debian,
    /// One with pgvector, without TLS.
    Vectors,
}

pub struct Site {
    pub postgres: Postgres,
    /// The only way that machines know to the server.
    pub way: Cut,
    server: Server,
}

/// A person's password. No other text of these tests contains it.
pub fn password(login: &str) -> String {
    format!("pw-{login}-7Qx")
}

impl Site {
    /// A server with a database that `ann_login` owns, who is no superuser, and other logins.
    pub fn new(server: Server) -> Site {
        let postgres = match server {
            Server::Debian => Postgres::debian(),
            Server::Vectors => Postgres::with_vectors(),
        };
        for login in ["ann_login", "bob_login", "eve_login"] {
            postgres.create_login(login, &password(login), "towline");
        }
        if server == Server::Vectors {
            // Its makers have not marked it as safe for everybody, so an administrator creates it.
            postgres.run_in("towline", "create extension vector");
        }
        let way = Cut::before(postgres.port());
        Site { postgres, way, server }
    }

    /// The same with the team `crew` of ann and bob.
    pub fn with_team(server: Server) -> Site {
        let site = Site::new(server);
        let desk = site.machine("ann_login");
        desk.tow(&site.at(&["hub", "init", &site.url("ann_login"), "--team", "crew", "--as", "ann"])).ok();
        site.join(&desk, "ann_login", "chair");
        desk.tow(&["hub", "members", "add", "bob", "--role", "bob_login"]).ok();
        desk.tow(&["hub", "leave"]).ok();
        site
    }

    pub fn url(&self, login: &str) -> String {
        format!("postgres://{login}@localhost:{}/towline", self.way.port())
    }

    /// A command that says how to get there, with what this server wants.
    pub fn at<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        let more: Vec<&str> = match self.server {
            Server::Debian => vec!["--ca", self.ca()],
            Server::Vectors => vec!["--plain"],
        };
        arguments.iter().copied().chain(more).collect()
    }

    fn ca(&self) -> &str {
        Box::leak(self.postgres.ca().to_str().unwrap().to_owned().into_boxed_str())
    }

    /// A machine of whoever has this login, with the password where PostgreSQL's own programs look for it.
    pub fn machine(&self, login: &str) -> TestEnv {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        env.set("TZ", "UTC");
        env.set_now(NOON);
        let file = env.home().join(".pgpass");
        fs::write(&file, format!("localhost:*:towline:{login}:{}\n", password(login))).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        env
    }

    #[track_caller]
    pub fn join(&self, env: &TestEnv, login: &str, name: &str) -> Run {
        let url = self.url(login);
        env.tow(&self.at(&["hub", "join", &url, "--team", "crew", "--machine", name])).ok()
    }

    /// A machine that has joined and shares its project, in which something was remembered.
    #[track_caller]
    pub fn sharing(&self, login: &str, name: &str) -> TestEnv {
        let env = self.machine(login);
        self.join(&env, login, name);
        remember(&env, &format!("{name} keeps its tools in the shed"));
        env.tow(&["hub", "share", ".", "--as", KEY]).ok();
        sync(&env);
        // Sharing starts an exchange in the background, which would take in what a test is about.
        env.wait_no_process();
        env
    }
}

/// Says something to be remembered, and gives what it is called.
#[track_caller]
pub fn remember(env: &TestEnv, text: &str) -> String {
    env.tow(&["remember", "--json", text]).ok().json()["id"].as_str().unwrap().to_owned()
}

/// All that is new, both ways.
#[track_caller]
pub fn sync(env: &TestEnv) -> Value {
    env.tow(&["hub", "sync", "--json"]).ok().json()
}

/// Titles of what is remembered here, with whose it is.
#[track_caller]
pub fn titles(env: &TestEnv) -> Vec<String> {
    let found = env.tow(&["memories", "--json", "--all", "--limit", "50"]).ok().json();
    let mut titles: Vec<String> = found["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["title"].as_str().unwrap().to_owned())
        .collect();
    titles.sort();
    titles
}

/// What the memory with this text is called here.
#[track_caller]
pub fn id_of(env: &TestEnv, text: &str) -> String {
    let found = env.tow(&["memories", "--json", "--all", "--limit", "50"]).ok().json();
    let memory = found["memories"]
        .as_array()
        .unwrap()
        .iter()
        .find(|memory| memory["title"].as_str().unwrap().contains(text));
    memory.unwrap()["id"].as_str().unwrap().to_owned()
}

/// Whether any file below the data folder or the configuration holds this word.
pub fn holds(env: &TestEnv, word: &str) -> bool {
    let mut folders = vec![env.data_dir(), env.home().join(".config")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(word)) {
                return true;
            }
        }
    }
    false
}
