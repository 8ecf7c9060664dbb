//! The `search` section: the embedding method, and the source of the optional model.
//!
//! Pure. It triggers no download: only `tow model get` downloads.

use super::enrich::is_address;
use super::layer::one_of;
use toml_edit::Value;
use towline_search::MODEL_FILES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    pub tier: SearchTier,
    /// The base address of the model's files, without a trailing slash.
    pub model_url: String,
    /// The checksum of each model file.
    pub model_sha256: Vec<(String, String)>,
}

/// The source of embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchTier {
    /// The compiled-in table.
    Static,
    /// A downloaded model in addition to the table.
    MiniLm,
}

const STATIC: &str = "static";
const MINILM: &str = "minilm";

const URL: &str = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/1110a243fdf4706b3f48f1d95db1a4f5529b4d41";
const CHECKSUMS: [&str; 3] = [
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
];

impl Search {
    pub fn compiled_in() -> Search {
        let named = MODEL_FILES.into_iter().zip(CHECKSUMS);
        Search {
            tier: SearchTier::Static,
            model_url: URL.to_owned(),
            model_sha256: named.map(|(name, sum)| (name.to_owned(), sum.to_owned())).collect(),
        }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Search {
        let text =
            |key: &str| value(key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
        let lines =
            value("search.model_sha256").and_then(|value| value.as_array().cloned()).unwrap_or_default();
        Search {
            tier: if text("search.tier") == MINILM { SearchTier::MiniLm } else { SearchTier::Static },
            model_url: text("search.model_url").trim_end_matches('/').to_owned(),
            model_sha256: lines.iter().filter_map(|line| checksum(line.as_str()?)).collect(),
        }
    }
}

/// Parses a line of `sha256sum` output.
fn checksum(line: &str) -> Option<(String, String)> {
    let (sum, name) = line.split_once(char::is_whitespace)?;
    let is_sum = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sum.then(|| (name.trim().trim_start_matches('*').to_owned(), sum.to_ascii_lowercase()))
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    match key {
        "search.tier" => one_of(value, &[STATIC, MINILM]),
        "search.model_url" => is_address(value.as_str().unwrap_or("")),
        "search.model_sha256" => {
            let lines = value.as_array().into_iter().flatten();
            let mut names: Vec<String> = lines.filter_map(|line| Some(checksum(line.as_str()?)?.0)).collect();
            names.sort();
            let mut wanted = MODEL_FILES.map(str::to_owned);
            wanted.sort();
            let is_whole = names == wanted;
            if is_whole {
                Ok(())
            } else {
                Err(format!("a line of sha256sum for each of {}", MODEL_FILES.join(", ")))
            }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layered;
    use super::*;

    #[test]
    fn model_is_named_by_its_address_and_by_a_checksum_for_each_file() {
        let found = layered("[search]\ntier = 'minilm'\nmodel_url = 'http://127.0.0.1:9/m/'");
        assert_eq!((found.mistakes.len(), found.config.search.tier), (0, SearchTier::MiniLm));
        assert_eq!(found.config.search.model_url, "http://127.0.0.1:9/m");
        for wrong in [
            "tier = 'large'",
            "model_url = 'ftp://x'",
            "model_sha256 = []",
            "model_sha256 = ['12  vocab.txt']",
        ] {
            let found = layered(&format!("[search]\n{wrong}"));
            assert_eq!((found.mistakes.len(), found.config.search), (1, Search::compiled_in()), "{wrong}");
        }
    }
}
