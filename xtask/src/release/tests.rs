//! The files of a release are read back by the programs that users have: tar, gzip, ar and dpkg.

use std::fs;

use super::*;
use crate::repository::File;
use crate::tidy::links;

/// A stand-in for the binary: a script that prints what it was asked for.
fn some_program(folder: &Path) -> PathBuf {
    let path = folder.join("tow");
    fs::write(&path, "#!/bin/sh\necho \"$@\"\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn released(folder: &Path) -> Vec<Product> {
    let stamp = Stamp { commit: "abc of 2026-11-17".to_owned(), epoch: 1_794_873_600 };
    let repository = Repository::here().unwrap();
    products(&repository, &some_program(folder), "x86_64-unknown-linux-musl", &stamp).unwrap()
}

#[test]
fn an_archive_and_a_package_hold_what_programs_of_users_expect() {
    let folder = tempfile::tempdir().unwrap();
    let products = released(folder.path());
    for Product { name, bytes } in &products {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let run = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        output_of(words[0], command.args(&words[1..]).current_dir(folder.path())).unwrap()
    };
    let base = products[0].name.trim_end_matches(".tar.gz").to_owned();
    let listed = run(&["tar", "-tvzf", &products[0].name, "--full-time", "--utc"]);
    let program = listed.lines().find(|line| line.ends_with(&format!("{base}/tow"))).unwrap();
    assert!(
        program.starts_with("-rwxr-xr-x root/root") && program.contains("2026-11-17 00:00:00"),
        "{listed}"
    );
    for file in
        ["completions/_tow", "completions/tow.bash", "completions/tow.fish", "man/tow.1", "install.sh"]
    {
        assert!(listed.contains(&format!("{base}/{file}\n")), "{file}: {listed}");
    }
    run(&["tar", "-xzf", &products[0].name]);
    assert_eq!(run(&[&format!("./{base}/tow"), "hello"]), "hello\n");
    assert_eq!(
        fs::read_to_string(folder.path().join(&base).join("man/tow.1")).unwrap(),
        "config completions man\n"
    );

    let package = &products[2].name;
    assert!(run(&["ar", "t", package]).lines().eq(["debian-binary", "control.tar.gz", "data.tar.gz"]));
    assert_eq!(run(&["dpkg-deb", "--field", package, "Architecture"]), "amd64\n");
    run(&["dpkg-deb", "--extract", package, "root"]);
    assert_eq!(run(&["gzip", "-dc", "root/usr/share/man/man1/tow.1.gz"]), "config completions man\n");
    assert_eq!(run(&["root/usr/bin/tow", "hello"]), "hello\n");
    assert!(folder.path().join("root/usr/share/zsh/vendor-completions/_tow").exists());
}

#[test]
fn the_links_of_the_readme_led_nowhere_in_the_archive() {
    let repository = Repository::here().unwrap();
    let [bash, zsh, fish, man] = ["bash", "zsh", "fish", "man"].map(str::to_owned);
    let contents = Contents { tow: vec![], bash, zsh, fish, man };
    let entries = unpacked(&repository, "towline", &contents).unwrap();
    let text = |entry: &Entry| String::from_utf8(entry.bytes.clone()).ok();
    let named = |path: &str| path.strip_prefix("towline/").unwrap().to_owned();
    let files: Vec<File> = entries
        .iter()
        .filter_map(|entry| Some(File { path: named(&entry.path), text: text(entry)? }))
        .collect();
    let paths: Vec<String> = entries.iter().map(|entry| named(&entry.path)).collect();
    let dead = links::check(&files, &paths);
    assert!(files.iter().any(|file| file.path == "docs/tour.md") && dead.is_empty(), "{} links", dead.len());
}

#[test]
fn two_releases_of_the_same_files_are_equal() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sums = |folder: &tempfile::TempDir| {
        let products = released(folder.path());
        products.iter().map(|product| (product.name.clone(), checksum(&product.bytes))).collect::<Vec<_>>()
    };
    assert_eq!(sums(&one), sums(&other));
}

#[test]
fn the_bill_of_materials_names_what_is_built_in_and_no_tool_of_tests() {
    let folder = tempfile::tempdir().unwrap();
    let bom: serde_json::Value = serde_json::from_slice(&released(folder.path())[1].bytes).unwrap();
    let components = bom["components"].as_array().unwrap();
    let named = |name: &str| components.iter().find(|component| component["name"] == name);
    assert_eq!(named("rusqlite").unwrap()["hashes"][0]["content"].as_str().unwrap().len(), 64);
    assert_eq!(named("towline-core").unwrap()["licenses"][0]["expression"], "MIT");
    assert!(named("insta").is_none() && named("towline-testkit").is_none() && named("flate2").is_none());
    assert_eq!(bom["metadata"]["component"]["name"], "tow");
}

#[test]
fn a_blank_in_the_path_of_the_clone_split_the_flags_of_the_c_compiler() {
    let remaps = [(PathBuf::from("/my work/it's here"), "/towline"), (PathBuf::from("/cargo"), "/cargo")];
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("printf '%s\n' {}", build::c_flags(&remaps))]);
    let words = output_of("sh", &mut shell).unwrap();
    assert!(
        words
            .lines()
            .eq(["-ffile-prefix-map=/my work/it's here=/towline", "-ffile-prefix-map=/cargo=/cargo"]),
        "{words}"
    );
}
