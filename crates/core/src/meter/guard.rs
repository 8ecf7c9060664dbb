//! What is announced of a filling context, to whom, and when a helper is refused.
//!
//! A threshold is announced once per crossing to each audience. Blocks nothing but new helpers, and that only by a
//! number which is not a guess.

use super::{Exactness, Fill};
use crate::event::Happening;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is done about a context that fills up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    Off,
    #[default]
    Notify,
    /// As `Notify`, and the agent compacts when it is time.
    Compact,
    /// As `Notify`, and the work goes on in a fresh session when it is time.
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

    /// Reads back what `name` wrote.
    pub fn parse(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

    /// Whether anything is ever typed because of it.
    pub fn types(self) -> bool {
        match self {
            Strategy::Off | Strategy::Notify => false,
            Strategy::Compact | Strategy::Handoff => true,
        }
    }
}

/// Who hears of a crossing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    Model,
    Person,
}

impl Audience {
    /// Who can be told something at this event. The end of a turn tells the person alone: text for the model would go on
    /// with the turn.
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

/// The highest threshold that each has heard of since the context was last below it; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub model: u8,
    pub person: u8,
}

/// So many points below a threshold the share counts as fallen: numbers of two sources differ by less.
const SLACK: u8 = 5;

impl Told {
    pub fn of(self, audience: Audience) -> u8 {
        match audience {
            Audience::Model => self.model,
            Audience::Person => self.person,
        }
    }

    /// After a threshold was announced.
    pub fn and(mut self, audience: Audience, percent: u8) -> Told {
        match audience {
            Audience::Model => self.model = self.model.max(percent),
            Audience::Person => self.person = self.person.max(percent),
        }
        self
    }

    /// After the share has become this.
    pub fn fallen_to(self, percent: u8) -> Told {
        let fallen = |told: u8| if percent.saturating_add(SLACK) <= told { percent } else { told };
        Told { model: fallen(self.model), person: fallen(self.person) }
    }
}

/// The share from which something is said, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice<'a> {
    pub percent: u8,
    message: &'a str,
}

/// What a message may hold in braces.
pub const PLACEHOLDERS: [&str; 3] = ["percent", "remaining", "session"];

/// What is to be announced at this share to somebody who has heard of `told`: the highest threshold alone.
pub fn due(thresholds: &BTreeMap<u8, String>, percent: u8, told: u8) -> Option<Notice<'_>> {
    let (reached, message) = thresholds.range(..=percent).next_back()?;
    (*reached > told).then_some(Notice { percent: *reached, message })
}

impl Notice<'_> {
    pub fn words(&self, fill: Fill, session: &str) -> String {
        let about = match fill.exact {
            Exactness::Exact => "",
            Exactness::Estimated => "about ",
        };
        let percent = fill.percent().to_string();
        let said = self.message.replace("{percent}", &percent);
        let said = said.replace("{remaining}", &fill.remaining().to_string()).replace("{session}", session);
        format!("towline: the context is {about}{percent} % full. {said}")
    }
}

/// The first thing in braces that is no placeholder.
pub fn unknown_placeholder(message: &str) -> Option<&str> {
    let names = message.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    names.into_iter().find(|name| !PLACEHOLDERS.contains(name))
}

/// Why no helper may be started now; `None` where one may. A limit of 0 refuses none.
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
