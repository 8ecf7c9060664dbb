//! The one function that takes secrets out of text before it is written anywhere.
//!
//! Linear in the text whatever it holds: every look back is bounded, every look ahead is bounded or consumes what it
//! saw. No regular expressions, no configuration, no I/O. What counts as a secret is in the files beside this one.
//!
//! Redacting twice changes nothing. Two rules keep it so: nothing looks back past the end of the finding before it,
//! and a value that holds a placeholder is left alone. Where a look ahead ended in something that is gone now, the text
//! is gone over again.

mod address;
mod armour;
mod beside;
mod bytes;
mod command_line;
mod effort;
mod extent;
mod family;
mod formats;
mod header;
mod judge;
mod kind;
mod makeup;
mod named;
mod private;
mod provider;
mod scan;
mod shapes;
mod spoken;
mod stand_in;
mod stops;
mod wrapped;

use std::borrow::Cow;

pub use kind::Kind;
pub use private::{cut_blocks, is_wholly_private};
pub use scan::{Finding, Findings};

/// More than ever needed: the second pass finds nothing but in text that was made for it.
const MOST_PASSES: usize = 8;

/// Returns `text` without private parts and secrets; borrowed when there are none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let Some(mut safe) = without_findings(text) else { return Cow::Borrowed(text) };
    for _ in 1..MOST_PASSES {
        let Some(safer) = without_findings(&safe) else { break };
        safe = safer;
    }
    Cow::Owned(safe)
}

/// `text` with placeholders in place of what is found; `None` if nothing is.
fn without_findings(text: &str) -> Option<String> {
    let mut findings = findings(text).peekable();
    findings.peek()?;
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for Finding { kind, start, end } in findings {
        out.push_str(&text[kept..start]);
        kind.write_placeholder(&mut out);
        kept = end;
    }
    out.push_str(&text[kept..]);
    Some(out)
}

/// Returns where the secrets of `text` are, in order and apart from each other.
pub fn findings(text: &str) -> Findings<'_> {
    Findings::of(text)
}

#[cfg(test)]
mod tests;
