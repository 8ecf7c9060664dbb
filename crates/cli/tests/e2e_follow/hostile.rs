//! Names that nobody chose well: of a project, of a branch, of what an agent was asked for. Wherever they are shown, they
//! are text, and as wide as they look.

use crate::Desk;
use crate::sitter::Sitter;
use std::fs;
use std::path::PathBuf;
use towline_core::escape::{escape_for_terminal, width};
use towline_testkit::{Run, TestEnv, Tmux, wait};

/// What is written, and how it begins where it is shown.
const HOSTILE: [(&str, &str); 16] = [
    ("#(touch pwned) a", "#(touch pwned) a"),
    ("#{pane_id}#{l:b}##", "#{pane_id}#{l:b}##"),
    ("#[fg=red,reverse]c#[default]", "#[fg=red,reverse]c"),
    ("%H:%M %s %% d", "%H:%M %s %% d"),
    ("\u{1b}[31me\u{1b}]2;title\u{7}\u{9b}5A\u{1b}c", "[31me]2;title5Ac"),
    ("two\nlines\r\nand\ta tab f", "two lines  and a tab"),
    ("user\u{202e}gpj.exe\u{2066}\u{200f} g", "usergpj.exe g"),
    ("✅⚡⏳ 👩\u{200d}💻 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f} h", "✅⚡⏳ "),
    ("漢字かな한글 i", "漢字かな한글 i"),
    ("e\u{301}\u{323}n\u{303} ที่นี่ نَص j", "e\u{301}\u{323}n\u{303} "),
    ("'; touch pwned; ' \"k\"", "'; touch pwned; ' \"k\""),
    ("$(touch pwned) `touch pwned` l", "$(touch pwned) `touch"),
    ("-n -T m", "-n -T m"),
    ("split-window; n;", "split-window; n;"),
    ("o\\;", "o\\;"),
    (LONG, "long 漢✅ long 漢✅"),
];

/// Stands for 10 kB of it.
const LONG: &str = "long 漢✅ ";

fn written(raw: &str) -> String {
    if raw == LONG { LONG.repeat(10_000 / LONG.len()) } else { raw.to_owned() }
}

/// A repository that says so of itself. The branch is what its HEAD says: git itself would refuse some of them.
fn repository(env: &TestEnv, number: usize, name: &str) -> PathBuf {
    let folder = env.root().join(format!("hostile-{number}"));
    fs::create_dir_all(folder.join(".git")).unwrap();
    let toml = format!("[project]\nname = {}\n", serde_json::to_string(name).unwrap());
    fs::write(folder.join(".towline.toml"), toml).unwrap();
    let branch = name.replace(['\n', '\r'], " ");
    fs::write(folder.join(".git/HEAD"), format!("ref: refs/heads/{branch}\n")).unwrap();
    folder
}

/// Notes how many words it was given, and what they are: one line for each call.
const LOGGER: &str = r#"line="$(basename "$0") $#"; for word in "$@"; do line="$line <$word>"; done
printf '%s\n' "$line" >> "$HOME/calls"
"#;

fn world() -> (TestEnv, Desk) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.script("log-words", LOGGER);
    env.script("notify-send", LOGGER);
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    let command = r#"["log-words", "{project}", "{branch}", "{prompt}", "{summary}"]"#;
    let config = format!("[notify]\ndesktop_after_s = 0\non_completed = {command}\n");
    fs::write(folder.join("config.toml"), config).unwrap();
    let options = [
        ("show-project", "on"),
        ("window-marker", "on"),
        ("icon-working", "#(touch pwned)"),
        ("items-per-page", "30"),
        ("completed-delay", "3600"),
        ("key-popup", "P"),
    ];
    let desk = Desk::set_up_with(&env, &options);
    (env, desk)
}

/// An agent for every name, each of which was blocked for a moment and named in the bar.
fn seat_them_all(env: &TestEnv, desk: &Desk) -> Vec<Sitter> {
    let seat = |(number, (raw, shown)): (usize, &(&str, &str))| {
        let name = written(raw);
        let folder = repository(env, number, &name);
        let sitter = Sitter::work_in(&desk.tmux, &format!("s{number}"), &folder);
        sitter.prompt(&name);
        if number == 0 {
            desk.wait_status_line("the mark of the window", |line| line.contains("claude* #(touch pwned)"));
        }
        sitter.ask("Bash");
        desk.wait_status_line(shown, |line| line.contains(&format!("1! @{shown}")));
        sitter.stop();
        sitter
    };
    HOSTILE.iter().enumerate().map(seat).collect()
}

#[track_caller]
fn check_nothing_was_run(env: &TestEnv) {
    let mut find = env.command("find");
    let found = Run::of(find.arg(env.root()).args(["-name", "pwned*"]), b"").ok();
    assert_eq!(found.stdout, "");
}

#[track_caller]
fn check_clean(text: &str) {
    let is_bad = |c: char| match c {
        '\n' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    };
    assert!(!text.contains(is_bad), "{text:?}");
}

#[test]
fn hostile_names_are_text_in_bar_menu_popup_list_and_notifications() {
    let (env, desk) = world();
    let plain = Sitter::sit(&desk.tmux, "plain");
    plain.prompt("nothing special");
    let sitters = seat_them_all(&env, &desk);
    let count = sitters.len() + 1;
    desk.wait_bar("1#(touch pwned) 16+");
    check_told(&env);

    desk.client.keys(&["C-b", "a"]);
    check_box(&desk, count);
    desk.client.keys(&["1"]);
    desk.wait_bar("1. 1#(touch pwned) 15+");
    assert_eq!(desk.tmux.run(&["display-message", "-p", "#{pane_id}"]).trim(), sitters[0].pane.id);
    desk.client.wait_screen_for("the menu to close", |screen| !screen.contains("│"));
    desk.client.keys(&["C-b", "P"]);
    check_box(&desk, count);
    desk.client.keys(&["q"]);
    desk.client.wait_screen_for("the popup to close", |screen| !screen.contains("│"));

    let list = env.tow(&["status"]).ok().stdout;
    check_clean(&list);
    assert_eq!(list.lines().count(), count, "{list}");
    check_clean(&env.tow(&["why", &sitters[4].pane.id]).ok().stdout);
    check_nothing_was_run(&env);
}

/// Every agent has a line between the borders, and every name is in one of them.
#[track_caller]
fn check_box(desk: &Desk, count: usize) {
    let is_line = |line: &&str| line.contains(" claude ") && line.matches('│').count() >= 2;
    let drawn = |screen: &str| screen.contains('└') && screen.lines().filter(is_line).count() == count;
    let screen = desk.client.wait_screen_for("a line for each agent", drawn);
    let lines: Vec<&str> = screen.lines().filter(is_line).collect();
    for (_, shown) in HOSTILE {
        let start: String = shown.chars().take(12).collect();
        assert!(lines.iter().any(|line| line.contains(&start)), "no {start:?} in {screen}");
    }
}

/// One word for each placeholder, one line for each call, whatever is in them.
#[track_caller]
fn check_told(env: &TestEnv) {
    let calls = wait::until_evident("all that is to be told", wait::PATIENCE, || {
        let calls = fs::read_to_string(env.home().join("calls")).unwrap_or_default();
        let is_told = |line: &&str, way: &str| line.starts_with(way) && line.contains("completed");
        let told = |way: &str| calls.lines().filter(|line| is_told(line, way)).count();
        let all = told("log-words ") == HOSTILE.len() && told("notify-send ") == HOSTILE.len();
        if all { Ok(calls) } else { Err(calls) }
    });
    check_clean(&calls);
    for line in calls.lines() {
        let is_whole = line.starts_with("log-words 4 <") || line.starts_with("notify-send 5 <");
        assert!(is_whole, "{line}");
    }
    for (_, shown) in HOSTILE {
        let words = format!("log-words 4 <{shown}");
        assert!(calls.lines().any(|line| line.starts_with(&words)), "no {words:?} in {calls}");
    }
}

#[test]
fn no_line_of_the_list_is_wider_than_the_terminal_whatever_the_names() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let tmux = Tmux::start(&env);
    for (number, (raw, _)) in HOSTILE.iter().enumerate() {
        let name = written(raw);
        let folder = repository(&env, number, &name);
        let sitter = Sitter::work_in(&tmux, &format!("s{number}"), &folder);
        sitter.prompt(&format!("{name} and more than there is room for in one line of any list {name}"));
    }
    let shell = tmux.open(&["bash", "--norc"], &[("PS1", "$ ")]);
    for columns in ["80", "79", "61", "60", "59", "40", "12"] {
        tmux.run(&["resize-window", "-t", &shell.id, "-x", columns]);
        // tmux takes its time to tell the terminal.
        wait::until_evident(&format!("{columns} columns"), wait::PATIENCE, || {
            let size = Run::of(env.command("stty").args(["-F", &shell.tty(), "size"]), b"").ok().stdout;
            if size.trim().ends_with(&format!(" {columns}")) { Ok(()) } else { Err(size) }
        });
        shell.half_type("clear; tow status");
        shell.keys(&["Enter"]);
        let expected = format!("{} 0", HOSTILE.len());
        wait::until_evident(&format!("a list of {columns} columns"), wait::PATIENCE, || {
            let found = shell.format("#{cursor_y} #{history_size}");
            if found == expected { Ok(()) } else { Err(format!("{found}\n{}", shell.screen())) }
        });
    }
    for (raw, _) in HOSTILE {
        check_width(&tmux, &escape_for_terminal(raw));
    }
}

/// Never less than what tmux gives to it, and no more unless terminals differ.
#[track_caller]
fn check_width(tmux: &Tmux, text: &str) {
    // Both mean something to tmux, which has no say in how wide they are.
    let text = text.replace(['#', ';'], "x");
    tmux.run(&["set-option", "-g", "--", "@measured", &text]);
    let measured: usize = tmux.run(&["display-message", "-p", "#{w:@measured}"]).trim().parse().unwrap();
    let differ = text.contains(['\u{200d}', '\u{fe0f}']);
    assert!(width(&text) == measured || (differ && width(&text) > measured), "{text:?}: {measured} columns");
}
