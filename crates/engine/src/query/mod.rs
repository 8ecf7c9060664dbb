//! Reading captured work back: shared code of the query commands.
//!
//! Only reads, after the archive was brought up to date. Output is bounded and names the command for the
//! rest; the caller sets the bound.

mod figures;
mod memory_words;
pub mod news;
pub mod overview;
pub mod ownership;
mod page;
mod past;
mod session;
mod sought;
mod turn;
pub mod usage;
mod waits;

pub use figures::figures;
pub use memory_words::{cost, line, memory_json, memory_text};
pub use page::{Clipped, Page, Room, head, id_of, spanned};
pub use past::{Chosen, Past, ProjectScope, called, is_path};
pub use session::call;
pub use sought::{Found, beginning, seek};
pub use turn::{
    Thinking, TurnView, detail_json, detail_text, heading_json, turn_json, turn_text, view, view_detail,
    words,
};
pub use waits::{WaitsReport, WaitsRequest, waits};

use crate::runtime::failure::Failure;
use towline_store::StoreError;

/// The user's error for a failed archive read.
pub fn unreadable(error: StoreError) -> Failure {
    Failure::about("could not read what was captured", &error).hint("Run `tow doctor`.")
}
