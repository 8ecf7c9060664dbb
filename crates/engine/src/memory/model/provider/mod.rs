//! The providers of model answers: an agent's command line or an API, one file each.
//!
//! A provider sends one request and reports the result; it decides neither when, how often nor what for.
//! Everything that is not an answer is a failure with a cause.

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
pub use towline_agents::ask::{AskError, ModelAnswer};

use crate::memory::model::request::Request;

/// A service that answers model requests.
pub trait Provider {
    /// Its name in the configuration and in stored results.
    fn name(&self) -> &str;

    /// The answering model, as recorded with stored results.
    fn model(&self) -> &str;

    /// The most tokens that the provider adds to a request.
    fn adds_tokens(&self) -> u64;

    fn ask(&self, request: &Request) -> ModelAnswer;

    /// The instruction for the user after a failure.
    fn mend(&self, cause: &str) -> String {
        usual_mend(cause)
    }
}

/// The instruction that applies to every provider.
fn usual_mend(cause: &str) -> String {
    match cause {
        "configuration" => "run `tow config` and look at [distil], then `tow data jobs retry`".to_owned(),
        "quota" => {
            "wait until the quota is back or set another provider: `tow config set distil.provider NAME`"
                .to_owned()
        }
        _ => "it is tried again by itself; `tow data jobs retry` tries at once".to_owned(),
    }
}
