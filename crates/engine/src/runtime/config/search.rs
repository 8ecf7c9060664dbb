//! The `search` section: the embedding method, and the source of the optional model.
//!
//! Pure. It triggers no download: only `tow data model get` downloads.

use super::rules::require;
use super::values::{key, section};
use toml_edit::Value;
use towline_core::named_enum;
use towline_search::MODEL_FILES;

section! {
    pub struct Search in "search" {
        tier: SearchTier = |values| {
            values.named(key!("search.tier"), SearchTier::named).unwrap_or(SearchTier::Static)
        },
        /// The base address of the model's files, without a trailing slash.
        model_url: String = |values| values.url(key!("search.model_url")),
        /// The checksum of each model file.
        model_sha256: Vec<(String, String)> = |values| {
            let lines: Vec<String> = values.get(key!("search.model_sha256"));
            lines.iter().filter_map(|line| checksum(line)).collect()
        },
    }
}

named_enum! {
    /// The source of embeddings.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SearchTier as named {
        /// The compiled-in table.
        Static = "static",
        /// A downloaded model in addition to the table.
        MiniLm = "minilm",
    }
}

/// Parses a line of `sha256sum` output.
fn checksum(line: &str) -> Option<(String, String)> {
    let (sum, name) = line.split_once(char::is_whitespace)?;
    let is_sum = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sum.then(|| (name.trim().trim_start_matches('*').to_owned(), sum.to_ascii_lowercase()))
}

/// Whether there is a checksum for each file of the model. `Err` completes "must be".
pub(super) fn checksums_are_complete(value: &Value) -> Result<(), String> {
    let lines = value.as_array().into_iter().flatten();
    let mut names: Vec<String> = lines.filter_map(|line| Some(checksum(line.as_str()?)?.0)).collect();
    let mut wanted = MODEL_FILES.map(str::to_owned);
    names.sort();
    wanted.sort();
    require(names == wanted, &format!("a line of sha256sum for each of {}", MODEL_FILES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::{Config, layered};
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
            assert_eq!(
                (found.mistakes.len(), found.config.search),
                (1, Config::compiled_in().search),
                "{wrong}"
            );
        }
    }
}
