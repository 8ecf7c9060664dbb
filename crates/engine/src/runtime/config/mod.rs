//! The configuration: the user's file merged over the commented, compiled-in defaults.
//!
//! Pure functions of text. A mistake never stops a command: it is reported with its line and the nearest
//! valid key, and the default is used. A key is declared once, in `default.toml`; `ranges` restricts its values
//! and the section's file gives it a type.

mod bookmarks;
pub mod edit;
mod effective;
mod enrich;
mod guard;
mod hub;
mod layer;
mod notify;
mod otlp;
mod patterns;
mod prices;
mod ranges;
mod rules;
mod search;
mod section;
mod sections;
mod settings;
mod values;

pub use bookmarks::Bookmarks;
pub use effective::{EffectiveConfig, effective, mistakes, to_json, warning};
pub use enrich::{Enrich, ProviderName};
pub use guard::{Guard, StatusLine};
pub use hub::{Hub, HubTls};
pub use layer::{Mistake, layered, project_name, settings, value_at};
pub use notify::{Commands, Notify, OCCASIONS};
pub use otlp::{Otlp, OtlpSignal};
pub use prices::listed;
pub use search::{Search, SearchTier};
pub use sections::{Continuing, Distil, Limits, Mcp, McpProjects, Memory, Typing, Work};
pub use settings::{Config, JournalSync};
pub use towline_core::nearest::nearest;
pub use values::DEFAULT;
