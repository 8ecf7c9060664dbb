//! A client of `tow mcp`, as an agent starts it: on standard input and output, in a folder.
//!
//! Knows no tool: a test names it and judges the answer.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Dropping it disconnects and waits for the end of the server.
#[derive(Debug)]
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl McpClient {
    /// Starts the server in the project.
    #[track_caller]
    pub fn new(env: &TestEnv) -> Self {
        Self::in_folder(env, &env.project())
    }

    #[track_caller]
    pub fn in_folder(env: &TestEnv, folder: &Path) -> Self {
        let mut command = env.command(env.root().join("bin/tow"));
        command.arg("mcp").current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().expect("it is piped"));
        let mut client = Self { child, stdin, lines: BufReader::new(stdout) };
        let info = json!({"name": "test", "version": "1"});
        let greeting = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        client.ask("initialize", &greeting);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// The text of a tool's answer, whether it succeeded or not.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The field of `_meta` in a tool's answer.
    #[track_caller]
    pub fn meta(&mut self, tool: &str, arguments: &Value, field: &str) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        answer["result"]["_meta"][field].clone()
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("the server answers");
        serde_json::from_str(&line).expect("an answer is JSON")
    }

    #[track_caller]
    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().expect("it is connected"), "{message}").expect("the server reads");
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
