//! Builds the binary of a release so that no path or time of this machine is in it.
//!
//! In a folder of its own below the target folder: the flags differ from those of other builds. Never uses the network.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Stamp;
use crate::outcome::{Failure, Result};
use crate::repository::{Reach, Repository};

pub fn built(repository: &Repository, target: &str, stamp: &Stamp) -> Result<PathBuf> {
    let folder = repository.metadata(Reach::Workspace)?.target_directory.join("reproducible");
    let remaps = remaps(repository.root(), &folder);
    let rustflags: Vec<String> =
        remaps.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).collect();
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--locked", "--offline", "--release", "--package", "tow", "--target", target]);
    cargo.arg("--target-dir").arg(&folder);
    // Added to the flags of .cargo/config.toml; RUSTFLAGS would replace them.
    cargo.arg("--config").arg(format!("target.{target}.rustflags={rustflags:?}"));
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    // Without the second variable, flags are split at every blank, also at one in a path.
    cargo.env(format!("CFLAGS_{}", target.replace('-', "_")), c_flags(&remaps));
    cargo.env("CC_SHELL_ESCAPED_FLAGS", "1");
    cargo.env("SOURCE_DATE_EPOCH", stamp.epoch.to_string()).env("TOWLINE_COMMIT", &stamp.commit);
    cargo.env("CARGO_INCREMENTAL", "0").env("LC_ALL", "C").current_dir(repository.root());
    let status = cargo.status().map_err(Failure::start("cargo"))?;
    if !status.success() {
        let complaint = format!(
            "{status}; it needs `cargo fetch --locked` once, and a static build `rustup target add {target}` and \
             `apt-get install musl-tools`"
        );
        return Err(Failure::Failed { program: "cargo build".to_owned(), complaint });
    }
    Ok(folder.join(target).join("release/tow"))
}

/// The remaps as flags of the C compiler, quoted for a shell.
pub fn c_flags(remaps: &[(PathBuf, &str)]) -> String {
    let flags = remaps.iter().map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display()));
    flags.map(|flag| format!("'{}'", flag.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
}

/// Folders of this machine, and what stands for them. A later one wins, so folders inside others come last.
fn remaps(root: &Path, target: &Path) -> Vec<(PathBuf, &'static str)> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
    vec![(cargo, "/cargo"), (root.to_owned(), "/towline"), (target.to_owned(), "/build")]
}
