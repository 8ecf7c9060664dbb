//! An action as it stands in a text: its words, a verb with its object, the addresses and sentences around it.
//!
//! Knows neither which actions are dangerous nor whether a text advises them.

use super::words::{Plain, Words};
use crate::text::{clip, clip_start};
use std::ops::Range;

/// A found action; `gap` is the part between its verb and its object.
pub(super) struct Action {
    pub range: Range<usize>,
    pub gap: Range<usize>,
}

impl Action {
    pub fn at(range: Range<usize>) -> Action {
        let gap = range.end..range.end;
        Action { range, gap }
    }
}

/// Occurrences of the words, each an action by itself.
pub(super) fn each(words: Words, plain: Plain<'_>) -> impl Iterator<Item = Action> {
    words.find_in(plain).map(Action::at)
}

/// A verb and an object within `reach` bytes of each other, in either order and in one sentence.
pub(super) fn pairs(plain: Plain<'_>, verbs: Words, objects: Words, reach: usize) -> Vec<Action> {
    let pair = |object: Range<usize>| {
        let before = clip_start(&plain[..object.start], reach);
        let after = clip(&plain[object.end..], reach);
        let from = object.start - before.len();
        let earlier = verbs
            .find_in(before)
            .max_by_key(|verb| verb.end)
            .map(|verb| (from + verb.start..object.end, from + verb.end..object.start));
        let later = || {
            let verb = verbs.find_in(after).min_by_key(|verb| verb.start)?;
            Some((object.start..object.end + verb.end, object.end..object.end + verb.start))
        };
        let (range, gap) = earlier.filter(|(_, gap)| is_one_sentence(&plain[gap.clone()])).or_else(later)?;
        is_one_sentence(&plain[gap.clone()]).then_some(Action { range, gap })
    };
    objects.find_in(plain).filter_map(pair).collect()
}

fn is_one_sentence(gap: &str) -> bool {
    let gap = gap.replace("...", "");
    ![". ", "; ", "! ", "? ", "。", "；"].iter().any(|end| gap.contains(end))
}

/// The host of the first address within `reach` bytes of `from`.
pub(super) fn host_after(plain: &str, from: usize, reach: usize) -> Option<&str> {
    let near = clip(&plain[from..], reach);
    let (_, rest) = near.split_once("://")?;
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-' && c != ':' && c != '@').next()
}

/// Whether a host is this machine, or serves installers or packages that everybody uses.
pub(super) fn is_well_known(host: &str) -> bool {
    const HOSTS: [&str; 19] = [
        "localhost",
        "127.0.0.1",
        "sh.rustup.rs",
        "static.rust-lang.org",
        "get.docker.com",
        "astral.sh",
        "bun.sh",
        "deno.land",
        "get.pnpm.io",
        "deb.nodesource.com",
        "install.python-poetry.org",
        "pypi.org",
        "test.pypi.org",
        "download.pytorch.org",
        "npmjs.org",
        "npm.pkg.github.com",
        "index.crates.io",
        "proxy.golang.org",
        "rubygems.org",
    ];
    let name = host.split(':').next().unwrap_or(host);
    HOSTS
        .iter()
        .any(|known| name == *known || name.strip_suffix(known).is_some_and(|rest| rest.ends_with('.')))
}

/// Addresses of hosts that are not well known.
pub(super) fn foreign_addresses(plain: &str) -> impl Iterator<Item = Range<usize>> {
    plain.match_indices("://").filter_map(move |(at, _)| {
        let host = host_after(plain, at, 120)?;
        let end = plain[at..]
            .find([' ', '`', '"', '\'', ')', '>', '。', '，'])
            .map_or(plain.len(), |length| at + length);
        let start = at - plain[..at].chars().rev().take_while(char::is_ascii_alphabetic).count();
        (!is_well_known(host)).then_some(start..end)
    })
}

pub(super) enum Side {
    Before,
    After,
}

/// The part of a text that belongs to the sentence at its end or at its beginning.
pub(super) fn within_sentence(text: &str, side: Side) -> &str {
    const ENDS: [&str; 6] = [". ", "; ", "! ", "? ", "。", "；"];
    match side {
        Side::Before => {
            let ends = ENDS.iter().filter_map(|end| text.rfind(end).map(|at| at + end.len()));
            &text[ends.max().unwrap_or(0)..]
        }
        Side::After => {
            let ends = ENDS.iter().filter_map(|end| text.find(end));
            &text[..ends.min().unwrap_or(text.len())]
        }
    }
}
