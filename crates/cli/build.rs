//! Links the binary so that it starts fast and carries nothing that it cannot use.
//!
//! Without position independence on Linux: the 125,000 relocations of a debug build cost each start 2 of 7 ms, and a hook
//! 4.6 of 10.8 ms. Without tables for unwinding in the static release, which aborts on a panic: 1.45 of 21.0 MB.
//! `-C force-unwind-tables=no` has no effect here: link-time optimization takes the setting of the standard library.
//! A hook starts without the runtime of the standard library (start.rs).
//! With what hooks use side by side (`cargo xtask bench layout`): a tool result takes 24 page faults instead of 104.
//!
//! Also puts commit and target into `tow --version`. Only in a release: a debug build would be linked anew for each commit.
#![expect(clippy::disallowed_methods, reason = "cargo tells a build script everything by variables")]

use std::env::var;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=no-unwind.ld");
    println!("cargo::rerun-if-changed=hooks.ld");
    let is = |name, value| var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
    println!("cargo::rustc-check-cfg=cfg(wrapped_start)");
    if is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-cfg=wrapped_start");
        println!("cargo::rustc-link-arg-bins=-Wl,--wrap=main");
    }
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_ENV", "musl") {
        let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/no-unwind.ld");
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/hooks.ld");
    }
    println!("cargo::rerun-if-env-changed=TOWLINE_COMMIT");
    let target = var("TARGET").unwrap_or_default();
    let build = match var("TOWLINE_COMMIT").ok().or_else(|| is("PROFILE", "release").then(commit)) {
        Some(commit) => format!("{commit}, {target}"),
        None => format!("development build, {target}"),
    };
    println!("cargo::rustc-env=TOWLINE_VERSION={} ({build})", var("CARGO_PKG_VERSION").unwrap_or_default());
}

/// The commit of the sources and its date, if git knows them.
fn commit() -> String {
    let log = "../../.git/logs/HEAD";
    if Path::new(log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    let answer = Command::new("git").args(["log", "-1", "--abbrev=12", "--format=%h of %cs"]).output();
    let text = answer.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_owned());
    text.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown commit".to_owned())
}
