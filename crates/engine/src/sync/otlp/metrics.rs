//! The metrics of tokens and cost: cumulative sums by agent, project and model.
//!
//! Pure. Sent twice, a sum is still the same sum.

use super::spans::{nanos, text};
use super::sums::{Series, Total};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Metric, NumberDataPoint, Sum};
use towline_agents::{Agent, provider_of};
use towline_core::time::Timestamp;
use towline_core::usage::Cost;

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

/// One metric with a point for each series.
pub(super) fn metrics(series: &[(Series, Total)], now: Timestamp) -> Vec<Metric> {
    let metric = |(position, (name, unit, description)): (usize, &(&str, &str, &str))| Metric {
        name: (*name).to_owned(),
        unit: (*unit).to_owned(),
        description: (*description).to_owned(),
        data: Some(Data::Sum(Sum {
            data_points: series.iter().map(|of| point(of, position, now)).collect(),
            aggregation_temporality: AggregationTemporality::Cumulative.into(),
            is_monotonic: true,
        })),
        ..Metric::default()
    };
    METRICS.iter().enumerate().map(metric).collect()
}

/// The number of points in those metrics.
pub(super) fn points(series: &[(Series, Total)]) -> usize {
    series.len() * METRICS.len()
}

fn point((series, total): &(Series, Total), position: usize, now: Timestamp) -> NumberDataPoint {
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
    let count = total.values[position];
    let value = match position {
        COST => Value::AsDouble(Cost(count.into()).dollars()),
        _ => Value::AsInt(i64::try_from(count).unwrap_or(i64::MAX)),
    };
    NumberDataPoint {
        attributes,
        start_time_unix_nano: nanos(Timestamp(total.since_ms)),
        time_unix_nano: nanos(now),
        value: Some(value),
        ..NumberDataPoint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sum_is_one_point_of_a_monotonic_metric() {
        let of = Series { agent: "agent".to_owned(), project: None, model: Some("gpt-5.6".to_owned()) };
        let series = [(of, Total { since_ms: 1, values: [2_000_000_000_000; METRICS.len()] })];
        let metrics = metrics(&series, Timestamp(2));
        assert_eq!((metrics.len(), points(&series)), (5, 5));
        let Some(Data::Sum(cost)) = &metrics[COST].data else { panic!("no sum") };
        assert!(cost.is_monotonic);
        let point = &cost.data_points[0];
        assert_eq!(point.value, Some(Value::AsDouble(2.0)));
        assert_eq!((point.start_time_unix_nano, point.time_unix_nano), (1_000_000, 2_000_000));
    }
}
