//! What Codex's app-server takes and gives: the names and shapes of its messages, one JSON object each.
//!
//! Speaks to nobody: whoever carries the texts there and back decides how long to wait. What a newer server says beside
//! what is asked for here is passed over.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use towline_core::id::{SessionId, TurnId, Uid};
use towline_core::time::Timestamp;

/// Where a server of the agent is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The socket of the one that runs in the background, if it does.
    pub socket: PathBuf,
    /// What to call the agent's program with for one that serves its own standard input and output.
    pub arguments: &'static [&'static str],
}

pub(crate) fn address(folder: &Path) -> Address {
    Address { socket: folder.join("app-server-control/app-server-control.sock"), arguments: &["app-server"] }
}

/// What is said once the server knows us: only then does it answer anything else.
pub const READY: &str = r#"{"method":"initialized"}"#;

/// One question to the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub method: &'static str,
    params: Value,
}

impl Call {
    pub fn introduce(version: &str) -> Call {
        let client = json!({"name": "towline", "title": "Towline", "version": version});
        Call {
            method: "initialize",
            params: json!({"clientInfo": client, "capabilities": {"experimentalApi": true}}),
        }
    }

    /// What the server knows of a thread, whether it is loaded or not.
    pub fn thread(thread: &SessionId) -> Call {
        Call { method: "thread/read", params: json!({"threadId": thread.as_str()}) }
    }

    /// Its turns, oldest first, from where the last answer ended.
    pub fn turns(thread: &SessionId, cursor: Option<&str>) -> Call {
        let params = json!({
            "threadId": thread.as_str(), "cursor": cursor, "sortDirection": "asc", "itemsView": "notLoaded",
            "limit": 200,
        });
        Call { method: "thread/turns/list", params }
    }

    /// Loads a thread, which is what can be changed.
    pub fn load(thread: &SessionId) -> Call {
        Call { method: "thread/resume", params: json!({"threadId": thread.as_str(), "excludeTurns": true}) }
    }

    /// Lets go of a thread that we loaded.
    pub fn leave(thread: &SessionId) -> Call {
        Call { method: "thread/unsubscribe", params: json!({"threadId": thread.as_str()}) }
    }

    /// Takes back a turn and all after it. The files of the project stay as they are.
    pub fn revert(thread: &SessionId, before: &TurnId) -> Call {
        let params = json!({"threadId": thread.as_str(), "beforeTurnId": before.as_str()});
        Call { method: "thread/revert", params }
    }

    /// A new thread with what was before a turn, or with all of it.
    pub fn fork(thread: &SessionId, before: Option<&TurnId>) -> Call {
        let before = before.map(TurnId::as_str);
        let params = json!({"threadId": thread.as_str(), "beforeTurnId": before, "excludeTurns": true});
        Call { method: "thread/fork", params }
    }

    /// Gives the model something to know, without a turn of its own.
    pub fn inject(thread: &SessionId, text: &str) -> Call {
        let content = json!([{"type": "input_text", "text": text}]);
        let item = json!({"type": "message", "role": "developer", "content": content});
        Call { method: "thread/inject_items", params: json!({"threadId": thread.as_str(), "items": [item]}) }
    }

    /// The message, under a number by which its answer is known.
    pub fn numbered(&self, number: u64) -> String {
        json!({"id": number, "method": self.method, "params": self.params}).to_string()
    }
}

/// What one message of the server is to us.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    Answer {
        number: u64,
        result: Result<Value, Refused>,
    },
    /// The server wants something of us: this is what to say, so that it does not wait.
    Asked {
        decline: String,
    },
    /// It tells of something that we did not ask for.
    Told,
}

/// The server understood and does not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    pub message: String,
}

/// `None` for what is no message at all.
pub fn heard(text: &str) -> Option<Heard> {
    let mut message: Value = serde_json::from_str(text).ok()?;
    let id = message.get("id").cloned();
    if message.get("method").is_some() {
        let decline = |id| json!({"id": id, "error": {"code": -32601, "message": "not answered here"}});
        return Some(id.map_or(Heard::Told, |id| Heard::Asked { decline: decline(id).to_string() }));
    }
    let number = id?.as_u64()?;
    let result = match message.get("error") {
        Some(error) => Err(Refused { message: words(error) }),
        None => Ok(message.get_mut("result")?.take()),
    };
    Some(Heard::Answer { number, result })
}

/// The server lists all that it knows when it is asked for what it does not know.
const LONGEST_REFUSAL: usize = 300;

fn words(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason is given");
    message.chars().filter(|char| !char.is_control()).take(LONGEST_REFUSAL).collect()
}

/// A thread, as far as it matters to whoever wants to change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub id: SessionId,
    /// The file in which it goes on; another one after each revert.
    pub path: Option<PathBuf>,
    pub history: History,
    pub status: Status,
    pub folder: Option<PathBuf>,
}

/// How its history is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// In pages: the only kind that can be reverted.
    Paginated,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    NotLoaded,
    Idle,
    Active,
    /// Something that this program does not know.
    Other,
}

/// The thread that an answer is about.
pub fn thread(answer: &Value) -> Option<Thread> {
    let thread = answer.get("thread")?;
    let text = |name: &str| thread.get(name).and_then(Value::as_str);
    let history = if text("historyMode") == Some("paginated") { History::Paginated } else { History::Other };
    let status = match thread.pointer("/status/type").and_then(Value::as_str) {
        Some("notLoaded") => Status::NotLoaded,
        Some("idle") => Status::Idle,
        Some("active") => Status::Active,
        Some(_) | None => Status::Other,
    };
    Some(Thread {
        id: SessionId::parse(text("id")?).ok()?,
        path: text("path").map(PathBuf::from),
        history,
        status,
        folder: text("cwd").map(PathBuf::from),
    })
}

/// A turn of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub id: TurnId,
    pub started_at: Option<Timestamp>,
    pub is_running: bool,
}

/// Some turns, and from where to go on if there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnPage {
    pub turns: Vec<Turn>,
    pub next: Option<String>,
}

pub fn turns(answer: &Value) -> Option<TurnPage> {
    let turns = answer.get("data")?.as_array()?.iter().map(turn).collect::<Option<Vec<Turn>>>()?;
    Some(TurnPage { turns, next: answer.get("nextCursor").and_then(Value::as_str).map(str::to_owned) })
}

fn turn(value: &Value) -> Option<Turn> {
    let id = value.get("id")?.as_str()?;
    let seconds = value.get("startedAt").and_then(Value::as_i64);
    Some(Turn {
        id: TurnId::parse(id).ok()?,
        started_at: seconds.and_then(|seconds| seconds.checked_mul(1000)).map(|at| begun(id, Timestamp(at))),
        is_running: value.get("status").and_then(Value::as_str) == Some("inProgress"),
    })
}

/// Ids are made of the time at which the turn was asked for, which is finer than whole seconds.
fn begun(id: &str, at: Timestamp) -> Timestamp {
    let made = Uid::parse(id).ok().map(Uid::at);
    made.filter(|made| made.0.abs_diff(at.0) < 2000).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::parse("t-1").unwrap()
    }

    #[test]
    fn a_question_is_one_line_with_its_number() {
        let call = Call::revert(&session(), &TurnId::parse("turn-2").unwrap());
        let text = call.numbered(7);
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({"id": 7, "method": "thread/revert", "params": {"threadId": "t-1", "beforeTurnId": "turn-2"}})
        );
        assert!(!Call::inject(&session(), "two\nlines").numbered(1).contains('\n'));
    }

    #[test]
    fn answers_questions_and_news_are_told_apart() {
        assert_eq!(
            heard(r#"{"id":3,"result":{"a":1}}"#),
            Some(Heard::Answer { number: 3, result: Ok(json!({"a": 1})) })
        );
        let refused = Refused { message: "thread not found: x".into() };
        assert_eq!(
            heard(r#"{"error":{"code":-32600,"message":"thread not found: x"},"id":3}"#),
            Some(Heard::Answer { number: 3, result: Err(refused) })
        );
        assert_eq!(heard(r#"{"method":"turn/started","params":{}}"#), Some(Heard::Told));
        let Some(Heard::Asked { decline }) = heard(r#"{"id":"q","method":"execCommandApproval"}"#) else {
            panic!("a question")
        };
        assert!(decline.contains(r#""id":"q""#) && decline.contains("error"));
        for text in ["", "no json", "{}", r#"{"id":"x","result":{}}"#] {
            assert_eq!(heard(text), None, "{text}");
        }
    }

    #[test]
    fn a_long_refusal_is_cut_and_stays_on_its_line() {
        let text = json!({"id": 1, "error": {"message": "a\nb".repeat(500)}}).to_string();
        let Some(Heard::Answer { result: Err(refused), .. }) = heard(&text) else { panic!("a refusal") };
        assert_eq!(refused.message.len(), LONGEST_REFUSAL);
        assert!(!refused.message.contains('\n'));
    }

    #[test]
    fn what_a_server_says_of_threads_and_turns_is_read() {
        let answer = json!({"thread": {
            "id": "t-1", "path": "/s/rollout-x.jsonl", "historyMode": "paginated", "status": {"type": "idle"},
            "cwd": "/p", "turns": [],
        }});
        let expected = Thread {
            id: session(),
            path: Some("/s/rollout-x.jsonl".into()),
            history: History::Paginated,
            status: Status::Idle,
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
                Turn {
                    id: TurnId::parse("a").unwrap(),
                    started_at: Some(Timestamp(12_000)),
                    is_running: false,
                },
                Turn { id: TurnId::parse("b").unwrap(), started_at: None, is_running: true },
                Turn {
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
