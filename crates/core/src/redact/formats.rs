//! Key formats as the providers document them: a fixed prefix, an alphabet, a length.
//!
//! Excludes public identifiers (account ids, publishable keys). A prefix that is an ordinary word requires a tail that
//! no word has.

use super::bytes::{each_word, word_count};
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

/// Prefixes, and the format of the keys that begin with one of them.
type Row = (&'static str, KeyFormat);

const fn key(label: &'static str, prefixes: &'static str, alphabet: Alphabet, min_len: usize) -> Row {
    let kind = SecretKind::of_provider(label);
    (prefixes, KeyFormat { kind, alphabet, min_len, max_len: UNBOUNDED, tail_check: TailCheck::Any })
}

const fn exact(label: &'static str, prefixes: &'static str, alphabet: Alphabet, length: usize) -> Row {
    let (prefixes, format) = key(label, prefixes, alphabet, length);
    (prefixes, KeyFormat { max_len: length, ..format })
}

/// A key whose prefix alone is ambiguous.
const fn vague(label: &'static str, prefixes: &'static str, alphabet: Alphabet, min_len: usize) -> Row {
    let (prefixes, format) = key(label, prefixes, alphabet, min_len);
    (prefixes, KeyFormat { tail_check: TailCheck::Digit, ..format })
}

use Alphabet::{Alnum, Base64, Capitals, Dotted, Hex, Word};

/// Keys that begin at the start of a word, with the prefixes of one row separated by blanks. Longer prefixes come
/// before those they contain.
const GROUPS: &[Row] = &[
    vague("onepassword", "A3-", Word, 34),
    key("artifactory", "AKCp cmVmdGtuOj", Alnum, 50),
    key("aws", "ABSK", Base64, 100),
    exact("aws", "AKIA ASIA ABIA ACCA AIDA AROA APKA ANPA ANVA", Capitals, 16),
    exact("tencent", "AKID", Alnum, 32),
    key("volcengine", "AKLT", Alnum, 32),
    key("google", "AIza AQ.", Word, 30),
    key("age", "AGE-SECRET-KEY-", Alnum, 40),
    key("age", "AGE-PLUGIN-", Word, 40),
    key("atlassian", "ATATT ATCTT", Base64, 40),
    key("atlassian", "ATBB", Alnum, 24),
    key("atlassian", "ATTA", Alnum, 40),
    key("twitter", "AAAAAAAAAAAAAAAAAAAAA", Alnum, 20),
    vague("brave", "BSA", Word, 27),
    key("circleci", "CCIPAT_ CCIPRJ_", Word, 20),
    key("contentful", "CFPAT-", Word, 40),
    key("clojars", "CLOJARS_", Alnum, 40),
    key("facebook", "EAAC EAAG EAAB", Alnum, 60),
    vague("square", "EAAAE EAAAl", Word, 55),
    key("easypost", "EZAK EZTK", Alnum, 50),
    key("flutterwave", "FLWSECK- FLWSECK_TEST-", Word, 12),
    key("aws", "FQoGZXIvYXdz FwoGZXIvYXdz IQoJb3JpZ2lu", Base64, 60),
    key("google", "GOCSPX-", Word, 20),
    key("google", "1//0", Word, 40),
    key("gitlab", "GR1348941", Word, 18),
    key("heroku", "HRKU-", Word, 30),
    vague("alibaba", "LTAI", Alnum, 12),
    // Private keys in armour, as base64: RSA, PKCS #8, EC, OpenSSH, encrypted, DSA, PGP.
    key("pem", "LS0tLS1CRUdJTiBSU0EgUFJJ LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBFQyBQUklW", Base64, 40),
    key("pem", "LS0tLS1CRUdJTiBPUEVOU1NI LS0tLS1CRUdJTiBFTkNSWVBU LS0tLS1CRUdJTiBEU0EgUFJJ", Base64, 40),
    key("pem", "LS0tLS1CRUdJTiBQR1AgUFJJ", Base64, 40),
    key("minisign", "RWRTY0Iy", Base64, 100),
    key("newrelic", "NRAK-", Alnum, 20),
    key("newrelic", "NRII- NRIQ- NRAA-", Word, 20),
    key("newrelic", "NRJS-", Word, 16),
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
    key("cloudflare", "cfut_ cfat_ cfk_", Word, 30),
    key("databricks", "dapi dose dkea dsapi", Hex, 32),
    key("docker", "dckr_pat_ dckr_oat_", Word, 20),
    key("digitalocean", "dop_v1_ doo_v1_ dor_v1_", Hex, 40),
    key("doppler", "dp.pt. dp.ct. dp.sa.", Alnum, 30),
    key("doppler", "dp.st.", Dotted, 30),
    key("dynatrace", "dt0c01. dt0s01.", Dotted, 60),
    key("duffel", "duffel_live_ duffel_test_", Word, 30),
    exact("firecrawl", "fc-", Hex, 32),
    key("figma", "figd_ figu_", Word, 30),
    key("frameio", "fio-u-", Word, 40),
    key("fly", "fo1_", Word, 30),
    key("fly", "fm1_ fm1r_ fm2_", Base64, 60),
    vague("fireworks", "fw_", Alnum, 20),
    key("github", "github_pat_ ghs_", Word, 30),
    key("github", "ghp_ gho_ ghu_ ghr_", Alnum, 30),
    key("gitlab", "glpat- glrt- glrtr-", Dotted, 18),
    key("gitlab", "gldt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct- glwt-", Word, 18),
    key("grafana", "glc_", Base64, 32),
    key("grafana", "glsa_", Word, 32),
    key("groq", "gsk_", Alnum, 40),
    key("huggingface", "hf_ api_org_", Alnum, 30),
    key("honeycomb", "hcaik_ hcbik_ hcamk_", Alnum, 30),
    key("vault", "hvs. hvb. hvr.", Word, 20),
    key("infracost", "ico-", Alnum, 30),
    key("jina", "jina_", Word, 30),
    exact("mailgun", "key-", Hex, 32),
    key("linear", "lin_api_ lin_oauth_", Alnum, 30),
    key("langsmith", "lsv2_pt_ lsv2_sk_", Word, 30),
    key("langsmith", "ls__", Hex, 30),
    vague("lob", "live_", Alnum, 30),
    vague("mistral", "mst_", Alnum, 30),
    key("netlify", "nfp_ nfc_", Word, 30),
    key("npm", "npm_", Alnum, 30),
    key("notion", "ntn_", Alnum, 36),
    key("nostr", "nsec1", Alnum, 58),
    key("nvidia", "nvapi-", Word, 40),
    key("neon", "napi_", Alnum, 40),
    key("onepassword", "ops_eyJ", Base64, 60),
    exact("nuget", "oy2", Alnum, 43),
    key("replicate", "r8_", Alnum, 30),
    key("openshift", "sha256~", Word, 43),
    key("pinecone", "pcsk_", Word, 30),
    key("perplexity", "pplx-", Alnum, 30),
    key("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", Word, 30),
    key("posthog", "phx_", Alnum, 30),
    key("prefect", "pnu_ pnb_", Alnum, 30),
    key("pulumi", "pul-", Hex, 40),
    key("pypi", "pypi-", Word, 50),
    vague("voyage", "pa-", Word, 40),
    vague("razorpay", "rzp_live_", Alnum, 14),
    vague("resend", "re_", Word, 28),
    key("readme", "rdme_", Alnum, 40),
    key("rubygems", "rubygems_", Hex, 40),
    key("render", "rnd_", Alnum, 24),
    key("stripe", "rk_live_ rk_test_ sk_live_ sk_test_", Alnum, 16),
    key("stripe", "sk_org_", Word, 24),
    exact("elevenlabs", "sk_", Hex, 48),
    vague("key", "sk_", Alnum, 32),
    key("anthropic", "sk-ant-", Word, 16),
    key("openrouter", "sk-or-", Word, 30),
    key("openai", "sk-proj- sk-svcacct- sk-admin- sk-None-", Word, 16),
    vague("langfuse", "sk-lf-", Word, 30),
    vague("openai", "sk-", Alnum, 20),
    vague("key", "sk-", Word, 40),
    key("openai", "sess-", Alnum, 36),
    key("supabase", "sb_secret_", Word, 20),
    key("supabase", "sbp_ sbp_v0_", Hex, 40),
    key("scaleway", "scw-secret-", Word, 30),
    vague("notion", "secret_", Alnum, 40),
    key("sentry", "sntrys_", Base64, 40),
    key("sentry", "sntryu_", Hex, 40),
    key("shippo", "shippo_live_ shippo_test_", Hex, 30),
    key("shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", Hex, 30),
    vague("dropbox", "sl.", Word, 60),
    key("settlemint", "sm_pat_ sm_aat_", Alnum, 16),
    key("square", "sq0atp- sq0idp-", Word, 20),
    key("square", "sq0csp-", Word, 40),
    key("sonar", "sqp_ squ_ sqa_", Hex, 36),
    key("sourcegraph", "sgp_", Word, 36),
    key("tailscale", "tskey-", Word, 16),
    key("typeform", "tfp_", Dotted, 40),
    key("tavily", "tvly-", Word, 20),
    key("together", "tgp_v1_", Word, 30),
    vague("vercel", "vcp_ vck_", Alnum, 20),
    key("vercel", "vercel_blob_rw_", Word, 30),
    key("cloudflare", "v1.0-", Word, 100),
    key("stripe", "whsec_", Base64, 24),
    key("bitcoin", "xprv yprv zprv tprv", Alnum, 90),
    key("mapbox", "sk.eyJ", Dotted, 60),
    key("xai", "xai-", Alnum, 40),
    key("brevo", "xkeysib- xsmtpsib-", Word, 60),
    key("slack", "xapp- xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxe- xoxe.xoxp- xoxe.xoxb- xwfp-", Word, 16),
    key("slack", "xoxd-", Base64, 16),
    key("google", "ya29.", Dotted, 20),
    key("yandex", "y0_", Word, 40),
    key("yandex", "AQVN", Word, 34),
    key("yandex", "t1.", Base64, 80),
    key("zuplo", "zpka_", Word, 30),
];

/// One format for every prefix, in the order of the rows.
pub const FORMATS: &[(&str, KeyFormat)] = &each_word::<_, { word_count(GROUPS) }>(GROUPS);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sixty_providers_and_more_are_known() {
        let kinds: BTreeSet<SecretKind> = FORMATS.iter().map(|(_, format)| format.kind).collect();
        assert!(kinds.len() >= 60, "{}", kinds.len());
    }

    #[test]
    fn labels_can_stand_in_a_placeholder() {
        for (_, format) in FORMATS {
            let label = format.kind.label();
            assert!(label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{label}");
        }
    }

    #[test]
    fn no_format_is_hidden_by_one_before_it() {
        for (at, (prefix, format)) in FORMATS.iter().enumerate() {
            let hidden_by = FORMATS[..at].iter().find(|(prefix_before, before)| {
                prefix.starts_with(prefix_before)
                    && prefix != prefix_before
                    && before.alphabet == Alphabet::Word
                    && before.min_len <= format.min_len
            });
            assert!(hidden_by.is_none(), "{prefix} by {hidden_by:?}");
        }
    }
}
