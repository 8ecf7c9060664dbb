//! Computes the changes to a tmux server's settings, from their current values and our undo data.
//!
//! A pure function: it removes our settings in memory, adds the wanted ones and records the undo. So a second
//! load changes nothing, and a value that the user changed stays theirs.

use super::options::{Options, WindowMarker};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use towline_terminal::tmux::BAR_OPTION;
use towline_terminal::tmux_settings::{KeyBinding, TmuxChange, quote};

/// Holds the undo data: in the server itself, so that it dies with the changes it undoes.
pub const UNDO_OPTION: &str = "@towline-undo";

/// The options that are read. The last two are never changed.
pub const OPTIONS: [&str; 12] = [
    "status-right",
    "window-status-format",
    "window-status-current-format",
    "status-right-length",
    "status-interval",
    "client-attached[7701]",
    "client-session-changed[7701]",
    "pane-focus-in[7701]",
    "session-window-changed[7701]",
    "window-pane-changed[7701]",
    "status-left",
    "status-format",
];

/// Every hook that brings a pane into view. Hook entries are numbered, and only we use this number.
const FOCUS_HOOKS: &[&str] = OPTIONS.split_at(5).1.split_at(5).0;
const WINDOW_FORMATS: &[&str] = OPTIONS.split_at(1).1.split_at(2).0;

/// Shows the bar, unless the user has placed it already.
const BAR: &str = "#{@towline-status}";
const MARKER: &str = "#{?@towline-mark, #{@towline-mark},}";

/// Columns that the bar may need beside the user's text, and a length that is always enough.
const ROOM: u32 = 40;
const AMPLE: u32 = 120;

/// True for a visible pane with a state that the user may not have seen yet.
const WORTH_A_LOOK: &str = "#{&&:#{&&:#{window_active},#{session_attached}},#{@towline-unseen}}";

/// The current settings of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// By name; an unset hook entry is empty.
    pub options: BTreeMap<String, String>,
    /// The bindings of the keys that we have or want.
    pub keys: BTreeMap<String, KeyBinding>,
    pub undo: Undo,
}

/// The data to undo our changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Undo {
    /// Our text inside an option.
    parts: BTreeMap<String, String>,
    /// Options and hook entries that we set as a whole.
    replaced: BTreeMap<String, ReplacedOption>,
    pub keys: BTreeMap<String, Bound>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ReplacedOption {
    was: String,
    /// As we set it: tmux may print a command differently.
    set: String,
}

impl Undo {
    /// Whether this binding is the one that we set.
    pub fn is_ours(&self, key: &str, now: &KeyBinding) -> bool {
        self.keys.get(key).is_some_and(|bound| bound.set == now.text)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    was: Option<KeyBinding>,
    /// As tmux prints it.
    set: String,
}

/// The wanted settings.
pub struct Wish<'a> {
    /// The path of `tow` as one shell word.
    pub tow: &'a str,
    pub options: &'a Options,
    pub keys: Vec<Key>,
}

/// A wanted key binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub key: String,
    pub bind: TmuxChange,
    /// As tmux prints it once it is bound.
    pub printed: String,
}

/// The changes, and the undo data after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub changes: Vec<TmuxChange>,
    pub undo: Undo,
}

/// The plan from the current settings to the wanted ones.
pub fn load(found: &Found, wish: &Wish<'_>) -> Plan {
    let users = users(found);
    let mut wanted =
        WantedSettings { values: users.options.clone(), undo: Undo::default(), found, users: &users };
    let shows_bar = wanted.status_line(wish.tow);
    wanted.number("status-interval", |given| interval(given, wish.options.status_interval));
    if shows_bar {
        wanted.number("status-right-length", |given| given.max(AMPLE.min(given + ROOM)));
    }
    if wish.options.window_marker == WindowMarker::Shown {
        WINDOW_FORMATS.iter().for_each(|name| wanted.part(name, MARKER, PartSide::Behind));
    }
    for hook in FOCUS_HOOKS {
        wanted.replace(hook, focus_command(wish.tow));
    }
    let WantedSettings { values, mut undo, .. } = wanted;
    let mut changes = option_changes(found, &values, &undo);
    changes.extend(key_changes(found, &users, &wish.keys, &mut undo));
    Plan { changes, undo }
}

/// The plan from the current settings to the user's own.
pub fn unload(found: &Found) -> Plan {
    let users = users(found);
    let mut changes = option_changes(found, &users.options, &Undo::default());
    changes.extend(key_changes(found, &users, &[], &mut Undo::default()));
    Plan { changes, undo: Undo::default() }
}

/// Whether all that a load set is still there, except numbers, which the user may change.
pub fn is_whole(found: &Found) -> bool {
    let holds = |name: &str, text: &str| found.options.get(name).is_some_and(|value| value.contains(text));
    let hooks = found.undo.replaced.keys().filter(|name| FOCUS_HOOKS.contains(&name.as_str()));
    found.undo.parts.iter().all(|(name, part)| holds(name, part))
        && hooks.into_iter().all(|name| holds(name, FOCUSED))
}

/// The user's settings, without ours.
fn users(found: &Found) -> Found {
    let mut users = Found { undo: Undo::default(), ..found.clone() };
    for (name, part) in &found.undo.parts {
        users.options.entry(name.clone()).and_modify(|value| *value = value.replacen(part, "", 1));
    }
    // Even if the undo data was lost, a hook command of ours is not the user's.
    let is_lost = |name: &str| FOCUS_HOOKS.contains(&name) && !found.undo.replaced.contains_key(name);
    let hooks = users.options.iter_mut().filter(|(name, value)| is_lost(name) && value.contains(FOCUSED));
    hooks.for_each(|(_, value)| value.clear());
    for (name, replaced) in &found.undo.replaced {
        let back = |value: &mut String| {
            if is_still_ours(name, value, replaced) {
                replaced.was.clone_into(value);
            }
        };
        users.options.entry(name.clone()).and_modify(back);
    }
    for (key, bound) in &found.undo.keys {
        if found.keys.get(key).is_some_and(|now| found.undo.is_ours(key, now)) {
            users.keys.remove(key);
            users.keys.extend(bound.was.clone().map(|was| (key.clone(), was)));
        }
    }
    users
}

/// tmux reformats commands, so ours are recognised by what they run.
fn is_still_ours(name: &str, value: &str, replaced: &ReplacedOption) -> bool {
    if FOCUS_HOOKS.contains(&name) { value.contains(FOCUSED) } else { value == replaced.set }
}

const FOCUSED: &str = " bar --refresh --focused ";

/// tmux itself tests whether there is anything to see, which costs no process; failures are ignored.
fn focus_command(tow: &str) -> String {
    let run = format!("{tow}{FOCUSED}#{{pane_id}} >/dev/null 2>&1 || true");
    let run = format!("run-shell -b {}", quote(&run));
    format!("if-shell -F {} {}", quote(WORTH_A_LOOK), quote(&run))
}

/// The interval is only ever lowered; 0 means never.
fn interval(given: u32, wanted: u32) -> u32 {
    if given == 0 { wanted } else { given.min(wanted) }
}

/// The wanted settings under construction.
struct WantedSettings<'a> {
    values: BTreeMap<String, String>,
    undo: Undo,
    found: &'a Found,
    users: &'a Found,
}

enum PartSide {
    Before,
    Behind,
}

impl WantedSettings<'_> {
    /// Puts the bar before the user's right side, unless they have placed it. Returns whether it did.
    fn status_line(&mut self, tow: &str) -> bool {
        let lines: Vec<&str> =
            ["status-left", "status-right", "status-format"].iter().map(|name| self.of_user(name)).collect();
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        let (is_placed, is_refreshed) = (has(BAR_OPTION), has(" bar --refresh"));
        let refresh = format!("#({tow} bar --refresh --looking-at #{{pane_id}})");
        match (is_placed, is_refreshed) {
            (false, _) => self.part("status-right", &format!("{BAR}{refresh} "), PartSide::Before),
            (true, false) => self.part("status-right", &refresh, PartSide::Before),
            (true, true) => {}
        }
        !is_placed
    }

    fn of_user(&self, name: &str) -> &str {
        self.users.options.get(name).map_or("", String::as_str)
    }

    /// A part of ours that is already there stays, even if other text was put around it.
    fn part(&mut self, name: &str, part: &str, side: PartSide) {
        let now = self.found.options.get(name).map_or("", String::as_str);
        let stands = self.found.undo.parts.get(name).is_some_and(|ours| ours == part) && now.contains(part);
        let value = match (stands, side) {
            (true, _) => now.to_owned(),
            (false, PartSide::Before) => format!("{part}{}", self.of_user(name)),
            (false, PartSide::Behind) => format!("{}{part}", self.of_user(name)),
        };
        self.values.insert(name.to_owned(), value);
        self.undo.parts.insert(name.to_owned(), part.to_owned());
    }

    fn number(&mut self, name: &str, wanted: impl Fn(u32) -> u32) {
        let Ok(given) = self.of_user(name).parse::<u32>() else { return };
        if wanted(given) != given {
            self.replace(name, wanted(given).to_string());
        }
    }

    fn replace(&mut self, name: &str, value: String) {
        let was = self.of_user(name).to_owned();
        self.undo.replaced.insert(name.to_owned(), ReplacedOption { was, set: value.clone() });
        self.values.insert(name.to_owned(), value);
    }
}

/// The options that differ from the wanted values.
fn option_changes(found: &Found, wanted: &BTreeMap<String, String>, undo: &Undo) -> Vec<TmuxChange> {
    let differs = |name: &str, value: &str| {
        let now = found.options.get(name).map_or("", String::as_str);
        let given = |undo: &Undo| undo.replaced.get(name).map(|replaced| replaced.set.clone());
        // A command of ours is unchanged even if tmux prints it differently.
        let stands = now.contains(FOCUSED) && given(undo).is_some() && given(undo) == given(&found.undo);
        now != value && !stands
    };
    let change = |(name, value): (&String, &String)| {
        let option = name.clone();
        match value.is_empty() && FOCUS_HOOKS.contains(&name.as_str()) {
            true => TmuxChange::Unset { option },
            false => TmuxChange::Set { option, value: value.clone() },
        }
    };
    wanted.iter().filter(|(name, value)| differs(name, value)).map(change).collect()
}

/// Restores the keys that are no longer wanted first: one of them may be bound to another action.
fn key_changes(found: &Found, users: &Found, wanted: &[Key], undo: &mut Undo) -> Vec<TmuxChange> {
    let is_wanted = |key: &str| wanted.iter().any(|wanted| wanted.key == key);
    let given_back = found.undo.keys.keys().filter(|key| !is_wanted(key));
    let mut changes: Vec<TmuxChange> = given_back.filter_map(|key| give_back(found, users, key)).collect();
    for Key { key, bind, printed } in wanted {
        let was = users.keys.get(key).filter(|was| was.text != *printed).cloned();
        if found.keys.get(key).is_none_or(|now| now.text != *printed) {
            changes.push(bind.clone());
        }
        undo.keys.insert(key.clone(), Bound { was, set: printed.clone() });
    }
    changes
}

fn give_back(found: &Found, users: &Found, key: &str) -> Option<TmuxChange> {
    match (users.keys.get(key), found.keys.get(key)) {
        (users, now) if users == now => None,
        (Some(binding), _) => Some(TmuxChange::BindBack(binding.clone())),
        (None, _) => Some(TmuxChange::Unbind { key: key.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(options: &[(&str, &str)]) -> Found {
        let usual = [("status-right", "%H:%M"), ("status-right-length", "40"), ("status-interval", "15")];
        let formats = WINDOW_FORMATS.iter().map(|name| (*name, "#W"));
        let options = usual.into_iter().chain(formats).chain(options.iter().copied());
        let options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Found { options, ..Found::default() }
    }

    fn key(name: &str) -> Key {
        let words = vec!["new-window".to_owned()];
        let bind = TmuxChange::Bind { key: name.to_owned(), note: None, words };
        Key { key: name.to_owned(), bind, printed: format!("bind-key -T prefix {name} new-window") }
    }

    fn binding(name: &str) -> KeyBinding {
        KeyBinding { text: format!("bind-key -T prefix {name} theirs"), note: None }
    }

    /// Applies the changes like tmux would; commands are printed with other quotes.
    fn carried_out(found: &Found, plan: &Plan) -> Found {
        let mut after = Found { undo: plan.undo.clone(), ..found.clone() };
        for change in plan.changes.clone() {
            match change {
                TmuxChange::Set { option, value } => {
                    let value = if option.contains('[') { value.replace('\'', "\"") } else { value };
                    after.options.insert(option, value);
                }
                TmuxChange::Unset { option } => drop(after.options.insert(option, String::new())),
                TmuxChange::Bind { key, .. } => {
                    let text = format!("bind-key -T prefix {key} new-window");
                    after.keys.insert(key, KeyBinding { text, note: None });
                }
                TmuxChange::BindBack(binding) => {
                    let key = binding.text.split(' ').nth(3).unwrap().to_owned();
                    after.keys.insert(key, binding);
                }
                TmuxChange::Unbind { key } => drop(after.keys.remove(&key)),
            }
        }
        after
    }

    fn loaded(found: &Found, options: &Options, keys: &[&str]) -> Found {
        let keys: Vec<Key> = keys.iter().map(|name| key(name)).collect();
        let wish = || Wish { tow: "/bin/tow", options, keys: keys.clone() };
        let after = carried_out(found, &load(found, &wish()));
        let again = load(&after, &wish());
        assert_eq!((again.changes, &again.undo), (vec![], &after.undo), "a second load changes nothing");
        after
    }

    #[track_caller]
    fn check_given_back(loaded: &Found, expected: &Found) {
        let after = carried_out(loaded, &unload(loaded));
        let filled = |found: &Found| {
            let options = found.options.iter().filter(|(_, value)| !value.is_empty());
            options.map(|(name, value)| (name.clone(), value.clone())).collect::<BTreeMap<_, _>>()
        };
        assert_eq!((filled(&after), &after.keys), (filled(expected), &expected.keys));
    }

    fn with_marker() -> Options {
        Options { window_marker: WindowMarker::Shown, ..Options::default() }
    }

    #[test]
    fn everything_is_laid_over_the_users_settings_and_given_back() {
        let mut before = settings(&[("session-window-changed[7701]", "theirs")]);
        before.keys.insert("a".into(), binding("a"));
        let after = loaded(&before, &with_marker(), &["a", "b"]);
        let value = |name: &str| after.options[name].as_str();
        assert_eq!(
            value("status-right"),
            "#{@towline-status}#(/bin/tow bar --refresh --looking-at #{pane_id}) %H:%M"
        );
        assert_eq!((value("status-interval"), value("status-right-length")), ("5", "80"));
        assert_eq!(value("window-status-format"), "#W#{?@towline-mark, #{@towline-mark},}");
        assert!(
            FOCUS_HOOKS
                .iter()
                .all(|hook| value(hook).contains("/bin/tow bar --refresh --focused #{pane_id}"))
        );
        check_given_back(&after, &before);
    }

    #[test]
    fn an_interval_is_only_lowered_and_a_length_only_raised() {
        for (interval, length, expected) in
            [("2", "200", ("2", "200")), ("0", "100", ("5", "120")), ("60", "0", ("5", "40"))]
        {
            let before = settings(&[("status-interval", interval), ("status-right-length", length)]);
            let after = loaded(&before, &Options::default(), &[]);
            let value = |name: &str| after.options[name].as_str();
            assert_eq!((value("status-interval"), value("status-right-length")), expected);
            check_given_back(&after, &before);
        }
    }

    #[test]
    fn a_bar_that_the_user_has_placed_stays_where_it_is_and_is_refreshed() {
        let before = settings(&[("status-left", "[#{@towline-status}]")]);
        let after = loaded(&before, &Options::default(), &[]);
        assert_eq!(after.options["status-right"], "#(/bin/tow bar --refresh --looking-at #{pane_id})%H:%M");
        assert_eq!(after.options["status-right-length"], "40");
        check_given_back(&after, &before);

        let before = settings(&[("status-right", "#{@towline-status}#(tow bar --refresh) x")]);
        let after = loaded(&before, &Options::default(), &[]);
        assert_eq!(after.options["status-right"], before.options["status-right"]);
        check_given_back(&after, &before);
    }

    #[test]
    fn what_the_user_changed_meanwhile_is_theirs() {
        let mut between = loaded(&settings(&[]), &with_marker(), &["a"]);
        let ours = between.options["status-right"].clone();
        between.options.insert("status-right".into(), format!("#(other){ours} more"));
        between.options.insert("status-interval".into(), "30".into());
        between.keys.insert("a".into(), binding("a"));
        let mut expected = settings(&[("status-right", "#(other)%H:%M more"), ("status-interval", "30")]);
        expected.keys.insert("a".into(), binding("a"));
        check_given_back(&between, &expected);

        let again = loaded(&between, &with_marker(), &["a"]);
        assert_eq!(
            again.options["status-right"], between.options["status-right"],
            "it stays where it stands"
        );
        assert_eq!(again.options["status-interval"], "5");
        check_given_back(&again, &expected);
    }

    #[test]
    fn a_reloaded_configuration_is_the_new_original() {
        let mut between = loaded(&settings(&[]), &Options::default(), &["a"]);
        between.options.insert("status-right".into(), "new".into());
        let again = loaded(&between, &Options::default(), &["a"]);
        assert_eq!(again.options["status-right"].matches("bar --refresh").count(), 1);
        check_given_back(&again, &settings(&[("status-right", "new")]));
    }

    #[test]
    fn what_is_no_longer_wanted_is_given_back_by_the_next_load() {
        let mut before = settings(&[]);
        before.keys.insert("a".into(), binding("a"));
        let after = loaded(&loaded(&before, &with_marker(), &["a"]), &Options::default(), &["b"]);
        assert_eq!(after.options["window-status-format"], "#W");
        assert_eq!(after.keys["a"], binding("a"));
        check_given_back(&after, &before);
    }

    #[test]
    fn hooks_of_ours_whose_way_back_was_lost_are_not_taken_for_the_users() {
        let lost = Found { undo: Undo::default(), ..loaded(&settings(&[]), &Options::default(), &["a"]) };
        let again = loaded(&lost, &Options::default(), &["a"]);
        for found in [&lost, &again] {
            let after = carried_out(found, &unload(found));
            assert!(FOCUS_HOOKS.iter().all(|hook| after.options[*hook].is_empty()), "{after:?}");
        }
        assert_eq!(again.options["status-right"].matches("bar --refresh").count(), 1);
    }

    #[test]
    fn a_program_that_moved_is_followed() {
        let after = loaded(&settings(&[]), &Options::default(), &[]);
        let options = Options::default();
        let plan = load(&after, &Wish { tow: "/new/tow", options: &options, keys: vec![] });
        let moved = carried_out(&after, &plan);
        let old = moved.options.values().filter(|value| value.contains("/bin/tow"));
        assert_eq!((plan.changes.len(), old.count()), (6, 0));
        check_given_back(&moved, &settings(&[]));
    }
}
