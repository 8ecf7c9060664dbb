//! Edits of foreign settings files: planned purely, written whole, removed without a trace.
//!
//! Reads no environment and no clock, and knows no agent: a [`Target`] or a [`MarkedBlock`] of lines says what to register
//! and where. Never changes a foreign byte, never writes into a file in place, and writes nothing if nothing changes.
//!
//! ```text
//! Target ── plan(bytes) ──► Plan ── apply ──► backup, compare, exchange, watch
//!        ── plan_removal ─► Plan ── remove ─► the original bytes, or the file without our entries
//!        ── inspect ──────► Inspection
//! ```

mod apply;
mod archive;
mod block;
mod change;
mod edit;
mod editor_tasks;
mod inspect;
mod json;
mod jsonc;
mod layout;
mod ours;
mod page;
mod plan;
mod refusal;
mod server_json;
mod server_script;
mod server_toml;
mod status_line;
mod subject;
mod swap;
mod target;
mod tool_server;
mod words;

pub use apply::{Applied, RetryPace};
pub use archive::OriginalsArchive;
pub use block::{BlockState, MarkedBlock};
pub use change::{Containers, EditPlan, EntryChange};
pub use editor_tasks::{EditorTasks, TaskStart, TaskState};
pub use inspect::{FileEntry, Inspection};
pub use ours::EntryFault;
pub use page::{OwnedFile, OwnedFileState};
pub use refusal::{EditRefusal, RefusalCause};
pub use status_line::StatusLineState;
pub use subject::ManagedContent;
pub use target::{EntryOrder, HookEntry, Invocation, StatusLineMode, Target};
pub use tool_server::{DataVariable, McpServerEntry, PLACES, ServerState};

pub(crate) use target::absolute_command;
pub(crate) use tool_server::{FileFormat, NAME as SERVER_NAME};
pub use words::quote;
