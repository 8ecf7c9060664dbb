//! The cost of work: tokens priced by model, and their sums.
//!
//! Pure and exact: prices are whole picodollars, so sums do not depend on their order. No price is invented: tokens of
//! a model without one are counted, and their cost is reported as unknown.

mod price;

pub use price::{BANDS, ModelPrice, ModelPrices, TokenRates, price_band};

use crate::piece::TokenCounts;
use crate::time::Timestamp;
use std::collections::BTreeSet;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Money, in picodollars (millionths of a millionth of a dollar).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u128);

/// A dollar as `Cost` counts it.
const DOLLAR: u128 = 1_000_000_000_000;

impl Cost {
    /// For further calculation; add up costs before converting.
    #[expect(clippy::cast_precision_loss, reason = "a float of a dollar is as exact as anybody reads it")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    /// `None` if it is not an amount of money.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be an amount of money"
    )]
    pub fn of_dollars(dollars: f64) -> Option<Cost> {
        (0.0..1e12).contains(&dollars).then(|| Cost((dollars * 1e12).round() as u128))
    }

    /// For display: cents, and four decimals below ten cents.
    pub fn display(self) -> String {
        let (unit, places) = if self.0 < DOLLAR / 10 && self.0 > 0 { (10_000, 4) } else { (100, 2) };
        let rounded = (self.0 * unit + DOLLAR / 2) / DOLLAR;
        format!("${}.{:0places$}", rounded / unit, rounded % unit)
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost(self.0.saturating_add(other.0))
    }
}

impl Sum for Cost {
    fn sum<All: Iterator<Item = Cost>>(all: All) -> Cost {
        all.fold(Cost::default(), Add::add)
    }
}

/// The usage of one model's answers whose prompts fall into one size band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BandUsage {
    pub model: Option<String>,
    /// See `price_band`.
    pub band: u8,
    pub messages: u64,
    pub tokens: TokenCounts,
}

/// The total of some work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageTotal {
    pub messages: u64,
    pub tokens: TokenCounts,
    /// The cost of the tokens that have a price.
    pub cost: Cost,
    /// Tokens of models without a price.
    pub unpriced: u64,
    /// The names of those models, if known.
    pub unpriced_models: BTreeSet<String>,
}

/// How certain a cost is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostEstimate {
    /// All tokens have a price.
    Whole(Cost),
    /// Some tokens have no price.
    AtLeast(Cost),
    /// No token has a price.
    Unknown,
}

impl UsageTotal {
    /// Adds the usage at the prices of `at`.
    pub fn add(&mut self, used: &BandUsage, prices: &ModelPrices, at: Timestamp) {
        self.messages += used.messages;
        self.tokens += used.tokens;
        match used.model.as_deref().and_then(|model| prices.of(model, at)) {
            Some(price) => self.cost = self.cost + price.cost(used),
            None => {
                self.unpriced += used.tokens.total();
                self.unpriced_models.extend(used.model.clone());
            }
        }
    }

    pub fn plus(mut self, other: &UsageTotal) -> UsageTotal {
        self.messages += other.messages;
        self.tokens += other.tokens;
        self.cost = self.cost + other.cost;
        self.unpriced += other.unpriced;
        self.unpriced_models.extend(other.unpriced_models.iter().cloned());
        self
    }

    pub fn bill(&self) -> CostEstimate {
        match (self.unpriced, self.cost) {
            (0, cost) => CostEstimate::Whole(cost),
            (unpriced, _) if unpriced == self.tokens.total() => CostEstimate::Unknown,
            (_, cost) => CostEstimate::AtLeast(cost),
        }
    }

    /// The share of sent tokens that came from the cache, in percent; `None` if none were sent.
    pub fn cache_percent(&self) -> Option<u8> {
        let TokenCounts { cache_read, .. } = self.tokens;
        let sent = self.tokens.prompt();
        let percent = u128::from(cache_read) * 100 / u128::from(sent.max(1));
        (sent > 0).then(|| u8::try_from(percent).unwrap_or(100))
    }
}

impl CostEstimate {
    /// `$1.20`; `>$1.20` if a part has no price; `?` if nothing has.
    pub fn display(self) -> String {
        match self {
            CostEstimate::Whole(cost) => cost.display(),
            CostEstimate::AtLeast(cost) => format!(">{}", cost.display()),
            CostEstimate::Unknown => "?".to_owned(),
        }
    }

    pub fn known(self) -> Option<Cost> {
        match self {
            CostEstimate::Whole(cost) | CostEstimate::AtLeast(cost) => Some(cost),
            CostEstimate::Unknown => None,
        }
    }
}

impl TokenCounts {
    /// All tokens sent, cached or not.
    pub fn prompt(self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    pub fn total(self) -> u64 {
        self.prompt() + self.output
    }
}

impl AddAssign for TokenCounts {
    fn add_assign(&mut self, other: TokenCounts) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
    }
}

/// A number of tokens for display: `950`, `12.3k`, `4.56M`.
pub fn short_count(tokens: u64) -> String {
    let scaled = |unit: u64, places: u32, letter: char| {
        let digits = 10_u64.pow(places);
        let rounded = (u128::from(tokens) * u128::from(digits) + u128::from(unit) / 2) / u128::from(unit);
        let (whole, rest) = (rounded / u128::from(digits), rounded % u128::from(digits));
        format!("{whole}.{rest:0width$}{letter}", width = places as usize)
    };
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..999_950 => scaled(1_000, 1, 'k'),
        999_950..999_995_000 => scaled(1_000_000, 2, 'M'),
        _ => scaled(1_000_000_000, 2, 'G'),
    }
}

#[cfg(test)]
mod tests;
