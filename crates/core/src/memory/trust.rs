//! The reliability of a memory: the origin of its text, and its confidence.
//!
//! A memory derived from several texts has the lowest trust among them; no step may raise it.

/// The origin of a memory's text, least trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// A page or a response from the web.
    Web,
    /// Output of a tool.
    Tool,
    /// A teammate's memory, whatever its trust was there.
    Team,
    Agent,
    Person,
}

impl Trust {
    pub const ALL: [Trust; 5] = [Trust::Web, Trust::Tool, Trust::Team, Trust::Agent, Trust::Person];

    /// The trust of a text derived from both.
    pub fn and(self, other: Trust) -> Trust {
        self.min(other)
    }

    pub fn name(self) -> &'static str {
        match self {
            Trust::Web => "web",
            Trust::Tool => "tool",
            Trust::Team => "team",
            Trust::Agent => "agent",
            Trust::Person => "person",
        }
    }

    /// Parses the output of `name`.
    pub fn named(name: &str) -> Option<Trust> {
        Trust::ALL.into_iter().find(|trust| trust.name() == name)
    }
}

/// Confidence in whole percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u8);

impl Confidence {
    /// For statements of the user.
    pub const SURE: Confidence = Confidence(100);

    pub fn percent(percent: u8) -> Confidence {
        Confidence(percent.min(100))
    }

    pub fn as_percent(self) -> u8 {
        self.0
    }
}
