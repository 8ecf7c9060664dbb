//! Removes secrets from text before it is written anywhere.
//!
//! Linear in the length of the text: every look back is bounded, every look ahead is bounded or consumes its input. No
//! regular expressions, no configuration, no I/O. No rule package as a dependency: a hook starts cold, and packages of
//! rules (gitleaks and the like) are hundreds of regular expressions that are compiled at start; this takes 26
//! instructions per byte and nothing at start.
//!
//! Redaction is idempotent. Two rules ensure it: no check looks back past the end of the previous match, and a value
//! that contains a placeholder is left alone. A look ahead may have ended in text that is now removed, so passes repeat
//! until one matches nothing.

mod address;
mod armour;
mod beside;
mod bytes;
mod command_line;
mod crypt;
mod effort;
mod extent;
mod family;
mod folded;
mod formats;
mod header;
mod judge;
mod kind;
mod makeup;
mod named;
mod pairs;
mod private;
mod provider;
mod scan;
mod shapes;
mod spoken;
mod stand_in;
mod stops;
mod table;
mod wrapped;

use std::borrow::Cow;

pub use kind::{SecretKind, SecretMatch};
pub use private::{HIDDEN, cut_blocks, is_wholly_private, without_private};
pub use scan::SecretMatches;

/// More than ever needed: only adversarial text has matches in the second pass.
const MOST_PASSES: usize = 8;

/// Returns `text` without private blocks and secrets; borrowed if it has none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let tight = private::tight_tags(text);
    let Some(mut safe) = without_findings(&tight) else { return tight };
    for _ in 1..MOST_PASSES {
        let Some(safer) = without_findings(&safe) else { break };
        safe = safer;
    }
    Cow::Owned(safe)
}

/// `text` with its secrets replaced by placeholders; `None` if it has none. What hides behind invisible characters is
/// looked for when nothing else is left.
fn without_findings(text: &str) -> Option<String> {
    let mut found = findings(text);
    let plain = replaced(text, &mut found);
    if plain.is_none() && found.hides { replaced(text, folded::findings(text).into_iter()) } else { plain }
}

/// `text` with a placeholder for each finding; `None` if there is none.
fn replaced(text: &str, findings: impl Iterator<Item = SecretMatch>) -> Option<String> {
    let mut findings = findings.peekable();
    findings.peek()?;
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for SecretMatch { kind, start, end } in findings {
        out.push_str(&text[kept..start]);
        kind.write_placeholder(&mut out);
        kept = end;
    }
    out.push_str(&text[kept..]);
    Some(out)
}

/// Returns the secrets of `text`, in order and without overlap.
pub fn findings(text: &str) -> SecretMatches<'_> {
    SecretMatches::of(text)
}

#[cfg(test)]
mod tests;
