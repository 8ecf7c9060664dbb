//! Sends one OTLP request as protobuf over HTTP, and says what became of it.
//!
//! Follows no redirects, so headers reach only the configured host. Decides neither when nor how often something is sent.

use super::headers::{Headers, HeadersError, headers};
use crate::runtime::config::Otlp;
use crate::runtime::tls::{is_on_this_machine, trusted};
use jiff::fmt::rfc2822;
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;
use serde_json::Value;
use std::path::Path;
use towline_agents::ask::short;
use towline_core::time::Timestamp;
use ureq::http::HeaderMap;
use ureq::tls::TlsConfig;

/// A response only says what was rejected.
const MOST_READ: u64 = 64 << 10;

const ADDRESS: &str = "Run `tow config` and look at [otlp]: is it the address of OTLP over HTTP?";

pub(super) struct Receiver {
    agent: ureq::Agent,
    endpoint: String,
    headers: Headers,
}

/// Why the receiver did not take a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It may take the same request later: it is down, slow, busy or wrongly configured.
    Later {
        why: String,
        remedy: String,
        pause_ms: i64,
    },
    TooLarge,
    /// It calls the request malformed, and would do so again.
    Malformed(String),
}

impl Receiver {
    pub fn open(config: &Otlp) -> Result<Receiver, HeadersError> {
        let mut agent = ureq::Agent::config_builder()
            .timeout_global(Some(config.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("towline/", env!("CARGO_PKG_VERSION")));
        if is_on_this_machine(&config.endpoint) {
            agent = agent.proxy(None);
        }
        let ca = Some(config.ca.as_str()).filter(|ca| !ca.is_empty()).map(Path::new);
        if let Some(roots) = trusted(ca) {
            agent = agent.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        let agent = agent.build().into();
        Ok(Receiver { agent, endpoint: config.endpoint.clone(), headers: headers(config)? })
    }

    /// Posts a request. It is delivered if the answer is one of OTLP: a proxy or another service at this address answers
    /// with success, too.
    pub fn post<Response: Answer>(
        &self,
        path: &str,
        request: &impl Message,
        now: Timestamp,
    ) -> Result<Response, Refusal> {
        let mut post = self.agent.post(format!("{}{path}", self.endpoint));
        for (name, value) in &self.headers.0 {
            post = post.header(name, value);
        }
        let post = post.header("content-type", "application/x-protobuf");
        let mut response = post.send(request.encode_to_vec()).map_err(|error| unreached(&error))?;
        let status = response.status().as_u16();
        let pause_ms = asked_pause_ms(response.headers(), now);
        let kind = content_type(response.headers());
        let body = response.body_mut().with_config().limit(MOST_READ).read_to_vec();
        match status {
            200..=299 => {
                let body = match body {
                    Err(ureq::Error::BodyExceedsLimit(_)) => return Err(no_otlp(status, &kind)),
                    body => body.map_err(|error| unreached(&error))?,
                };
                answer(&kind, &body).ok_or_else(|| no_otlp(status, &kind))
            }
            400 | 422 => Err(Refusal::Malformed(said(status, &body.unwrap_or_default()))),
            413 => Err(Refusal::TooLarge),
            _ => Err(later(status, &body.unwrap_or_default(), pause_ms)),
        }
    }
}

/// A response of OTLP. Receivers may answer protobuf with JSON.
pub(super) trait Answer: Message + Default {
    /// What it says was rejected, and why.
    fn rejected(self) -> (i64, String);
    fn rejecting(count: i64, why: String) -> Self;
    /// The name of that count in JSON.
    const COUNT: &str;
}

impl Answer for ExportTraceServiceResponse {
    const COUNT: &str = "rejectedSpans";

    fn rejected(self) -> (i64, String) {
        let partial = self.partial_success.unwrap_or_default();
        (partial.rejected_spans, partial.error_message)
    }

    fn rejecting(rejected_spans: i64, error_message: String) -> Self {
        let partial_success = Some(ExportTracePartialSuccess { rejected_spans, error_message });
        ExportTraceServiceResponse { partial_success }
    }
}

impl Answer for ExportMetricsServiceResponse {
    const COUNT: &str = "rejectedDataPoints";

    fn rejected(self) -> (i64, String) {
        let partial = self.partial_success.unwrap_or_default();
        (partial.rejected_data_points, partial.error_message)
    }

    fn rejecting(rejected_data_points: i64, error_message: String) -> Self {
        let partial_success = Some(ExportMetricsPartialSuccess { rejected_data_points, error_message });
        ExportMetricsServiceResponse { partial_success }
    }
}

/// `None` if it is no answer of OTLP. An empty body is one, of whatever type: it rejects nothing.
fn answer<Response: Answer>(kind: &str, body: &[u8]) -> Option<Response> {
    match kind {
        _ if body.is_empty() => Some(Response::default()),
        "application/x-protobuf" | "application/protobuf" => Response::decode(body).ok(),
        "application/json" => {
            let found: serde_json::Map<String, Value> = serde_json::from_slice(body).ok()?;
            let partial = found.get("partialSuccess");
            let of = |name: &str| partial.and_then(|partial| partial.get(name));
            // A 64-bit number is a string in protobuf's JSON.
            let number = |count: &Value| count.as_i64().or_else(|| count.as_str()?.parse().ok());
            let count = of(Response::COUNT).and_then(number);
            let why = of("errorMessage").and_then(Value::as_str).unwrap_or_default();
            Some(Response::rejecting(count.unwrap_or(0), why.to_owned()))
        }
        _ => None,
    }
}

/// The type of a body without its parameters.
fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn no_otlp(status: u16, kind: &str) -> Refusal {
    let what = if kind.is_empty() { "an unknown type".to_owned() } else { short(kind) };
    let why = format!("it answered {status} with {what}, which is no answer of OTLP");
    Refusal::Later { why, remedy: ADDRESS.to_owned(), pause_ms: 0 }
}

fn later(status: u16, body: &[u8], pause_ms: i64) -> Refusal {
    let remedy = match status {
        401 | 403 => "Check the headers that otlp.headers_file or otlp.headers_env holds.",
        429 | 500..=599 => "",
        _ => ADDRESS,
    };
    Refusal::Later { why: said(status, body), remedy: remedy.to_owned(), pause_ms }
}

/// The status, and the beginning of the body if it is text.
fn said(status: u16, body: &[u8]) -> String {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let is_text = !text.trim().is_empty() && !text.contains(|c: char| c.is_control() && !c.is_whitespace());
    if is_text { format!("it answered {status}: {}", short(text)) } else { format!("it answered {status}") }
}

fn unreached(error: &ureq::Error) -> Refusal {
    let why = if matches!(error, ureq::Error::Timeout(_)) {
        "it did not answer in time (otlp.timeout_s)".to_owned()
    } else {
        format!("it was not reached: {}", short(&error.to_string()))
    };
    Refusal::Later { why, remedy: String::new(), pause_ms: 0 }
}

/// The pause that the receiver asks for: a number of seconds, or a date.
fn asked_pause_ms(headers: &HeaderMap, now: Timestamp) -> i64 {
    let asked = headers.get("retry-after").and_then(|value| value.to_str().ok()).unwrap_or_default().trim();
    let seconds = asked.parse::<i64>().ok().map(|seconds| seconds.saturating_mul(1000));
    let date = || Some(rfc2822::parse(asked).ok()?.timestamp().as_millisecond() - now.0);
    seconds.or_else(date).unwrap_or(0).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_asked_for_in_seconds_or_by_a_date() {
        let check = |value: &str, expected: i64| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", value.parse().unwrap());
            let now = Timestamp::parse_utc("2026-11-19T08:00:00Z").unwrap();
            assert_eq!(asked_pause_ms(&headers, now), expected, "{value}");
        };
        check("30", 30_000);
        check("Thu, 19 Nov 2026 08:01:00 GMT", 60_000);
        check("Thu, 19 Nov 2026 07:59:00 GMT", 0);
        check("soon", 0);
        check("-5", 0);
        assert_eq!(asked_pause_ms(&HeaderMap::new(), Timestamp(0)), 0);
    }

    fn rejected_spans(kind: &str, body: &[u8]) -> Option<(i64, String)> {
        answer::<ExportTraceServiceResponse>(kind, body).map(Answer::rejected)
    }

    #[test]
    fn an_answer_in_json_says_what_was_rejected() {
        let text = br#"{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}"#;
        assert_eq!(rejected_spans("application/json", text), Some((2, "too old".to_owned())));
        let number = br#"{"partialSuccess": {"rejectedDataPoints": 3}}"#;
        let found = answer::<ExportMetricsServiceResponse>("application/json", number);
        assert_eq!(found.map(Answer::rejected), Some((3, String::new())));
    }

    #[test]
    fn only_otlp_counts_as_an_answer() {
        let nothing = Some((0, String::new()));
        assert_eq!(rejected_spans("text/html", b""), nothing);
        assert_eq!(rejected_spans("application/json", b"{}"), nothing);
        for (kind, body) in [
            ("text/html", "<html>please log in</html>"),
            ("", "ok"),
            ("application/x-protobuf", "<html>please log in</html>"),
            ("application/json", "\"ok\""),
            ("application/json", "<html>"),
        ] {
            assert_eq!(rejected_spans(kind, body.as_bytes()), None, "{kind}: {body}");
        }
    }

    #[test]
    fn a_type_is_read_without_its_parameters() {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "Application/JSON; charset=utf-8".parse().unwrap());
        assert_eq!(content_type(&headers), "application/json");
    }

    #[test]
    fn a_refusal_repeats_text_but_no_protobuf() {
        assert_eq!(said(503, b"overloaded\n"), "it answered 503: overloaded");
        assert_eq!(said(503, b"\x08\x01\x12\x02hi"), "it answered 503");
        assert_eq!(said(401, b""), "it answered 401");
    }
}
