//! What a hook says back to its agent, before it is put into that agent's words.
//!
//! Every capability adds its part here; one place renders the whole. An empty reply prints nothing at all.

/// The parts of one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a reply that is not rendered is not given"]
pub struct Reply {
    /// Lines for the person, not for the model.
    pub notices: Vec<String>,
    /// Text for the model, in the order it was added.
    pub context: Vec<String>,
    /// What the agent's terminal is to be told: a bell, a notification, a title.
    pub terminal: String,
    pub verdict: Verdict,
}

/// Whether the agent may go on as it was about to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    #[default]
    GoOn,
    /// Not this: the prompt is refused, or the turn goes on instead of ending, for this reason.
    Block { reason: String },
}

impl Reply {
    pub fn is_empty(&self) -> bool {
        let says_nothing = self.notices.is_empty() && self.context.is_empty() && self.terminal.is_empty();
        says_nothing && self.verdict == Verdict::GoOn
    }

    /// Takes in what another capability wants to say. The first refusal stands: its reason is the one that was acted on.
    pub fn merge(mut self, other: Reply) -> Reply {
        self.notices.extend(other.notices);
        self.context.extend(other.context);
        self.terminal.push_str(&other.terminal);
        if self.verdict == Verdict::GoOn {
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
        let block =
            |reason: &str| Reply { verdict: Verdict::Block { reason: reason.into() }, ..Reply::default() };
        let said = |line: &str| Reply { notices: vec![line.into()], ..Reply::default() };
        let merged = said("one").merge(block("first")).merge(said("two")).merge(block("second"));
        assert_eq!(merged.notices, ["one", "two"]);
        assert_eq!(merged.verdict, Verdict::Block { reason: "first".into() });
        assert!(Reply::default().is_empty());
    }
}
