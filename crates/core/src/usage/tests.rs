//! Tests of prices, costs and sums against figures that a client reported.

use super::*;

fn rates(dollars: u64) -> TokenRates {
    let input = dollars * 1_000_000;
    TokenRates {
        input,
        cache_read: input / 10,
        cache_write: input * 5 / 4,
        cache_write_1h: input * 2,
        output: input * 5,
    }
}

fn price(model: &str, from: i64, dollars: u64) -> ModelPrice {
    ModelPrice { model: model.to_owned(), from: Timestamp(from), rates: rates(dollars), long: None }
}

fn used(model: &str, tokens: TokenCounts) -> BandUsage {
    BandUsage { model: Some(model.to_owned()), band: price_band(tokens.prompt()), messages: 1, tokens }
}

const SOME: TokenCounts =
    TokenCounts { input: 7242, cache_read: 220_000, cache_write: 14_000, cache_write_1h: 0, output: 310 };

#[test]
fn a_cost_is_what_the_client_itself_makes_of_the_same_tokens() {
    let mut spent = UsageTotal::default();
    let used = BandUsage { band: 0, ..used("sonnet", SOME) };
    spent.add(&used, &ModelPrices::new(vec![price("sonnet", 0, 3)]), Timestamp(1));
    assert_eq!(spent.cost, Cost(144_876_000_000));
    assert_eq!((spent.cost.display().as_str(), spent.cache_percent()), ("$0.14", Some(91)));
}

#[test]
fn one_hour_cache_writes_have_their_own_price() {
    let tokens = TokenCounts { cache_write: 1_000_000, cache_write_1h: 400_000, ..TokenCounts::default() };
    let cost = price("m", 0, 4).cost(&used("m", tokens));
    assert_eq!(cost.display(), "$6.20");
    let too_much = TokenCounts { cache_write_1h: 9_000_000, ..tokens };
    assert_eq!(price("m", 0, 4).cost(&used("m", too_much)).display(), "$8.00");
}

#[test]
fn a_message_with_a_long_prompt_costs_more_as_a_whole() {
    let price = ModelPrice { long: Some((200_000, rates(6))), ..price("m", 0, 3) };
    let cost = |input| price.cost(&used("m", TokenCounts { input, ..TokenCounts::default() })).display();
    assert_eq!(
        (cost(200_000).as_str(), cost(200_001).as_str(), cost(900_000).as_str()),
        ("$0.60", "$1.20", "$5.40")
    );
}

#[test]
fn the_price_of_the_time_counts() {
    let prices = ModelPrices::new(vec![price("m", 0, 2), price("m", 100, 3), price("n", 100, 9)]);
    let at = |at| prices.of("m", Timestamp(at)).map(|price| price.rates.input / 1_000_000);
    assert_eq!((at(0), at(99), at(100), at(i64::MAX)), (Some(2), Some(2), Some(3), Some(3)));
    assert_eq!((prices.of("n", Timestamp(99)), prices.changes()), (None, vec![Timestamp(100)]));
}

#[test]
fn a_model_is_known_by_its_name_wherever_it_is_served_and_never_by_a_likeness() {
    let prices =
        ModelPrices::new(vec![price("sonnet-4", 0, 1), price("sonnet-4-5", 0, 2), price("gpt-5", 0, 3)]);
    let of = |id: &str| prices.of(id, Timestamp(1)).map(|price| price.model.as_str());
    for id in ["sonnet-4-5", "sonnet-4-5-20250929", "sonnet-4-5[1m]", "us.vendor.sonnet-4-5-20250929-v1:0"] {
        assert_eq!(of(id), Some("sonnet-4-5"), "{id}");
    }
    for id in ["sonnet-4-20250514", "vendor/sonnet-4@20250514", "sonnet-4-latest"] {
        assert_eq!(of(id), Some("sonnet-4"), "{id}");
    }
    assert_eq!((of("gpt-5-2025-08-07"), of("openai/gpt-5:free")), (Some("gpt-5"), Some("gpt-5")));
    for id in [
        "gpt-5.5",
        "gpt-5-mini",
        "sonnet-4-6",
        "my-sonnet-4-5",
        "sonnet-4-5-fast",
        "gpt-5-vision",
        "",
        "sonnet",
    ] {
        assert_eq!(of(id), None, "{id}");
    }
}

#[test]
fn tokens_without_a_price_are_counted_and_their_cost_is_unknown() {
    let prices = ModelPrices::new(vec![price("m", 0, 1)]);
    let mut spent = UsageTotal::default();
    assert_eq!(spent.bill(), CostEstimate::Whole(Cost(0)));
    spent.add(&used("strange", SOME), &prices, Timestamp(1));
    assert_eq!((spent.bill(), spent.bill().display().as_str()), (CostEstimate::Unknown, "?"));
    spent.add(&used("m", TokenCounts { output: 1_000_000, ..TokenCounts::default() }), &prices, Timestamp(1));
    spent.add(&BandUsage { model: None, ..used("", SOME) }, &prices, Timestamp(1));
    assert_eq!((spent.bill().display().as_str(), spent.unpriced), (">$5.00", 2 * SOME.total()));
    assert_eq!((spent.unpriced_models.len(), spent.messages), (1, 3));
    let twice = spent.clone().plus(&spent);
    assert_eq!((twice.cost, twice.tokens.total()), (Cost(10_000_000_000_000), 2 * spent.tokens.total()));
}

#[test]
fn money_and_counts_are_spelt_as_people_read_them() {
    let spelt = [0, 1_000_000_000, 99_994_999_999, 5_555_000_000_000, 1_234_565_000_000_000]
        .map(|pico| Cost(pico).display());
    assert_eq!(spelt, ["$0.00", "$0.0010", "$0.1000", "$5.56", "$1234.57"]);
    let counts =
        [0, 999, 1_000, 12_345, 999_949, 999_950, 4_560_000, 999_994_999, 1_500_000_000].map(short_count);
    assert_eq!(counts, ["0", "999", "1.0k", "12.3k", "999.9k", "1.00M", "4.56M", "999.99M", "1.50G"]);
}

#[test]
fn without_sent_tokens_there_is_no_cache_percentage() {
    assert_eq!(UsageTotal::default().cache_percent(), None);
}

#[test]
fn time_is_cut_where_prices_change() {
    let at = |text| Timestamp::parse_utc(text).unwrap();
    let cut = at("2026-09-01T00:00:00Z");
    let list = ModelPrices::new(vec![price("m", 0, 1), price("m", cut.0, 2)]);
    let times = at("2026-08-01T00:00:00Z")..at("2026-10-01T00:00:00Z");
    assert_eq!(list.stretches(&times), [times.start..cut, cut..times.end]);
    assert_eq!(list.stretches(&(cut..times.end)), [cut..times.end]);
}
