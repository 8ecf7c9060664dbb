//! Connects to the joined hub: address, password, and errors with their next command.
//!
//! The password goes nowhere but into the connection. Unencrypted connections to other hosts need the user's
//! permission.

use super::password::{self, PasswordError};
use crate::runtime::config::{Hub as Wanted, HubTls};
use crate::runtime::hub_url::{self, BadUrl, Url};
use crate::runtime::{Env, Failure, chain, settings};
use std::path::PathBuf;
use std::time::Duration;
use towline_hub::{HubAddress, HubClient, HubError, HubPassword, Machine, Membership, Tls};
use towline_store::StoreError;

/// A connection and its membership.
pub struct Link {
    pub hub: HubClient,
    pub membership: Membership,
    pub wanted: Wanted,
}

/// Why the hub cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NoLink {
    #[error("this machine has joined no hub")]
    NotJoined,
    #[error("another process writes what is kept")]
    Busy,
    #[error("the hub's address cannot be used")]
    Url(#[from] BadUrl),
    #[error("hub.tls is plain, and {host} is another machine: everything would be readable on the way")]
    Plain { host: String },
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Hub(#[from] HubError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl NoLink {
    /// The next command for the user, unless the error already names it.
    pub fn remedy(&self) -> Option<String> {
        match self {
            NoLink::NotJoined => Some("Run `tow hub join URL --team TEAM`.".to_owned()),
            NoLink::Url(_) => Some("Run `tow config set hub.url postgres://USER@HOST/DATABASE`.".to_owned()),
            NoLink::Plain { .. } => Some(
                "Run `tow config set hub.tls verified`, or hub.allow_plain true if the way there is safe by itself."
                    .to_owned(),
            ),
            NoLink::Password(error) => Some(error.remedy()),
            NoLink::Busy => Some("Wait for it, then run this again.".to_owned()),
            NoLink::Hub(_) | NoLink::Store(_) => None,
        }
    }

    /// Whether it may go away without any action.
    pub fn is_transient(&self) -> bool {
        match self {
            NoLink::Hub(error) => error.is_transient(),
            NoLink::Busy => true,
            NoLink::NotJoined
            | NoLink::Url(_)
            | NoLink::Plain { .. }
            | NoLink::Password(_)
            | NoLink::Store(_) => false,
        }
    }

    /// The error and its causes in one line.
    pub fn message(&self) -> String {
        chain(self)
    }
}

impl From<NoLink> for Failure {
    fn from(error: NoLink) -> Failure {
        let failure = Failure::new(&error);
        match error.remedy() {
            Some(mend) => failure.hint(mend),
            None => failure,
        }
    }
}

impl Link {
    /// Connects to the configured hub as the joined machine.
    pub fn open(env: &Env, machine: &Machine, patience: Duration) -> Result<Link, NoLink> {
        let wanted = settings(env).hub.into_inner();
        if !wanted.is_joined() {
            return Err(NoLink::NotJoined);
        }
        let mut hub = open_hands(env, &wanted, patience)?;
        let membership = hub.join(&wanted.team, machine)?;
        Ok(Link { hub, membership, wanted })
    }
}

/// Connects to the configured address without joining.
pub fn open_hands(env: &Env, wanted: &Wanted, patience: Duration) -> Result<HubClient, NoLink> {
    if wanted.url.is_empty() {
        return Err(NoLink::NotJoined);
    }
    let url = hub_url::parse(&wanted.url)?;
    let tls = tls(wanted, &url)?;
    let secret =
        password::found(env, wanted, &url)?.map(|password| HubPassword::new(password.reveal().to_owned()));
    let Url { host, port, database, user } = url;
    Ok(HubClient::connect(&HubAddress { host, port, database, user, tls }, secret.as_ref(), patience)?)
}

fn tls(wanted: &Wanted, url: &Url) -> Result<Tls, NoLink> {
    match wanted.tls {
        HubTls::Verified if url.host.starts_with('/') => Ok(Tls::Plain),
        HubTls::Verified => {
            let ca = Some(&wanted.ca).filter(|ca| !ca.is_empty()).map(PathBuf::from);
            Ok(Tls::Verified { ca })
        }
        HubTls::Plain if url.is_here() => Ok(Tls::Plain),
        HubTls::Plain if wanted.allow_plain => Ok(Tls::PlainAnywhere),
        HubTls::Plain => Err(NoLink::Plain { host: url.host.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::config::layered;

    #[track_caller]
    fn check(hub: &str, expected: &str) {
        let wanted = layered(&format!("[hub]\n{hub}")).config.hub;
        let url = hub_url::parse(&wanted.url).unwrap();
        let found = match tls(&wanted, &url) {
            Ok(Tls::Plain) => "plain".to_owned(),
            Ok(Tls::PlainAnywhere) => "plain anywhere".to_owned(),
            Ok(Tls::Verified { ca }) => format!("verified {ca:?}"),
            Err(error) => error.message(),
        };
        assert_eq!(found, expected, "{hub}");
    }

    #[test]
    fn nothing_is_said_plainly_to_another_machine_unless_that_is_allowed() {
        check("url = 'postgres://a@hub.example/t'", "verified None");
        check("url = 'postgres://a@hub.example/t'\nca = '/etc/ca.pem'", "verified Some(\"/etc/ca.pem\")");
        check("url = 'postgres://a@127.0.0.1/t'\ntls = 'plain'", "plain");
        check("url = 'postgres://a@%2Frun%2Fpg/t'", "plain");
        check(
            "url = 'postgres://a@hub.example/t'\ntls = 'plain'",
            "hub.tls is plain, and hub.example is another machine: everything would be readable on the way",
        );
        check("url = 'postgres://a@hub.example/t'\ntls = 'plain'\nallow_plain = true", "plain anywhere");
    }
}
