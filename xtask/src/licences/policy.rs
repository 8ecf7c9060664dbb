//! The policy of `deny.toml`: allowed licences and registries.
//!
//! Reads only the two lists that matter offline. The rest of that file is for cargo-deny and ignored here.

use toml_edit::{DocumentMut, Item};

use super::spdx;
use crate::failure::Failure;

pub struct Policy {
    licences: Vec<String>,
    registries: Vec<String>,
}

impl Policy {
    pub fn parse(text: &str) -> Result<Policy, Failure> {
        let document: DocumentMut = text.parse().map_err(|error| Failure::malformed("deny.toml", error))?;
        Ok(Policy {
            licences: texts(&document, "licenses", "allow")?,
            registries: texts(&document, "sources", "allow-registry")?,
        })
    }

    /// The objection to a package's licence expression, if any.
    pub fn licence_objection(&self, expression: Option<&str>) -> Option<String> {
        let Some(expression) = expression else {
            return Some("no licence is declared".to_owned());
        };
        match spdx::parse(expression) {
            Err(complaint) => Some(format!("the licence `{expression}` cannot be read: {complaint}")),
            Ok(parsed) if parsed.is_met_by(&self.licences) => None,
            Ok(_) => Some(format!("the licence `{expression}` is not allowed by deny.toml")),
        }
    }

    /// The objection to a package's source, if any; no source means a folder of this workspace.
    pub fn source_objection(&self, source: Option<&str>) -> Option<String> {
        let source = source?;
        let registry = source.strip_prefix("registry+").or(source.strip_prefix("sparse+"));
        let is_allowed =
            registry.is_some_and(|registry| self.registries.iter().any(|known| known == registry));
        (!is_allowed).then(|| format!("it comes from `{source}`, which deny.toml does not allow"))
    }
}

fn texts(document: &DocumentMut, table: &str, key: &str) -> Result<Vec<String>, Failure> {
    let array = document.get(table).and_then(|table| table.get(key)).and_then(Item::as_array);
    let array = array.ok_or_else(|| Failure::malformed("deny.toml", format!("no list `{table}.{key}`")))?;
    Ok(array.iter().filter_map(|value| value.as_str()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let text =
            "[licenses]\nallow = [\"MIT\", \"Zlib\"]\n[sources]\nallow-registry = [\"https://a/index\"]";
        Policy::parse(text).unwrap()
    }

    #[test]
    fn allowed_licence_meets_no_objection() {
        assert_eq!(policy().licence_objection(Some("Apache-2.0 OR MIT")), None);
    }

    #[test]
    fn other_missing_and_unreadable_licences_do() {
        for licence in [Some("Apache-2.0"), None, Some("MIT OR")] {
            assert!(policy().licence_objection(licence).is_some(), "{licence:?}");
        }
    }

    #[test]
    fn only_the_named_registry_and_our_own_folders_are_sources() {
        assert_eq!(policy().source_objection(None), None);
        assert_eq!(policy().source_objection(Some("registry+https://a/index")), None);
        for source in ["registry+https://b/index", "git+https://a/index"] {
            assert!(policy().source_objection(Some(source)).is_some(), "{source}");
        }
    }

    #[test]
    fn policy_without_a_list_is_malformed() {
        assert!(Policy::parse("[licenses]\nallow = []").is_err());
    }
}
