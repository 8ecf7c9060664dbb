//! Context usage thresholds: what is announced to whom, and when a new subagent is refused.
//!
//! Announces a threshold once per crossing to each audience. Blocks only new subagents, and only by an exact number.

use super::{Exactness, Fill};
use crate::event::Happening;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The configured reaction to a context that fills up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    Off,
    #[default]
    Notify,
    /// As `Notify`, and compacts the context in time.
    Compact,
    /// As `Notify`, and continues in a fresh session in time.
    Handoff,
}

impl Strategy {
    pub const ALL: [Strategy; 4] = [Strategy::Off, Strategy::Notify, Strategy::Compact, Strategy::Handoff];

    pub fn name(self) -> &'static str {
        match self {
            Strategy::Off => "off",
            Strategy::Notify => "notify",
            Strategy::Compact => "compact",
            Strategy::Handoff => "handoff",
        }
    }

    /// Parses the output of `name`.
    pub fn parse(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

    /// Whether the strategy types into the agent.
    pub fn types(self) -> bool {
        match self {
            Strategy::Off | Strategy::Notify => false,
            Strategy::Compact | Strategy::Handoff => true,
        }
    }
}

/// The recipient of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    Model,
    Person,
}

impl Audience {
    /// The recipients reachable at this event. At the end of a turn only the user is: text for the model would continue
    /// the turn.
    pub fn at(happening: &Happening) -> &'static [Audience] {
        let is_tools = matches!(happening, Happening::ToolFinished { .. } | Happening::ToolsFinished);
        if is_tools || happening.is_real_prompt() {
            &[Audience::Model, Audience::Person]
        } else if matches!(happening, Happening::TurnEnded { .. }) {
            &[Audience::Person]
        } else {
            &[]
        }
    }
}

/// The highest threshold announced to each audience since usage was last below it; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub model: u8,
    pub person: u8,
}

/// Hysteresis in percentage points: usage readings of two sources differ by less.
const SLACK: u8 = 5;

impl Told {
    pub fn of(self, audience: Audience) -> u8 {
        match audience {
            Audience::Model => self.model,
            Audience::Person => self.person,
        }
    }

    /// The state after a threshold was announced.
    pub fn and(mut self, audience: Audience, percent: u8) -> Told {
        match audience {
            Audience::Model => self.model = self.model.max(percent),
            Audience::Person => self.person = self.person.max(percent),
        }
        self
    }

    /// The state after usage changed to `percent`.
    pub fn fallen_to(self, percent: u8) -> Told {
        let fallen =
            |notified: u8| if percent.saturating_add(SLACK) <= notified { percent } else { notified };
        Told { model: fallen(self.model), person: fallen(self.person) }
    }
}

/// A reached threshold and its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice<'a> {
    pub percent: u8,
    message: &'a str,
}

/// Placeholders that a message may contain in braces.
pub const PLACEHOLDERS: [&str; 3] = ["percent", "remaining", "session"];

/// The announcement due at this usage for an audience last notified at `notified`: the highest threshold only.
pub fn due(thresholds: &BTreeMap<u8, String>, percent: u8, notified: u8) -> Option<Notice<'_>> {
    let (reached, message) = thresholds.range(..=percent).next_back()?;
    (*reached > notified).then_some(Notice { percent: *reached, message })
}

impl Notice<'_> {
    pub fn words(&self, fill: Fill, session: &str) -> String {
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
pub fn refusal(fill: Fill, limit: u8) -> Option<String> {
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
