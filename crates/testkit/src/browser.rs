//! Drives a real headless Chromium: opens pages, presses keys, and reports requests and errors.
//!
//! Never shares a profile, waits for conditions only, and ends with this value or its environment.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::browser_keys::Stroke;
use crate::browser_wire::Wire;
use crate::{TestEnv, clients, wait};

/// The colour scheme that a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

/// One finding of the accessibility checker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barrier {
    /// The violated rule.
    pub rule: String,
    /// The severity: `minor`, `moderate`, `serious`, `critical`.
    pub impact: String,
    /// The elements concerned, with the checker's message for each.
    pub places: Vec<String>,
}

/// One tab in its own browser process.
#[derive(Debug)]
pub struct Browser {
    wire: RefCell<Wire>,
}

impl Browser {
    /// Starts a browser in the environment, with an empty page of desktop width.
    #[track_caller]
    pub fn start(env: &TestEnv) -> Browser {
        let browser = Browser { wire: RefCell::new(Wire::start(env)) };
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(1280, 800);
        browser
    }

    /// Opens an address and waits until its document has loaded.
    #[track_caller]
    pub fn goto(&self, url: &str) {
        let answer = self.call("Page.navigate", json!({"url": url}));
        assert!(answer["errorText"].is_null(), "{url}: {answer}");
        self.wait_for("the document", "document.readyState === 'complete'");
    }

    /// Evaluates an expression and returns JSON; awaits promises, and an exception fails the test.
    #[track_caller]
    pub fn eval(&self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", asked);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{expression} threw {thrown:#}");
        answer["result"]["value"].clone()
    }

    /// Waits until the expression is true. A page that is being left has no answer.
    #[track_caller]
    pub fn wait_for(&self, what: &str, condition: &str) {
        wait::until_evident(what, wait::PATIENCE, || {
            let asked = json!({"expression": condition, "awaitPromise": true, "returnByValue": true});
            match self.wire.borrow_mut().ask("Runtime.evaluate", asked) {
                Ok(answer) if answer["result"]["value"] == true => return Ok(()),
                Err(error) => return Err(format!("{condition}\n{error:#}")),
                Ok(_) => {}
            }
            Err(format!("{condition} is not true of {}", self.seen_text()))
        });
    }

    /// Waits until the page shows a text.
    #[track_caller]
    pub fn wait_text(&self, text: &str) {
        self.wait_for(
            &format!("“{text}” on the page"),
            &format!("document.body.innerText.includes({})", json!(text)),
        );
    }

    /// The visible text of the page, as far as it has any now.
    fn seen_text(&self) -> Value {
        let asked = json!({"expression": "document.body?.innerText", "returnByValue": true});
        self.wire
            .borrow_mut()
            .ask("Runtime.evaluate", asked)
            .map_or(Value::Null, |answer| answer["result"]["value"].clone())
    }

    /// The visible text of the page.
    #[track_caller]
    pub fn text(&self) -> String {
        self.eval("document.body ? document.body.innerText : ''").as_str().unwrap_or_default().to_owned()
    }

    /// Clicks the centre of the first matching element, once it exists and is visible.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let place = self.middle_of(selector);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Types text, key by key, into the focused element.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        text.chars().for_each(|letter| self.press(&letter.to_string()));
    }

    /// Presses one key: a letter, or a name such as `Enter`, `Escape`, `Shift+Tab`.
    #[track_caller]
    pub fn press(&self, key: &str) {
        for event in Stroke::of(key).events() {
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Sets the viewport size, in CSS pixels.
    #[track_caller]
    pub fn resize(&self, width: u32, height: u32) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Sets `prefers-color-scheme`. Always asks for reduced motion: screenshots would differ otherwise.
    #[track_caller]
    pub fn prefer(&self, theme: Theme) {
        let scheme = if theme == Theme::Dark { "dark" } else { "light" };
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Writes a screenshot of the viewport.
    #[track_caller]
    pub fn screenshot(&self, path: &Path) {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let bytes = decoded(answer["data"].as_str().expect("a picture"));
        fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// The serious and critical findings of the accessibility checker for the current page.
    #[track_caller]
    pub fn barriers(&self) -> Vec<Barrier> {
        if self.eval("typeof window.axe") == "undefined" {
            let checker = clients::launcher("axe-core", "axe.min.js");
            let source = fs::read_to_string(checker).expect("the checker can be read");
            self.eval(&format!("{source}; undefined"));
        }
        let found =
            self.eval("axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations)");
        let all = found.as_array().expect("a list of findings").iter().map(barrier);
        all.filter(|barrier| ["serious", "critical"].contains(&barrier.impact.as_str())).collect()
    }

    /// All addresses requested since the start.
    #[track_caller]
    pub fn requests(&self) -> Vec<String> {
        let url = |event: &Value| event["params"]["request"]["url"].as_str().map(str::to_owned);
        self.seen("Network.requestWillBeSent").iter().filter_map(url).collect()
    }

    /// Everything pages reported since the start: console errors, exceptions, blocked content.
    #[track_caller]
    pub fn complaints(&self) -> Vec<String> {
        let mut all = self.seen("Runtime.exceptionThrown");
        all.extend(
            self.seen("Runtime.consoleAPICalled")
                .into_iter()
                .filter(|event| event["params"]["type"] == "error"),
        );
        all.extend(
            self.seen("Log.entryAdded")
                .into_iter()
                .filter(|event| event["params"]["entry"]["level"] == "error"),
        );
        all.iter().map(|event| event["params"].to_string()).collect()
    }

    /// The point at which the first matching element can be clicked: no other element may cover it.
    #[track_caller]
    fn middle_of(&self, selector: &str) -> Value {
        let place = format!(
            "(() => {{ const found = document.querySelector({}); if (!found) return 'no such element';
            found.scrollIntoView({{block: 'nearest'}}); const box = found.getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2], above = document.elementFromPoint(x, y);
            return found.contains(above) ? [x, y] : 'covered by ' + (above && above.outerHTML.slice(0, 200)); }})()",
            json!(selector)
        );
        wait::until_evident(selector, wait::PATIENCE, || match self.eval(&place) {
            found if found.is_array() => Ok(found),
            other => Err(format!("{other}\n{}", self.text())),
        })
    }

    #[track_caller]
    fn call(&self, method: &str, params: Value) -> Value {
        self.wire.borrow_mut().call(method, params)
    }

    fn seen(&self, method: &str) -> Vec<Value> {
        self.wire.borrow_mut().events(method)
    }
}

fn barrier(found: &Value) -> Barrier {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let place = |node: &Value| format!("{} {}", node["target"], text(&node["failureSummary"]));
    let places = found["nodes"].as_array().map(|nodes| nodes.iter().map(place).collect());
    Barrier { rule: text(&found["id"]), impact: text(&found["impact"]), places: places.unwrap_or_default() }
}

/// Decodes base64 in the standard alphabet; all other characters, such as padding, are skipped.
fn decoded(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0);
    for value in text.bytes().filter_map(|byte| LETTERS.iter().position(|letter| *letter == byte)) {
        held = held << 6 | u32::try_from(value).unwrap_or_default();
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> String {
        let escaped: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        format!("data:text/html;charset=utf-8,{escaped}")
    }

    #[test]
    fn a_page_is_read_pressed_and_typed_into() {
        let env = TestEnv::new("/bin/true");
        let browser = Browser::start(&env);
        browser.goto(&page("<input id=i><button onclick=\"document.title=i.value\">Go</button>"));
        browser.click("#i");
        browser.type_text("Hé, 1?");
        browser.press("Shift+Tab");
        browser.click("button");
        browser.wait_for("the title", "document.title === 'Hé, 1?'");
        browser.wait_text("Go");
    }

    #[test]
    fn what_a_page_complains_of_and_whom_it_asks_is_told() {
        let env = TestEnv::new("/bin/true");
        let browser = Browser::start(&env);
        browser.goto(&page(
            "<script>console.error('oh no'); fetch('http://127.0.0.1:9/far').catch(() => 0)</script>",
        ));
        browser.eval("new Promise((done) => setTimeout(done))");
        assert!(browser.complaints().iter().any(|complaint| complaint.contains("oh no")));
        assert!(browser.requests().contains(&"http://127.0.0.1:9/far".to_owned()));
    }

    #[test]
    fn colours_and_width_are_what_the_page_is_told_and_barriers_are_found() {
        let env = TestEnv::new("/bin/true");
        let browser = Browser::start(&env);
        browser.resize(360, 640);
        browser.prefer(Theme::Dark);
        browser.goto(&page(
            "<!doctype html><meta name=viewport content='width=device-width'><img src='data:,'>",
        ));
        assert_eq!(browser.eval("matchMedia('(prefers-color-scheme: dark)').matches"), true);
        assert_eq!(browser.eval("innerWidth"), 360);
        assert!(browser.barriers().iter().any(|barrier| barrier.rule == "image-alt"));
        let picture = env.root().join("picture.png");
        browser.screenshot(&picture);
        assert!(fs::read(picture).unwrap().starts_with(b"\x89PNG\r\n"));
    }

    #[test]
    fn the_browser_ends_with_its_value() {
        let env = TestEnv::new("/bin/true");
        drop(Browser::start(&env));
        env.wait_no_process();
    }

    #[test]
    fn letters_become_bytes() {
        assert_eq!(decoded("VG93bGluZQ=="), b"Towline");
    }
}
