//! Reading captured work back: sessions, turns, details, memories, bookmarks, timeline, usage.
//!
//! Only reads, after the archive was brought up to date. Results are bounded and count what they leave out; the caller
//! sets the bound.

mod background;
mod bookmarks;
mod context;
mod detail;
mod ended;
mod figures;
mod memories;
pub mod news;
pub mod overview;
pub mod ownership;
mod past;
mod proposals;
mod room;
mod search;
mod session;
mod sessions;
mod show;
mod sought;
mod timeline;
mod turn;
mod turns;
pub mod usage;
mod waits;

pub use background::{BackgroundJob, BackgroundWork, background_work};
pub use bookmarks::{
    BookmarkList, BookmarksRequest, LabelledBookmark, ShownBookmark, bookmark, bookmark_reason, bookmarks,
};
pub use context::{ContextPreview, ContextRequest, SessionStart, context};
pub use detail::{DetailRequest, Details, detail};
pub use ended::{EndedSession, ended_sessions, resumable, seats_that_began_with};
pub use figures::Figures;
pub use memories::{MemoriesRequest, MemoryFilter, MemoryList, memories};
pub use past::{Chosen, Past, ProjectScope, is_path, project_called, search_failed, unreadable_data};
pub use proposals::{ListedProposal, MOST_OPEN_PROPOSALS, TeamProposal, TeamProposals, team_proposals};
pub use room::{Clipped, Room};
pub use search::{SearchRequest, SearchResults, search};
pub use session::call;
pub use sessions::{SessionLine, SessionList, SessionsRequest, sessions};
pub use show::{Reader, ShowRequest, Shown, ShownMemory, ShownSession, show};
pub use sought::parse_time;
pub use timeline::{Timeline, TimelineEntry, TimelineRequest, memory_tokens, timeline};
pub use towline_store::BookmarkRow;
pub use towline_store::archive::{Conversation, DetailRow, KeptSummary, MemoryTrace, ModelUsage, TurnRow};
pub use turn::{DetailView, MessageView, Thinking, TurnView, id_of};
pub use turns::{ListedTurn, MessageLimit, TurnList, TurnsRequest, turns};
pub use waits::{WaitsReport, WaitsRequest, waits};
