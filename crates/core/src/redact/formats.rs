//! Key formats as the providers document them: a fixed prefix, an alphabet, a length.
//!
//! Excludes public identifiers (account ids, publishable keys). A prefix that is an ordinary word requires a tail that
//! no word has.

use super::kind::SecretKind;

/// The characters of a key's tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    Hex,
    Capitals,
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    /// `Word` plus the rest of both base64 alphabets.
    Base64,
    /// `Word` plus dots.
    Dotted,
}

/// An additional condition on the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailCheck {
    /// No condition: the prefix is unambiguous.
    Any,
    /// The tail must contain a digit among its letters.
    Digit,
}

/// One kind of key. `max_len` is unbounded if the provider documents no length.
#[derive(Clone, Copy, Debug)]
pub struct KeyFormat {
    pub prefix: &'static str,
    pub kind: SecretKind,
    pub alphabet: Alphabet,
    pub min_len: usize,
    pub max_len: usize,
    pub tail_check: TailCheck,
}

impl Alphabet {
    pub fn has(self, byte: u8) -> bool {
        let is_alnum = byte.is_ascii_alphanumeric();
        match self {
            Alphabet::Hex => byte.is_ascii_hexdigit(),
            Alphabet::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Alnum => is_alnum,
            Alphabet::Word => is_alnum || matches!(byte, b'_' | b'-'),
            Alphabet::Base64 => is_alnum || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'='),
            Alphabet::Dotted => is_alnum || matches!(byte, b'_' | b'-' | b'.'),
        }
    }
}

impl KeyFormat {
    pub const fn has_one_length(&self) -> bool {
        self.min_len == self.max_len
    }
}

const UNBOUNDED: usize = usize::MAX;

const fn key(label: &'static str, prefix: &'static str, alphabet: Alphabet, min_len: usize) -> KeyFormat {
    let kind = SecretKind::of_provider(label);
    KeyFormat { prefix, kind, alphabet, min_len, max_len: UNBOUNDED, tail_check: TailCheck::Any }
}

const fn exact(label: &'static str, prefix: &'static str, alphabet: Alphabet, length: usize) -> KeyFormat {
    KeyFormat { max_len: length, ..key(label, prefix, alphabet, length) }
}

/// A key whose prefix alone is ambiguous.
const fn vague(label: &'static str, prefix: &'static str, alphabet: Alphabet, min_len: usize) -> KeyFormat {
    KeyFormat { tail_check: TailCheck::Digit, ..key(label, prefix, alphabet, min_len) }
}

use Alphabet::{Alnum, Base64, Capitals, Dotted, Hex, Word};

/// Keys that begin at the start of a word. Sorted by first byte; longer prefixes before those they contain.
pub const FORMATS: &[KeyFormat] = &[
    vague("onepassword", "A3-", Word, 34),
    key("artifactory", "AKCp", Alnum, 60),
    exact("aws", "AKIA", Capitals, 16),
    exact("aws", "ASIA", Capitals, 16),
    exact("aws", "ABIA", Capitals, 16),
    exact("aws", "ACCA", Capitals, 16),
    exact("aws", "AIDA", Capitals, 16),
    exact("aws", "AROA", Capitals, 16),
    exact("aws", "APKA", Capitals, 16),
    exact("aws", "ANPA", Capitals, 16),
    exact("aws", "ANVA", Capitals, 16),
    exact("tencent", "AKID", Alnum, 32),
    key("volcengine", "AKLT", Alnum, 32),
    key("google", "AIza", Word, 30),
    key("google", "AQ.", Word, 30),
    key("age", "AGE-SECRET-KEY-", Alnum, 40),
    key("age", "AGE-PLUGIN-", Word, 40),
    key("atlassian", "ATATT", Base64, 40),
    key("atlassian", "ATCTT", Base64, 40),
    key("atlassian", "ATBB", Alnum, 24),
    key("atlassian", "ATTA", Alnum, 40),
    key("twitter", "AAAAAAAAAAAAAAAAAAAAA", Alnum, 20),
    vague("brave", "BSA", Word, 27),
    key("circleci", "CCIPAT_", Word, 20),
    key("circleci", "CCIPRJ_", Word, 20),
    key("contentful", "CFPAT-", Word, 40),
    key("clojars", "CLOJARS_", Alnum, 40),
    key("facebook", "EAAC", Alnum, 60),
    key("facebook", "EAAG", Alnum, 60),
    key("facebook", "EAAB", Alnum, 60),
    vague("square", "EAAAE", Word, 55),
    vague("square", "EAAAl", Word, 55),
    key("easypost", "EZAK", Alnum, 50),
    key("easypost", "EZTK", Alnum, 50),
    key("flutterwave", "FLWSECK-", Word, 12),
    key("flutterwave", "FLWSECK_TEST-", Word, 12),
    key("aws", "FQoGZXIvYXdz", Base64, 60),
    key("aws", "FwoGZXIvYXdz", Base64, 60),
    key("google", "GOCSPX-", Word, 20),
    key("heroku", "HRKU-", Word, 30),
    key("aws", "IQoJb3JpZ2lu", Base64, 60),
    vague("alibaba", "LTAI", Alnum, 12),
    key("newrelic", "NRAK-", Alnum, 20),
    key("newrelic", "NRII-", Word, 20),
    key("newrelic", "NRIQ-", Word, 20),
    key("newrelic", "NRJS-", Word, 16),
    key("newrelic", "NRAA-", Word, 20),
    key("npm", "NpmToken.", Word, 30),
    key("postman", "PMAK-", Word, 40),
    exact("twilio", "SK", Hex, 32),
    key("sendgrid", "SG.", Dotted, 40),
    key("adafruit", "aio_", Alnum, 26),
    key("apify", "apify_api_", Alnum, 26),
    key("asaas", "aact_", Word, 30),
    key("buildkite", "bkua_", Hex, 30),
    key("buildkite", "bkct_", Word, 30),
    vague("airbyte", "brx_", Word, 30),
    key("cratesio", "cio", Alnum, 32),
    key("cerebras", "csk-", Alnum, 30),
    key("cloudflare", "cfut_", Word, 30),
    key("cloudflare", "cfat_", Word, 30),
    key("cloudflare", "cfk_", Word, 30),
    key("databricks", "dapi", Hex, 32),
    key("databricks", "dose", Hex, 32),
    key("databricks", "dkea", Hex, 32),
    key("databricks", "dsapi", Hex, 32),
    key("docker", "dckr_pat_", Word, 20),
    key("docker", "dckr_oat_", Word, 20),
    key("digitalocean", "dop_v1_", Hex, 40),
    key("digitalocean", "doo_v1_", Hex, 40),
    key("digitalocean", "dor_v1_", Hex, 40),
    key("doppler", "dp.pt.", Alnum, 30),
    key("doppler", "dp.st.", Dotted, 30),
    key("doppler", "dp.ct.", Alnum, 30),
    key("doppler", "dp.sa.", Alnum, 30),
    key("dynatrace", "dt0c01.", Dotted, 60),
    key("dynatrace", "dt0s01.", Dotted, 60),
    key("duffel", "duffel_live_", Word, 30),
    key("duffel", "duffel_test_", Word, 30),
    exact("firecrawl", "fc-", Hex, 32),
    key("figma", "figd_", Word, 30),
    key("figma", "figu_", Word, 30),
    key("frameio", "fio-u-", Word, 40),
    key("fly", "fo1_", Word, 30),
    key("fly", "fm1_", Base64, 60),
    key("fly", "fm1r_", Base64, 60),
    key("fly", "fm2_", Base64, 60),
    vague("fireworks", "fw_", Alnum, 20),
    key("github", "github_pat_", Word, 30),
    key("github", "ghp_", Alnum, 30),
    key("github", "gho_", Alnum, 30),
    key("github", "ghu_", Alnum, 30),
    key("github", "ghs_", Word, 30),
    key("github", "ghr_", Alnum, 30),
    key("gitlab", "glpat-", Dotted, 18),
    key("gitlab", "gldt-", Word, 18),
    key("gitlab", "glrt-", Dotted, 18),
    key("gitlab", "glrtr-", Dotted, 18),
    key("gitlab", "glcbt-", Word, 18),
    key("gitlab", "glptt-", Word, 18),
    key("gitlab", "glft-", Word, 18),
    key("gitlab", "glsoat-", Word, 18),
    key("gitlab", "glimt-", Word, 18),
    key("gitlab", "glagent-", Word, 18),
    key("gitlab", "gloas-", Word, 18),
    key("gitlab", "glffct-", Word, 18),
    key("gitlab", "glwt-", Word, 18),
    key("grafana", "glc_", Base64, 32),
    key("grafana", "glsa_", Word, 32),
    key("groq", "gsk_", Alnum, 40),
    key("huggingface", "hf_", Alnum, 30),
    key("huggingface", "api_org_", Alnum, 30),
    key("honeycomb", "hcaik_", Alnum, 30),
    key("honeycomb", "hcbik_", Alnum, 30),
    key("honeycomb", "hcamk_", Alnum, 30),
    key("vault", "hvs.", Word, 20),
    key("vault", "hvb.", Word, 20),
    key("vault", "hvr.", Word, 20),
    key("infracost", "ico-", Alnum, 30),
    key("jina", "jina_", Word, 30),
    exact("mailgun", "key-", Hex, 32),
    key("linear", "lin_api_", Alnum, 30),
    key("linear", "lin_oauth_", Alnum, 30),
    key("langsmith", "lsv2_pt_", Word, 30),
    key("langsmith", "lsv2_sk_", Word, 30),
    key("langsmith", "ls__", Hex, 30),
    vague("lob", "live_", Alnum, 30),
    vague("mistral", "mst_", Alnum, 30),
    key("netlify", "nfp_", Word, 30),
    key("netlify", "nfc_", Word, 30),
    key("npm", "npm_", Alnum, 30),
    key("notion", "ntn_", Alnum, 36),
    key("nvidia", "nvapi-", Word, 40),
    key("neon", "napi_", Alnum, 40),
    key("onepassword", "ops_eyJ", Base64, 60),
    exact("nuget", "oy2", Alnum, 43),
    key("replicate", "r8_", Alnum, 30),
    key("openshift", "sha256~", Word, 43),
    key("pinecone", "pcsk_", Word, 30),
    key("perplexity", "pplx-", Alnum, 30),
    key("planetscale", "pscale_tkn_", Word, 30),
    key("planetscale", "pscale_pw_", Word, 30),
    key("planetscale", "pscale_oauth_", Word, 30),
    key("posthog", "phx_", Alnum, 30),
    key("prefect", "pnu_", Alnum, 30),
    key("prefect", "pnb_", Alnum, 30),
    key("pulumi", "pul-", Hex, 40),
    key("pypi", "pypi-", Word, 50),
    vague("voyage", "pa-", Word, 40),
    vague("razorpay", "rzp_live_", Alnum, 14),
    vague("resend", "re_", Word, 28),
    key("readme", "rdme_", Alnum, 40),
    key("rubygems", "rubygems_", Hex, 40),
    key("render", "rnd_", Alnum, 24),
    key("stripe", "rk_live_", Alnum, 16),
    key("stripe", "rk_test_", Alnum, 16),
    key("stripe", "sk_live_", Alnum, 16),
    key("stripe", "sk_test_", Alnum, 16),
    key("stripe", "sk_org_", Word, 24),
    exact("elevenlabs", "sk_", Hex, 48),
    vague("key", "sk_", Alnum, 32),
    key("anthropic", "sk-ant-", Word, 16),
    key("openrouter", "sk-or-", Word, 30),
    key("openai", "sk-proj-", Word, 16),
    key("openai", "sk-svcacct-", Word, 16),
    key("openai", "sk-admin-", Word, 16),
    key("openai", "sk-None-", Word, 16),
    vague("langfuse", "sk-lf-", Word, 30),
    vague("openai", "sk-", Alnum, 20),
    vague("key", "sk-", Word, 40),
    key("openai", "sess-", Alnum, 36),
    key("supabase", "sb_secret_", Word, 20),
    key("supabase", "sbp_", Hex, 40),
    key("supabase", "sbp_v0_", Hex, 40),
    key("scaleway", "scw-secret-", Word, 30),
    vague("notion", "secret_", Alnum, 40),
    key("sentry", "sntrys_", Base64, 40),
    key("sentry", "sntryu_", Hex, 40),
    key("shippo", "shippo_live_", Hex, 30),
    key("shippo", "shippo_test_", Hex, 30),
    key("shopify", "shpat_", Hex, 30),
    key("shopify", "shpca_", Hex, 30),
    key("shopify", "shppa_", Hex, 30),
    key("shopify", "shpss_", Hex, 30),
    key("shopify", "shptka_", Hex, 30),
    vague("dropbox", "sl.", Word, 60),
    key("settlemint", "sm_pat_", Alnum, 16),
    key("settlemint", "sm_aat_", Alnum, 16),
    key("square", "sq0atp-", Word, 20),
    key("square", "sq0csp-", Word, 40),
    key("square", "sq0idp-", Word, 20),
    key("sonar", "sqp_", Hex, 36),
    key("sonar", "squ_", Hex, 36),
    key("sonar", "sqa_", Hex, 36),
    key("sourcegraph", "sgp_", Word, 36),
    key("tailscale", "tskey-", Word, 16),
    key("typeform", "tfp_", Dotted, 40),
    key("tavily", "tvly-", Word, 20),
    key("together", "tgp_v1_", Word, 30),
    vague("vercel", "vcp_", Alnum, 20),
    vague("vercel", "vck_", Alnum, 20),
    key("vercel", "vercel_blob_rw_", Word, 30),
    key("cloudflare", "v1.0-", Word, 100),
    key("stripe", "whsec_", Base64, 24),
    key("xai", "xai-", Alnum, 40),
    key("brevo", "xkeysib-", Word, 60),
    key("brevo", "xsmtpsib-", Word, 60),
    key("slack", "xapp-", Word, 16),
    key("slack", "xoxb-", Word, 16),
    key("slack", "xoxp-", Word, 16),
    key("slack", "xoxa-", Word, 16),
    key("slack", "xoxr-", Word, 16),
    key("slack", "xoxs-", Word, 16),
    key("slack", "xoxc-", Word, 16),
    key("slack", "xoxd-", Base64, 16),
    key("slack", "xoxe-", Word, 16),
    key("slack", "xoxe.xoxp-", Word, 16),
    key("slack", "xoxe.xoxb-", Word, 16),
    key("slack", "xwfp-", Word, 16),
    key("google", "ya29.", Dotted, 20),
    key("yandex", "y0_", Word, 40),
    key("yandex", "AQVN", Word, 34),
    key("yandex", "t1.", Base64, 80),
    key("zuplo", "zpka_", Word, 30),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sixty_providers_and_more_are_known() {
        let kinds: BTreeSet<SecretKind> = FORMATS.iter().map(|format| format.kind).collect();
        assert!(kinds.len() >= 60, "{}", kinds.len());
    }

    #[test]
    fn labels_can_stand_in_a_placeholder() {
        for format in FORMATS {
            let label = format.kind.label();
            assert!(label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{label}");
        }
    }

    #[test]
    fn no_format_is_hidden_by_one_before_it() {
        for (at, format) in FORMATS.iter().enumerate() {
            let hidden_by = FORMATS[..at].iter().find(|before| {
                format.prefix.starts_with(before.prefix)
                    && format.prefix != before.prefix
                    && before.alphabet == Alphabet::Word
                    && before.min_len <= format.min_len
            });
            assert!(hidden_by.is_none(), "{} by {hidden_by:?}", format.prefix);
        }
    }
}
