//! The prices of models: the compiled-in list and the user's own.
//!
//! Pure: validates and interprets prices, computes no cost. The compiled-in list is parsed only on demand.

use toml_edit::{Document, InlineTable, Item, TableLike, Value};
use towline_agents::PRICES;
use towline_core::time::Timestamp;
use towline_core::usage::{BANDS, ModelPrice, TokenRates};

/// The compiled-in prices and their date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceList {
    pub dated: String,
    pub prices: Vec<ModelPrice>,
}

pub fn listed() -> PriceList {
    parsed(PRICES)
}

fn parsed(text: &str) -> PriceList {
    let Ok(document) = Document::parse(text) else { return PriceList::default() };
    let table = document.as_table();
    let prices = table.get("price").and_then(Item::as_array_of_tables).into_iter().flatten();
    let named = |price: &toml_edit::Table| {
        let model = price.get("model")?.as_str()?.to_owned();
        self::price(model, price)
    };
    let dated = table.get("dated").and_then(Item::as_str).unwrap_or_default().to_owned();
    PriceList { dated, prices: prices.filter_map(named).collect() }
}

/// Builds the prices from a validated table.
pub(super) fn read(value: &Value) -> Vec<ModelPrice> {
    let table = value.as_inline_table().into_iter().flatten();
    table.filter_map(|(model, price)| self::price(model.to_owned(), price.as_inline_table()?)).collect()
}

fn price(model: String, table: &dyn TableLike) -> Option<ModelPrice> {
    let from = table.get("from").and_then(Item::as_str);
    let from = from.and_then(|day| Timestamp::parse_utc(&format!("{day}T00:00:00Z"))).unwrap_or_default();
    let long = table.get("long").and_then(Item::as_table_like).and_then(|long| {
        let above = u64::try_from(long.get("above")?.as_integer()?).ok()?;
        Some((above, rates(long)?))
    });
    Some(ModelPrice { model, from, rates: rates(table)?, long })
}

fn rates(table: &dyn TableLike) -> Option<TokenRates> {
    let rate = |name: &str| table.get(name).and_then(Item::as_value).and_then(rate);
    let input = rate("input")?;
    let cache_write = rate("cache_write").unwrap_or(input);
    Some(TokenRates {
        input,
        cache_read: rate("cache_read").unwrap_or(input),
        cache_write,
        cache_write_1h: rate("cache_write_1h").unwrap_or(cache_write),
        output: rate("output")?,
    })
}

/// More than any token will ever cost, in dollars per million.
const DEAREST: f64 = 1e6;

/// Converts dollars per million tokens to millionths of a millionth of a dollar per token.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "checked to be neither negative nor too large"
)]
fn rate(value: &Value) -> Option<u64> {
    let dollars = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))?;
    (0.0..=DEAREST).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
}

const RATES: [&str; 5] = ["input", "cache_read", "cache_write", "cache_write_1h", "output"];

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(value: &Value) -> Result<(), String> {
    let mut models = value.as_inline_table().into_iter().flatten();
    models.try_for_each(|(model, price)| {
        let of = |what: &str| format!("made of prices; that of `{model}` {what}");
        let price = price.as_inline_table().ok_or_else(|| of("is none"))?;
        let long = price
            .get("long")
            .map(|long| long.as_inline_table().ok_or_else(|| of("has a `long` that is none")));
        if let Some(long) = long.transpose()? {
            let is_bound = |above: i64| u64::try_from(above).is_ok_and(|above| BANDS.contains(&above));
            if !long.get("above").and_then(Value::as_integer).is_some_and(is_bound) {
                return Err(of(&format!(
                    "can be `long` above one of {}",
                    BANDS.map(|band| band.to_string()).join(", ")
                )));
            }
            in_order(long, "above").map_err(|what| of(&what))?;
        }
        in_order(price, "long").map_err(|what| of(&what))
    })
}

/// Checks that a table holds only rates and the key `besides`.
fn in_order(table: &InlineTable, besides: &str) -> Result<(), String> {
    for (name, value) in table {
        if name != besides && !RATES.contains(&name) {
            return Err(format!("has no `{name}`, but {}", RATES.join(", ")));
        }
        if name != besides && rate(value).is_none() {
            return Err(format!("has a `{name}` that is no number of dollars"));
        }
    }
    let missing = ["input", "output"].into_iter().find(|name| !table.contains_key(name));
    missing.map_or(Ok(()), |name| Err(format!("lacks `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::super::{Config, layered};
    use super::*;
    use towline_core::piece::TokenCounts;
    use towline_core::usage::{BandUsage, UsageTotal};

    fn cost(config: &Config, model: &str, at: &str) -> String {
        let tokens = TokenCounts { input: 1_000_000, output: 1_000_000, ..TokenCounts::default() };
        let used = BandUsage { model: Some(model.into()), band: 0, messages: 1, tokens };
        let mut spent = UsageTotal::default();
        spent.add(&used, &config.all_prices(), Timestamp::parse_utc(at).unwrap());
        spent.bill().display()
    }

    #[test]
    fn every_price_of_the_list_is_read_and_has_a_sound_bound() {
        let list = listed();
        assert_eq!(list.prices.len(), PRICES.matches("[[price]]").count());
        assert_eq!(list.dated.len(), "2026-11-15".len());
        assert!(
            list.prices.iter().all(|price| price.rates.input > 0 && price.rates.output >= price.rates.input)
        );
        let bounds = list.prices.iter().filter_map(|price| price.long);
        assert_eq!(
            bounds.filter(|(above, _)| BANDS.contains(above)).count(),
            PRICES.matches("long = {").count()
        );
    }

    #[test]
    fn a_price_that_changed_holds_from_its_day_on() {
        let list = parsed(
            "[[price]]\nmodel = 'm'\ninput = 2\noutput = 10\n[[price]]\nmodel = 'm'\nfrom = '2026-09-01'\ninput = 3\noutput = 15",
        );
        let config = Config { prices: list.prices, ..Config::compiled_in() };
        assert_eq!(cost(&config, "m", "2026-08-31T23:59:59Z"), "$12.00");
        assert_eq!(cost(&config, "m", "2026-09-01T00:00:00Z"), "$18.00");
    }

    #[test]
    fn a_price_of_the_users_own_replaces_all_others_of_the_model() {
        let config =
            layered("[prices]\n'gpt-5' = { input = 1, output = 2.5 }\n[prices.mine]\ninput = 0\noutput = 0")
                .config;
        let now = "2026-11-15T00:00:00Z";
        assert_eq!(cost(&config, "gpt-5", now), "$3.50");
        assert_eq!(cost(&config, "mine", now), "$0.00");
        assert_eq!(cost(&config, "nobody-knows", now), "?");
    }

    #[test]
    fn what_makes_no_price_is_named() {
        let mistake =
            |user: &str| layered(user).mistakes.first().map(ToString::to_string).unwrap_or_default();
        let of = |text: &str| mistake(&format!("prices.m = {text}"));
        assert_eq!(of("3"), "line 1: `prices` must be made of prices; that of `m` is none");
        assert!(of("{ input = 1 }").ends_with("that of `m` lacks `output`"));
        assert!(of("{ input = -1, output = 1 }").ends_with("has a `input` that is no number of dollars"));
        assert!(of("{ input = 1, output = 1, inptu = 2 }").contains("has no `inptu`, but input"));
        let long = of("{ input = 1, output = 1, long = { above = 5, input = 1, output = 1 } }");
        assert!(long.ends_with("can be `long` above one of 128000, 200000, 256000, 272000"), "{long}");
        assert_eq!(of("{ input = 1, output = 1, long = { above = 200000, input = 1, output = 1 } }"), "");
    }
}
