//! What the tests of this folder share: an environment, payloads for its hooks, and a look into its store.

use std::time::Duration;

use serde_json::json;
use towline_core::id::SessionKey;
use towline_store::{DataFolder, Store};
use towline_testkit::TestEnv;

/// An environment in which even the last resort for faults lies below its root.
pub fn hermetic() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let runtime = env.root().join("run");
    std::fs::create_dir(&runtime).expect("the root is writable");
    env.set("XDG_RUNTIME_DIR", runtime.display().to_string());
    env
}

/// A payload that both agents could send: they differ in fields that do not matter here.
pub fn payload(event: &str, session: &SessionKey, tool: &str) -> String {
    let fields = json!({
        "hook_event_name": event,
        "session_id": session.id.as_str(),
        "cwd": "/home/user/project",
        "source": "startup",
        "prompt": format!("do {tool}"),
        "tool_name": tool,
        "tool_input": {"command": "true"},
        "tool_response": {"stdout": "x".repeat(200)},
    });
    fields.to_string()
}

pub fn key(raw: &str) -> SessionKey {
    SessionKey::parse(raw).expect("a session's key")
}

/// The store of a data folder as it is now; nothing is folded.
pub fn store_in(home: &DataFolder) -> Store {
    Store::read(home, Duration::from_secs(5)).expect("the database opens").expect("there is a database")
}
