//! `install.sh`: from a prebuilt archive within seconds, from source only without one, and no system package unasked.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(clippy::disallowed_methods, reason = "it drives and times processes")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use towline_testkit::{Run, TestEnv};

fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_tow"))
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../install.sh").canonicalize().unwrap()
}

#[track_caller]
fn shell(env: &TestEnv, command: &str) -> Run {
    Run::of(env.command("sh").args(["-c", command]).current_dir(env.root()), b"").ok()
}

/// An archive like that of `cargo xtask release`, with the program under test, and its checksums.
fn archive(env: &TestEnv) -> PathBuf {
    let folder = env.root().join("files/towline-0.1.0-test");
    fs::create_dir_all(&folder).unwrap();
    symlink(env!("CARGO_BIN_EXE_tow"), folder.join("tow")).unwrap();
    shell(env, "cd files && tar -ch towline-0.1.0-test | gzip -1 > towline-0.1.0-test.tar.gz");
    shell(env, "cd files && sha256sum *.tar.gz > SHA256SUMS && rm -r towline-0.1.0-test");
    env.root().join("files/towline-0.1.0-test.tar.gz")
}

fn install(env: &TestEnv, arguments: &[&str]) -> Run {
    Run::of(env.command("bash").arg(script()).args(arguments).current_dir(env.root()), b"")
}

#[test]
fn installing_took_a_build_of_minutes_where_an_archive_takes_seconds() {
    let env = env();
    fs::create_dir_all(env.home().join(".claude")).unwrap();
    let archive = archive(&env);
    let begun = Instant::now();
    let run = install(&env, &[archive.to_str().unwrap()]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}: {run:#?}", begun.elapsed());
    let run = run.ok().prints("this will").prints("take tow from").prints("/.local/bin/tow");
    assert!(!run.stdout.contains("building"), "{run:#?}");
    let installed = env.home().join(".local/bin/tow");
    Run::of(env.command(&installed).arg("--version"), b"").ok().prints("tow 0.1.0 (development build, ");
    let hooks = fs::read_to_string(env.home().join(".claude/settings.json")).unwrap();
    assert!(hooks.contains(installed.to_str().unwrap()) || hooks.contains("tow hook"), "{hooks}");
    // Again, by the variable: an upgrade in place.
    env.set("TOWLINE_ARCHIVE", "files/towline-0.1.0-test.tar.gz");
    install(&env, &[]).ok().prints("installed ");
}

#[test]
fn an_archive_that_is_not_what_its_checksum_says_is_not_installed() {
    let env = env();
    let archive = archive(&env);
    shell(&env, "printf x >> files/towline-0.1.0-test.tar.gz");
    install(&env, &[archive.to_str().unwrap()])
        .exits(1)
        .complains("the checksum of towline-0.1.0-test.tar.gz is not");
    install(&env, &["no-such.tar.gz"]).exits(1).complains("there is no archive");
    assert!(!env.home().join(".local/bin/tow").exists());
}

/// A PATH of the tools that the script needs, and of stand-ins that note what they were asked for. No C compiler.
fn few_tools(env: &TestEnv) -> PathBuf {
    let folder = env.root().join("few");
    fs::create_dir_all(&folder).unwrap();
    for tool in ["bash", "sed", "uname", "dirname", "id", "mktemp", "rm", "ls", "head"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap();
        symlink(String::from_utf8(found.stdout).unwrap().trim(), folder.join(tool)).unwrap();
    }
    let stand_ins = [
        ("cargo", "exit 9"),
        ("rustc", "echo host: some-unknown-host"),
        ("apt-get", "echo \"$@\" >> \"$NOTED\""),
    ];
    for (name, does) in stand_ins {
        fs::write(folder.join(name), format!("#!/bin/sh\n{does}\n")).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

#[test]
fn system_packages_were_installed_without_asking() {
    let env = env();
    let noted = env.root().join("noted");
    env.set("PATH", few_tools(&env).to_str().unwrap());
    env.set("NOTED", noted.to_str().unwrap());
    let run = install(&env, &["--build"]).exits(1).complains("missing: a C compiler");
    let run = run.prints("install system packages: gcc libc6-dev").prints("agree with --yes");
    assert!(!noted.exists(), "{run:#?}");
    install(&env, &["--build", "--yes"]).exits(1);
    assert!(fs::read_to_string(&noted).unwrap().contains("install -y"));
}
