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

named_enum! {
    /// The origin of a memory as models and the user are told it, least trusted first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TrustLevel as named {
        /// The web, output of tools, files of others, other people.
        Outside = "outside",
        Agent = "agent",
        Person = "person",
    }
}

impl MemoryTrust {
    pub fn level(self) -> TrustLevel {
        match self {
            MemoryTrust::Web | MemoryTrust::Tool | MemoryTrust::Team => TrustLevel::Outside,
            MemoryTrust::Agent => TrustLevel::Agent,
            MemoryTrust::Person => TrustLevel::Person,
        }
    }

    /// The trust of a text derived from both.
    pub fn and(self, other: MemoryTrust) -> MemoryTrust {
        self.min(other)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_stored_names_are_three_levels_in_the_same_order() {
        let levels =
            ["web", "tool", "team", "agent", "person"].map(|name| MemoryTrust::named(name).unwrap().level());
        assert_eq!(levels.map(TrustLevel::name), ["outside", "outside", "outside", "agent", "person"]);
        assert!(levels.is_sorted());
    }
}
