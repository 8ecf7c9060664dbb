//! The `otlp` section: the receiver of traces and metrics, and what it is sent.
//!
//! Pure. Holds no header, only where to find them.

use super::rules::require;
use super::values::{key, section};
use std::time::Duration;
use toml_edit::Value;
use towline_core::named_enum;

section! {
    pub struct Otlp in "otlp" {
        /// Empty if nothing is sent; without a trailing slash.
        endpoint: String = |values| values.url(key!("otlp.endpoint")),
        signals: Vec<OtlpSignal> = |values| {
            let names: Vec<String> = values.get(key!("otlp.signals"));
            names.iter().filter_map(|name| OtlpSignal::named(name)).collect()
        },
        /// Prompts and answers are sent, too.
        text: bool,
        headers_file: String,
        headers_env: String,
        ca: String,
        /// The most spans of one request.
        batch: usize,
        timeout: Duration = |values| Duration::from_secs(values.get(key!("otlp.timeout_s"))),
    }
}

named_enum! {
    /// A kind of telemetry.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OtlpSignal as named {
        Traces = "traces",
        Metrics = "metrics",
    }
}

impl Otlp {
    pub fn is_on(&self) -> bool {
        !self.endpoint.is_empty() && !self.signals.is_empty()
    }

    pub fn sends(&self, signal: OtlpSignal) -> bool {
        self.is_on() && self.signals.contains(&signal)
    }
}

/// `Err` completes "must be".
pub(super) fn is_endpoint(text: &str) -> Result<(), String> {
    let is_address = text.starts_with("https://") || text.starts_with("http://");
    require(
        text.is_empty() || (is_address && !text.contains('@')),
        "an address that begins with https:// or http:// and holds no password",
    )
}

/// `Err` completes "must be".
pub(super) fn are_signals(value: &Value) -> Result<(), String> {
    let names = OtlpSignal::ALL.map(OtlpSignal::name);
    super::rules::all(value, |name| names.contains(&name), &format!("made of {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::{Config, layered};
    use super::*;

    #[test]
    fn nothing_is_sent_by_default_and_a_whole_table_is_read() {
        let default = layered("").config.otlp;
        assert!(!default.is_on() && !default.sends(OtlpSignal::Traces) && !default.text);
        let found = layered(
            "[otlp]\nendpoint = 'http://127.0.0.1:4318/'\nsignals = ['metrics']\nbatch = 7\ntimeout_s = 3\n\
             headers_file = '/home/me/otlp'\nheaders_env = 'OTEL_EXPORTER_OTLP_HEADERS'",
        );
        assert_eq!(found.mistakes, []);
        let otlp = found.config.otlp;
        assert_eq!((otlp.endpoint.as_str(), otlp.batch), ("http://127.0.0.1:4318", 7));
        assert_eq!(otlp.timeout, Duration::from_secs(3));
        assert!(otlp.sends(OtlpSignal::Metrics) && !otlp.sends(OtlpSignal::Traces));
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for wrong in [
            "endpoint = '127.0.0.1:4318'",
            "endpoint = 'https://me:secret@collector.example'",
            "signals = ['logs']",
            "headers_file = 'otlp'",
            "headers_env = 'authorization=Bearer x'",
            "ca = 'ca.pem'",
            "batch = 0",
            "timeout_s = 0",
        ] {
            let found = layered(&format!("[otlp]\n{wrong}"));
            assert_eq!((found.mistakes.len(), found.config.otlp), (1, Config::compiled_in().otlp), "{wrong}");
        }
    }
}
