//! What work costs: tokens at the prices of their models, added up.
//!
//! Pure, and exact: prices are whole numbers of millionths of a millionth of a dollar, so that sums are the same in any
//! order. No price is made up: what a model without one used is counted, and its cost is said to be unknown.

mod price;

pub use price::{BANDS, Price, Prices, Rates, band_of};

use crate::piece::Tokens;
use crate::time::Timestamp;
use std::collections::BTreeSet;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Money, in millionths of a millionth of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u128);

/// A dollar as `Cost` counts it.
const DOLLAR: u128 = 1_000_000_000_000;

impl Cost {
    /// For those who calculate on with it; sums are to be made before.
    #[expect(clippy::cast_precision_loss, reason = "a float of a dollar is as exact as anybody reads it")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    /// None for what is no amount of money.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be an amount of money"
    )]
    pub fn of_dollars(dollars: f64) -> Option<Cost> {
        (0.0..1e12).contains(&dollars).then(|| Cost((dollars * 1e12).round() as u128))
    }

    /// As people read it: cents, and four places below ten cents.
    pub fn spelt(self) -> String {
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

/// What the answers of one model used whose prompts were of one band of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    pub model: Option<String>,
    /// See `band_of`.
    pub band: u8,
    pub messages: u64,
    pub tokens: Tokens,
}

/// What some work came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub messages: u64,
    pub tokens: Tokens,
    /// Of what has a price.
    pub cost: Cost,
    /// Tokens of models without a price.
    pub unpriced: u64,
    /// Those models, as far as they have a name.
    pub unpriced_models: BTreeSet<String>,
}

/// How sure a cost is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bill {
    /// All of it has a price.
    Whole(Cost),
    /// A part of it has none.
    AtLeast(Cost),
    /// Nothing of it has a price.
    Unknown,
}

impl Spent {
    /// Adds what was used while the prices of `at` held.
    pub fn add(&mut self, used: &Used, prices: &Prices, at: Timestamp) {
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

    pub fn plus(mut self, other: &Spent) -> Spent {
        self.messages += other.messages;
        self.tokens += other.tokens;
        self.cost = self.cost + other.cost;
        self.unpriced += other.unpriced;
        self.unpriced_models.extend(other.unpriced_models.iter().cloned());
        self
    }

    pub fn bill(&self) -> Bill {
        match (self.unpriced, self.cost) {
            (0, cost) => Bill::Whole(cost),
            (unpriced, _) if unpriced == self.tokens.total() => Bill::Unknown,
            (_, cost) => Bill::AtLeast(cost),
        }
    }

    /// How much of what was sent came from the cache, in percent; none where nothing was sent.
    pub fn cache_percent(&self) -> Option<u8> {
        let Tokens { cache_read, .. } = self.tokens;
        let sent = self.tokens.prompt();
        let percent = u128::from(cache_read) * 100 / u128::from(sent.max(1));
        (sent > 0).then(|| u8::try_from(percent).unwrap_or(100))
    }
}

impl Bill {
    /// `$1.20`; `>$1.20` where a part has no price; `?` where nothing has.
    pub fn spelt(self) -> String {
        match self {
            Bill::Whole(cost) => cost.spelt(),
            Bill::AtLeast(cost) => format!(">{}", cost.spelt()),
            Bill::Unknown => "?".to_owned(),
        }
    }

    pub fn known(self) -> Option<Cost> {
        match self {
            Bill::Whole(cost) | Bill::AtLeast(cost) => Some(cost),
            Bill::Unknown => None,
        }
    }
}

impl Tokens {
    /// All that was sent, from wherever.
    pub fn prompt(self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    pub fn total(self) -> u64 {
        self.prompt() + self.output
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
    }
}

/// A number of tokens as people read it: `950`, `12.3k`, `4.56M`.
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
