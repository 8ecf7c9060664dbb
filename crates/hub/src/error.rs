//! Errors of the hub client: the thing, the cause, and what to do next.
//!
//! Carries no password, and of a server error only its message: its details may quote a row.

use crate::address::HubAddress;
use std::error::Error;
use tokio_postgres::error::{DbError, SqlState};

#[derive(Debug, thiserror::Error)]
pub enum HubError {
    #[error(
        "the hub at {place} cannot be reached ({why}); what is here is kept, and `tow hub sync` tries again"
    )]
    Unreachable { place: String, why: String },
    #[error("the hub at {place} did not answer within {patience_ms} ms; `tow hub sync` tries again")]
    Timeout { place: String, patience_ms: u128 },
    #[error(
        "no protected connection to the hub at {place}: {why}; see `[hub] tls` and `[hub] ca` in `tow config`"
    )]
    Unprotected { place: String, why: String },
    #[error("the hub at {place} refused the login {user}: {why}; see `tow hub status`")]
    Login { place: String, user: String, why: String },
    #[error("there is no hub in the database at {place}: run `tow hub init` as the login that is to own it")]
    NoSchema { place: String },
    #[error(
        "the hub at {place} is of version {found}, and this program wants {wanted}: its owner runs `tow hub init`"
    )]
    SchemaTooOld { place: String, found: u32, wanted: u32 },
    #[error("the hub at {place} is written by newer programs only: update `tow` on this machine")]
    SchemaTooNew { place: String },
    #[error("not a member at {place}: {why}; an administrator of the team runs `tow hub members add`")]
    NotAMember { place: String, why: String },
    #[error("the hub at {place} refused: {why}; see `tow hub members`")]
    Refused { place: String, why: String },
    #[error("the hub at {place}: {why}; see `tow hub members`")]
    NoSuch { place: String, why: String },
    #[error("the hub at {place} failed: {why}; see `tow hub status`")]
    Other { place: String, why: String },
}

pub type Result<T, E = HubError> = std::result::Result<T, E>;

impl HubError {
    /// Whether a retry may succeed without anyone's intervention.
    pub fn is_transient(&self) -> bool {
        matches!(self, HubError::Unreachable { .. } | HubError::Timeout { .. })
    }

    /// Maps an error of the client library.
    pub(crate) fn of(error: &tokio_postgres::Error, address: &HubAddress) -> HubError {
        let place = address.to_string();
        if let Some(message) = error.as_db_error() {
            return from_server(message, address);
        }
        let why = chain(error);
        // The library's error kinds are private; these are their texts.
        match error.to_string().as_str() {
            "error performing TLS handshake" => HubError::Unprotected { place, why },
            "authentication error" | "invalid configuration" => {
                HubError::Login { place, user: address.user.clone(), why }
            }
            "error connecting to server" | "connection closed" | "timeout waiting for server" => {
                HubError::Unreachable { place, why }
            }
            _ if is_about_certificates(error) => HubError::Unprotected { place, why },
            text if text.starts_with("error communicating") => HubError::Unreachable { place, why },
            _ => HubError::Other { place, why },
        }
    }
}

fn from_server(message: &DbError, address: &HubAddress) -> HubError {
    let (place, why) = (address.to_string(), message.message().to_owned());
    let code = message.code();
    let is_one_of = |codes: &[SqlState]| codes.contains(code);
    match code.code() {
        "TW001" => return HubError::NotAMember { place, why },
        "TW002" | "TW004" => return HubError::Refused { place, why },
        "TW003" => return HubError::NoSuch { place, why },
        "TW010" => return HubError::SchemaTooNew { place },
        _ => {}
    }
    if is_one_of(&[SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]) {
        // A server that requires TLS also reports it in this way.
        return match why.contains("no encryption") || why.contains("SSL off") {
            true => HubError::Unprotected { place, why },
            false => HubError::Login { place, user: address.user.clone(), why },
        };
    }
    if is_one_of(&[SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME, SqlState::UNDEFINED_FUNCTION]) {
        return HubError::NoSchema { place };
    }
    if is_one_of(&[SqlState::INSUFFICIENT_PRIVILEGE]) {
        return match why.contains("schema towline") {
            true => HubError::NotAMember { place, why },
            false => HubError::Refused { place, why },
        };
    }
    if is_passing(code) { HubError::Unreachable { place, why } } else { HubError::Other { place, why } }
}

/// The server is starting, stopping, full, or cancelled the statement: retry later.
fn is_passing(code: &SqlState) -> bool {
    let class = code.code().get(..2).unwrap_or_default();
    matches!(class, "08" | "53" | "57" | "40")
}

fn is_about_certificates(error: &tokio_postgres::Error) -> bool {
    causes(error).any(|cause| {
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause.is::<rustls::Error>() || inner.is_some_and(|inner| inner.is::<rustls::Error>())
    })
}

fn chain(error: &tokio_postgres::Error) -> String {
    causes(error).fold(error.to_string(), |message, cause| format!("{message}: {cause}"))
}

fn causes(error: &tokio_postgres::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (**cause).source())
}
