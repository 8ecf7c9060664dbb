//! Sends one OTLP request as protobuf over HTTP, and says what became of it.
//!
//! Follows no redirects, so headers reach only the configured host. Decides neither when nor how often something is sent.

use super::headers::{Headers, HeadersError, headers};
use crate::runtime::config::Otlp;
use crate::runtime::tls::{is_on_this_machine, trusted};
use jiff::fmt::rfc2822;
use prost::Message;
use std::path::Path;
use towline_agents::ask::short;
use towline_core::time::Timestamp;
use ureq::http::HeaderMap;
use ureq::tls::TlsConfig;

/// A response only says what was rejected.
const MOST_READ: u64 = 64 << 10;

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

    /// Posts a request. A response that is no protobuf, or none, counts as one that rejects nothing.
    pub fn post<Response: Message + Default>(
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
        let body = response.body_mut().with_config().limit(MOST_READ).read_to_vec();
        match status {
            200..=299 => {
                let body = body.map_err(|error| unreached(&error))?;
                Ok(Response::decode(body.as_slice()).unwrap_or_default())
            }
            400 | 422 => Err(Refusal::Malformed(said(status, &body.unwrap_or_default()))),
            413 => Err(Refusal::TooLarge),
            _ => Err(later(status, &body.unwrap_or_default(), pause_ms)),
        }
    }
}

fn later(status: u16, body: &[u8], pause_ms: i64) -> Refusal {
    let remedy = match status {
        401 | 403 => "Check the headers that otlp.headers_file or otlp.headers_env holds.",
        429 | 500..=599 => "",
        _ => "Run `tow config` and look at [otlp]: is it the address of OTLP over HTTP?",
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

    #[test]
    fn a_refusal_repeats_text_but_no_protobuf() {
        assert_eq!(said(503, b"overloaded\n"), "it answered 503: overloaded");
        assert_eq!(said(503, b"\x08\x01\x12\x02hi"), "it answered 503");
        assert_eq!(said(401, b""), "it answered 401");
    }
}
