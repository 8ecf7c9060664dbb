//! The wire to a browser: its debugging pipe, JSON messages that end with a zero byte.
//!
//! Opens no port: nobody else can reach the browser, and it ends when the pipe does.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{TestEnv, wait};

/// The browser reads its pipe from the third descriptor and writes to the fourth: a shell moves ours there.
const START: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

const QUIET: [&str; 14] = [
    "--headless=new",
    "--remote-debugging-pipe",
    // Its own sandbox needs rights that a container does not give, and root may not use it.
    "--no-sandbox",
    // Shared memory of a container is small.
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--password-store=basic",
];

#[derive(Debug)]
pub(crate) struct Wire {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    asked: u64,
    /// The tab that calls are for.
    tab: Option<String>,
    events: Vec<Value>,
}

impl Wire {
    /// Starts the browser with a profile in the environment, and attaches to its one tab.
    #[track_caller]
    pub(crate) fn start(env: &TestEnv) -> Wire {
        let profile = tempfile::tempdir_in(env.root().join("tmp")).expect("the root is writable").keep();
        let mut command = env.command("sh");
        command.args(["-c", START, "sh", "chromium"]).args(QUIET);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell starts");
        let stdin = child.stdin.take();
        let messages = read_messages(child.stdout.take().expect("stdout is piped"));
        let mut wire = Wire { child, stdin, messages, asked: 0, tab: None, events: Vec::new() };
        wire.attach();
        wire
    }

    /// Calls a method of the tab and gives its result; panics when the browser answers with an error.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({"id": self.asked, "method": method, "params": params});
        if let Some(tab) = &self.tab {
            message["sessionId"] = json!(tab);
        }
        let sent = self.stdin.as_mut().map(|stdin| write!(stdin, "{message}\0").and_then(|()| stdin.flush()));
        assert!(matches!(sent, Some(Ok(()))), "the browser has ended: is `chromium` installed?");
        self.answer_to(method)
    }

    /// What the tab told of this kind since it was opened.
    pub(crate) fn events(&mut self, method: &str) -> Vec<Value> {
        self.events.extend(self.messages.try_iter());
        self.events.iter().filter(|event| event["method"] == method).cloned().collect()
    }

    #[track_caller]
    fn answer_to(&mut self, method: &str) -> Value {
        loop {
            let message = self.messages.recv_timeout(wait::PATIENCE);
            let message = message.unwrap_or_else(|error| panic!("no answer to {method}: {error}"));
            if message["id"] == self.asked {
                assert!(message["error"].is_null(), "{method} failed: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    #[track_caller]
    fn attach(&mut self) {
        let target = wait::until("the browser's tab", wait::PATIENCE, || {
            let targets = self.call("Target.getTargets", json!({}));
            let mut tabs = targets["targetInfos"].as_array()?.iter();
            tabs.find(|target| target["type"] == "page").map(|target| target["targetId"].clone())
        });
        let attached = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        self.tab = attached["sessionId"].as_str().map(str::to_owned);
    }
}

impl Drop for Wire {
    /// A closed pipe is how the browser is told to go: its helpers go with it. One that hangs is ended.
    fn drop(&mut self) {
        self.stdin = None;
        let gone =
            wait::holds_within(Duration::from_secs(5), || matches!(self.child.try_wait(), Ok(Some(_))));
        if !gone {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn read_messages(pipe: impl Read + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let messages = BufReader::new(pipe).split(0).map_while(Result::ok);
        for message in messages.filter_map(|bytes| serde_json::from_slice(&bytes).ok()) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
