//! The provider of a model, by the names that OpenTelemetry's conventions for generative AI give them
//! (`gen_ai.provider.name`).
//!
//! Guesses from the model's name alone. Whoever serves the model may be another company.

/// The start of a model's name, and its provider.
const PROVIDERS: [(&str, &str); 16] = [
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex", "openai"),
    ("gemini", "gcp.gemini"),
    ("deepseek", "deepseek"),
    ("mistral", "mistral_ai"),
    ("codestral", "mistral_ai"),
    ("devstral", "mistral_ai"),
    ("grok", "x_ai"),
    ("kimi", "moonshot_ai"),
    ("command", "cohere"),
    // The conventions have no names for these.
    ("qwen", "alibaba_cloud"),
    ("glm", "zhipu_ai"),
];

/// The provider of a model, or `unknown`. Hosts put names before the model's own: `us.vendor.model-1`, `vendor/model-1`.
pub fn provider_of(model: &str) -> &'static str {
    let model = model.to_ascii_lowercase();
    let begins = |part: &str| PROVIDERS.iter().find(|(start, _)| part.starts_with(start));
    let known = model.split(['/', '.', ':']).find_map(begins);
    known.map_or("unknown", |(_, provider)| provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_the_provider_of_its_name_wherever_it_is_served() {
        let names = [
            ("claude-opus-5-5", "anthropic"),
            ("us.anthropic.claude-sonnet-5-20260101-v1:0", "anthropic"),
            ("openai/gpt-5.6", "openai"),
            ("Gemini-3-pro", "gcp.gemini"),
            ("qwen3-coder-plus", "alibaba_cloud"),
            ("fake-1", "unknown"),
            ("", "unknown"),
        ];
        for (model, provider) in names {
            assert_eq!(provider_of(model), provider, "{model}");
        }
    }
}
