//! Messages of Codex's app-server protocol, one JSON object each.
//!
//! Does no IO: the caller sends and waits. Unknown messages of a newer server are ignored.

pub use crate::adapter::ServerAddress;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use towline_core::id::{SessionId, TurnId, Uid};
use towline_core::time::Timestamp;

pub(crate) fn address(folder: &Path) -> ServerAddress {
    ServerAddress {
        socket: folder.join("app-server-control/app-server-control.sock"),
        arguments: &["app-server"],
    }
}

/// Sent after the handshake: before it, the server answers no other request.
pub const READY: &str = r#"{"method":"initialized"}"#;

#[derive(Clone, Debug, PartialEq)]
pub struct ServerRequest {
    pub method: &'static str,
    params: Value,
}

impl ServerRequest {
    pub fn initialize(version: &str) -> ServerRequest {
        let client = json!({"name": "towline", "title": "Towline", "version": version});
        let params = json!({"clientInfo": client, "capabilities": {"experimentalApi": true}});
        ServerRequest { method: "initialize", params }
    }

    /// The server's data about a thread, loaded or not.
    pub fn thread(thread: &SessionId) -> ServerRequest {
        ServerRequest { method: "thread/read", params: json!({"threadId": thread.as_str()}) }
    }

    /// A thread's turns, oldest first, starting at the cursor of the last page.
    pub fn turns(thread: &SessionId, cursor: Option<&str>) -> ServerRequest {
        let params = json!({
            "threadId": thread.as_str(), "cursor": cursor, "sortDirection": "asc", "itemsView": "notLoaded",
            "limit": 200,
        });
        ServerRequest { method: "thread/turns/list", params }
    }

    /// Loads a thread; only loaded threads can be changed.
    pub fn load(thread: &SessionId) -> ServerRequest {
        let params = json!({"threadId": thread.as_str(), "excludeTurns": true});
        ServerRequest { method: "thread/resume", params }
    }

    /// Unloads a thread that we loaded.
    pub fn unsubscribe(thread: &SessionId) -> ServerRequest {
        ServerRequest { method: "thread/unsubscribe", params: json!({"threadId": thread.as_str()}) }
    }

    /// Reverts a turn and all after it. The project's files stay unchanged.
    pub fn revert(thread: &SessionId, before: &TurnId) -> ServerRequest {
        let params = json!({"threadId": thread.as_str(), "beforeTurnId": before.as_str()});
        ServerRequest { method: "thread/revert", params }
    }

    /// A new thread with the history before a turn, or all of it.
    pub fn fork(thread: &SessionId, before: Option<&TurnId>) -> ServerRequest {
        let before = before.map(TurnId::as_str);
        let params = json!({"threadId": thread.as_str(), "beforeTurnId": before, "excludeTurns": true});
        ServerRequest { method: "thread/fork", params }
    }

    /// Adds text to the model's context without a turn.
    pub fn inject(thread: &SessionId, text: &str) -> ServerRequest {
        let content = json!([{"type": "input_text", "text": text}]);
        let item = json!({"type": "message", "role": "developer", "content": content});
        let params = json!({"threadId": thread.as_str(), "items": [item]});
        ServerRequest { method: "thread/inject_items", params }
    }

    /// The message under a number that identifies its response.
    pub fn to_json(&self, number: u64) -> String {
        json!({"id": number, "method": self.method, "params": self.params}).to_string()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ServerMessage {
    /// The response to our request of this number.
    Answer { number: u64, result: Result<Value, ServerRefusal> },
    /// The server's own request, with the reply that declines it so that the server does not wait.
    Asked { decline: String },
    /// A notification.
    Told,
}

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ServerRefusal {
    pub message: String,
}

/// `None` if the text is not a message.
pub fn parse_message(text: &str) -> Option<ServerMessage> {
    let mut message: Value = serde_json::from_str(text).ok()?;
    let id = message.get("id").cloned();
    if message.get("method").is_some() {
        let decline = |id| json!({"id": id, "error": {"code": -32601, "message": "not answered here"}});
        return Some(
            id.map_or(ServerMessage::Told, |id| ServerMessage::Asked { decline: decline(id).to_string() }),
        );
    }
    let number = id?.as_u64()?;
    let result = match message.get("error") {
        Some(error) => Err(ServerRefusal { message: error_text(error) }),
        None => Ok(message.get_mut("result")?.take()),
    };
    Some(ServerMessage::Answer { number, result })
}

/// The limit for error texts: for an unknown method, the server lists all methods it knows.
const LONGEST_REFUSAL: usize = 300;

fn error_text(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason is given");
    message.chars().filter(|char| !char.is_control()).take(LONGEST_REFUSAL).collect()
}

/// The properties of a thread that matter for changing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub id: SessionId,
    /// The file in which it continues; each revert starts a new one.
    pub path: Option<PathBuf>,
    pub history: HistoryMode,
    pub status: ThreadStatus,
    pub folder: Option<PathBuf>,
}

/// How a thread's history is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryMode {
    /// In pages: the only kind that can be reverted.
    Paginated,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStatus {
    NotLoaded,
    Idle,
    Active,
    /// A status unknown to this version.
    Other,
}

/// The thread in a response.
pub fn thread(answer: &Value) -> Option<Thread> {
    let thread = answer.get("thread")?;
    let text = |name: &str| thread.get(name).and_then(Value::as_str);
    let history =
        if text("historyMode") == Some("paginated") { HistoryMode::Paginated } else { HistoryMode::Other };
    let status = match thread.pointer("/status/type").and_then(Value::as_str) {
        Some("notLoaded") => ThreadStatus::NotLoaded,
        Some("idle") => ThreadStatus::Idle,
        Some("active") => ThreadStatus::Active,
        Some(_) | None => ThreadStatus::Other,
    };
    Some(Thread {
        id: SessionId::parse(text("id")?).ok()?,
        path: text("path").map(PathBuf::from),
        history,
        status,
        folder: text("cwd").map(PathBuf::from),
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadTurn {
    pub id: TurnId,
    pub started_at: Option<Timestamp>,
    pub is_running: bool,
}

/// A page of turns, and the cursor of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnPage {
    pub turns: Vec<ThreadTurn>,
    pub next: Option<String>,
}

pub fn turns(answer: &Value) -> Option<TurnPage> {
    let turns = answer.get("data")?.as_array()?.iter().map(turn).collect::<Option<Vec<ThreadTurn>>>()?;
    Some(TurnPage { turns, next: answer.get("nextCursor").and_then(Value::as_str).map(str::to_owned) })
}

fn turn(value: &Value) -> Option<ThreadTurn> {
    let id = value.get("id")?.as_str()?;
    let seconds = value.get("startedAt").and_then(Value::as_i64);
    Some(ThreadTurn {
        id: TurnId::parse(id).ok()?,
        started_at: seconds
            .and_then(|seconds| seconds.checked_mul(1000))
            .map(|ms| start_time(id, Timestamp(ms))),
        is_running: value.get("status").and_then(Value::as_str) == Some("inProgress"),
    })
}

/// Refines the start time with the id's timestamp, which has milliseconds instead of seconds.
fn start_time(id: &str, at: Timestamp) -> Timestamp {
    let created = Uid::parse(id).ok().map(Uid::at);
    created.filter(|created| created.0.abs_diff(at.0) < 2000).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::parse("t-1").unwrap()
    }

    #[test]
    fn a_question_is_one_line_with_its_number() {
        let call = ServerRequest::revert(&session(), &TurnId::parse("turn-2").unwrap());
        let text = call.to_json(7);
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({"id": 7, "method": "thread/revert", "params": {"threadId": "t-1", "beforeTurnId": "turn-2"}})
        );
        assert!(!ServerRequest::inject(&session(), "two\nlines").to_json(1).contains('\n'));
    }

    #[test]
    fn responses_requests_and_notifications_are_distinguished() {
        assert_eq!(
            parse_message(r#"{"id":3,"result":{"a":1}}"#),
            Some(ServerMessage::Answer { number: 3, result: Ok(json!({"a": 1})) })
        );
        let refused = ServerRefusal { message: "thread not found: x".into() };
        assert_eq!(
            parse_message(r#"{"error":{"code":-32600,"message":"thread not found: x"},"id":3}"#),
            Some(ServerMessage::Answer { number: 3, result: Err(refused) })
        );
        assert_eq!(parse_message(r#"{"method":"turn/started","params":{}}"#), Some(ServerMessage::Told));
        let Some(ServerMessage::Asked { decline }) =
            parse_message(r#"{"id":"q","method":"execCommandApproval"}"#)
        else {
            panic!("a question")
        };
        assert!(decline.contains(r#""id":"q""#) && decline.contains("error"));
        for text in ["", "no json", "{}", r#"{"id":"x","result":{}}"#] {
            assert_eq!(parse_message(text), None, "{text}");
        }
    }

    #[test]
    fn a_long_refusal_is_cut_and_stays_on_its_line() {
        let text = json!({"id": 1, "error": {"message": "a\nb".repeat(500)}}).to_string();
        let Some(ServerMessage::Answer { result: Err(refused), .. }) = parse_message(&text) else {
            panic!("a refusal")
        };
        assert_eq!(refused.message.len(), LONGEST_REFUSAL);
        assert!(!refused.message.contains('\n'));
    }

    #[test]
    fn threads_and_turns_are_parsed() {
        let answer = json!({"thread": {
            "id": "t-1", "path": "/s/rollout-x.jsonl", "historyMode": "paginated", "status": {"type": "idle"},
            "cwd": "/p", "turns": [],
        }});
        let expected = Thread {
            id: session(),
            path: Some("/s/rollout-x.jsonl".into()),
            history: HistoryMode::Paginated,
            status: ThreadStatus::Idle,
            folder: Some("/p".into()),
        };
        assert_eq!(thread(&answer), Some(expected));
        let page = json!({"data": [
            {"id": "a", "status": "completed", "startedAt": 12},
            {"id": "b", "status": "inProgress", "startedAt": null},
            {"id": "01a1df44-9b17-7b12-b494-387dec7b0e41", "status": "failed", "startedAt": 1794747177},
        ], "nextCursor": "c"});
        let expected = TurnPage {
            turns: vec![
                ThreadTurn {
                    id: TurnId::parse("a").unwrap(),
                    started_at: Some(Timestamp(12_000)),
                    is_running: false,
                },
                ThreadTurn { id: TurnId::parse("b").unwrap(), started_at: None, is_running: true },
                ThreadTurn {
                    id: TurnId::parse("01a1df44-9b17-7b12-b494-387dec7b0e41").unwrap(),
                    started_at: Some(Timestamp(1_794_747_177_751)),
                    is_running: false,
                },
            ],
            next: Some("c".into()),
        };
        assert_eq!(turns(&page), Some(expected));
        assert_eq!((thread(&json!({})), turns(&json!({"data": 1}))), (None, None));
    }
}
