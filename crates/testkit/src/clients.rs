//! Locates the pinned clients below `clients/node_modules`, installed from the lock file.
//!
//! Never takes a client from the PATH: its version would be unknown.

use std::path::{Path, PathBuf};

/// The file `tail` of `package`, as the npm package `alias` resolves it: its own copy, else the shared one.
///
/// Two aliases of one package need two versions of its native package; npm can share only one.
#[track_caller]
pub(crate) fn native(alias: &str, package: &str, tail: &str) -> PathBuf {
    let modules = modules();
    let own = modules.join(alias).join("node_modules").join(package).join(tail);
    let shared = modules.join(package).join(tail);
    existing(if own.exists() { own } else { shared })
}

/// The file `tail` in the npm package `alias`.
#[track_caller]
pub(crate) fn launcher(alias: &str, tail: &str) -> PathBuf {
    existing(modules().join(alias).join(tail))
}

/// The link to the program `name` that npm makes, so that processes carry the name that users see.
#[track_caller]
pub(crate) fn link(name: &str) -> PathBuf {
    let link = modules().join(".bin").join(name);
    existing(link.clone());
    std::path::absolute(link).expect("the current folder exists")
}

/// The clients' name for this platform, such as `linux-x64`.
pub(crate) fn platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    format!("{system}-{machine}")
}

fn modules() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients");
    let folder = std::env::var_os("TOWLINE_CLIENTS").map_or(checkout, PathBuf::from);
    folder.join("node_modules")
}

#[track_caller]
fn existing(path: PathBuf) -> PathBuf {
    match path.canonicalize() {
        Ok(path) => path,
        Err(error) => panic!(
            "no client at {}: {error}\n`./test.sh` installs the pinned clients; `npm install --no-save` in clients/ does that alone",
            path.display()
        ),
    }
}
