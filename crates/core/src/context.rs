//! Context usage of an agent, from its own numbers.
//!
//! Estimates nothing: without a known window there is no percentage.

use crate::time::Timestamp;

/// Context usage reported with the newest answer of a session's main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedContext {
    /// Tokens in the context after that answer.
    pub tokens: u64,
    /// Size of the context window, if known.
    pub window: Option<u64>,
    /// When the answer was given, if the agent reports it.
    pub at: Option<Timestamp>,
}

impl ReportedContext {
    /// The used share, in whole percent.
    pub fn percent(self) -> Option<u8> {
        let window = self.window.filter(|window| *window > 0)?;
        u8::try_from((u128::from(self.tokens) * 100 / u128::from(window)).min(100)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tokens: u64, window: Option<u64>, expected: Option<u8>) {
        assert_eq!(ReportedContext { tokens, window, at: None }.percent(), expected);
    }

    #[test]
    fn the_share_is_cut_to_whole_percent_and_never_above_all_of_it() {
        check(0, Some(200_000), Some(0));
        check(1999, Some(200_000), Some(0));
        check(150_000, Some(1_000_000), Some(15));
        check(200_001, Some(200_000), Some(100));
        check(u64::MAX, Some(1), Some(100));
    }

    #[test]
    fn there_is_no_share_of_a_window_that_is_not_known() {
        check(5, None, None);
        check(5, Some(0), None);
    }
}
