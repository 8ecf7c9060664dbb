//! Certificates for a server of a test: one authority, and what it may have signed.
//!
//! Made by `openssl` alone, and good for nothing but tests: keys lie beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::Run;

/// Which certificate a server shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// For its own name, and for years to come.
    Right,
    /// For its own name, until yesterday.
    Expired,
    /// For the name of another server.
    OtherHost,
}

const CURVE: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/// Makes an authority in the folder and gives its certificate's path.
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

/// Signs a certificate by the authority in `folder`, and puts it with its key into the server's data folder.
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
