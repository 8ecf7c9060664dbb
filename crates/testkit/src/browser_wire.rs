//! The connection to a browser: its debugging pipe, with JSON messages that end with a zero byte.
//!
//! Opens no port, so that no other process can reach the browser, and it ends when the pipe closes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{TestEnv, wait};

/// The browser reads its pipe from descriptor 3 and writes to 4: a shell moves ours there.
const START: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

const QUIET: [&str; 14] = [
    "--headless=new",
    "--remote-debugging-pipe",
    // Chromium's sandbox needs rights that containers lack, and refuses to run as root.
    "--no-sandbox",
    // /dev/shm is small in a container.
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
    /// The session id of the attached tab.
    tab: Option<String>,
    events: Vec<Value>,
}

impl Wire {
    /// Starts the browser with a profile in the environment, and attaches to its only tab.
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

    /// Calls a method of the tab and returns its result; panics when the browser answers with an error.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params).unwrap_or_else(|error| panic!("{method} failed: {error}"))
    }

    /// As `call`, for a call that the browser may refuse.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.asked += 1;
        let mut message = json!({"id": self.asked, "method": method, "params": params});
        if let Some(tab) = &self.tab {
            message["sessionId"] = json!(tab);
        }
        let sent = self.stdin.as_mut().map(|stdin| write!(stdin, "{message}\0").and_then(|()| stdin.flush()));
        assert!(matches!(sent, Some(Ok(()))), "the browser has ended: is `chromium` installed?");
        self.answer_to(method)
    }

    /// All events of this method since the tab was opened.
    pub(crate) fn events(&mut self, method: &str) -> Vec<Value> {
        self.events.extend(self.messages.try_iter());
        self.events.iter().filter(|event| event["method"] == method).cloned().collect()
    }

    #[track_caller]
    fn answer_to(&mut self, method: &str) -> Result<Value, Value> {
        loop {
            let message = self.messages.recv_timeout(wait::PATIENCE);
            let message = message.unwrap_or_else(|error| panic!("no answer to {method}: {error}"));
            if message["id"] == self.asked {
                let is_refused = !message["error"].is_null();
                return if is_refused {
                    Err(message["error"].clone())
                } else {
                    Ok(message["result"].clone())
                };
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
    /// Closing the pipe ends the browser and its child processes. One that hangs is killed.
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
