//! Accepts connections and answers each on its own thread.
//!
//! A client that disconnects during an answer is normal (the user pressed Esc) and must not affect others.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::gate::{Gate, Position};
use super::http::{self, Received};
use super::request::{Api, Kind, Request, Turn};
use super::script::{Fault, Step};
use super::{Shared, chat, gemini, messages, responses};

/// Timeout for connections on which no request arrives.
const SILENCE: Duration = Duration::from_secs(20);

/// An answer in the format of the requested API.
pub(super) struct Reply {
    /// The complete answer, for a request that does not stream.
    pub(super) whole: Value,
    /// The same as server-sent events.
    pub(super) events: Vec<(&'static str, Value)>,
}

/// Opens a port on loopback and serves it until the shared state says that the server has ended.
pub(super) fn listen(shared: Arc<Shared>) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let accepting = thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if shared.state().ended {
                return;
            }
            let shared = Arc::clone(&shared);
            // Errors here are the peer's disconnects, which the peer knows about.
            thread::spawn(move || serve(&stream, &shared).ok());
        }
    });
    (address, accepting)
}

/// Wakes the accepting thread.
pub(super) fn wake(address: SocketAddr) {
    let _ = TcpStream::connect(address);
}

/// An id that is unique in this process.
pub(super) fn fresh_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}_{:08x}{number:016x}", std::process::id())
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(SILENCE))?;
    let Some(received) = http::receive(stream)? else {
        return Ok(());
    };
    let request = read(received);
    let step = shared.log(&request);
    match (request.api, request.kind) {
        (Api::Other, _) => send_nothing_here(stream, &request),
        (_, Kind::CountTokens) => {
            http::send(stream, 200, &[], &messages::token_count(&request.body).to_string())
        }
        (_, _) => answer(stream, &request, &step),
    }
}

impl Shared {
    /// Logs before answering: a test may wait for the request while the answer waits at a gate.
    fn log(&self, request: &Request) -> Step {
        let mut state = self.state();
        state.requests.push(request.clone());
        state.script.answer(request)
    }
}

fn read(received: Received) -> Request {
    let body: Value = serde_json::from_slice(&received.body).unwrap_or_default();
    let api = match (received.method.as_str(), received.path()) {
        ("POST", "/v1/messages" | "/v1/messages/count_tokens") => Api::Messages,
        ("POST", "/v1/responses") => Api::Responses,
        ("POST", "/v1/chat/completions") => Api::Chat,
        ("POST", path) if gemini::is_called(path) => Api::Gemini,
        (_, _) => Api::Other,
    };
    let turn = match api {
        Api::Messages => messages::newest_turn(&body),
        Api::Responses => responses::newest_turn(&body),
        Api::Chat => chat::newest_turn(&body),
        Api::Gemini => gemini::newest_turn(&body),
        Api::Other => Turn::default(),
    };
    let kind = match api {
        Api::Messages => messages::kind(&received, &body, &turn.prompt),
        Api::Responses => responses::kind(&body),
        Api::Chat => chat::kind(&body, &turn.prompt),
        Api::Gemini => gemini::kind(&received.target, &body),
        Api::Other => Kind::Other,
    };
    Request {
        api,
        kind,
        prompt: turn.prompt,
        step: turn.step,
        line: format!("{} {}", received.method, received.target),
        headers: received.headers,
        body,
    }
}

/// HEAD probes succeed; an unknown path is a mistake that the client should see.
fn send_nothing_here(stream: &TcpStream, request: &Request) -> io::Result<()> {
    match request.line.split(' ').next() {
        Some("HEAD") => http::send(stream, 200, &[], ""),
        _ => http::send(stream, 404, &[], &json!({"error": {"message": "not found"}}).to_string()),
    }
}

fn answer(stream: &TcpStream, request: &Request, step: &Step) -> io::Result<()> {
    pass(step.before.as_ref())?;
    if let Some(fault) = &step.fault {
        return http::send(stream, fault.status, &step.headers, &error_body(fault).to_string());
    }
    if let Some(body) = &step.body {
        return http::send(stream, 200, &step.headers, body);
    }
    let reply = match request.api {
        Api::Messages => messages::reply(&request.body, step),
        Api::Chat => chat::reply(&request.body, step),
        Api::Gemini => gemini::reply(step),
        Api::Responses | Api::Other => responses::reply(&request.body, step),
    };
    if request.body["stream"] == json!(true) || gemini::is_streamed(&request.line) {
        return send_events(stream, request.api, &reply, step);
    }
    pass(step.after_first_chunk.as_ref())?;
    http::send(stream, 200, &step.headers, &reply.whole.to_string())
}

fn send_events(stream: &TcpStream, api: Api, reply: &Reply, step: &Step) -> io::Result<()> {
    http::start_events(stream, &step.headers)?;
    let first_chunk = reply.events.iter().position(|(name, _)| name.ends_with("delta"));
    for (index, (name, data)) in reply.events.iter().enumerate() {
        let has_name = !matches!(api, Api::Chat | Api::Gemini);
        http::send_event(stream, has_name.then_some(*name), &data.to_string())?;
        if Some(index) == first_chunk {
            pass(step.after_first_chunk.as_ref())?;
        }
    }
    if api == Api::Chat { http::send_event(stream, None, "[DONE]") } else { Ok(()) }
}

/// The error format of both APIs.
fn error_body(fault: &Fault) -> Value {
    json!({"type": "error", "error": {"type": fault.kind, "message": fault.message}})
}

fn pass(gate: Option<&Gate>) -> io::Result<()> {
    match gate.map(Gate::pass) {
        Some(Position::Ended) => Err(io::Error::other("the server has ended")),
        Some(Position::Open | Position::Shut) | None => Ok(()),
    }
}
