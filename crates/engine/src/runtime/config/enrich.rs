//! The part of the `distil` section that names the model for memories and limits its cost.
//!
//! Pure. No model until the user names one. Holds no API key, only where to find one.

use super::values::{key, section};
use towline_agents::Agent;

section! {
    pub struct Enrich in "distil" {
        provider: ProviderName = |values| {
            values.named(key!("distil.provider"), ProviderName::parse).unwrap_or(ProviderName::Nobody)
        },
        /// Empty means the provider's default.
        model: String,
        /// Empty means the vendor's address.
        base_url: String = |values| values.url(key!("distil.base_url")),
        key_env: String,
        key_command: Vec<String>,
        daily_tokens: u64,
        per_memory_tokens: u64,
        attempts: u32,
        timeout_s: u32,
    }
}

/// The service that answers model requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderName {
    Nobody,
    /// The command line of an agent.
    Agent(Agent),
    Anthropic,
    OpenAi,
}

const NOBODY: &str = "none";
const ANTHROPIC: &str = "anthropic";
const OPENAI: &str = "openai";

impl ProviderName {
    fn parse(name: &str) -> Option<ProviderName> {
        match name {
            NOBODY => Some(ProviderName::Nobody),
            ANTHROPIC => Some(ProviderName::Anthropic),
            OPENAI => Some(ProviderName::OpenAi),
            agent => {
                Agent::from_name(agent).filter(|agent| agent.asking().is_some()).map(ProviderName::Agent)
            }
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            ProviderName::Nobody => NOBODY,
            ProviderName::Agent(agent) => agent.name(),
            ProviderName::Anthropic => ANTHROPIC,
            ProviderName::OpenAi => OPENAI,
        }
    }

    pub(super) fn all() -> Vec<&'static str> {
        let agents = Agent::ALL.into_iter().filter(|agent| agent.asking().is_some());
        [NOBODY].into_iter().chain(agents.map(Agent::name)).chain([ANTHROPIC, OPENAI]).collect()
    }
}

impl Enrich {
    pub fn is_on(&self) -> bool {
        self.provider != ProviderName::Nobody
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, layered};
    use super::*;

    #[test]
    fn every_agent_and_both_apis_can_be_named_and_nobody_is_the_default() {
        assert_eq!(layered("").config.enrich, Config::compiled_in().enrich);
        for name in ProviderName::all() {
            let found = layered(&format!("[distil]\nprovider = '{name}'"));
            assert_eq!((found.mistakes.len(), found.config.enrich.provider.name()), (0, name));
        }
    }

    #[test]
    fn a_key_in_the_file_is_a_mistake() {
        for wrong in [
            "key_env = 'sk-abc'",
            "base_url = 'ftp://x'",
            "provider = 'x'",
            "daily_tokens = -1",
            "key_command = [1]",
        ] {
            let found = layered(&format!("[distil]\n{wrong}"));
            assert_eq!(
                (found.mistakes.len(), found.config.enrich),
                (1, Config::compiled_in().enrich),
                "{wrong}"
            );
        }
    }
}
