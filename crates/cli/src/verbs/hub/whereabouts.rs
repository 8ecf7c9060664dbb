//! The hub's address and TLS settings: from the command line, else from the configuration.
//!
//! Takes no password: every user of the machine can read a command line.

use crate::scope::Scope;
use clap::Args;
use std::path::PathBuf;
use towline_engine::runtime::config::{Hub as Wanted, HubTls};
use towline_engine::runtime::hub_url::BadUrl;
use towline_engine::runtime::{Failure, settings};

/// TLS options of the commands that connect to a hub by its address.
#[derive(Debug, Default, Args)]
pub struct Whereabouts {
    /// A file with the certificate authority of the hub's certificate.
    #[arg(long, value_name = "FILE", conflicts_with = "plain")]
    ca: Option<PathBuf>,
    /// Connect without encryption: only to this machine, unless hub.allow_plain is set.
    #[arg(long)]
    plain: bool,
}

impl Whereabouts {
    /// The configured settings, overridden by these options and `url`.
    pub fn wanted(&self, scope: &Scope, url: Option<&str>) -> Result<Wanted, Failure> {
        let mut wanted = settings(&scope.env).hub.into_inner();
        if let Some(url) = url {
            towline_engine::runtime::hub_url::parse(url).map_err(refused)?;
            url.clone_into(&mut wanted.url);
        }
        if wanted.url.is_empty() {
            return Err(Failure::input("no hub is named")
                .hint("Give its address: postgres://USER@HOST:5432/DATABASE."));
        }
        if let Some(ca) = &self.ca {
            wanted.ca = whole(ca)?;
            wanted.tls = HubTls::Verified;
        }
        if self.plain {
            wanted.tls = HubTls::Plain;
        }
        Ok(wanted)
    }
}

fn refused(error: BadUrl) -> Failure {
    let failure = Failure::input(error.to_string());
    if error == BadUrl::Password {
        return failure
            .hint("Leave it out, and change it: it was seen by everybody who can list processes.")
            .hint("Write it to ~/.pgpass (chmod 600), or set hub.password_command to a keyring's.");
    }
    failure.hint("Write it like postgres://ann@hub.example:5432/towline.")
}

fn whole(file: &std::path::Path) -> Result<String, Failure> {
    let found = std::fs::canonicalize(file).map_err(|error| {
        Failure::about(format!("could not read {}", file.display()), &error)
            .hint("Give the file with the hub's certificate authority.")
    })?;
    found.into_os_string().into_string().map_err(|_| {
        Failure::input("the path of the certificates is not plain text")
            .hint("Move the file, and give its new path.")
    })
}
