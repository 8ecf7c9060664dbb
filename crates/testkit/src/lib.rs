//! The test bench: a hermetic environment, a scripted model, and drivers for the real clients.
//!
//! Must not depend on Towline's crates: it runs a given binary and reads its output and files.
//! It reports failures by panicking, and no test sleeps: every wait is for a condition (`wait`).
//!
//! ```no_run
//! use towline_testkit::{Claude, Model, Rule, Step, TestEnv, Tmux};
//! use serde_json::json;
//!
//! let env = TestEnv::new("/path/to/tow");
//! let model = Model::start([
//!     Rule::when("say hello").then(Step::tool("Bash", json!({"command": "echo hello"}))).then(Step::text("done")),
//! ]);
//! let claude = Claude::V2_1_325;
//! claude.seed(&env);
//! env.tow(&["install"]).ok();
//!
//! claude.headless(&env, &model, "say hello", &[]).ok().prints("done");
//! assert!(model.saw("hello"));
//!
//! let tmux = Tmux::start(&env);
//! let pane = claude.interactive(&tmux, &model, &[]);
//! pane.say("say hello");
//! pane.wait_screen("done");
//! ```
//!
//! All processes below the environment's root end when the last handle on it is dropped.
#![expect(clippy::expect_used, clippy::panic, reason = "a test bench reports by panicking")]

mod app_server;
mod browser;
mod browser_keys;
mod browser_wire;
mod ccusage;
mod claude;
mod client;
mod clients;
mod codex;
mod cut;
mod env;
mod mcp;
mod model;
pub mod mutate;
mod postgres;
mod postgres_certificates;
mod processes;
mod recorder;
mod remains;
mod run;
mod scripted;
mod seats;
mod terminal;
mod tmux;
pub mod wait;

pub use browser::{Barrier, Browser, Theme};
pub use ccusage::ccusage;
pub use claude::Claude;
pub use client::Client;
pub use codex::{Codex, Daemon};
pub use cut::Cut;
pub use env::TestEnv;
pub use mcp::McpClient;
pub use model::{Api, Gate, Kind, Model, Request, Rule, Script, Step, Usage};
pub use postgres::Postgres;
pub use postgres_certificates::Served;
pub use processes::Process;
pub use recorder::{Moment, Recorder};
pub use run::Run;
pub use terminal::{Shown, script_arguments};
pub use tmux::{Pane, Tmux};
