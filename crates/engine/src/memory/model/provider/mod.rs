//! Whom a question is asked of: the command line of an agent, or an API. One file each.
//!
//! A provider asks once and says what came of it; it decides nothing about when, how often or what for. Everything that
//! is not an answer is a failure with a cause.

mod anthropic;
mod child;
mod command;
pub(crate) mod http;
mod key;
mod nobody;
mod openai;

pub use anthropic::Anthropic;
pub use command::{Command, Surroundings};
pub use http::Wire;
pub use key::{Key, NoSecret, printed_secret};
pub use nobody::Nobody;
pub use openai::OpenAi;
pub use towline_agents::ask::{Answer, Unanswered};

use crate::memory::model::request::Request;

/// Somebody who can be asked.
pub trait Provider {
    /// What it is called in the configuration, and in what is kept of it.
    fn name(&self) -> &str;

    /// The model that answers, as it is noted with what is kept.
    fn model(&self) -> &str;

    /// Tokens that it adds to a question by itself, at most.
    fn adds_tokens(&self) -> u64;

    /// Asks once.
    fn ask(&self, request: &Request) -> Answer;

    /// What a person does about a failure.
    fn mend(&self, cause: &str) -> String;
}

/// What to do about a failure, whoever was asked.
fn usual_mend(cause: &str) -> String {
    match cause {
        "configuration" => "run `tow config` and look at [distil], then `tow jobs retry`".to_owned(),
        "quota" => {
            "wait until the quota is back or set another provider: `tow config set distil.provider NAME`"
                .to_owned()
        }
        _ => "it is tried again by itself; `tow jobs retry` tries at once".to_owned(),
    }
}
