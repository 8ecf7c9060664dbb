//! The configuration: the user's file merged over the commented, compiled-in defaults.
//!
//! Pure functions of text. A mistake never stops a command: it is reported with its line and the nearest
//! valid key, and the default is used. A key is declared once, in `default.toml`; `ranges` restricts its values
//! and the section's file gives it a type.

mod bookmarks;
mod continuing;
mod distil;
pub mod edit;
mod effective;
mod enrich;
mod guard;
mod hub;
mod layer;
mod limits;
mod memory;
mod nearest;
mod notify;
mod patterns;
mod prices;
mod ranges;
mod rules;
mod search;
mod settings;
mod typing;
mod values;

pub use bookmarks::Bookmarks;
pub use continuing::Continuing;
pub use distil::Distil;
pub use effective::{EffectiveConfig, effective, to_json};
pub use enrich::{Enrich, ProviderName};
pub use guard::{Guard, StatusLine};
pub use hub::{Hub, HubTls};
pub use layer::{Mistake, layered, project_name, settings, value_at};
pub use limits::Limits;
pub use memory::Memory;
pub use nearest::nearest;
pub use notify::{Commands, Notify, OCCASIONS};
pub use prices::listed;
pub use search::{Search, SearchTier};
pub use settings::Config;
pub use typing::Typing;
pub use values::DEFAULT;
