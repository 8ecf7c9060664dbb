//! Context usage thresholds: what is announced to whom, and when a new subagent is refused.
//!
//! Announces a threshold once per crossing to each audience. Blocks only new subagents, and only by an exact number.

use super::{ContextUsage, Exactness};
use crate::event::EventKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

named_enum! {
    /// The configured reaction to a context that fills up.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ContextStrategy as named {
        Off = "off",
        #[default]
        Notify = "notify",
        /// As `Notify`, and compacts the context in time.
        Compact = "compact",
        /// As `Notify`, and continues in a fresh session in time.
        Handoff = "handoff",
    }
}

impl ContextStrategy {
    /// Whether the strategy types into the agent.
    pub fn types(self) -> bool {
        matches!(self, ContextStrategy::Compact | ContextStrategy::Handoff)
    }
}

/// The recipient of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeAudience {
    Model,
    Person,
}

impl NoticeAudience {
    /// The recipients reachable at this event. At the end of a turn only the user is: text for the model would continue
    /// the turn.
    pub fn at(happening: &EventKind) -> &'static [NoticeAudience] {
        let is_tools = matches!(happening, EventKind::ToolFinished { .. } | EventKind::ToolsFinished);
        if is_tools || happening.is_real_prompt() {
            &[NoticeAudience::Model, NoticeAudience::Person]
        } else if matches!(happening, EventKind::TurnEnded { .. }) {
            &[NoticeAudience::Person]
        } else {
            &[]
        }
    }
}

/// The highest threshold announced to each audience since usage was last below it; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotifiedThresholds {
    pub model: u8,
    pub person: u8,
}

/// Hysteresis in percentage points: usage readings of two sources differ by less.
const SLACK: u8 = 5;

impl NotifiedThresholds {
    pub fn of(self, audience: NoticeAudience) -> u8 {
        match audience {
            NoticeAudience::Model => self.model,
            NoticeAudience::Person => self.person,
        }
    }

    /// The state after a threshold was announced.
    pub fn and(mut self, audience: NoticeAudience, percent: u8) -> NotifiedThresholds {
        match audience {
            NoticeAudience::Model => self.model = self.model.max(percent),
            NoticeAudience::Person => self.person = self.person.max(percent),
        }
        self
    }

    /// The state after usage changed to `percent`.
    pub fn after_change_to(self, percent: u8) -> NotifiedThresholds {
        let fallen =
            |notified: u8| if percent.saturating_add(SLACK) <= notified { percent } else { notified };
        NotifiedThresholds { model: fallen(self.model), person: fallen(self.person) }
    }
}

/// A reached threshold and its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdNotice<'a> {
    pub percent: u8,
    message: &'a str,
}

/// Placeholders that a message may contain in braces.
pub const PLACEHOLDERS: [&str; 3] = ["percent", "remaining", "session"];

/// The announcement due at this usage for an audience last notified at `notified`: the highest threshold only.
pub fn due(thresholds: &BTreeMap<u8, String>, percent: u8, notified: u8) -> Option<ThresholdNotice<'_>> {
    let (reached, message) = thresholds.range(..=percent).next_back()?;
    (*reached > notified).then_some(ThresholdNotice { percent: *reached, message })
}

impl ThresholdNotice<'_> {
    pub fn message(&self, fill: ContextUsage, session: &str) -> String {
        let about = match fill.exact {
            Exactness::Exact => "",
            Exactness::Estimated => "about ",
        };
        let percent = fill.percent().to_string();
        let text = self.message.replace("{percent}", &percent);
        let text = text.replace("{remaining}", &fill.remaining().to_string()).replace("{session}", session);
        format!("towline: the context is {about}{percent} % full. {text}")
    }
}

/// The first name in braces that is no placeholder.
pub fn unknown_placeholder(message: &str) -> Option<&str> {
    let names = message.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    names.into_iter().find(|name| !PLACEHOLDERS.contains(name))
}

/// The reason to refuse a new subagent; `None` if it may start. A limit of 0 refuses none.
pub fn refusal(fill: ContextUsage, limit: u8) -> Option<String> {
    let percent = fill.percent();
    let is_refused = limit > 0 && percent >= limit && fill.exact == Exactness::Exact;
    is_refused.then(|| {
        format!(
            "towline: the context is {percent} % full, and new helpers are refused from {limit} % on \
             (guard.refuse_helpers_at): what one reports back may not fit any more. Finish without one, or ask the \
             person to compact the context or to start a fresh session first."
        )
    })
}
