//! Something happens exactly between looking and typing, or between typing and Enter: tmux is called through a script
//! that first does what a person might.

use crate::desk::{Desk, Ended, Seat};
use std::fs;
use towline_core::typing::InputLine;
use towline_testkit::{Pane, Tmux, wait};

/// When something happens: right before the text is typed, or right before Enter.
#[derive(Clone, Copy)]
enum Step {
    Text,
    Enter,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Text => "text",
            Step::Enter => "enter",
        }
    }
}

/// Somebody who is attached to the client's tmux, and the way to come in between.
struct Attack<'a> {
    desk: &'a Desk,
    tmux: String,
    person: Pane,
}

impl<'a> Attack<'a> {
    /// Nothing happens yet.
    #[track_caller]
    fn prepare(desk: &'a Desk) -> Attack<'a> {
        let outside = Tmux::named(&desk.env, "outside");
        let person = outside.attach_to(&desk.tmux);
        desk.tmux.run(&["select-window", "-t", &desk.seat.pane.id]);
        desk.tmux.run(&["select-pane", "-t", &desk.seat.pane.id]);
        let real = fs::read_link(desk.env.root().join("bin/tmux")).unwrap().display().to_string();
        let script = format!(
            r#"case "$*" in
*"-f /dev/null"*) ;;
*"paste-buffer -p "*) hook="$HOME/before-text" ;;
*"paste-buffer -r "*) hook="$HOME/before-enter" ;;
esac
if [ -n "$hook" ] && [ -e "$hook" ]; then mv "$hook" "$hook-done"; sh "$hook-done" < /dev/null > /dev/null 2>&1; fi
exec {real} "$@"
"#
        );
        desk.env.script("tmux", &script);
        Attack { desk, tmux: real, person }
    }

    /// Makes an intent while this is to happen once, and tells how it ended.
    #[track_caller]
    fn run(&self, step: Step, what: &str) -> Ended {
        let hook = self.desk.env.home().join(format!("before-{}", step.name()));
        fs::write(&hook, what).unwrap();
        let ended = self.desk.end(&self.desk.seat, &self.desk.next_prompt());
        assert!(!hook.exists(), "it never came to that: {ended:?}");
        ended
    }

    fn inner(&self, words: &str) -> String {
        format!("{} -S {} {words}", self.tmux, self.desk.tmux.socket().display())
    }

    /// A person types a word, and tmux has got it.
    fn typing(&self, word: &str) -> String {
        let outer = format!("{} -S {}", self.tmux, self.person.tmux().socket().display());
        let got = self.inner("display-message -p -t '' '#{session_activity}'").replace("-t ''", "");
        format!(
            "now=$(date +%s)\n{outer} send-keys -t {} -l {word}\nuntil [ $({got}) -ge $now ]; do :; done\n",
            self.person.id
        )
    }

    /// tmux tells to the second when it last got a key: only a key in a later second is noticed by `typing`, which otherwise
    /// returned before tmux had got it.
    #[track_caller]
    fn wait_for_a_later_second(&self) {
        wait::until("a later second than that of the last key", wait::PATIENCE, || {
            let told = self.desk.seat.pane.format("#{session_activity} %s");
            let (key, now) = told.split_once(' ')?;
            (key.parse::<u64>().ok()? < now.parse().ok()?).then_some(())
        });
    }

    #[track_caller]
    fn leave(self) {
        self.person.keys(&["C-b", "d"]);
        self.person.wait_end();
        self.desk.env.link("tmux", &self.tmux);
    }
}

pub fn between_the_steps(desk: &Desk) {
    let attack = Attack::prepare(desk);
    desk.takes("all is well, somebody attached");
    for _ in 0..3 {
        somebody_types_before_the_text(&attack);
        somebody_types_before_enter(&attack);
    }
    copy_mode_comes_between(&attack);
    attack.leave();
}

/// Ours would stand behind theirs: nothing is typed.
#[track_caller]
fn somebody_types_before_the_text(attack: &Attack<'_>) {
    let (desk, seat) = (attack.desk, &attack.desk.seat);
    let before = desk.world();
    attack.wait_for_a_later_second();
    let ended = attack.run(Step::Text, &attack.typing("mine"));
    assert!(ended.state == "refused" && ended.why.contains("somebody typed there meanwhile"), "{ended:?}");
    seat.wait_held("mine");
    assert_eq!(desk.world(), before);
    seat.clear();
    desk.count("a key right before the text");
}

/// Theirs would be sent off with ours: Enter is not pressed, and both are told apart from the list.
#[track_caller]
fn somebody_types_before_enter(attack: &Attack<'_>) {
    let (desk, seat) = (attack.desk, &attack.desk.seat);
    let before = desk.world();
    attack.wait_for_a_later_second();
    let ended = attack.run(Step::Enter, &attack.typing("mine"));
    let is_told = ended.why.contains("somebody typed there") && ended.why.contains("may still stand there");
    assert!(ended.state == "refused" && is_told, "{ended:?}");
    wait_ours_and_theirs(seat);
    assert_eq!(desk.world(), before);
    seat.clear();
    desk.count("a key right before Enter");
}

#[track_caller]
fn wait_ours_and_theirs(seat: &Seat) {
    let fits = |text: &str| text.ends_with("mine") && !text.starts_with("mine");
    seat.wait_line_for("with both", |line| matches!(line, InputLine::Holds { text } if fits(text)));
}

#[track_caller]
fn copy_mode_comes_between(attack: &Attack<'_>) {
    let (desk, seat) = (attack.desk, &attack.desk.seat);
    let copy = attack.inner(&format!("copy-mode -t {}", seat.pane.id));
    for step in [Step::Text, Step::Enter, Step::Text, Step::Enter] {
        let before = desk.world();
        let ended = attack.run(step, &copy);
        assert!(ended.state == "refused" && ended.why.contains("the pane changed meanwhile"), "{ended:?}");
        seat.pane.wait_format("#{pane_in_mode}", "1");
        desk.tmux.run(&["copy-mode", "-q", "-t", &seat.pane.id]);
        assert_eq!(desk.world(), before);
        match step {
            Step::Text => seat.wait_line(&InputLine::Empty),
            Step::Enter => assert!(matches!(seat.line(), InputLine::Holds { .. }), "{}", seat.pane.screen()),
        }
        seat.clear();
        desk.count(&format!("copy mode right before {}", step.name()));
    }
}
