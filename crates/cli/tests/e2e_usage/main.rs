//! Tokens are right: equal to the token to a slow counter of its own mind, on all that was recorded and on a generated
//! month, however it was captured.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod ccusage;
mod clients;
mod month;
mod reference;

use jiff::tz::TimeZone;
use month::{Files, month};
use reference::{Counts, Held, Message, by, day, families, messages};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use towline_testkit::TestEnv;
use towline_testkit::mutate::Dice;

const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

type Sums = BTreeMap<String, (u64, Counts)>;

fn env() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", BERLIN);
    env.set_now(1_794_787_200_000);
    env
}

/// What `tow usage` sums, by the field that names its rows; empty days are left out.
fn told(env: &TestEnv, what: &str, name: impl Fn(&Value) -> String) -> Sums {
    let answer = env.tow(&["usage", "--since", "all", "--json", "--by", what]).ok().json();
    let mut sums = Sums::new();
    for row in answer["rows"].as_array().unwrap().iter().filter(|row| row["messages"] != 0) {
        let names = ["input", "cache_read", "cache_write", "cache_write_1h", "output"];
        let sum = sums.entry(name(row)).or_default();
        sum.0 += row["messages"].as_u64().unwrap();
        for (all, name) in sum.1.iter_mut().zip(names) {
            *all += row["tokens"][name].as_u64().unwrap();
        }
    }
    sums
}

#[track_caller]
fn check(env: &TestEnv, expected: &[Message]) {
    assert!(!expected.is_empty());
    let named = |field: &'static str| move |row: &Value| row[field].as_str().unwrap_or_default().to_owned();
    let zone = TimeZone::posix(BERLIN).unwrap();
    assert_eq!(told(env, "day", named("day")), by(expected, |message| day(message, &zone)), "by day");
    assert_eq!(told(env, "model", named("model")), by(expected, |message| message.model.clone()), "by model");
    assert_eq!(
        told(env, "agent", named("agent")),
        by(expected, |message| message.agent.to_owned()),
        "by agent"
    );
    let projects = by(expected, |message| message.project.clone());
    assert_eq!(told(env, "project", named("project")), projects, "by project");
    let family = families(expected);
    let of_row = |row: &Value| {
        let session = row["session"].as_str().unwrap().split_once(':').unwrap().1;
        family.get(session).cloned().unwrap_or_else(|| format!("unknown {session}"))
    };
    let sessions = by(expected, |message| family[message.sessions.first().unwrap()].clone());
    assert_eq!(told(env, "session", of_row), sessions, "by session");
}

fn recorded(agent: &'static str, version: &str) -> Vec<(PathBuf, Held)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{agent}-{version}-"))
    });
    paths.sort();
    let held = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, Held { agent, text })
    };
    paths.into_iter().map(held).collect()
}

#[test]
fn every_recorded_file_of_both_clients_counts_as_the_reference_counts_it() {
    let mut files = 0;
    for (agent, version) in [("claude", "2.1.197"), ("claude", "2.1.325"), ("codex", "0.166.0")] {
        let env = env();
        let (paths, held): (Vec<PathBuf>, Vec<Held>) = recorded(agent, version).into_iter().unzip();
        // The helper's file of a session may be met before the session's own.
        for path in &paths {
            env.tow(&["capture", "--at-once", agent, &path.to_string_lossy()]).ok();
        }
        check(&env, &messages(&held));
        files += paths.len();
    }
    assert_eq!(files, 29);
}

/// What the client itself says that its session has cost, at the end of its file.
#[test]
fn a_sessions_cost_is_what_its_client_says_itself() {
    let env = env();
    let text = fs::read_to_string(recorded("claude", "2.1.325")[3].0.clone()).unwrap();
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let said = lines.rfind(|line| line["type"] == "cost-state").unwrap();
    for (path, _) in
        recorded("claude", "2.1.325").iter().filter(|(path, _)| path.to_str().unwrap().contains("headless"))
    {
        env.tow(&["capture", "--at-once", "claude", &path.to_string_lossy()]).ok();
    }
    let told = env.tow(&["usage", "--since", "all", "--json"]).ok().json();
    assert_eq!(told["total"]["tokens"]["input"], said["modelUsage"]["claude-opus-5-5"]["inputTokens"]);
    let (told, said) = (told["total"]["cost_usd"].as_f64().unwrap(), said["totalCostUSD"].as_f64().unwrap());
    assert!((told - said).abs() < 1e-9, "{told} is not {said}");
}

fn held(files: &Files) -> Vec<Held> {
    let agent = |path: &str| if path.starts_with(".claude") { "claude" } else { "codex" };
    files.iter().map(|(path, lines)| Held { agent: agent(path), text: lines.join("\n") }).collect()
}

fn append(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::options().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_month_of_both_clients_counts_as_the_reference_counts_it_after_an_import() {
    let files = month(1, 120).files;
    let env = env();
    for (path, lines) in &files {
        append(&env.home().join(path), format!("{}\n", lines.join("\n")).as_bytes());
    }
    env.tow(&["import"]).ok();
    let expected = messages(&held(&files));
    assert!(expected.len() > 1_000, "{}", expected.len());
    check(&env, &expected);
    env.tow(&["import"]).ok();
    check(&env, &expected);
}

#[test]
fn months_that_are_captured_in_pieces_of_any_size_count_the_same() {
    for seed in 2..=4 {
        let files = month(seed, 20).files;
        let env = env();
        let mut dice = Dice::new(seed, 99);
        let mut rest: Vec<(PathBuf, Vec<u8>)> = files
            .iter()
            .map(|(path, lines)| (env.home().join(path), format!("{}\n", lines.join("\n")).into_bytes()))
            .collect();
        while !rest.is_empty() {
            for (path, bytes) in &mut rest {
                let end = dice.below(bytes.len() * 2).min(bytes.len());
                append(path, &bytes[..end]);
                bytes.drain(..end);
            }
            rest.retain(|(_, bytes)| !bytes.is_empty());
            env.tow(&["import"]).ok();
        }
        check(&env, &messages(&held(&files)));
    }
}

/// A week of three models in two projects, one of them without a price.
fn some_work() -> TestEnv {
    let env = env();
    let line = |number: u32, (model, project): (&str, &str), at: &str| {
        let usage = json!({"input_tokens": 1000 * number, "cache_read_input_tokens": 90_000, "output_tokens": 500,
            "cache_creation_input_tokens": 4000, "cache_creation": {"ephemeral_1h_input_tokens": 3000}});
        let message = json!({"id": format!("msg_{number}"), "model": model, "role": "assistant", "usage": usage,
            "content": [{"type": "text", "text": "done"}]});
        json!({"type": "assistant", "uuid": format!("u{number}"), "sessionId": format!("session-{project}"), "message": message,
            "cwd": format!("/src/{project}"), "timestamp": at, "isSidechain": false})
    };
    for entry in [
        line(1, ("claude-sonnet-4-5", "app"), "2026-11-13T23:30:00.000Z"),
        line(2, ("claude-opus-5-5", "app"), "2026-11-14T10:00:00.000Z"),
        line(3, ("nobody-knows", "site"), "2026-11-15T10:00:00.000Z"),
    ] {
        let name = format!(".claude/projects/-src/{}.jsonl", entry["sessionId"].as_str().unwrap());
        append(&env.home().join(name), format!("{entry}\n").as_bytes());
    }
    env.tow(&["import"]).ok();
    env.set("COLUMNS", "100");
    env.set("LANG", "C.UTF-8");
    env
}

#[test]
fn a_week_is_drawn_as_a_table_and_as_a_chart() {
    let env = some_work();
    insta::assert_snapshot!("table", env.tow(&["usage"]).ok().stdout);
    insta::assert_snapshot!("chart", env.tow(&["usage", "--by", "model", "--chart"]).ok().stdout);
    env.set("COLUMNS", "60");
    insta::assert_snapshot!("narrow", env.tow(&["usage", "--by", "session", "--limit", "1"]).ok().stdout);
    let own = "[prices]\n'nobody-knows' = { input = 1, output = 2 }\n";
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), own).unwrap();
    let told = env.tow(&["usage", "--by", "model", "--json"]).ok().json();
    assert_eq!(
        (told["total"]["cost_is_whole"].as_bool(), told["rows"][0]["model"].as_str()),
        (Some(true), Some("nobody-knows"))
    );
}

#[test]
fn what_is_asked_for_can_be_narrowed_and_what_is_no_time_is_named() {
    let env = some_work();
    let messages = |arguments: &[&str]| {
        env.tow(&[&["usage", "--json"], arguments].concat()).ok().json()["total"]["messages"].clone()
    };
    assert_eq!(messages(&["--project", "site"]), 1);
    assert_eq!(messages(&["--agent", "codex"]), 0);
    assert_eq!((messages(&["--since", "2d"]), messages(&["--since", "2026-11-14"])), (json!(1), json!(3)));
    assert_eq!((messages(&["--since", "24h"]), messages(&["--since", "12h"])), (json!(1), json!(0)));
    env.tow(&["usage", "--since", "12h"]).ok().prints("nothing was used in that time");
    env.tow(&["usage", "--since", "soonish"]).complains("soonish");
    env.tow(&["usage", "--project", "no-such"]).complains("no-such");
}

#[test]
fn today_week_month_and_all_had_one_row_per_day_however_many_days() {
    let env = some_work();
    // Sunday, 15 November 2026, noon in UTC.
    env.set_now(1_794_744_000_000);
    let shown = |arguments: &[&str]| {
        let told = env.tow(&[&["usage", "--json"], arguments].concat()).ok().json();
        let by = told["by"].as_str().unwrap().to_owned();
        let rows = told["rows"].as_array().unwrap();
        (
            rows[0][&by].as_str().unwrap().to_owned(),
            by,
            rows.len(),
            told["total"]["messages"].as_u64().unwrap(),
        )
    };
    let expected =
        |name: &str, by: &str, rows: usize, messages: u64| (name.to_owned(), by.to_owned(), rows, messages);
    assert_eq!(shown(&["today"]), expected("site", "project", 1, 1));
    assert_eq!(shown(&["week"]), expected("2026-11-09", "day", 7, 3));
    assert_eq!(shown(&["month"]), expected("2026-11-01", "day", 15, 3));
    assert_eq!(shown(&["--since", "all"]), expected("2026-11", "month", 1, 3));
    assert_eq!(shown(&["all", "--by", "week"]), expected("2026-11-09", "week", 1, 3));
    assert_eq!(shown(&["100d"]).1, "month");
    env.tow(&["usage", "today", "--since", "7d"]).complains("--since");
    env.set("COLUMNS", "80");
    env.tow(&["usage", "all"]).ok().prints("2026-11 ");
}
