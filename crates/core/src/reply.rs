//! A hook's reply to its agent, before it is rendered in that agent's format.
//!
//! Every capability adds its part; one place renders the whole. An empty reply prints nothing.

/// The parts of one reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a reply that is not rendered is not given"]
pub struct Reply {
    /// Lines for the user, not for the model.
    pub notices: Vec<String>,
    /// Text for the model, in the order it was added.
    pub context: Vec<String>,
    /// Escape sequences for the agent's terminal: a bell, a notification, a title.
    pub terminal: String,
    pub verdict: ReplyVerdict,
}

/// Whether the agent may proceed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReplyVerdict {
    #[default]
    GoOn,
    /// The prompt is refused, or the turn continues instead of ending, for this reason.
    Block { reason: String },
    /// The conversation is emptied, and the work goes on with this prompt instead of ending.
    Restart { prompt: String },
}

impl Reply {
    pub fn is_empty(&self) -> bool {
        let says_nothing = self.notices.is_empty() && self.context.is_empty() && self.terminal.is_empty();
        says_nothing && self.verdict == ReplyVerdict::GoOn
    }

    /// Appends another capability's reply. The first refusal wins: its reason is the one that was acted on.
    pub fn merge(mut self, other: Reply) -> Reply {
        self.notices.extend(other.notices);
        self.context.extend(other.context);
        self.terminal.push_str(&other.terminal);
        if self.verdict == ReplyVerdict::GoOn {
            self.verdict = other.verdict;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_refusal_stands_and_all_text_is_kept() {
        let block = |reason: &str| Reply {
            verdict: ReplyVerdict::Block { reason: reason.into() },
            ..Reply::default()
        };
        let said = |line: &str| Reply { notices: vec![line.into()], ..Reply::default() };
        let merged = said("one").merge(block("first")).merge(said("two")).merge(block("second"));
        assert_eq!(merged.notices, ["one", "two"]);
        assert_eq!(merged.verdict, ReplyVerdict::Block { reason: "first".into() });
        assert!(Reply::default().is_empty());
    }
}
