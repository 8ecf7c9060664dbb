//! A desk with a past: two agents' sessions, memories, a server, and a browser that looks at it.

use crate::written::{BEGAN, Shape, written};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use towline_testkit::{Browser, TestEnv};

const BUG_HUNT: &str = include_str!("../../../core/src/memory/distil/sessions/bug-hunt.txt");
const FEATURE: &str = include_str!("../../../core/src/memory/distil/sessions/feature-with-decision.txt");
const REFACTOR: &str = include_str!("../../../core/src/memory/distil/sessions/refactor.txt");

/// What sessions are called.
pub const HUNT: &str = "00000a01";
pub const BUILT: &str = "00000b02";

/// What a person said that a page might take for its own.
pub const HOSTILE: &str =
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script> boats";
pub const RIGHT_TO_LEFT: &str = "مرحبا \u{202e}reversed boats";

/// Where the views are, and what each is called.
pub const VIEWS: [(&str, &str); 9] = [
    ("board", "Board"),
    ("sessions", "Sessions"),
    ("memories", "Memories"),
    ("timeline", "Timeline"),
    ("context", "Context"),
    ("projects", "Projects"),
    ("usage", "Usage"),
    ("jobs", "Jobs"),
    ("settings", "Settings"),
];

/// Whether the viewer may change anything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    Reads,
    Writes,
}

pub struct Desk {
    pub env: TestEnv,
    pub browser: Browser,
    pub address: String,
    server: Child,
}

impl Desk {
    /// With a past of three sessions and what a person said.
    pub fn new(hand: Hand) -> Desk {
        let env = bare();
        let [first, second] = Shape::ALL;
        for (shape, session, script) in [
            (first, format!("11111111-aaaa-4000-8000-0000{HUNT}"), BUG_HUNT),
            (second, format!("01a1ddeb-8a16-7ea0-8ee2-2bca{BUILT}"), FEATURE),
            (first, "22222222-aaaa-4000-8000-000000000c03".to_owned(), REFACTOR),
        ] {
            let transcript = written(shape, &session, (&env.project(), script)).at(BEGAN);
            let path = transcript.save(&env.home(), usize::MAX);
            env.tow(&["capture", "--at-once", shape.agent(), &path.to_string_lossy()]).ok();
        }
        for text in [HOSTILE, RIGHT_TO_LEFT, "Deploys go through the blue pipeline"] {
            env.tow(&["remember", "--type", "decision", text]).ok();
        }
        Desk::around(env, hand)
    }

    /// Nothing was ever captured.
    pub fn empty() -> Desk {
        Desk::around(bare(), Hand::Reads)
    }

    /// A server and a browser for an environment as it is. The browser has been let in.
    pub fn around(env: TestEnv, hand: Hand) -> Desk {
        let (server, told) = serve(&env, hand);
        let browser = Browser::start(&env);
        let url = told["url"].as_str().unwrap().to_owned();
        let address = url.split("/?").next().unwrap().to_owned();
        browser.goto(&url);
        let desk = Desk { env, browser, address, server };
        desk.wait_view("Board");
        desk
    }

    /// Opens a view by its address, and waits until it is there with what it holds.
    #[track_caller]
    pub fn open(&self, place: &str) {
        self.browser.goto(&format!("{}/#/{place}", self.address));
        self.browser
            .wait_for("the view", &format!("document.querySelector('main').dataset.place === '#/{place}'"));
        self.settled();
    }

    #[track_caller]
    pub fn wait_view(&self, title: &str) {
        let heading = format!("document.querySelector('main h1')?.textContent === '{title}'");
        self.browser.wait_for(title, &heading);
    }

    /// Waits until nothing is being read any more.
    #[track_caller]
    pub fn settled(&self) {
        let waits =
            "!/(Reading|Composing|Looking at every seat)…/.test(document.querySelector('main').innerText)";
        self.browser.wait_for("the answers", waits);
        let listed = "!document.querySelector('.list') || !!document.querySelector('.row, .state > *')";
        self.browser.wait_for("the list", listed);
    }

    /// A picture in the target folder.
    #[track_caller]
    pub fn picture(&self, name: &str) {
        picture(&self.browser, name);
    }

    /// The memory with these words in its title.
    #[track_caller]
    pub fn memory(&self, words: &str) -> Value {
        let listed =
            self.env.tow(&["memories", "--all-projects", "--all", "--limit", "100", "--json"]).ok().json();
        let mut all = listed["memories"].as_array().unwrap().iter();
        let found = all.find(|memory| memory["title"].as_str().unwrap().contains(words));
        found.unwrap_or_else(|| panic!("nothing is called {words} in {listed:#}")).clone()
    }

    /// Whether the page asked anybody else, or complained of anything.
    #[track_caller]
    pub fn was_well_behaved(&self) {
        let strangers: Vec<_> =
            self.browser.requests().into_iter().filter(|url| self.is_foreign(url)).collect();
        assert_eq!(strangers, Vec::<String>::new(), "requests that left the origin");
        assert_eq!(self.browser.complaints(), Vec::<String>::new());
        assert_ne!(self.browser.eval("document.title"), "owned");
    }

    /// Ends the server; gives how a new one can be started.
    pub fn stop_server(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    fn is_foreign(&self, url: &str) -> bool {
        !url.starts_with(&format!("{}/", self.address)) && !url.starts_with("data:") && url != "about:blank"
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[track_caller]
pub fn picture(browser: &Browser, name: &str) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("viewer");
    std::fs::create_dir_all(&folder).unwrap();
    browser.screenshot(&folder.join(format!("{name}.png")));
}

pub fn bare() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", "UTC");
    env
}

fn serve(env: &TestEnv, hand: Hand) -> (Child, Value) {
    let mut command = env.command(env.root().join("bin/tow"));
    command.args(["serve", "--json", "--port", "0"]).stdout(Stdio::piped());
    if hand == Hand::Writes {
        command.arg("--write");
    }
    let mut server = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let told = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
    (server, told)
}
