//! How far a memory can be relied on: whose words it is made of, and how sure it is.
//!
//! What is derived from several texts has the lowest class of them; no step makes it higher.

/// Whose words a memory is made of, the least trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// A page or an answer from outside.
    Web,
    /// What a tool printed.
    Tool,
    /// What another person of the team keeps, whoever said it there.
    Team,
    Agent,
    Person,
}

impl Trust {
    pub const ALL: [Trust; 5] = [Trust::Web, Trust::Tool, Trust::Team, Trust::Agent, Trust::Person];

    /// The class of what is made of both.
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

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Trust> {
        Trust::ALL.into_iter().find(|trust| trust.name() == name)
    }
}

/// How sure it is, in whole percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u8);

impl Confidence {
    /// A person said it.
    pub const SURE: Confidence = Confidence(100);

    pub fn percent(percent: u8) -> Confidence {
        Confidence(percent.min(100))
    }

    pub fn as_percent(self) -> u8 {
        self.0
    }
}
