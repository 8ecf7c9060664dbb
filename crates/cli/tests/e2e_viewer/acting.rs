//! What can be set going from the page: going to a seat, and what becomes of jobs.

use crate::desk::{Desk, Hand, bare};
use crate::sitter::Sitter;
use crate::written::{BEGAN, Shape, written};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use towline_testkit::{TestEnv, Theme, Tmux, wait};

const BUG_HUNT: &str = include_str!("../../../core/src/memory/distil/sessions/bug-hunt.txt");

#[test]
fn a_button_brings_a_seat_before_the_person() {
    let env = bare();
    let tmux = Tmux::start(&env);
    let [first, second] = ["session-1", "session-2"].map(|name| Sitter::sit(&tmux, name));
    first.prompt("Paint the mast");
    second.prompt("Mend the sail");
    // Nobody can be shown a pane who is not attached.
    let outer = Tmux::named(&env, "outer");
    let _watched = outer.attach_to(&tmux);
    wait::until("somebody to be attached", wait::PATIENCE, || {
        (!tmux.run(&["list-clients"]).trim().is_empty()).then_some(())
    });
    let shown = || tmux.run(&["display-message", "-p", "#{pane_id}"]).trim().to_owned();
    // It changes no data: a server that only reads does it, too.
    let desk = Desk::around(env, Hand::Reads);
    for (width, theme) in [(1280, Theme::Light), (390, Theme::Dark), (1280, Theme::Dark)] {
        desk.browser.prefer(theme);
        desk.browser.resize(width, 800);
        desk.picture(&format!("seats-{width}-{theme:?}").to_lowercase());
        assert_eq!(desk.browser.barriers(), []);
    }
    for (session, sitter) in [("session-1", &first), ("session-2", &second)] {
        desk.browser.click(&format!(".seat:has(a[href='#/session/{session}']) button.goto"));
        wait::until_evident("the pane", wait::PATIENCE, || {
            let pane = shown();
            if pane == sitter.pane.id { Ok(()) } else { Err(pane) }
        });
        desk.browser.wait_for("a word about it", "!!document.querySelector('.notice')");
        let said = desk.browser.eval("document.querySelector('.notice').textContent");
        assert_eq!(said, "Your terminal shows project now.");
        desk.browser.eval("document.querySelector('.notice').remove()");
    }
    desk.was_well_behaved();
    let (answers, target) = (hostile_page(&desk, "session-1"), &second.pane.id);
    assert_eq!(answers, ["refused"; 4], "by a form, without and with our header, and by an image");
    assert_eq!(shown(), *target, "another page cannot move the terminal");
}

/// The answers that a page of another port of this machine gets, with the viewer's session in the same browser.
#[expect(clippy::disallowed_methods, reason = "a server of another origin, which ends with the test")]
fn hostile_page(desk: &Desk, session: &str) -> Vec<String> {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut visitor in other.incoming().flatten() {
            let _head = visitor.read(&mut [0; 4096]);
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\nConnection: close\r\n\r\n<p>hello";
            let _gone = visitor.write_all(page.as_bytes());
        }
    });
    desk.browser.goto(&format!("http://127.0.0.1:{port}/"));
    let target = format!("{}/v1/seats/{session}/goto", desk.address);
    let tries = desk.browser.eval(&format!(
        "(async () => {{
            const target = '{target}', said = [];
            const post = (more) => fetch(target, {{method: 'POST', credentials: 'include', body: '{{}}', ...more}})
                .then((answer) => answer.type === 'opaque' ? 'refused' : String(answer.status), () => 'refused');
            const frame = Object.assign(document.createElement('iframe'), {{name: 'frame'}});
            const form = Object.assign(document.createElement('form'), {{method: 'POST', action: target, target: 'frame'}});
            document.body.append(frame, form);
            const loaded = new Promise((done) => frame.addEventListener('load', done));
            form.submit();
            await loaded;
            said.push(frame.contentDocument ? 'shown' : 'refused');
            said.push(await post({{mode: 'no-cors', headers: {{'Content-Type': 'text/plain'}}}}));
            said.push(await post({{headers: {{'Content-Type': 'application/json', 'X-Towline': '1'}}}}));
            const image = new Image();
            const failed = new Promise((done) => (image.onload = () => done('shown'), image.onerror = () => done('refused')));
            image.src = target;
            said.push(await failed);
            return said;
        }})()"
    ));
    tries.as_array().unwrap().iter().map(|each| each.as_str().unwrap().to_owned()).collect()
}

/// A past whose turns wait for a model that is not there.
fn waiting() -> TestEnv {
    let env = bare();
    env.set_now(BEGAN + 3_600_000);
    let [shape, _] = Shape::ALL;
    let session = "11111111-aaaa-4000-8000-000000000a01";
    let path = written(shape, session, (&env.project(), BUG_HUNT)).at(BEGAN).save(&env.home(), usize::MAX);
    env.tow(&["capture", "--at-once", shape.agent(), &path.to_string_lossy()]).ok();
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    let lines = "[distil]\nprovider = 'openai'\nmodel = 'small'\nbase_url = 'http://127.0.0.1:1/v1'\nkey_env = 'SMALL_KEY'\ndaily_tokens = 100000000\n";
    fs::write(folder.join("config.toml"), lines).unwrap();
    env.set("SMALL_KEY", "not-a-secret");
    env.tow(&["work"]).ok();
    env
}

fn counted(desk: &Desk) -> [u64; 2] {
    let counts = desk.env.tow(&["jobs", "--json"]).ok().json()["counts"].clone();
    ["waiting", "dropped"].map(|state| counts.get(state).and_then(Value::as_u64).unwrap())
}

#[test]
fn a_job_is_tried_again_or_dropped_by_its_button() {
    let desk = Desk::around(waiting(), Hand::Writes);
    let [waiting, dropped] = counted(&desk);
    assert!(waiting > 0 && dropped == 0, "{waiting} wait, {dropped} were dropped");
    desk.open("jobs");
    desk.browser.click(".plain-list .buttons button:first-child");
    desk.browser.wait_text("Retry: job ");
    // The failure of the new attempt moves the buttons.
    desk.env.tow(&["data", "work"]).ok();
    desk.open("jobs");
    desk.browser.click(".plain-list .buttons button:last-child");
    desk.browser.wait_text("Drop: job ");
    wait::until_evident("the job to be dropped", wait::PATIENCE, || match counted(&desk) {
        [_, 1] => Ok(()),
        counts => Err(format!("{counts:?}")),
    });
    desk.was_well_behaved();
}
