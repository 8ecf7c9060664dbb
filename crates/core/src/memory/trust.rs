//! The reliability of a memory: the origin of its text, and its confidence.
//!
//! A memory derived from several texts has the lowest trust among them; no step may raise it.

/// The origin of a memory's text, least trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryTrust {
    /// A page or a response from the web.
    Web,
    /// Output of a tool.
    Tool,
    /// A teammate's memory, whatever its trust was there.
    Team,
    Agent,
    Person,
}

impl MemoryTrust {
    pub const ALL: [MemoryTrust; 5] =
        [MemoryTrust::Web, MemoryTrust::Tool, MemoryTrust::Team, MemoryTrust::Agent, MemoryTrust::Person];

    /// The trust of a text derived from both.
    pub fn and(self, other: MemoryTrust) -> MemoryTrust {
        self.min(other)
    }

    pub fn name(self) -> &'static str {
        match self {
            MemoryTrust::Web => "web",
            MemoryTrust::Tool => "tool",
            MemoryTrust::Team => "team",
            MemoryTrust::Agent => "agent",
            MemoryTrust::Person => "person",
        }
    }

    /// Parses the output of `name`.
    pub fn named(name: &str) -> Option<MemoryTrust> {
        MemoryTrust::ALL.into_iter().find(|trust| trust.name() == name)
    }
}

/// Confidence in whole percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfidencePercent(u8);

impl ConfidencePercent {
    /// For statements of the user.
    pub const SURE: ConfidencePercent = ConfidencePercent(100);

    pub fn percent(percent: u8) -> ConfidencePercent {
        ConfidencePercent(percent.min(100))
    }

    pub fn as_percent(self) -> u8 {
        self.0
    }
}
