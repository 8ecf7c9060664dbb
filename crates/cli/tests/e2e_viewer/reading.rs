//! Reading what was: sessions, their details, the timeline, the context, projects, usage, jobs, settings.

use crate::desk::{BUILT, Desk, HUNT, Hand, VIEWS};

#[test]
fn the_shell_is_there_before_any_answer() {
    let desk = Desk::new(Hand::Reads);
    desk.browser.eval(
        "window.asked = fetch; window.fetch = () => new Promise(() => 0); location.hash = '#/projects'; undefined",
    );
    desk.wait_view("Projects");
    desk.browser.wait_text("Reading…");
}

#[test]
fn a_session_is_read_turn_by_turn_with_its_details() {
    let desk = Desk::new(Hand::Reads);
    desk.open("sessions");
    desk.browser.wait_for("three sessions", "document.querySelectorAll('.row').length === 3");
    desk.picture("sessions");
    desk.open(&format!("session/{HUNT}"));
    desk.browser.wait_text("The checkout tests fail on CI since yesterday");
    desk.browser.wait_for("folded details", "document.querySelectorAll('.turn .fold').length > 0");
    desk.browser.click(".turn .fold > summary");
    desk.browser.wait_text("cargo test -p checkout");
    desk.browser.click(".call > summary");
    desk.browser.wait_text("token was replaced while a request was in flight");
    desk.picture("session");
    desk.was_well_behaved();
}

#[test]
fn what_an_edit_changed_is_shown_line_by_line() {
    let desk = Desk::new(Hand::Reads);
    for session in [HUNT, BUILT] {
        desk.open(&format!("session/{session}"));
        desk.browser.wait_for("folded details", "document.querySelectorAll('.turn .fold').length > 0");
        desk.browser
            .eval("document.querySelectorAll('.fold').forEach((fold) => (fold.open = true)); undefined");
        let edits = "[...document.querySelectorAll('.call')].filter((call) => /Edit|apply_patch/.test(call.innerText))";
        desk.browser.wait_for("an edit", &format!("{edits}.length > 0"));
        desk.browser.eval(&format!("{edits}.forEach((call) => (call.open = true)); undefined"));
        desk.browser
            .wait_for("what was added", "document.querySelectorAll('.diff [data-sign=\"+\"]').length > 0");
    }
    desk.picture("diff");
    desk.was_well_behaved();
}

#[test]
fn the_timeline_leads_to_what_it_shows() {
    let desk = Desk::new(Hand::Reads);
    let memory = desk.memory("blue pipeline")["id"].as_str().unwrap().to_owned();
    desk.open(&format!("timeline?anchor={memory}"));
    desk.browser.wait_for(
        "the anchor",
        "document.querySelector('[data-anchor=true]')?.innerText.includes('blue pipeline')",
    );
    desk.picture("timeline");
    desk.browser.click("[data-anchor=true] a");
    desk.browser.wait_for("the memory", &format!("location.hash.startsWith('#/memories/{memory}')"));
    desk.was_well_behaved();
}

#[test]
fn the_context_shows_its_budget_and_takes_a_veto() {
    let desk = Desk::new(Hand::Writes);
    let memory = desk.memory("blue pipeline")["id"].as_str().unwrap().to_owned();
    desk.open("context");
    desk.browser.wait_for("the parts", "document.querySelectorAll('.parts-bar .piece').length > 1");
    desk.browser.wait_text("characters");
    desk.picture("context");
    let veto = format!("[data-veto={memory}]");
    desk.browser.click(&veto);
    desk.browser.wait_text("is held back from every model");
    desk.browser.wait_for("the line to go", &format!("!document.querySelector('{veto}')"));
    assert!(desk.memory("blue pipeline")["held_back"].is_string());
    desk.browser.click(".notice button");
    desk.browser.wait_for("the line to come back", &format!("!!document.querySelector('{veto}')"));
    desk.was_well_behaved();
}

#[test]
fn projects_jobs_and_settings_tell_what_the_verbs_tell() {
    let desk = Desk::new(Hand::Reads);
    desk.open("projects");
    desk.browser.wait_for("a project", "document.querySelectorAll('.card').length === 1");
    desk.browser.wait_text("project");
    desk.open("jobs");
    desk.browser.wait_text("waiting");
    desk.browser.wait_text("Provider: none");
    desk.open("settings");
    desk.browser.wait_text("bookmarks.min_tokens");
    desk.browser.press("/");
    desk.browser.type_text("cooldown");
    desk.browser.wait_for("a filtered list", "!document.body.innerText.includes('bookmarks.min_tokens')");
    desk.browser.wait_text("bookmarks.cooldown_seconds");
    desk.was_well_behaved();
}

#[test]
fn every_view_is_reached_by_keys_alone() {
    let desk = Desk::new(Hand::Reads);
    for ((view, title), key) in VIEWS.into_iter().zip(["b", "s", "m", "t", "c", "p", "u", "j", "e"]) {
        desk.browser.press("g");
        desk.browser.press(key);
        desk.browser.wait_for(view, &format!("location.hash === '#/{view}'"));
        desk.wait_view(title);
    }
    desk.browser.press("?");
    desk.browser.wait_for(
        "the legend",
        "document.querySelector('dialog[open]')?.innerText.includes('next, previous')",
    );
    desk.browser.press("Escape");
    desk.browser.wait_for("the legend to go", "!document.querySelector('dialog')");
    desk.browser.press("t");
    desk.browser.wait_for("dark colours", "document.documentElement.dataset.theme === 'dark'");
    for (key, place) in
        [("g", ""), ("s", "#/sessions"), ("j", ""), ("j", ""), ("k", ""), ("Enter", "#/session/")]
    {
        desk.settled();
        desk.browser
            .wait_for("the rows", "!location.hash.includes('sessions') || !!document.querySelector('.row')");
        desk.browser.press(key);
        desk.browser.wait_for(place, &format!("location.hash.startsWith('{place}')"));
    }
    desk.browser.wait_for("turns", "document.querySelectorAll('.turn').length > 0");
    desk.browser.press("j");
    desk.browser.wait_for("a chosen turn", "document.activeElement.matches('.turn')");
    desk.browser.press("Enter");
    desk.was_well_behaved();
}

#[test]
fn what_a_view_begins_with_is_asked_for_at_once_and_only_once() {
    let desk = Desk::new(Hand::Reads);
    // The first rows of the lists and the server's state are part of the page itself.
    for (view, asked, times) in [
        ("board", "/v1/seats", 1),
        ("memories", "/v1/memories?limit=30", 0),
        ("sessions", "/v1/sessions?limit=30", 0),
    ] {
        desk.browser.goto("about:blank");
        let before = desk.browser.requests().len();
        desk.open(view);
        let sent: Vec<_> = desk.browser.requests().split_off(before);
        let count = |path: &str| sent.iter().filter(|url| url.ends_with(path)).count();
        assert_eq!((count(asked), count("/v1/health")), (times, 0), "{view}: {sent:#?}");
        let left = desk.browser.eval("document.querySelectorAll('[data-early]').length");
        assert_eq!(left, 0, "nothing of it is shown again later");
    }
    desk.was_well_behaved();
}
