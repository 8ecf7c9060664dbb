//! The reliability of a memory: the origin of its text, and its confidence.
//!
//! A memory derived from several texts has the lowest trust among them; no step may raise it.

named_enum! {
    /// The origin of a memory's text, least trusted first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum MemoryTrust as named {
        /// A page or a response from the web.
        Web = "web",
        /// Output of a tool.
        Tool = "tool",
        /// A teammate's memory, whatever its trust was there.
        Team = "team",
        Agent = "agent",
        Person = "person",
    }
}

impl MemoryTrust {
    /// The trust of a text derived from both.
    pub fn and(self, other: MemoryTrust) -> MemoryTrust {
        self.min(other)
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
