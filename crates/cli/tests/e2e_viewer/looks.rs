//! How the viewer looks and feels: for who cannot see it, in the dark, and on a phone.

use crate::desk::{Desk, HUNT, Hand, VIEWS};
use towline_testkit::Theme;

/// Every view, and the two that need a name.
fn places(desk: &Desk) -> Vec<(String, String)> {
    let memory = desk.memory("onerror")["id"].as_str().unwrap().to_owned();
    let named = [
        ("session".to_owned(), format!("session/{HUNT}")),
        ("memory".to_owned(), format!("memories/{memory}")),
    ];
    let plain = VIEWS.iter().map(|(view, _)| ((*view).to_owned(), (*view).to_owned()));
    plain.chain(named).chain([("search".to_owned(), "memories?q=token".to_owned())]).collect()
}

#[test]
fn no_view_is_a_barrier_in_either_theme() {
    let desk = Desk::new(Hand::Writes);
    let mut found = vec![];
    for theme in [Theme::Light, Theme::Dark] {
        desk.browser.prefer(theme);
        for (name, place) in places(&desk) {
            desk.open(&place);
            desk.picture(&format!("{name}-{theme:?}").to_lowercase());
            found.extend(desk.browser.barriers().into_iter().map(|barrier| (theme, name.clone(), barrier)));
        }
        desk.open("board");
        desk.browser.press("?");
        desk.browser.wait_for("the legend", "!!document.querySelector('dialog[open]')");
        found.extend(desk.browser.barriers().into_iter().map(|barrier| (theme, "keys".to_owned(), barrier)));
        desk.browser.press("Escape");
    }
    assert!(found.is_empty(), "{found:#?}");
    desk.was_well_behaved();
}

/// The page fits the width of the screen, and the checker finds no barrier.
#[track_caller]
fn insist_on_fit(desk: &Desk, name: &str, width: u32) {
    let wide = desk.browser.eval("[document.documentElement, document.body, document.querySelector('main')].map((node) => node.scrollWidth)");
    assert!(
        wide.as_array().unwrap().iter().all(|each| each.as_u64().unwrap() <= width.into()),
        "{name} is {wide} wide"
    );
    let barriers = desk.browser.barriers();
    assert!(barriers.is_empty(), "{name}: {barriers:#?}");
}

#[test]
fn every_view_fits_a_phone() {
    let desk = Desk::new(Hand::Writes);
    for (width, theme) in [(360, Theme::Light), (390, Theme::Dark)] {
        desk.browser.prefer(theme);
        desk.browser.resize(width, 780);
        for (name, place) in places(&desk) {
            desk.open(&place);
            desk.picture(&format!("{name}-phone-{theme:?}").to_lowercase());
            insist_on_fit(&desk, &name, width);
        }
    }
    desk.open("usage");
    desk.browser.wait_for("a table", "!!document.querySelector('.figures tbody tr')");
    desk.browser.eval("document.querySelector('.panel > div > .figures').scrollIntoView(); undefined");
    desk.picture("usage-tables-phone");
    let cut = "[...document.querySelectorAll('.figures')].filter((node) => node.scrollWidth > node.clientWidth).length";
    assert_eq!(desk.browser.eval(cut), 0, "every column of a table is read without scrolling");
    desk.open("board");
    desk.browser.click("#menu");
    desk.browser.click("nav a[data-view=projects]");
    desk.wait_view("Projects");
    desk.was_well_behaved();
}

#[test]
fn an_empty_view_says_what_it_will_show_and_which_command_fills_it() {
    let desk = Desk::empty();
    for (width, theme) in [(1280, Theme::Light), (390, Theme::Light), (390, Theme::Dark), (1280, Theme::Dark)]
    {
        desk.browser.prefer(theme);
        desk.browser.resize(width, 800);
        for (view, _) in VIEWS {
            desk.open(view);
            desk.picture(&format!("empty-{view}-{width}-{theme:?}").to_lowercase());
            insist_on_fit(&desk, view, width);
            let said =
                desk.browser.eval("[...document.querySelectorAll('.empty')].map((node) => node.innerText)");
            let said: Vec<&str> =
                said.as_array().unwrap().iter().map(|each| each.as_str().unwrap()).collect();
            assert_eq!(said.is_empty(), view == "settings", "{view}: {said:?}");
            assert!(said.iter().all(|text| text.contains("\n\nRun tow ")), "{view}: {said:?}");
            let explains = |text: &&str| text.matches('.').count() >= 3;
            assert!(view == "settings" || said.iter().any(explains), "{view} says what it is for: {said:?}");
        }
    }
    desk.was_well_behaved();
}

#[test]
fn a_broken_configuration_is_named_above_the_view_until_it_is_mended() {
    let desk = Desk::empty();
    let file = desk.env.home().join(".config/towline/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "[hook]\npatience = 1\n").unwrap();
    desk.browser.goto("about:blank");
    desk.open("board");
    desk.browser.wait_text("(fix: tow config edit): line 2: there is no key hook.patience");
    for (width, theme) in [(1280, Theme::Light), (390, Theme::Dark)] {
        desk.browser.prefer(theme);
        desk.browser.resize(width, 800);
        desk.picture(&format!("warning-{width}-{theme:?}").to_lowercase());
        insist_on_fit(&desk, "warning", width);
    }
    std::fs::write(&file, "").unwrap();
    desk.open("jobs");
    desk.browser.wait_for("the warning to go", "document.getElementById('warning').hidden");
    desk.was_well_behaved();
}

#[test]
fn a_serious_barrier_that_is_there_is_found() {
    let desk = Desk::empty();
    desk.browser.eval("document.querySelector('main').append(document.createElement('button')); undefined");
    let found: Vec<_> =
        desk.browser.barriers().into_iter().map(|barrier| (barrier.rule, barrier.impact)).collect();
    assert_eq!(found, [("button-name".to_owned(), "critical".to_owned())]);
}

#[test]
fn colours_go_with_the_system_until_a_person_says_otherwise() {
    let desk = Desk::empty();
    let ground = "getComputedStyle(document.documentElement).backgroundColor";
    desk.browser.prefer(Theme::Light);
    let light = desk.browser.eval(ground);
    desk.browser.prefer(Theme::Dark);
    let dark = desk.browser.eval(ground);
    assert_ne!(light, dark);
    desk.browser
        .wait_for("a name for the way back", "document.getElementById('theme').textContent === 'Light'");
    desk.browser.click("#theme");
    assert_eq!(desk.browser.eval(ground), light);
    desk.open("jobs");
    assert_eq!(desk.browser.eval(ground), light, "it is remembered");
    desk.browser.goto("about:blank");
    desk.open("jobs");
    assert_eq!(desk.browser.eval(ground), light, "by a page that is loaded anew, too");
    desk.was_well_behaved();
}
