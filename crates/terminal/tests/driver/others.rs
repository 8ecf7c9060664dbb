//! Terminals that cannot be run here: their programs are fakes that record how they were called.

use crate::bench::{place, place_of};
use std::fs;
use std::path::PathBuf;
use towline_core::seat::{SeatKind, SeatLocation};
use towline_terminal::driver::{Driver, DriverError};
use towline_testkit::{Pane, TestEnv, Tmux};

const HOSTILE: &str = "-x 'a' \"b\" \\n $HOME #{x} ;";

/// Records every call as `<word><word>…`, followed by its standard input.
const RECORD_CALL: &str = r#"
{ printf '<%s>' "$@"; printf ' %s|' "$WEZTERM_UNIX_SOCKET"; cat; printf '\n'; } >> "$(dirname "$0")/../calls"
"#;

struct FakeBench {
    env: TestEnv,
    /// The agent's real terminal; the rest of its place is made up.
    _pane: Pane,
    place: SeatLocation,
}

/// An agent with the environment of a terminal, and `program` as a fake that also prints `answer`.
fn bench(program: &str, answer: &str, variables: &[(&str, &str)]) -> FakeBench {
    let env = TestEnv::new("/bin/true");
    fs::write(env.root().join("answer"), answer).unwrap();
    env.script(program, &format!("{RECORD_CALL}cat \"$(dirname \"$0\")/../answer\"\n"));
    let pane = Tmux::start(&env).open(&["sleep", "600"], variables);
    let place = place_of(pane.program_pid());
    FakeBench { env, _pane: pane, place }
}

impl FakeBench {
    fn driver(&self, kind: SeatKind, server: &str, id: &str) -> Driver {
        Driver::of(&place(kind, server, id, &self.place)).unwrap()
    }

    fn calls(&self) -> Vec<String> {
        let path: PathBuf = self.env.root().join("calls");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        text.split_terminator('\n').map(str::to_owned).collect()
    }

    fn terminal(&self) -> &str {
        self.place.tty.as_deref().unwrap()
    }
}

#[test]
fn zellij_is_asked_for_one_pane_of_one_session() {
    let bench = bench("zellij", "\u{1b}[2mscreen", &[]);
    let driver = bench.driver(SeatKind::Zellij, "my session", "3");
    let look = driver.look();
    assert_eq!(look.screen.as_deref(), Some("\u{1b}[2mscreen"));
    // zellij did not open this terminal's first process.
    assert_eq!((look.is_there, look.foreground), (Some(false), Some(bench.place.pid)));
    driver.type_in(HOSTILE).unwrap();
    driver.press_enter().unwrap();
    let to = |action: &str| format!("<--session><my session><action><{action}><--pane-id><terminal_3>");
    let expected = [
        format!("{}<--ansi> |", to("dump-screen")),
        format!("{}<--><{HOSTILE}> |", to("paste")),
        format!("{}<13> |", to("write")),
    ];
    assert_eq!(bench.calls(), expected);
    let able = driver.abilities();
    assert!(able.identity && able.foreground && able.screen && able.activity && !able.mode);
}

#[test]
fn kitty_is_reached_through_the_socket_that_the_agent_was_told() {
    let bench = bench("kitty", "\u{1b}[2mscreen", &[("KITTY_LISTEN_ON", "unix:/run/kitty-7")]);
    let driver = bench.driver(SeatKind::Kitty, "7", "2");
    let look = driver.look();
    assert_eq!((look.is_there, look.in_mode), (Some(false), Some(false)));
    assert_eq!(look.screen.as_deref(), Some("\u{1b}[2mscreen"));
    driver.type_in(HOSTILE).unwrap();
    driver.press_enter().unwrap();
    let to = |order: &str| format!("<@><--to><unix:/run/kitty-7><{order}><--match><id:2>");
    let expected = [
        format!("{}<--ansi><--extent><screen> |", to("get-text")),
        format!("{}<--stdin> |\u{1b}[200~{HOSTILE}\u{1b}[201~", to("send-text")),
        format!("{}<--stdin> |\r", to("send-text")),
    ];
    assert_eq!(bench.calls().join("\n"), expected.join("\n"));
}

#[test]
fn wezterm_is_asked_which_terminal_the_pane_has() {
    let bench = bench("wezterm", "", &[]);
    let list = |terminal: &str| {
        format!(
            r#"[{{"pane_id": 1, "tty_name": "/dev/pts/999"}}, {{"pane_id": 4, "tty_name": "{terminal}"}}]"#
        )
    };
    fs::write(bench.env.root().join("answer"), list(bench.terminal())).unwrap();
    let driver = bench.driver(SeatKind::Wezterm, "/run/wez", "4");
    assert_eq!(driver.look().is_there, Some(true));
    driver.type_in(HOSTILE).unwrap();
    driver.press_enter().unwrap();
    let expected = [
        "<cli><--no-auto-start><list><--format><json> /run/wez|".to_owned(),
        "<cli><--no-auto-start><get-text><--escapes><--pane-id><4> /run/wez|".to_owned(),
        format!("<cli><--no-auto-start><send-text><--pane-id><4> /run/wez|{HOSTILE}"),
        "<cli><--no-auto-start><send-text><--no-paste><--pane-id><4> /run/wez|\r".to_owned(),
    ];
    assert_eq!(bench.calls().join("\n"), expected.join("\n"));
    fs::write(bench.env.root().join("answer"), list("/dev/pts/998")).unwrap();
    assert_eq!(driver.look().is_there, Some(false));
    let able = driver.abilities();
    assert!(able.identity && able.foreground && able.screen && able.activity && !able.mode);
}

#[test]
fn a_program_that_refuses_is_quoted_and_one_that_is_missing_named() {
    let bench = bench("zellij", "", &[]);
    bench.env.script("zellij", "echo 'no such pane' >&2; exit 2\n");
    let driver = bench.driver(SeatKind::Zellij, "s", "3");
    assert_eq!(driver.look().is_there, Some(false));
    let refused = DriverError::Refused { program: "zellij", said: "no such pane".to_owned() };
    assert_eq!(driver.type_in("text"), Err(refused));
    fs::remove_file(bench.env.root().join("bin/zellij")).unwrap();
    assert_eq!(driver.look().is_there, None);
    assert!(driver.type_in("text").unwrap_err().to_string().starts_with("zellij could not be started: "));
}
