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

#[test]
fn every_view_fits_a_phone() {
    let desk = Desk::new(Hand::Writes);
    desk.browser.resize(360, 740);
    for (name, place) in places(&desk) {
        desk.open(&place);
        desk.picture(&format!("{name}-phone"));
        let wide = desk.browser.eval("[document.documentElement, document.body, document.querySelector('main')].map((node) => node.scrollWidth)");
        assert!(
            wide.as_array().unwrap().iter().all(|width| width.as_i64().unwrap() <= 360),
            "{name} is {wide} wide"
        );
        let barriers = desk.browser.barriers();
        assert!(barriers.is_empty(), "{name}: {barriers:#?}");
    }
    desk.open("board");
    desk.browser.click("#menu");
    desk.browser.click("nav a[data-view=projects]");
    desk.wait_view("Projects");
    desk.was_well_behaved();
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
