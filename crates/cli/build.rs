//! Tells the linker of the static binary which functions hooks run, so that they lie side by side.
//!
//! Other builds are linked as they come: their layout is nobody's measure.

use std::env;

#[expect(clippy::disallowed_methods, reason = "what is built for is told to a build script in variables")]
fn main() {
    println!("cargo::rerun-if-changed=hooks.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "musl") {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}/hooks.ld", env!("CARGO_MANIFEST_DIR"));
    }
}
