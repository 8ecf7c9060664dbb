//! The counts are readable in the status lines of popular themes, measured on what a real tmux draws.

use super::{hermetic, server};
use std::fmt::Write;
use towline_core::bar::{BarNotes, BarStyle, bar};
use towline_core::event::BlockReason;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;
use towline_testkit::Tmux;

/// tmux' own theme, and the status lines of others: three dark ones, two light ones.
const THEMES: [(&str, &str); 6] = [
    ("stock", "bg=green,fg=black"),
    ("gruvbox", "bg=#3c3836,fg=#a89984"),
    ("nord", "bg=#3b4252,fg=#d8dee9"),
    ("dracula", "bg=#44475a,fg=#f8f8f2"),
    ("solarized light", "bg=#eee8d5,fg=#657b83"),
    ("catppuccin latte", "bg=#e6e9ef,fg=#4c4f69"),
];

/// WCAG 2, level AA, for text of usual size.
const LEAST_CONTRAST: f64 = 4.5;

type Rgb = [u8; 3];

/// A bar with a count of every kind.
fn full_bar() -> String {
    let blocked = SessionState::Blocked(BlockReason::Permission);
    let states = [
        SessionState::Idle,
        SessionState::Working,
        SessionState::Completed,
        SessionState::Interrupted,
        blocked,
    ];
    let seat = |state| SeatView { state, seen: false, ..SeatView::at("s", "a", Timestamp(0)) };
    bar(
        &states.map(seat),
        BarNotes { open_proposals: 2, ..BarNotes::default() },
        &BarStyle::default(),
        Timestamp(180_000),
    )
}

#[test]
fn counts_were_green_on_green_in_the_stock_theme_and_are_readable_in_every_theme() {
    let env = hermetic();
    let inner = server(&env);
    inner.run(&["set-option", "-as", "terminal-features", ",xterm-256color:RGB"]);
    inner.run(&["set-option", "-g", "status-right", "[#{@towline-status}]"]);
    inner.run(&["set-option", "-g", "status-left-length", "30"]);
    inner.run(&["set-option", "-g", "@towline-status", &full_bar()]);
    let outer = Tmux::named(&env, "outer");
    let watched = outer.attach_to(&inner);
    let mut unreadable = String::new();
    for (theme, style) in THEMES {
        // The text of each theme differs, so that no screen of the one before is measured.
        inner.run(&["set-option", "-g", "status-style", style]);
        inner.run(&["set-option", "-g", "status-left", theme]);
        watched.wait_screen(theme);
        let drawn = outer.run(&["capture-pane", "-p", "-e", "-t", &watched.id]);
        let line = drawn.lines().rfind(|line| line.contains(theme)).unwrap();
        let cells = cells(line);
        let text: String = cells.iter().map(|cell| cell.0).collect();
        let (from, until) = (text.find('[').unwrap() + 1, text.rfind(']').unwrap());
        assert_eq!(
            text[from..until].split_whitespace().collect::<Vec<_>>(),
            ["1.", "1*", "1+", "1x", "1!3m", "2?"]
        );
        for (letter, text, ground) in cells[from..until].iter().filter(|cell| cell.0 != ' ') {
            let ratio = contrast(*text, *ground);
            if ratio < LEAST_CONTRAST {
                writeln!(unreadable, "{theme}: `{letter}` {text:?} on {ground:?} has {ratio:.1}").unwrap();
            }
        }
    }
    assert!(unreadable.is_empty(), "{unreadable}");
}

/// The letters of a line with the colours of text and background; attributes other than `reverse` are ignored.
fn cells(line: &str) -> Vec<(char, Rgb, Rgb)> {
    const TEXT: Rgb = [229, 229, 229];
    const GROUND: Rgb = [0, 0, 0];
    let (mut text, mut ground, mut is_reversed) = (TEXT, GROUND, false);
    let mut cells = vec![];
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        if letter != '\u{1b}' {
            cells.push(if is_reversed { (letter, ground, text) } else { (letter, text, ground) });
            continue;
        }
        let (style, after) = rest.trim_start_matches('[').split_once('m').unwrap();
        rest = after;
        let numbers: Vec<u8> = style.split(';').map(|number| number.parse().unwrap_or(0)).collect();
        match numbers.as_slice() {
            [38, 5, number] => text = palette(*number),
            [48, 5, number] => ground = palette(*number),
            [38, 2, rgb @ ..] => text = rgb.try_into().unwrap(),
            [48, 2, rgb @ ..] => ground = rgb.try_into().unwrap(),
            plain => {
                for number in plain {
                    match number {
                        0 => (text, ground, is_reversed) = (TEXT, GROUND, false),
                        7 => is_reversed = true,
                        27 => is_reversed = false,
                        30..=37 => text = palette(number - 30),
                        39 => text = TEXT,
                        40..=47 => ground = palette(number - 40),
                        49 => ground = GROUND,
                        _ => {}
                    }
                }
            }
        }
    }
    cells
}

/// xterm's colours.
fn palette(number: u8) -> Rgb {
    const BASIC: [Rgb; 8] = [
        [0, 0, 0],
        [205, 0, 0],
        [0, 205, 0],
        [205, 205, 0],
        [0, 0, 238],
        [205, 0, 205],
        [0, 205, 205],
        [229, 229, 229],
    ];
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match number {
        0..16 => BASIC[usize::from(number % 8)],
        16..232 => [(number - 16) / 36, (number - 16) / 6 % 6, (number - 16) % 6].map(level),
        232.. => [8 + 10 * (number - 232); 3],
    }
}

/// The contrast ratio of WCAG 2.
fn contrast(one: Rgb, other: Rgb) -> f64 {
    let luminance = |colour: Rgb| {
        let [red, green, blue] = colour.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126f64.mul_add(red, 0.7152f64.mul_add(green, 0.0722 * blue))
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}
