//! The user's `@towline-*` options of one tmux server, merged with the defaults.
//!
//! Querying tmux costs a spawn, so the values are cached in a file per server and renewed once a minute by a
//! refresh; hooks only read the file. An invalid value falls back to the default, and `tow doctor` names it.

use crate::runtime::config::Commands;
use crate::runtime::{Env, json_file};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use towline_core::bar::{BarStyle, LightStyle, ProjectNameDisplay};
use towline_core::shown::SeatLight;
use towline_core::telling::unknown_placeholder;
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_terminal::tmux::TmuxServer;

/// The settable options. `parse` holds the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub style: BarStyle,
    pub keys: Keys,
    pub items_per_page: usize,
    /// Seconds between refreshes, if the user's own interval is longer.
    pub status_interval: u32,
    /// How long a finished pane must stay on screen before it counts as seen without a focus event.
    pub completed_delay_ms: i64,
    pub window_marker: WindowMarker,
    /// Commands run on a state change, by the name after `on-`: a state, or `transition`. Split like a shell
    /// does, but never passed to one.
    pub commands: Commands,
}

/// Keys: the first three after tmux's prefix, the others inside the menu. An empty one is not bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    pub menu: String,
    pub jump: String,
    pub popup: String,
    pub next_page: String,
    pub previous_page: String,
    pub quit: String,
}

/// Whether the icon of a window's most urgent agent is shown beside the window's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowMarker {
    Shown,
    Hidden,
}

/// An option with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub option: String,
    pub wanted: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        parse(&BTreeMap::new()).0
    }
}

/// Every option, without the `@towline-` prefix.
pub const NAMES: [&str; 30] = [
    "icon-idle",
    "icon-working",
    "icon-completed",
    "icon-stopped",
    "icon-blocked",
    "colour-idle",
    "colour-working",
    "colour-completed",
    "colour-stopped",
    "colour-blocked",
    "background",
    "show-project",
    "key",
    "key-jump",
    "key-popup",
    "key-next",
    "key-prev",
    "key-quit",
    "items-per-page",
    "status-interval",
    "completed-delay",
    "window-marker",
    "on-idle",
    "on-working",
    "on-blocked",
    "on-completed",
    "on-interrupted",
    "on-limited",
    "on-ended",
    "on-transition",
];

/// How old cached values may be before tmux is queried again.
const STALE_MS: i64 = 60_000;

impl Options {
    /// The cached options; the defaults if there is no cache.
    pub fn remembered(home: &DataFolder, server: &TmuxServer) -> Options {
        json_file::load(&file(home, server))
            .map_or_else(Options::default, |found: CachedOptions| parse(&found.values).0)
    }

    /// Queries tmux if the cache is stale. Returns the bar's current text if it did.
    pub fn renew(env: &Env, server: &TmuxServer) -> Option<String> {
        let is_fresh = |found: CachedOptions| found.at <= env.now && env.now.since_ms(found.at) < STALE_MS;
        if json_file::load(&file(&env.home, server)).is_some_and(is_fresh) {
            return None;
        }
        let values = ask(env, server)?;
        Some(values.get(BAR).cloned().unwrap_or_default())
    }

    /// Queries the options now, with the invalid ones. A server that does not answer keeps its cached values.
    pub fn current(env: &Env, server: &TmuxServer) -> (Options, Vec<Mistake>) {
        match ask(env, server) {
            Some(values) => parse(&values),
            None => (Options::remembered(&env.home, server), vec![]),
        }
    }
}

/// The bar is queried along with the options, because pushes are not waited for.
const BAR: &str = "status";

fn ask(env: &Env, server: &TmuxServer) -> Option<BTreeMap<String, String>> {
    let names: Vec<&str> = NAMES.into_iter().chain([BAR]).collect();
    let asked: Vec<String> = names.iter().map(|name| format!("@towline-{name}")).collect();
    let values = server.user_options(&asked)?;
    let values: BTreeMap<String, String> =
        names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?))).collect();
    json_file::save(&file(&env.home, server), &CachedOptions { at: env.now, values: values.clone() });
    Some(values)
}

/// The cached answer of a server.
#[derive(Serialize, Deserialize)]
struct CachedOptions {
    at: Timestamp,
    values: BTreeMap<String, String>,
}

/// Lies beside the record of the server's last push, named by its process id.
fn file(home: &DataFolder, server: &TmuxServer) -> PathBuf {
    home.bars().join(format!("{}.options", server.pid))
}

/// Pure: parses the values, and lists the invalid ones.
fn parse(values: &BTreeMap<String, String>) -> (Options, Vec<Mistake>) {
    let mut reader = OptionReader { values, mistakes: vec![] };
    let usual = BarStyle::default();
    let style = BarStyle {
        idle: reader.look(SeatLight::Idle, &usual),
        working: reader.look(SeatLight::Working, &usual),
        completed: reader.look(SeatLight::Completed, &usual),
        stopped: reader.look(SeatLight::Stopped, &usual),
        blocked: reader.look(SeatLight::Blocked, &usual),
        background: reader.background(&usual.background),
        project: if reader.is_on("show-project") {
            ProjectNameDisplay::Shown
        } else {
            ProjectNameDisplay::Hidden
        },
    };
    let keys = Keys {
        menu: reader.text("key", "a"),
        jump: reader.text("key-jump", ""),
        popup: reader.text("key-popup", ""),
        next_page: reader.text("key-next", "i"),
        previous_page: reader.text("key-prev", "o"),
        quit: reader.text("key-quit", "q"),
    };
    let marker = if reader.is_on("window-marker") { WindowMarker::Shown } else { WindowMarker::Hidden };
    let options = Options {
        style,
        keys,
        items_per_page: reader.number("items-per-page", 10, "a number from 1 to 30", 1..=30),
        status_interval: reader.number("status-interval", 5, "seconds from 1 to 3600", 1..=3600),
        completed_delay_ms: 1000
            * reader.number::<i64>("completed-delay", 3, "seconds from 0 to 3600", 0..=3600),
        window_marker: marker,
        commands: reader.commands(),
    };
    (options, reader.mistakes)
}

struct OptionReader<'a> {
    values: &'a BTreeMap<String, String>,
    mistakes: Vec<Mistake>,
}

impl OptionReader<'_> {
    fn text(&self, name: &str, usual: &str) -> String {
        self.values.get(name).map_or(usual, String::as_str).to_owned()
    }

    fn look(&mut self, light: SeatLight, usual: &BarStyle) -> LightStyle {
        let usual = usual.light_style(light);
        let colour = self.colour(&format!("colour-{}", light.name()), &usual.colour);
        LightStyle { icon: self.text(&format!("icon-{}", light.name()), &usual.icon), colour }
    }

    /// An empty one means the status line's own.
    fn background(&mut self, usual: &str) -> String {
        let wanted = self.colour("background", usual);
        if wanted.is_empty() { "default".to_owned() } else { wanted }
    }

    fn colour(&mut self, name: &str, usual: &str) -> String {
        let wanted = self.text(name, usual);
        // The colour is inserted into a tmux format: any other character could end the style.
        if wanted.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#') {
            return wanted;
        }
        self.mistaken(name, "a colour's name");
        usual.to_owned()
    }

    fn is_on(&mut self, name: &str) -> bool {
        match self.values.get(name).map(String::as_str) {
            Some("1" | "on" | "yes" | "true") => true,
            None | Some("" | "0" | "off" | "no" | "false") => false,
            Some(_) => {
                self.mistaken(name, "on or off");
                false
            }
        }
    }

    fn number<T: FromStr + PartialOrd>(
        &mut self,
        name: &str,
        usual: T,
        wanted: &'static str,
        range: RangeInclusive<T>,
    ) -> T {
        let Some(given) = self.values.get(name) else { return usual };
        match given.trim().parse() {
            Ok(number) if range.contains(&number) => number,
            Ok(_) | Err(_) => {
                self.mistaken(name, wanted);
                usual
            }
        }
    }

    fn commands(&mut self) -> Commands {
        let mut commands = Commands::new();
        for (name, value) in self.values {
            let Some(occasion) = name.strip_prefix("on-").filter(|_| !value.trim().is_empty()) else {
                continue;
            };
            match shlex::split(value) {
                None => self.mistaken(name, "words with every quote closed"),
                Some(words) if unknown_placeholder(&words).is_some() => {
                    self.mistaken(name, "a command of known placeholders (see `tow config default`)");
                }
                // Only a comment.
                Some(words) if words.is_empty() => {}
                Some(words) => drop(commands.insert(occasion.to_owned(), words)),
            }
        }
        commands
    }

    fn mistaken(&mut self, name: &str, wanted: &'static str) {
        self.mistakes.push(Mistake { option: format!("@towline-{name}"), wanted });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> (Options, Vec<Mistake>) {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        parse(&values.collect())
    }

    #[test]
    fn an_option_that_is_not_set_has_its_default() {
        let (options, mistakes) = read(&[]);
        assert_eq!((mistakes, options.style), (vec![], BarStyle::default()));
        assert_eq!(
            (options.items_per_page, options.status_interval, options.completed_delay_ms),
            (10, 5, 3000)
        );
        let Keys { menu, jump, popup, next_page, previous_page, quit } = options.keys;
        assert_eq!([menu, jump, popup, next_page, previous_page, quit], ["a", "", "", "i", "o", "q"]);
        assert_eq!((options.window_marker, options.commands), (WindowMarker::Hidden, Commands::new()));
    }

    #[test]
    fn every_look_and_key_can_be_set_and_an_empty_key_is_none() {
        let (options, mistakes) = read(&[
            ("icon-blocked", "🔥"),
            ("colour-idle", "colour245"),
            ("colour-blocked", "#ff0000"),
            ("background", ""),
            ("key", ""),
            ("show-project", "on"),
            ("window-marker", "1"),
            ("on-blocked", "notify-send {project}"),
            ("on-idle", " "),
        ]);
        assert_eq!(mistakes, []);
        assert_eq!(options.style.blocked, LightStyle { icon: "🔥".into(), colour: "#ff0000".into() });
        assert_eq!((options.style.idle.colour.as_str(), options.keys.menu.as_str()), ("colour245", ""));
        assert_eq!(options.style.background, "default");
        assert_eq!(
            (options.style.project, options.window_marker),
            (ProjectNameDisplay::Shown, WindowMarker::Shown)
        );
        let blocked = ["notify-send", "{project}"].map(str::to_owned).to_vec();
        assert_eq!(options.commands, Commands::from([("blocked".to_owned(), blocked)]));
    }

    #[test]
    fn a_command_is_split_into_words_and_one_that_cannot_be_is_named() {
        let (options, mistakes) = read(&[
            ("on-blocked", r#"say "two words" '{prompt}' $(touch x)"#),
            ("on-idle", "say 'never closed"),
            ("on-ended", "say {projekt}"),
        ]);
        assert_eq!(options.commands["blocked"], ["say", "two words", "{prompt}", "$(touch", "x)"]);
        assert_eq!(options.commands.len(), 1);
        let named: Vec<&str> = mistakes.iter().map(|mistake| mistake.option.as_str()).collect();
        assert_eq!(named, ["@towline-on-ended", "@towline-on-idle"]);
    }

    #[test]
    fn a_value_that_makes_no_sense_is_named_and_the_default_is_used() {
        let (options, mistakes) = read(&[
            ("items-per-page", "many"),
            ("status-interval", "0"),
            ("colour-idle", "red]#(touch x)"),
            ("background", "red,blink"),
            ("show-project", "perhaps"),
        ]);
        assert_eq!(options, Options::default());
        let named: Vec<&str> = mistakes.iter().map(|mistake| mistake.option.as_str()).collect();
        assert_eq!(
            named,
            [
                "@towline-colour-idle",
                "@towline-background",
                "@towline-show-project",
                "@towline-items-per-page",
                "@towline-status-interval"
            ]
        );
    }
}
