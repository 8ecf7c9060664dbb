//! Certificates for a test server: one authority, and the certificates that it signs.
//!
//! Made by `openssl`, and for tests only: the private keys lie beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::Run;

/// The certificate that a server presents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// Valid: for its own name, for years.
    Right,
    /// For its own name, expired yesterday.
    Expired,
    /// For the name of another server.
    OtherHost,
}

const CURVE: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/// Creates an authority in the folder and returns the path of its certificate.
#[track_caller]
pub(crate) fn authority(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).expect("the folder is writable");
    let certificate = folder.join("ca.crt");
    let mut command = Command::new("openssl");
    command.args(["req", "-x509"]).args(CURVE).args(["-days", "3650", "-subj", "/CN=Bench Authority"]);
    command.arg("-keyout").arg(folder.join("ca.key")).arg("-out").arg(&certificate);
    Run::of(&mut command, b"").ok();
    certificate
}

/// Signs a certificate with the authority in `folder`, and installs it with its key in the data folder.
#[track_caller]
pub(crate) fn issue(folder: &Path, data: &Path, served: Served) {
    let (host, days) = match served {
        Served::Right => ("localhost", "3650"),
        Served::Expired => ("localhost", "-1"),
        Served::OtherHost => ("elsewhere.example.com", "3650"),
    };
    let request = folder.join("server.csr");
    let names = folder.join("server.ext");
    fs::write(&names, format!("subjectAltName=DNS:{host}\n")).expect("the folder is writable");
    let mut ask = Command::new("openssl");
    ask.args(["req", "-new"]).args(CURVE).args(["-subj", &format!("/CN={host}")]);
    Run::of(ask.arg("-keyout").arg(data.join("server.key")).arg("-out").arg(&request), b"").ok();
    let mut sign = Command::new("openssl");
    sign.args(["x509", "-req", "-days", days, "-CAcreateserial"]).arg("-in").arg(&request);
    sign.arg("-CA").arg(folder.join("ca.crt")).arg("-CAkey").arg(folder.join("ca.key"));
    Run::of(sign.arg("-extfile").arg(&names).arg("-out").arg(data.join("server.crt")), b"").ok();
}
