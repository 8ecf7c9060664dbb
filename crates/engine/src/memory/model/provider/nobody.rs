//! A provider that cannot be used: every request fails with the reason, reported like any other failure.
//!
//! Never substitutes another provider.

use super::{AskError, ModelAnswer, Provider, usual_mend};
use crate::memory::model::request::Request;

pub struct Nobody {
    name: &'static str,
    why: String,
}

impl Nobody {
    pub fn new(name: &'static str, why: String) -> Nobody {
        Nobody { name, why }
    }
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

    fn mend(&self, cause: &str) -> String {
        usual_mend(cause)
    }
}
