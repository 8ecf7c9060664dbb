//! Tokens and cost as cumulative sums, by agent, project and model.
//!
//! A sum never falls, even if usage is forgotten: what was sent is kept as the base of what follows. Sent twice, a sum is
//! still the same sum.

use super::spans::{nanos, text};
use crate::capture::Wishes;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Metric, NumberDataPoint, Sum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use towline_agents::{Agent, provider_of};
use towline_core::time::Timestamp;
use towline_core::usage::{BandUsage, Cost, ModelPrices, UsageTotal};
use towline_store::archive::UsageSeries;
use towline_store::{Archive, StoreError};

/// Name, unit and description of each sum. The first four are those of the conventions; there is none for cost.
const METRICS: [(&str, &str, &str); 5] = [
    ("gen_ai.client.inference.usage.input_tokens", "{token}", "Input tokens used, including cached ones"),
    ("gen_ai.client.inference.usage.output_tokens", "{token}", "Output tokens used"),
    ("gen_ai.client.inference.usage.cache_read.input_tokens", "{token}", "Input tokens read from the cache"),
    (
        "gen_ai.client.inference.usage.cache_write.input_tokens",
        "{token}",
        "Input tokens written to the cache",
    ),
    ("towline.usage.cost", "USD", "Cost of the tokens whose models have a price"),
];

/// The position of the cost, which is counted in picodollars.
const COST: usize = 4;

type Values = [u64; METRICS.len()];

/// What a sum is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Series {
    agent: String,
    project: Option<String>,
    model: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counter {
    /// What is added because usage that was counted is gone.
    base: Values,
    /// What the archive held last.
    last: Values,
}

/// The sums that were sent last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sums(Vec<(Series, Counter)>);

/// What the archive holds of these times, without excluded folders.
pub(super) fn current(
    archive: &Archive,
    wishes: &Wishes,
    prices: &ModelPrices,
    times: &Range<Timestamp>,
) -> Result<BTreeMap<Series, Values>, StoreError> {
    let mut found: BTreeMap<Series, Values> = BTreeMap::new();
    for stretch in prices.stretches(times) {
        for (of, used) in archive.usage_by_series(&stretch)? {
            let folders = [of.folder.as_deref(), of.root.as_deref()];
            if folders.into_iter().flatten().any(|folder| wishes.excludes(folder)) {
                continue;
            }
            let values = values(&used, prices, stretch.start);
            let UsageSeries { agent, project, .. } = of;
            let sums = found.entry(Series { agent, project, model: used.model }).or_default();
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(value));
        }
    }
    Ok(found)
}

fn values(used: &BandUsage, prices: &ModelPrices, at: Timestamp) -> Values {
    let mut total = UsageTotal::default();
    total.add(used, prices, at);
    let (tokens, cost) = (used.tokens, u64::try_from(total.cost.0).unwrap_or(u64::MAX));
    [tokens.prompt(), tokens.output, tokens.cache_read, tokens.cache_write, cost]
}

impl Sums {
    /// The sums after the archive was read again.
    pub fn updated(&self, mut current: BTreeMap<Series, Values>) -> Sums {
        let mut counters: BTreeMap<Series, Counter> = self.0.iter().cloned().collect();
        for (series, counter) in &mut counters {
            counter.move_to(current.remove(series).unwrap_or_default());
        }
        let new = current.into_iter().map(|(series, last)| (series, Counter { last, ..Counter::default() }));
        counters.extend(new);
        Sums(counters.into_iter().collect())
    }

    /// Whether another request would tell the receiver anything.
    pub fn differs(&self, sent: &Sums) -> bool {
        let totals = |sums: &Sums| -> Vec<Values> { sums.0.iter().map(|(_, sum)| sum.total()).collect() };
        totals(self) != totals(sent)
    }

    pub fn points(&self) -> usize {
        self.0.len() * METRICS.len()
    }

    /// One metric with a point for each series.
    pub fn metrics(&self, since: Timestamp, now: Timestamp) -> Vec<Metric> {
        let metric = |(position, (name, unit, description)): (usize, &(&str, &str, &str))| Metric {
            name: (*name).to_owned(),
            unit: (*unit).to_owned(),
            description: (*description).to_owned(),
            data: Some(Data::Sum(Sum {
                data_points: self.0.iter().map(|sum| point(sum, position, [since, now])).collect(),
                aggregation_temporality: AggregationTemporality::Cumulative.into(),
                is_monotonic: true,
            })),
            ..Metric::default()
        };
        METRICS.iter().enumerate().map(metric).collect()
    }
}

impl Counter {
    fn move_to(&mut self, current: Values) {
        for (position, now) in current.into_iter().enumerate() {
            let gone = self.last[position].saturating_sub(now);
            self.base[position] = self.base[position].saturating_add(gone);
            self.last[position] = now;
        }
    }

    fn total(&self) -> Values {
        std::array::from_fn(|position| self.base[position].saturating_add(self.last[position]))
    }
}

fn point(
    (series, counter): &(Series, Counter),
    position: usize,
    [since, now]: [Timestamp; 2],
) -> NumberDataPoint {
    let Series { agent, project, model } = series;
    let title = Agent::from_name(agent).map_or(agent.as_str(), |agent| agent.title());
    let mut attributes = vec![
        text("gen_ai.agent.name", title),
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.provider.name", provider_of(model.as_deref().unwrap_or_default())),
    ];
    if position != COST {
        // Clients do not say which tokens are text, and which are images.
        attributes.push(text("gen_ai.token.modality", "unknown"));
    }
    attributes.extend(model.as_deref().map(|model| text("gen_ai.request.model", model)));
    attributes.extend(project.as_deref().map(|project| text("towline.project", project)));
    let total = counter.total()[position];
    let value = match position {
        COST => Value::AsDouble(Cost(total.into()).dollars()),
        _ => Value::AsInt(i64::try_from(total).unwrap_or(i64::MAX)),
    };
    NumberDataPoint {
        attributes,
        start_time_unix_nano: nanos(since),
        time_unix_nano: nanos(now),
        value: Some(value),
        ..NumberDataPoint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(model: &str) -> Series {
        Series { agent: "agent".to_owned(), project: None, model: Some(model.to_owned()) }
    }

    fn read(values: &[(&str, u64)]) -> BTreeMap<Series, Values> {
        values.iter().map(|(model, count)| (series(model), [*count; 5])).collect()
    }

    fn totals(sums: &Sums) -> Vec<u64> {
        sums.0.iter().map(|(_, counter)| counter.total()[0]).collect()
    }

    #[test]
    fn a_sum_never_falls_and_counts_nothing_twice() {
        let first = Sums::default().updated(read(&[("a", 10), ("b", 1)]));
        assert_eq!(totals(&first), [10, 1]);
        let forgotten = first.updated(read(&[("a", 4)]));
        assert_eq!(totals(&forgotten), [10, 1]);
        assert!(!forgotten.differs(&first));
        let grown = forgotten.updated(read(&[("a", 7), ("b", 2), ("c", 5)]));
        assert_eq!(totals(&grown), [13, 3, 5]);
        assert!(grown.differs(&forgotten));
    }

    #[test]
    fn every_sum_is_one_point_of_a_monotonic_metric() {
        let sums = Sums::default().updated(read(&[("gpt-5.6", 2_000_000_000_000)]));
        let metrics = sums.metrics(Timestamp(1), Timestamp(2));
        assert_eq!((metrics.len(), sums.points()), (5, 5));
        let Some(Data::Sum(cost)) = &metrics[COST].data else { panic!("no sum") };
        assert!(cost.is_monotonic);
        assert_eq!(cost.data_points[0].value, Some(Value::AsDouble(2.0)));
        assert_eq!(cost.data_points[0].time_unix_nano, 2_000_000);
    }

    #[test]
    fn what_was_sent_reads_back() {
        let sums = Sums::default().updated(read(&[("a", 10)])).updated(read(&[("a", 4)]));
        let text = serde_json::to_string(&sums).unwrap();
        assert_eq!(serde_json::from_str::<Sums>(&text).unwrap(), sums);
    }
}
