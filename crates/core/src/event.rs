//! What happened, in our own words: the one type between the agents and everything that decides.
//!
//! An event carries only what later steps need, never a whole payload, and no vendor's vocabulary.

mod about;

use crate::bookmark::{Code, Reason as DueReason, Setting};
use crate::continuing::{Asking, Author, Stage as HopStage, Typed};
use crate::id::{SessionKey, SubagentId, TurnId, Uid};
use crate::inherit::{FarBaton, Wishes};
use crate::meter::{Audience, Fill};
use crate::project::ProjectTraces;
use crate::seat::Place;
use crate::text::Kept;
use crate::time::Timestamp;
use crate::typing::{Stage, Wish};
use serde::{Deserialize, Serialize};

pub use about::Urgency;

/// One thing that happened in one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub uid: Uid,
    pub at: Timestamp,
    pub session: SessionKey,
    /// The helper inside the session that it happened to; none for the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<SubagentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    pub happening: Happening,
    /// Where it happened; left out where nobody needs it, since finding it costs system calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<Scene>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    SessionStarted {
        by: StartedBy,
        /// What the user wanted it to inherit: kept with the event, so that the journal alone decides.
        #[serde(default, skip_serializing_if = "Wishes::are_the_usual")]
        wishes: Wishes,
    },
    SessionEnded {
        by: EndedBy,
    },
    PromptSubmitted {
        prompt: Kept,
        origin: Origin,
        /// The command of ours that it is, and hence nothing that is asked of the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own: Option<OwnCommand>,
    },
    ToolFinished {
        tool: Kept,
        outcome: ToolOutcome,
        /// The size of what the tool was given and gave.
        #[serde(default, skip_serializing_if = "is_zero")]
        bytes: u64,
    },
    /// All tools that were asked for together are done with, also those that a person refused.
    ToolsFinished,
    /// A dialog is about to show, for a permission or a question.
    PermissionAsked {
        tool: Kept,
        reason: Reason,
    },
    /// The agent's own rules refused a tool; nobody is waited for.
    PermissionRefused {
        tool: Kept,
    },
    /// The agent says that it waits for a person.
    AttentionAsked {
        reason: Reason,
    },
    /// What was waited for has been given.
    AttentionGiven,
    /// `background` is how many tasks go on, where the agent says so.
    TurnEnded {
        background: Option<u32>,
        /// The agent's last words, for as long as its transcript lags behind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Kept>,
    },
    TurnFailed {
        failure: Failure,
        /// When a usage limit ends, where the agent says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A person stopped the turn.
    Interrupted,
    SubagentStarted,
    SubagentStopped,
    CompactionStarted {
        trigger: Trigger,
    },
    CompactionEnded {
        trigger: Trigger,
    },
    /// The model answered one request; the context held this many tokens then.
    ModelAnswered {
        context_tokens: u64,
    },
    /// How full the context is was found out: by the agent's display, or by its transcript.
    ContextMeasured {
        fill: Fill,
    },
    /// Somebody was told that the context has filled up to this threshold.
    ContextAnnounced {
        percent: u8,
        to: Audience,
    },
    /// The model was given what is remembered: so many memories and next steps.
    MemoryGiven {
        items: u32,
    },
    /// The agent is about to start a helper, and waits whether it may.
    HelperWanted {
        tool: Kept,
    },
    FolderChanged,
    TaskCompleted,
    /// Where the session sits was found out, after the event that made somebody look was already accepted. Without a
    /// place in its scene: somebody looked and found nothing.
    SeatFound,
    /// A person looked at the seat.
    Seen,
    /// The session's work is to go on in the next one.
    BatonPassed,
    /// It is not, after all.
    BatonDropped,
    /// The session ran on another machine of this person; its baton was heard of, or what became of it.
    BatonCame(Box<FarBaton>),
    /// Whoever comes next in its seat is to know nothing of it.
    FreshAsked,
    FreshTakenBack,
    /// A person chose whose work this session goes on with.
    InheritanceTaken {
        from: SessionKey,
    },
    /// What was decided has reached the session, or the person before it.
    InheritanceGiven {
        decision: Uid,
    },
    /// Something is to be typed into the session's seat. The event's own id is the intent's.
    IntentMade {
        wish: Wish,
    },
    /// An intent has gone on; the event's session is the one that it is typed into.
    IntentMoved {
        intent: Uid,
        to: Stage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A point to come back to was set: by a threshold or by a person. A marker that is typed sets one by itself.
    BookmarkSet(Setting),
    /// What state the code and the context were in at a bookmark, found out once nobody waited for it.
    BookmarkPlaced {
        bookmark: Uid,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
    },
    BookmarkDeleted {
        bookmark: Uid,
    },
    BookmarkRestored {
        bookmark: Uid,
    },
    /// A marker is to be typed into the session's seat.
    MarkerWanted {
        reason: DueReason,
    },
    /// A hop begins: its handoff is asked for, or is about to be made. The event's own id is the hop's.
    HandoffAsked {
        asking: Asking,
    },
    /// The handoff of a hop is there, or was changed.
    HandoffWritten {
        hop: Uid,
        text: Kept,
        by: Author,
    },
    /// A hop has gone on, as far as events alone do not tell.
    HopMoved {
        hop: Uid,
        to: HopStage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        typed: Option<Typed>,
    },
    /// The event's session was given the handoff.
    HandoffGiven {
        hop: Uid,
    },
    /// The person has heard how it ended.
    HopTold {
        hop: Uid,
    },
    /// Something was found out that no hook told. It holds only if nothing has happened since `as_of`.
    Observed {
        what: Observed,
        as_of: Timestamp,
        /// When a usage limit ends, where that could be seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
}

/// What a look at process, transcript and screen can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observed {
    /// The agent's process is no more.
    Gone,
    /// A person stopped the turn.
    Interrupted,
    /// An error ended the turn.
    Failed,
    /// The usage limit ended the turn.
    Limited,
    /// What was waited for has been given: the agent works on.
    Answered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartedBy {
    Startup,
    Resume,
    Clear,
    Compact,
    Fork,
    /// Not seen: the session was met in the middle, or a newer agent says something we do not know.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    Clear,
    Exit,
    Other,
}

/// Who caused a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Human,
    Command,
    /// A background task's.
    Notification,
    /// A point to come back to: nobody asks for anything by it.
    Bookmark,
    /// Typed in the person's place, so that work goes on by itself.
    Continuation,
}

impl Origin {
    const ALL: [Origin; 5] =
        [Origin::Human, Origin::Command, Origin::Notification, Origin::Bookmark, Origin::Continuation];

    pub fn name(self) -> &'static str {
        match self {
            Origin::Human => "human",
            Origin::Command => "command",
            Origin::Notification => "notification",
            Origin::Bookmark => "bookmark",
            Origin::Continuation => "continuation",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Origin> {
        Origin::ALL.into_iter().find(|origin| origin.name() == name)
    }
}

/// A command of ours that is typed as a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnCommand {
    /// Passes the baton.
    Baton,
    /// Asks for a fresh start.
    Fresh,
    /// Looks something up.
    Other,
}

impl OwnCommand {
    /// What the typed words mean, behind the mark by which their agent knows a command: `tow`, `tow fresh`,
    /// `tow-detail 14:05`. `None` for the commands of others, `tower` among them.
    pub fn parse(typed: &str) -> Option<OwnCommand> {
        let mut words = typed.split_whitespace();
        match (words.next()?, words.next()) {
            ("tow", Some("fresh")) => Some(OwnCommand::Fresh),
            ("tow", _) => Some(OwnCommand::Baton),
            (word, _) if word.starts_with("tow-") => Some(OwnCommand::Other),
            _ => None,
        }
    }

    /// What happened by it, beside the prompt.
    pub fn happening(self) -> Option<Happening> {
        match self {
            OwnCommand::Baton => Some(Happening::BatonPassed),
            OwnCommand::Fresh => Some(Happening::FreshAsked),
            OwnCommand::Other => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    Done,
    Failed,
    /// A person stopped the tool.
    Interrupted,
}

impl ToolOutcome {
    pub fn name(self) -> &'static str {
        match self {
            ToolOutcome::Done => "done",
            ToolOutcome::Failed => "failed",
            ToolOutcome::Interrupted => "interrupted",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<ToolOutcome> {
        let all = [ToolOutcome::Done, ToolOutcome::Failed, ToolOutcome::Interrupted];
        all.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// What a blocked session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Permission,
    Question,
    Elicitation,
}

impl Reason {
    pub fn name(self) -> &'static str {
        match self {
            Reason::Permission => "permission",
            Reason::Question => "question",
            Reason::Elicitation => "elicitation",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The account's usage limit is reached.
    UsageLimit,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    Manual,
    Auto,
}

/// How a session is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// A person sits before it in a terminal.
    Terminal,
    /// A person sits before it in an editor or a desktop program.
    Ide,
    /// A script or a software kit runs it.
    Headless,
}

/// Where an event happened, as far as it was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scene {
    pub presence: Presence,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectTraces>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
