//! A provider that cannot be used: every request fails with the reason, reported like any other failure.
//!
//! Never substitutes another provider.

use super::{AskError, ModelAnswer, Provider};
use crate::memory::model::request::Request;

pub struct Nobody {
    pub name: &'static str,
    pub why: String,
}

impl Provider for Nobody {
    fn name(&self) -> &str {
        self.name
    }

    fn model(&self) -> &str {
        self.name
    }

    fn adds_tokens(&self) -> u64 {
        0
    }

    fn ask(&self, _request: &Request) -> ModelAnswer {
        ModelAnswer::none(AskError::Misconfigured(self.why.clone()))
    }
}
