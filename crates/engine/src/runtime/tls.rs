//! The certificates an HTTPS request trusts, and the hosts that are local. Opens no connection.

use std::path::Path;
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

/// The certificates in a PEM file; `None` if it is unreadable or has none.
pub fn trusted(file: Option<&Path>) -> Option<RootCerts> {
    let pem = std::fs::read(file?).ok()?;
    let certificate = |item| if let Ok(PemItem::Certificate(found)) = item { Some(found) } else { None };
    let found: Vec<Certificate<'static>> = parse_pem(&pem).filter_map(certificate).collect();
    (!found.is_empty()).then(|| RootCerts::new_with_certs(&found))
}

pub fn is_on_this_machine(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url);
    ["127.", "localhost", "[::1]"].iter().any(|local| host.starts_with(local))
}
