//! Events: the one type between the agent adapters and everything that decides.
//!
//! An event carries only what later steps need, never a whole payload, and uses no vendor's vocabulary.

mod about;
mod kinds;

use crate::bookmark::{BookmarkReason as DueReason, CodeState, NewBookmark};
use crate::continuing::{HandoffAuthor, HopIntents, HopRequest, HopStage};
use crate::id::{SessionKey, SubagentId, TurnId, Uid};
use crate::inherit::{InheritSettings, RemoteBaton};
use crate::meter::{ContextUsage, NoticeAudience};
use crate::project::ProjectIdentity;
use crate::seat::SeatLocation;
use crate::text::SafeText;
use crate::time::Timestamp;
use crate::typing::{IntentRequest, IntentStage};
use serde::{Deserialize, Serialize};

pub use about::Urgency;
pub use kinds::{
    BlockReason, CompactionTrigger, EndedBy, ObservedChange, PromptOrigin, SessionPresence, StartedBy,
    ToolOutcome, TurnFailure,
};

/// One event of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub uid: Uid,
    pub at: Timestamp,
    pub session: SessionKey,
    /// The subagent that the event belongs to; `None` for the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<SubagentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    pub happening: EventKind,
    /// The environment of the event; omitted if no step needs it, because collecting it costs system calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<EventScene>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A session began, or began anew in the same process.
    SessionStarted {
        by: StartedBy,
        /// The user's inheritance settings: recorded with the event, so that the journal alone decides.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        wishes: InheritSettings,
    },
    /// The agent closed the session, or cleared it.
    SessionEnded { by: EndedBy },
    /// A prompt of the user, a background task or Towline.
    PromptSubmitted {
        prompt: SafeText,
        origin: PromptOrigin,
        /// The Towline command that the prompt is, which then asks nothing of the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own: Option<OwnCommand>,
    },
    /// One tool call ended.
    ToolFinished {
        tool: SafeText,
        outcome: ToolOutcome,
        /// Size of the tool's input and output.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        bytes: u64,
    },
    /// All tool calls of one model response are finished or were refused by the user.
    ToolsFinished,
    /// The agent asks the user for a permission or an answer.
    PermissionAsked { tool: SafeText, reason: BlockReason },
    /// The agent's own rules refused a tool; the user is not asked.
    PermissionRefused { tool: SafeText },
    /// The agent reports that it waits for the user.
    AttentionAsked { reason: BlockReason },
    /// The user has answered.
    AttentionGiven,
    /// `background` is the number of tasks that still run, if the agent reports it.
    TurnEnded {
        background: Option<u32>,
        /// The agent's last message, needed while its transcript lags behind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<SafeText>,
    },
    /// An error or a limit ended the turn.
    TurnFailed {
        failure: TurnFailure,
        /// When a usage limit ends, if the agent reports it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// The user stopped the turn.
    Interrupted,
    /// The event names the subagent.
    SubagentStarted,
    /// The event names the subagent.
    SubagentStopped,
    /// The context is about to be replaced by a summary.
    CompactionStarted { trigger: CompactionTrigger },
    /// The context was replaced by a summary.
    CompactionEnded { trigger: CompactionTrigger },
    /// The model answered one request; the context then held this many tokens.
    ModelAnswered { context_tokens: u64 },
    /// Context usage was read from the agent's display or its transcript.
    ContextMeasured { fill: ContextUsage },
    /// The model or the user was notified that the context reached this threshold.
    ContextAnnounced { percent: u8, to: NoticeAudience },
    /// The model was given this many memories and next steps. Also recorded with 0, after a fresh start or if nothing fits.
    MemoryGiven { items: u32 },
    /// The agent is about to start a subagent and waits for our decision.
    #[serde(rename = "helper_wanted")]
    SubagentWanted { tool: SafeText },
    /// The scene holds the new folder.
    FolderChanged,
    /// The agent completed an entry of its own task list.
    TaskCompleted,
    /// The session's seat was determined after the event that triggered the probe was already accepted. A scene without
    /// a place means that the probe found no seat.
    SeatFound,
    /// The user looked at the seat.
    Seen,
    /// The next session is to continue this session's work.
    BatonPassed,
    /// `BatonPassed` is revoked.
    BatonDropped,
    /// The session ran on another of the user's machines; its baton, or the baton's outcome, arrived from the hub.
    BatonCame(Box<RemoteBaton>),
    /// The next session in this seat is to inherit nothing.
    FreshAsked,
    /// `FreshAsked` is revoked.
    FreshTakenBack,
    /// The user chose the session whose work this one continues.
    InheritanceTaken { from: SessionKey },
    /// The inheritance decision was delivered to the session, or to its user.
    InheritanceGiven { decision: Uid },
    /// A text is to be typed into the session's seat. The event's id is the intent's id.
    IntentMade { wish: IntentRequest },
    /// An intent changed its stage; the event's session is the one that it is typed into.
    IntentMoved {
        intent: Uid,
        to: IntentStage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A bookmark was set by a threshold or by the user. A typed marker sets one by itself.
    BookmarkSet(NewBookmark),
    /// State of the code and the context at a bookmark, collected in the background.
    BookmarkPlaced {
        bookmark: Uid,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<CodeState>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
    },
    /// The user deleted a bookmark; it can be restored.
    BookmarkDeleted { bookmark: Uid },
    /// `BookmarkDeleted` is revoked.
    BookmarkRestored { bookmark: Uid },
    /// A marker is to be typed into the session's seat.
    MarkerWanted { reason: DueReason },
    /// A hop begins: its handoff is requested or about to be built. The event's id is the hop's id.
    HandoffAsked { asking: HopRequest },
    /// The handoff of a hop was written or changed.
    HandoffWritten { hop: Uid, text: SafeText, by: HandoffAuthor },
    /// A hop changed its stage for a reason that other events do not show.
    HopMoved {
        hop: Uid,
        to: HopStage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        typed: Option<HopIntents>,
    },
    /// The event's session was given the handoff.
    HandoffGiven { hop: Uid },
    /// The user was notified of the outcome.
    HopTold { hop: Uid },
    /// A probe found a change that no hook reported. Valid only if no event has happened since `as_of`.
    Observed {
        what: ObservedChange,
        as_of: Timestamp,
        /// When a usage limit ends, if the probe could read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
}

/// A Towline command that is typed as a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnCommand {
    /// Passes the baton.
    Baton,
    /// Requests a fresh start.
    Fresh,
    /// Looks something up.
    Other,
}

impl OwnCommand {
    /// Parses the text after the agent's command prefix: `tow`, `tow fresh`, `tow-detail 14:05`. `None` for other
    /// commands, such as `tower`.
    pub fn parse(typed: &str) -> Option<OwnCommand> {
        let mut words = typed.split_whitespace();
        match (words.next()?, words.next()) {
            ("tow", Some("fresh")) => Some(OwnCommand::Fresh),
            ("tow", _) => Some(OwnCommand::Baton),
            (word, _) if word.starts_with("tow-") => Some(OwnCommand::Other),
            _ => None,
        }
    }

    /// The event that the command causes, beside the prompt.
    pub fn event_kind(self) -> Option<EventKind> {
        match self {
            OwnCommand::Baton => Some(EventKind::BatonPassed),
            OwnCommand::Fresh => Some(EventKind::FreshAsked),
            OwnCommand::Other => None,
        }
    }
}

/// The environment of an event, as far as it was collected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventScene {
    pub presence: SessionPresence,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SeatLocation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectIdentity>,
}
