//! The optional model of search: fetched with proof, used, done without, and taken away again.
//!
//! The model is the tiny one of `recipes/tiny-model`; what it means by a word is chance, what is done with it is not.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests report by panicking; the server is a thread"
)]

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::{fs, thread};
use towline_testkit::TestEnv;

const FILES: [&str; 3] = ["model.safetensors", "vocab.txt", "config.json"];

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../search/tests/tiny-model")
}

/// A user who wants the tiny model from this address.
fn env(address: &str) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let line = |name: &&str| format!("{:?}", format!("{}  {name}", checksum(&tiny().join(name))));
    let sums = format!("[{}]", FILES.iter().map(line).collect::<Vec<_>>().join(", "));
    for (key, value) in
        [("search.tier", "minilm"), ("search.model_url", address), ("search.model_sha256", &sums)]
    {
        env.tow(&["config", "set", key, value]).ok();
    }
    env
}

fn checksum(path: &Path) -> String {
    towline_engine::runtime::fetch::sha256_of(path).unwrap()
}

/// Serves files by their names, in so many requests; the weights are cut off in the first.
fn server(requests: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/some/model", listener.local_addr().unwrap());
    thread::spawn(move || {
        for number in 0..requests {
            let (mut stream, _) = listener.accept().unwrap();
            let lines: Vec<String> = BufReader::new(&stream)
                .lines()
                .map(Result::unwrap)
                .take_while(|line| !line.is_empty())
                .collect();
            let name = lines[0].split(' ').nth(1).unwrap().rsplit('/').next().unwrap().to_owned();
            let range = lines
                .iter()
                .find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
            let from: usize = range.map_or(0, |range| range.trim_end_matches('-').parse().unwrap());
            let file = fs::read(tiny().join(name)).unwrap();
            let (status, place) = match from {
                0 => ("200 OK", String::new()),
                _ => (
                    "206 Partial Content",
                    format!("content-range: bytes {from}-{}/{}\r\n", file.len() - 1, file.len()),
                ),
            };
            let rest = &file[from..];
            let head = format!(
                "HTTP/1.1 {status}\r\n{place}content-length: {}\r\nconnection: close\r\n\r\n",
                rest.len()
            );
            stream.write_all(head.as_bytes()).unwrap();
            let sent = if number == 0 { 9000 } else { rest.len() };
            let _ = stream.write_all(&rest[..sent]);
        }
    });
    address
}

fn status(env: &TestEnv) -> Value {
    serde_json::from_str(&env.tow(&["model", "--json"]).ok().stdout).unwrap()
}

fn remember(env: &TestEnv, text: &str) {
    env.tow(&["remember", text]).ok();
}

#[test]
fn model_is_fetched_in_two_goes_when_the_connection_breaks() {
    let env = env(&server(4));
    let broken = env.tow(&["model", "get"]);
    assert!(!broken.status.success());
    assert!(broken.stderr.contains("was cut off after 9000 bytes"), "{}", broken.stderr);
    assert!(broken.stderr.contains("goes on where it was cut off"), "{}", broken.stderr);
    assert_eq!(status(&env)["ready"], false);
    let got = env.tow(&["model", "get"]).ok();
    assert!(got.stderr.contains("fetching vocab.txt"), "{}", got.stderr);
    assert_eq!(status(&env)["ready"], true);
}

#[test]
fn without_a_net_the_message_says_how_to_bring_the_files_by_hand() {
    let env = env("http://127.0.0.1:1/model");
    let failed = env.tow(&["model", "get"]);
    assert!(failed.stderr.contains("could not reach http://127.0.0.1:1/model/"), "{}", failed.stderr);
    assert!(failed.stderr.contains("tow data model get --from FOLDER"), "{}", failed.stderr);
    env.tow(&["model", "get", "--from", tiny().to_str().unwrap()]).ok();
    assert_eq!(status(&env)["ready"], true);
}

#[test]
fn files_of_another_model_are_refused_and_nothing_is_used() {
    let env = env("http://127.0.0.1:1/model");
    let other = env.home().join("other");
    fs::create_dir_all(&other).unwrap();
    FILES.iter().for_each(|name| fs::write(other.join(name), b"something else").unwrap());
    let refused = env.tow(&["model", "get", "--from", other.to_str().unwrap()]);
    assert!(refused.stderr.contains("is not the file that is wanted: its checksum is"), "{}", refused.stderr);
    assert_eq!(status(&env)["ready"], false);
}

#[test]
fn search_says_in_one_line_that_it_does_without_the_model() {
    let env = env("http://127.0.0.1:1/model");
    remember(&env, "The login cookie expires after restart.");
    let found = env.tow(&["search", "cookie"]).ok();
    assert!(found.stdout.contains("cookie"), "{}", found.stdout);
    assert_eq!(found.stderr.lines().count(), 1, "{}", found.stderr);
    assert!(found.stderr.contains("run `tow data model get`"), "{}", found.stderr);
    let doctor = env.tow(&["doctor"]).stdout;
    assert!(doctor.contains("the model is wanted and it was not fetched yet; the table serves"), "{doctor}");
}

#[test]
fn vectors_follow_what_is_remembered_changed_and_forgotten() {
    let env = env("http://127.0.0.1:1/model");
    remember(&env, "The login cookie expires after restart.");
    remember(&env, "The server key was not read.");
    env.tow(&["model", "get", "--from", tiny().to_str().unwrap()]).ok();
    // It has begun to make vectors by itself.
    env.wait_no_process();
    assert!(env.tow(&["reindex"]).ok().stdout.contains("indexed 2 documents"));
    assert_eq!(status(&env)["vectors"], 2);
    let found = env.tow(&["search", "cookie"]).ok();
    assert_eq!(found.stderr, "");
    assert!(found.stdout.contains("cookie"), "{}", found.stdout);
    remember(&env, "Because of a restart the cookie was not read.");
    env.tow(&["work"]).ok();
    assert_eq!(status(&env)["vectors"], 3);
    let bytes = status(&env)["vector_bytes"].as_u64().unwrap();
    env.tow(&["work"]).ok();
    assert_eq!(status(&env)["vector_bytes"], bytes, "nothing new, nothing written");
    env.wait_no_process();
    env.tow(&["forget", "m1", "--yes"]).ok();
    assert_eq!(status(&env)["vectors"], 2);
    env.tow(&["model", "remove"]).ok().prints("freed");
    assert_eq!(status(&env)["vectors"], 0);
    assert!(env.tow(&["search", "cookie"]).ok().stderr.contains("run `tow data model get`"));
}
