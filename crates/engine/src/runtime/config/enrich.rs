//! The part of the `distil` section that names the model for memories and limits its cost.
//!
//! Pure. No model until the user names one. Holds no API key, only where to find one.

use super::layer::one_of;
use toml_edit::Value;
use towline_agents::Agent;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrich {
    pub provider: ProviderName,
    /// Empty means the provider's default.
    pub model: String,
    /// Empty means the vendor's address.
    pub base_url: String,
    pub key_env: String,
    pub key_command: Vec<String>,
    pub daily_tokens: u64,
    pub per_memory_tokens: u64,
    pub attempts: u32,
    pub timeout_s: u32,
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
            agent => Agent::from_name(agent).map(ProviderName::Agent),
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

    fn all() -> Vec<&'static str> {
        [NOBODY].into_iter().chain(Agent::ALL.map(Agent::name)).chain([ANTHROPIC, OPENAI]).collect()
    }
}

impl Enrich {
    pub fn compiled_in() -> Enrich {
        Enrich {
            provider: ProviderName::Nobody,
            model: String::new(),
            base_url: String::new(),
            key_env: String::new(),
            key_command: vec![],
            daily_tokens: 200_000,
            per_memory_tokens: 2000,
            attempts: 5,
            timeout_s: 120,
        }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Enrich {
        let text =
            |key: &str| value(key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
        let number = |key: &str| value(key).and_then(|value| value.as_integer()).unwrap_or(0).unsigned_abs();
        let small = |key: &str| u32::try_from(number(key)).unwrap_or(u32::MAX);
        let words =
            value("distil.key_command").and_then(|value| value.as_array().cloned()).unwrap_or_default();
        Enrich {
            provider: ProviderName::parse(&text("distil.provider")).unwrap_or(ProviderName::Nobody),
            model: text("distil.model"),
            base_url: text("distil.base_url").trim_end_matches('/').to_owned(),
            key_env: text("distil.key_env"),
            key_command: words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
            daily_tokens: number("distil.daily_tokens"),
            per_memory_tokens: number("distil.per_memory_tokens"),
            attempts: small("distil.attempts"),
            timeout_s: small("distil.timeout_s"),
        }
    }

    pub fn is_on(&self) -> bool {
        self.provider != ProviderName::Nobody
    }
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let within = |from: i64, to: i64| match value.as_integer() {
        Some(number) if !(from..=to).contains(&number) => Err(format!("from {from} to {to}")),
        Some(_) | None => Ok(()),
    };
    match key {
        "distil.provider" => one_of(value, &ProviderName::all()),
        "distil.base_url" => is_address(value.as_str().unwrap_or("")),
        "distil.key_env" => is_variable(value.as_str().unwrap_or("")),
        "distil.key_command" => {
            let all = value.as_array().into_iter().flatten().all(|word| word.is_str());
            if all { Ok(()) } else { Err("a list of words in quotes".to_owned()) }
        }
        "distil.daily_tokens" => within(0, 1_000_000_000),
        "distil.per_memory_tokens" => within(1000, 100_000),
        "distil.attempts" => within(1, 100),
        "distil.timeout_s" => within(5, 3600),
        _ => Ok(()),
    }
}

pub(super) fn is_address(text: &str) -> Result<(), String> {
    let is_one = text.is_empty() || text.starts_with("https://") || text.starts_with("http://");
    if is_one { Ok(()) } else { Err("an address that begins with https:// or http://".to_owned()) }
}

/// Rejects a key entered by mistake: it would be displayed and copied with the rest of the file.
fn is_variable(text: &str) -> Result<(), String> {
    let is_name = text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if is_name { Ok(()) } else { Err("the name of a variable in capitals, not a key".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::layered;
    use super::*;

    #[test]
    fn every_agent_and_both_apis_can_be_named_and_nobody_is_the_default() {
        assert_eq!(layered("").config.enrich, Enrich::compiled_in());
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
            assert_eq!((found.mistakes.len(), found.config.enrich), (1, Enrich::compiled_in()), "{wrong}");
        }
    }
}
