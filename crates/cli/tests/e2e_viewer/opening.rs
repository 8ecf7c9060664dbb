//! Logging in: the page of `tow open`, in the browser that it is made for.

use crate::desk::{bare, picture};
use std::fs;
use towline_testkit::{Browser, Theme, wait};

#[test]
fn the_page_of_open_logs_a_browser_in_once() {
    let env = bare();
    let seen = env.root().join("opened");
    env.script("xdg-open", &format!("printf %s \"$1\" > {0}.part && mv {0}.part {0}", seen.display()));
    env.set("DISPLAY", ":9");
    let opened = env.tow(&["open"]).ok().stdout;
    let address = opened.trim().trim_start_matches("opened ").to_owned();
    let page = wait::until("the browser", wait::PATIENCE, || fs::read_to_string(&seen).ok());
    env.unset("DISPLAY");
    let browser = Browser::start(&env);
    browser.goto(&format!("file://{page}"));
    browser.wait_for("the board", "document.querySelector('main h1')?.textContent === 'Board'");
    assert_eq!(browser.eval("location.href"), address.as_str(), "the code is not in the address any more");
    assert_eq!(browser.eval("document.cookie"), "", "no script reads the session");
    browser.wait_for("the stream", "document.getElementById('line').dataset.state === 'live'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.goto(&address);
    browser.wait_for("the board", "document.querySelector('main h1')?.textContent === 'Board'");
    browser.goto(&format!("file://{page}"));
    browser.wait_text("it has been used already");
    browser.wait_text("Run tow open in a terminal");
    for (width, theme) in [(1280, Theme::Light), (390, Theme::Dark)] {
        browser.prefer(theme);
        browser.resize(width, 800);
        picture(&browser, &format!("login-{width}-{theme:?}").to_lowercase());
        assert_eq!(browser.barriers(), []);
        assert_eq!(browser.eval("document.documentElement.scrollWidth"), width);
    }
}
