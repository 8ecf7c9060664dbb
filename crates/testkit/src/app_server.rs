//! A JSON-RPC client for `codex app-server`: one message per line over its standard input and output.
//!
//! For tests only; Towline must not reach a client this way.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

use crate::wait;

/// A running app-server; dropping it ends the process.
pub(crate) struct AppServer {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<Value>,
    asked: u64,
}

impl AppServer {
    /// Starts the server and sends `initialize`.
    #[track_caller]
    pub(crate) fn start(codex: &mut Command) -> Self {
        let mut child = codex
            .arg("app-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the app-server starts");
        let stdin = child.stdin.take().expect("stdin is piped");
        let answers = read_lines(BufReader::new(child.stdout.take().expect("stdout is piped")));
        let mut server = Self { child, stdin, answers, asked: 0 };
        let client = json!({"name": "testkit", "title": "testkit", "version": "0"});
        server.call("initialize", json!({"clientInfo": client, "capabilities": {"experimentalApi": true}}));
        server.send(&json!({"method": "initialized"}));
        server
    }

    /// Calls a method and returns its result; panics when the server answers with an error.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        self.send(&json!({"id": self.asked, "method": method, "params": params}));
        loop {
            let message = self
                .answers
                .recv_timeout(wait::PATIENCE)
                .unwrap_or_else(|error| panic!("no answer to {method}: {error}"));
            if message["id"] == self.asked && message["method"].is_null() {
                assert!(message["error"].is_null(), "{method} failed: {message}");
                return message["result"].clone();
            }
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").expect("the app-server listens");
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(reader: impl BufRead + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let messages = reader.lines().map_while(Result::ok);
        for message in messages.filter_map(|line| serde_json::from_str(&line).ok()) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
