//! Model prices: the price of a model at a time, and the cost of tokens.
//!
//! Contains no built-in models, and never matches a model to a merely similar name.

use super::{BandUsage, Cost};
use crate::piece::TokenCounts;
use crate::time::Timestamp;
use std::iter;
use std::ops::Range;

/// Prompt sizes above which some models cost more. Sums are kept separate per band: a price can only change at one of
/// these.
pub const BANDS: [u64; 4] = [128_000, 200_000, 256_000, 272_000];

/// The band of a prompt: how many of `BANDS` it exceeds.
pub fn price_band(prompt_tokens: u64) -> u8 {
    BANDS.iter().map(|bound| u8::from(prompt_tokens > *bound)).sum()
}

/// The cost per token, in picodollars: dollars per million tokens, times a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenRates {
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub cache_write_1h: u64,
    pub output: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPrice {
    pub model: String,
    /// The price applies from this time on.
    pub from: Timestamp,
    pub rates: TokenRates,
    /// The rates of whole messages whose prompts exceed this size: one of `BANDS`.
    pub long: Option<(u64, TokenRates)>,
}

impl ModelPrice {
    pub fn cost(&self, used: &BandUsage) -> Cost {
        let rates = match self.long {
            Some((above, rates)) if used.band > price_band(above) => rates,
            Some(_) | None => self.rates,
        };
        rates.cost(used.tokens)
    }
}

impl TokenRates {
    fn cost(self, tokens: TokenCounts) -> Cost {
        let total = |count: u64, rate: u64| u128::from(count) * u128::from(rate);
        let long_lived = tokens.cache_write_1h.min(tokens.cache_write);
        Cost(
            total(tokens.input, self.input)
                + total(tokens.cache_read, self.cache_read)
                + total(tokens.cache_write - long_lived, self.cache_write)
                + total(long_lived, self.cache_write_1h)
                + total(tokens.output, self.output),
        )
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelPrices {
    all: Vec<ModelPrice>,
}

impl ModelPrices {
    /// Of several prices for one model and start time, the last one counts.
    pub fn new(all: Vec<ModelPrice>) -> ModelPrices {
        ModelPrices { all }
    }

    /// The price of the model at this time.
    pub fn of(&self, model: &str, at: Timestamp) -> Option<&ModelPrice> {
        let of_model = self.all.iter().filter(|price| price.from <= at && matches_name(model, &price.model));
        // If two names match, the longer one is more specific.
        of_model.max_by_key(|price| (price.model.len(), price.from))
    }

    /// The times at which any price changes, in order: sums must be split there.
    pub fn changes(&self) -> Vec<Timestamp> {
        let mut times: Vec<Timestamp> = self.all.iter().map(|price| price.from).collect();
        times.sort_unstable();
        times.dedup();
        times.retain(|at| at.0 > 0);
        times
    }

    /// A time range, split where any price changes.
    pub fn stretches(&self, times: &Range<Timestamp>) -> Vec<Range<Timestamp>> {
        let inside = self.changes().into_iter().filter(|at| times.start < *at && *at < times.end);
        let mut bounds: Vec<Timestamp> = iter::once(times.start).chain(inside).collect();
        bounds.push(times.end);
        bounds.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

/// Whether a model's id is this name plus only the usual vendor additions: a hosting prefix, or a date, version or
/// context size as suffix.
fn matches_name(id: &str, name: &str) -> bool {
    let Some(at) = id.find(name) else { return false };
    let (before, after) = (&id[..at], &id[at + name.len()..]);
    (before.is_empty() || before.ends_with(['/', '.'])) && is_vendor_suffix(after)
}

fn is_vendor_suffix(rest: &str) -> bool {
    let is_date = |text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        digits == 8 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let rest = rest.strip_suffix("[1m]").unwrap_or(rest);
    let is_version = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    let rest =
        rest.rsplit_once("-v").filter(|(_, version)| is_version(version)).map_or(rest, |(rest, _)| rest);
    let rest = rest.split_once(':').map_or(rest, |(rest, _)| rest);
    match rest.strip_prefix(['-', '@']) {
        None => rest.is_empty(),
        Some(edition) => edition == "latest" || is_date(edition),
    }
}
