//! The command line as a person meets it: help, configuration, errors, completions.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs;
use towline_testkit::TestEnv;

fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_tow"))
}

#[test]
fn every_verb_has_help_with_examples() {
    let env = env();
    env.tow(&["--help"]).ok().prints("Examples:");
    for verb in [
        "hook",
        "install",
        "uninstall",
        "status",
        "bar",
        "menu",
        "monitor",
        "give-back",
        "goto",
        "why",
        "next",
        "popup",
        "report",
        "baton",
        "fresh",
        "inherit",
        "bookmarks",
        "rewind",
        "notify",
        "scan",
        "cleanup",
        "tmux",
        "doctor",
        "config",
        "import",
        "work",
        "model",
        "completions",
        "detail",
        "turns",
        "sessions",
        "show",
        "export",
        "import",
        "typed",
        "pause",
        "resume",
        "type",
        "remember",
        "memories",
        "timeline",
        "edit",
        "pin",
        "supersede",
        "undo",
        "release",
        "forget",
    ] {
        let run = env.tow(&[verb, "--help"]).ok();
        assert!(run.stdout.contains("Example"), "{verb}: {}", run.stdout);
    }
    assert!(!env.data_dir().exists(), "asking for help leaves no trace");
}

#[test]
fn a_misspelt_verb_is_named() {
    env().tow(&["docter"]).exits(2).complains("doctor");
}

#[test]
fn configuration_is_set_shown_and_unset_without_losing_comments() {
    let env = env();
    let file = env.home().join(".config/towline/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "# mine\n[keep]\nevents_days = 30 # a month\n").unwrap();
    env.tow(&["config", "get", "keep.events_days"]).ok().prints("30");
    env.tow(&["config", "set", "keep.journal_mb", "128"]).ok();
    env.tow(&["config", "set", "privacy.exclude_projects", "[\"/secret\"]"]).ok();
    env.tow(&["config"]).ok().prints("keep.journal_mb = 128");
    env.tow(&["config", "unset", "keep.journal_mb"]).ok();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# mine\n[keep]\nevents_days = 30 # a month\n"), "{text}");
    let shown = env.tow(&["config", "--json"]).ok().json();
    assert_eq!(shown["values"]["keep.events_days"], 30);
    assert_eq!(shown["values"]["privacy.exclude_projects"][0], "/secret");
    assert_eq!(shown["values"]["keep.journal_mb"], 64);
}

#[test]
fn a_mistake_in_the_configuration_is_named_with_its_line_and_never_written() {
    let env = env();
    let file = env.home().join(".config/towline/config.toml");
    env.tow(&["config", "set", "keep.event_days", "3"])
        .exits(2)
        .complains("did you mean `keep.events_days`?");
    env.tow(&["config", "set", "keep.events_days", "never"])
        .exits(2)
        .complains("must be an integer and is a string");
    assert!(!file.exists());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[hook]\npatience = 1\n").unwrap();
    env.tow(&["config"]).exits(1).prints("line 2: there is no key `hook.patience`");
    env.tow(&["doctor"]).prints("line 2");
    fs::write(&file, "not toml").unwrap();
    env.tow(&["config", "set", "keep.events_days", "3"]).exits(2).complains("not valid TOML");
    assert_eq!(fs::read_to_string(&file).unwrap(), "not toml");
}

#[test]
fn excluded_folders_leave_no_trace_and_secrets_are_not_written() {
    let env = env();
    env.tow(&["config", "set", "privacy.exclude_projects", "[\"/secret\"]"]).ok();
    let key = format!("{}{}", "sk-ant-", "a1b2".repeat(10));
    let prompt = |folder: &str, session: &str| {
        format!(
            r#"{{"hook_event_name":"UserPromptSubmit","prompt":"use {key}","session_id":"{session}","cwd":"{folder}"}}"#
        )
    };
    env.hook("claude", prompt("/secret/deep", "hidden")).is_silent();
    env.hook("claude", prompt("/open", "seen")).is_silent();
    let mut everything = vec![];
    for entry in walk(env.data_dir()) {
        everything.extend(fs::read(entry).unwrap());
    }
    let text = String::from_utf8_lossy(&everything);
    assert!(text.contains("seen") && text.contains("[redacted:anthropic]"));
    assert!(!text.contains("hidden") && !text.contains(&key));
}

#[test]
fn where_the_wish_for_privacy_cannot_be_read_no_text_is_kept() {
    let env = env();
    fs::create_dir_all(env.home().join(".config/towline")).unwrap();
    let prompt =
        r#"{"hook_event_name":"UserPromptSubmit","prompt":"PLAIN-WORDS","session_id":"s","cwd":"/"}"#;
    for text in ["[privacy]\nexclude_projects = ['~/secret']\n", "[privacy\n"] {
        fs::write(env.home().join(".config/towline/config.toml"), text).unwrap();
        env.hook("claude", prompt).is_silent();
    }
    let kept = walk(env.data_dir()).iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>().concat();
    assert!(!String::from_utf8_lossy(&kept).contains("PLAIN-WORDS"));
}

#[test]
fn a_linked_configuration_stays_a_link() {
    let env = env();
    let (link, real) = (env.home().join(".config/towline/config.toml"), env.home().join("dotfiles.toml"));
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    fs::write(&real, "# mine\n").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    env.tow(&["config", "set", "keep.events_days", "5"]).ok();
    assert!(link.is_symlink() && fs::read_to_string(&real).unwrap().contains("events_days = 5"));
}

fn walk(folder: std::path::PathBuf) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(path) } else { vec![path] }).collect()
}

#[test]
fn the_man_page_referred_to_pages_that_nobody_ships() {
    let env = env();
    let page = env.tow(&["completions", "man"]).ok().prints(".TH tow 1").prints(".SH TOW DOCTOR");
    let page = page.prints(".SH TOW DATA FORGET").stdout;
    let references: Vec<&str> = page.lines().filter(|line| line.contains("(1)")).collect();
    assert_eq!(references, Vec::<&str>::new(), "the release ships tow(1) alone");
}

#[test]
fn doctor_says_whose_the_status_line_is_and_what_to_do_next() {
    let env = env();
    let file = env.home().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let check = |status: &str, said: &str, next: Option<&str>| {
        let report = env.tow(&["doctor", "--json"]).json();
        let checks = report["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["name"] == "claude status line").unwrap();
        assert_eq!((found["status"].as_str(), found["mend"].as_str()), (Some(status), next), "{found}");
        assert!(found["detail"].as_str().unwrap().contains(said), "{found}");
    };
    let with = Some("tow install --agent claude --statusline");
    fs::write(&file, "{}").unwrap();
    env.tow(&["install", "--agent", "claude"]).ok();
    check("good", "none", with);
    env.tow(&["doctor"]).prints("next: tow install --agent claude --statusline");
    env.tow(&["install", "--agent", "claude", "--statusline"]).ok();
    check("good", "ours", None);
    env.tow(&["uninstall", "--agent", "claude"]).ok();
    fs::write(&file, r#"{"statusLine": {"type": "command", "command": "~/line.sh"}}"#).unwrap();
    check("good", "yours alone", with);
    env.tow(&["install", "--agent", "claude", "--statusline"]).ok();
    check("good", "ours below yours, which is `~/line.sh`", None);
    fs::write(&file, r#"{"statusLine": {"type": "command", "command": "/elsewhere/tow statusline"}}"#)
        .unwrap();
    check("warning", "lies elsewhere", Some("tow install --agent claude"));
}

#[test]
fn doctor_is_content_with_an_empty_home_and_speaks_json() {
    let env = env();
    env.tow(&["doctor"]).ok().prints("none yet; the first event makes it");
    let report = env.tow(&["doctor", "--json"]).ok().json();
    assert_eq!(report["ok"], true);
    assert!(report["checks"].as_array().unwrap().len() > 4);
}

/// It said `ok` for a large archive and had not looked at its pages.
#[test]
fn doctor_says_that_the_pages_of_a_large_archive_are_unchecked_and_checks_them_on_request() {
    let env = env();
    env.tow(&["remember", "the mast is blue"]).ok();
    let archive = fs::File::options().write(true).open(env.data_dir().join("archive.db")).unwrap();
    archive.set_len(300 << 20).unwrap();
    let check = |arguments: &[&str], name: &str| {
        let report = env.tow(arguments).ok().json();
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).cloned().unwrap()
    };
    let quick = check(&["doctor", "--json"], "archive");
    assert_eq!(quick["mend"], "tow doctor --deep", "{quick}");
    let deep = check(&["doctor", "--json", "--deep"], "archive");
    assert!(deep["detail"].as_str().unwrap().starts_with("sound, 0 sessions"), "{deep}");
    let space = check(&["doctor", "--json"], "space");
    assert!(space["detail"].as_str().unwrap().contains("archive.db 314.6 MB"), "{space}");
}

#[test]
fn faults_are_told_once_at_the_next_session_start_and_can_be_forgotten() {
    let env = env();
    env.hook("claude", "{ not json").is_silent();
    fs::create_dir_all(env.home().join(".config/towline")).unwrap();
    fs::write(env.home().join(".config/towline/config.toml"), "nonsense = 1\n").unwrap();
    let start = r#"{"hook_event_name":"SessionStart","source":"startup","session_id":"s","cwd":"/"}"#;
    let said = env.hook("claude", start).ok().json();
    assert!(said["systemMessage"].as_str().unwrap().contains("there is no key `nonsense`"), "{said}");
    env.hook("claude", start.replace("\"s\"", "\"t\"")).is_silent();
    env.tow(&["doctor"]).ok().prints("fault: config").prints("fault: payload");
    env.tow(&["doctor", "--forget-faults"]).ok();
    fs::remove_file(env.home().join(".config/towline/config.toml")).unwrap();
    let report = env.tow(&["doctor"]).ok();
    assert!(!report.stdout.contains("fault:"), "{}", report.stdout);
}
