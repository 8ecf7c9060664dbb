//! Leaves the tables for unwinding out of the static release, which aborts on a panic: 1.45 of 21.0 MB.
//!
//! `-C force-unwind-tables=no` has no effect here: link-time optimization takes the setting of the standard library.
#![expect(clippy::disallowed_methods, reason = "cargo tells a build script everything by variables")]

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=no-unwind.ld");
    let is = |name, value| var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_ENV", "musl") {
        let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/no-unwind.ld");
    }
}
