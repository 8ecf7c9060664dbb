//! A scripted model on loopback: Messages API, Responses API, chat completions and Gemini's API, with a request log.
//!
//! Keeps no conversation: every request carries all of it, so an answer depends on request and script only.

mod chat;
mod gate;
mod gemini;
mod http;
mod messages;
mod request;
mod responses;
mod script;
mod server;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

pub use gate::Gate;
pub use request::{Api, Kind, Request};
pub use script::{Rule, Script, Step, Usage};

use crate::wait;

/// A running model server. Dropping it ends it, and every answer that still waits at a gate.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

/// State shared by the connections and the test.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    script: Script,
    requests: Vec<Request>,
    ended: bool,
}

impl Model {
    /// Starts a server with this script. A prompt that no rule matches is echoed.
    #[track_caller]
    pub fn start(script: impl Into<Script>) -> Self {
        let shared = Arc::new(Shared::default());
        shared.state().script = script.into();
        let (address, listener) = server::listen(Arc::clone(&shared));
        Self { address, shared, listener: Some(listener) }
    }

    /// A server without rules, which echoes every prompt.
    #[track_caller]
    pub fn echo() -> Self {
        Self::start([])
    }

    /// Adds a rule while the server runs, before the older ones.
    pub fn add(&self, rule: Rule) {
        self.shared.state().script.rules.insert(0, rule);
    }

    /// The base URL for a client, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Waits for the first matching request.
    #[track_caller]
    pub fn wait_request(&self, what: &str, fits: impl Fn(&Request) -> bool) -> Request {
        wait::until_evident(&format!("a request to the model: {what}"), wait::PATIENCE, || {
            let requests = self.requests();
            let found = requests.iter().find(|request| fits(request));
            found.cloned().ok_or_else(|| listing(&requests))
        })
    }

    /// Waits for the first request whose prompt contains `text`.
    #[track_caller]
    pub fn wait_prompt(&self, text: &str) -> Request {
        self.wait_request(text, |request| request.prompt.contains(text))
    }

    /// Whether any request contained this text.
    pub fn saw(&self, needle: &str) -> bool {
        self.shared.state().requests.iter().any(|request| request.holds(needle))
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let gates: Vec<Gate> = {
            let mut state = self.shared.state();
            state.ended = true;
            state.script.gates().cloned().collect()
        };
        gates.iter().for_each(Gate::end);
        server::wake(self.address);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

impl Shared {
    /// A test that panicked elsewhere must still be able to stop the server.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn listing(requests: &[Request]) -> String {
    let line = |request: &Request| {
        let prompt: String = request.prompt.chars().take(80).collect();
        format!("{:?} {:?} step {} {prompt:?}", request.api, request.kind, request.step)
    };
    requests.iter().map(line).collect::<Vec<_>>().join("\n")
}
