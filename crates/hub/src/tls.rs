//! TLS server verification.
//!
//! Verification cannot be turned off while TLS is on.

use crate::address::HubAddress;
use crate::error::{HubError, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;

/// The CA bundles of common systems.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/opt/homebrew/etc/ca-certificates/cert.pem",
];

/// Trusts the given CA alone; without one, the system's.
pub(crate) fn client_config(ca: Option<&Path>, address: &HubAddress) -> Result<ClientConfig> {
    let refused = |why: String| HubError::Unprotected { place: address.to_string(), why };
    let mut system_roots = BUNDLES.iter().filter_map(|path| roots_of(Path::new(path)).ok());
    let roots = match ca {
        Some(path) => roots_of(path).map_err(refused)?,
        None => {
            system_roots.next().ok_or_else(|| refused("this system has no list of authorities".into()))?
        }
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn roots_of(path: &Path) -> Result<RootCertStore, String> {
    let display = path.display();
    let certificates =
        CertificateDer::pem_file_iter(path).map_err(|error| format!("{display} cannot be read: {error}"))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| format!("{display} is no PEM file: {error}"))?;
        // A bundle may contain a certificate too old to be parsed; the others serve.
        let _ = roots.add(certificate);
    }
    if roots.is_empty() { Err(format!("{display} holds no certificate")) } else { Ok(roots) }
}
