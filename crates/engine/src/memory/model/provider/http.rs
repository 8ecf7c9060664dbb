//! Sends one HTTP request to an API and returns its answer within a deadline.
//!
//! Follows no redirects, so a key only reaches its configured host. Error texts are cut to one short line.

use super::key::Key;
use super::{AskError, ModelAnswer, usual_mend};
use crate::runtime::tls::{is_on_this_machine, trusted};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use towline_agents::ask::{classify_error, short};
use ureq::tls::TlsConfig;

/// The connection settings of an API.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Without a trailing slash.
    pub base_url: String,
    pub model: String,
    pub key: Key,
    pub patience: Duration,
    /// Certificates to trust instead of the compiled-in ones.
    pub certificates: Option<PathBuf>,
    /// The working directory of the key command.
    pub folder: PathBuf,
}

/// The instruction for the user: here a login is an API key.
pub(super) fn mend(cause: &str) -> String {
    match cause {
        "login" => {
            "set the variable that distil.key_env names, or distil.key_command, then `tow data jobs retry`"
                .into()
        }
        other => usual_mend(other),
    }
}

pub(super) type Headers = Vec<(&'static str, String)>;

/// Longer responses are not answers.
const MOST_READ: u64 = 1 << 20;

impl Wire {
    /// Posts JSON and returns the JSON of a successful response.
    pub(super) fn post(
        &self,
        path: &str,
        headers: &dyn Fn(Option<&str>) -> Headers,
        body: &Value,
    ) -> Result<Value, AskError> {
        let key = self.key.found(&self.folder).map_err(AskError::NotLoggedIn)?;
        let mut request = self.agent().post(format!("{}{path}", self.base_url));
        for (name, value) in headers(key.as_deref()) {
            request = request.header(name, value);
        }
        let request = request.header("content-type", "application/json");
        let mut response = request.send(body.to_string()).map_err(|error| unreached(&error))?;
        let (status, after_s) = (response.status().as_u16(), retry_after(response.headers()));
        let text = response.body_mut().with_config().limit(MOST_READ).read_to_string();
        let text = text.map_err(|error| unreached(&error))?;
        match status {
            200..=299 => serde_json::from_str(&text).map_err(|_| AskError::Unavailable(short(&text))),
            300..=399 => Err(AskError::Misconfigured(format!("{} sends elsewhere", self.base_url))),
            _ => Err(failed(status, &text, after_s)),
        }
    }

    fn agent(&self) -> ureq::Agent {
        let mut config = ureq::Agent::config_builder()
            .timeout_global(Some(self.patience))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("towline/", env!("CARGO_PKG_VERSION")));
        if is_on_this_machine(&self.base_url) {
            config = config.proxy(None);
        }
        if let Some(roots) = trusted(self.certificates.as_deref()) {
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        config.build().into()
    }
}

fn unreached(error: &ureq::Error) -> AskError {
    let said = short(&error.to_string());
    if matches!(error, ureq::Error::Timeout(_)) {
        AskError::TimedOut
    } else if matches!(error, ureq::Error::BadUri(_) | ureq::Error::Http(_)) {
        AskError::Misconfigured(said)
    } else {
        AskError::Unavailable(said)
    }
}

fn retry_after(headers: &ureq::http::HeaderMap) -> Option<u32> {
    headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()
}

fn failed(status: u16, text: &str, after_s: Option<u32>) -> AskError {
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let part = |name: &str| body["error"][name].as_str().unwrap_or_default();
    let said = [part("type"), part("code"), part("message")].join(" ");
    let said = if said.trim().is_empty() { text } else { said.trim() };
    let why = classify_error(Some(status), said);
    if let AskError::RateLimited { said, .. } = why {
        return AskError::RateLimited { said, after_s };
    }
    why
}

pub(super) fn answer(
    said: Result<String, AskError>,
    usage: &Value,
    [input, output]: [&[&str]; 2],
) -> ModelAnswer {
    let sum = |names: &[&str]| names.iter().filter_map(|name| usage[name].as_u64()).sum();
    ModelAnswer { said, input: sum(input), output: sum(output) }
}
