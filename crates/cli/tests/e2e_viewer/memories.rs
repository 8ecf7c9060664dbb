//! Memories in the browser: found as one types, read whole, and changed where that is allowed.

use crate::desk::{Desk, HOSTILE, Hand, RIGHT_TO_LEFT, bare};
use serde_json::{Value, json};
use towline_testkit::wait;

fn id(memory: &Value) -> String {
    memory["id"].as_str().unwrap().to_owned()
}

/// Waits until the archive says so, too: the page may not be the only one that believes it.
#[track_caller]
pub fn wait_memory(desk: &Desk, words: &str, holds: impl Fn(&Value) -> bool) {
    wait::until_evident("the memory to change", wait::PATIENCE, || {
        let memory = desk.memory(words);
        if holds(&memory) { Ok(()) } else { Err(format!("{memory:#}")) }
    });
}

#[test]
fn search_goes_along_with_typing_and_says_why() {
    let desk = Desk::new(Hand::Reads);
    desk.browser.press("/");
    desk.browser.wait_for("the field", "document.activeElement.matches('input[type=search]')");
    desk.browser.type_text("blue pipel");
    desk.browser
        .wait_for("the first hit", "document.querySelector('.row')?.innerText.includes('blue pipeline')");
    desk.browser.type_text("ine");
    desk.browser.wait_for(
        "a mark",
        "[...document.querySelectorAll('.row mark')].some((mark) => /pipeline/i.test(mark.innerText))",
    );
    desk.browser.wait_for("reasons", "document.querySelector('.row .reasons').innerText.includes('words')");
    desk.browser.wait_for("an address to come back to", "location.hash.includes('q=blue+pipeline')");
    desk.picture("search");
    desk.browser.press("ArrowDown");
    desk.browser.press("Enter");
    desk.browser
        .wait_for("the memory", "document.querySelector('.memory h2')?.innerText.includes('blue pipeline')");
    desk.picture("memory");
    desk.browser.eval("document.querySelector('select[aria-label=Kind]').value = 'detail'; document.querySelector('select[aria-label=Kind]').dispatchEvent(new Event('change')); undefined");
    desk.browser.wait_for(
        "no memory",
        "![...document.querySelectorAll('.row .badge')].some((badge) => badge.innerText === 'decision')",
    );
    desk.was_well_behaved();
}

#[test]
fn bulk_output_of_tools_could_not_be_searched() {
    let env = bare();
    let output = format!("{}Quarterdeck Lantern 4711\n", "the planks of the hull are counted\n".repeat(60));
    let entries = [
        ("user", json!("Paint the mast")),
        (
            "assistant",
            json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/boat/list.txt"}}]),
        ),
        ("user", json!([{"type": "tool_result", "tool_use_id": "t1", "content": output}])),
        ("assistant", json!([{"type": "text", "text": "The mast is blue."}])),
    ];
    let session = "0000000d-aaaa-4000-8000-0000aaaaaaaa";
    let line = |(number, (kind, content)): (usize, (&str, Value))| {
        let parent = number.checked_sub(1).map(|before| format!("d-{before}"));
        json!({
            "parentUuid": parent, "sessionId": session, "cwd": env.project(), "type": kind, "uuid": format!("d-{number}"),
            "timestamp": format!("2026-11-15T10:00:{number:02}.000Z"), "isSidechain": false,
            "message": {"role": kind, "content": content},
        })
        .to_string()
    };
    let lines: Vec<String> = entries.into_iter().enumerate().map(line).collect();
    let folder = env.home().join(".claude/projects/-boat");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{session}.jsonl")), lines.join("\n") + "\n").unwrap();
    env.unattended(&["import"]).ok();
    let desk = Desk::around(env, Hand::Reads);
    desk.open("memories?q=lantern");
    desk.browser.wait_text("Nothing was found for “lantern”");
    desk.browser.eval("const depth = document.querySelector('select[aria-label=Depth]'); depth.value = 'true'; depth.dispatchEvent(new Event('change')); undefined");
    desk.browser.wait_for("the output", "document.querySelector('.row')?.innerText.includes('Lantern 4711')");
    desk.browser.wait_for("an address to come back to", "location.hash.includes('deep=true')");
    desk.was_well_behaved();
}

#[test]
fn nothing_found_is_said() {
    let desk = Desk::empty();
    desk.open("memories?q=zzqqxxyy");
    desk.browser.wait_text("Nothing was found for “zzqqxxyy”");
    desk.was_well_behaved();
}

#[test]
fn a_memory_is_edited_pinned_held_and_superseded_and_each_is_undone() {
    let desk = Desk::new(Hand::Writes);
    let memory = id(&desk.memory("blue pipeline"));
    desk.open(&format!("memories/{memory}"));
    desk.browser.wait_for("it", "document.querySelector('.memory h2')?.innerText.includes('blue pipeline')");

    desk.browser.click("[data-act=edit]");
    desk.browser.wait_for("the form", "!!document.querySelector('dialog input[name=title]')");
    desk.browser.click("dialog input[name=title]");
    desk.browser.press("Control+a");
    desk.browser.type_text("Deploys go through the green pipeline");
    desk.browser.click("dialog button[type=submit]");
    desk.browser.wait_for(
        "the new title",
        "document.querySelector('.memory h2')?.innerText.includes('green pipeline')",
    );
    wait_memory(&desk, "green pipeline", |_| true);
    desk.browser.press("u");
    desk.browser.wait_for(
        "the old title",
        "document.querySelector('.memory h2')?.innerText.includes('blue pipeline')",
    );

    desk.browser.click("[data-act=pin]");
    desk.browser.wait_for("a pin", "!!document.querySelector('[data-act=unpin]')");
    wait_memory(&desk, "blue pipeline", |memory| memory["pinned_at"].is_string());
    desk.browser.click("[data-act=unpin]");
    desk.browser.wait_for("no pin", "!!document.querySelector('[data-act=pin]')");

    desk.browser.click("[data-act=hold]");
    desk.browser.wait_text("Held back from every model");
    wait_memory(&desk, "blue pipeline", |memory| memory["held_back"].is_string());
    desk.browser.click("[data-act=release]");
    desk.browser.wait_for("it to be released", "!!document.querySelector('[data-act=hold]')");

    desk.browser.click("[data-act=supersede]");
    desk.browser.click("dialog input[name=because]");
    desk.browser.type_text("we moved");
    desk.browser.click("dialog button[type=submit]");
    wait_memory(&desk, "blue pipeline", |memory| !memory["superseded"].is_null());
    let said =
        "[...document.querySelectorAll('.memory .badge')].some((badge) => badge.innerText === 'superseded')";
    desk.browser.wait_for("the page to say so", said);
    desk.browser.click("[data-act=undo]");
    wait_memory(&desk, "blue pipeline", |memory| memory["superseded"].is_null());
    desk.was_well_behaved();
}

#[test]
fn a_memory_is_forgotten_by_keys_and_only_after_a_question() {
    let desk = Desk::new(Hand::Writes);
    let memory = id(&desk.memory("blue pipeline"));
    desk.open(&format!("memories/{memory}"));
    desk.browser.wait_for("it", "!!document.querySelector('[data-act=forget]')");
    desk.browser.press("x");
    desk.browser.wait_text("This cannot be undone.");
    desk.browser.press("Escape");
    desk.browser.wait_for("the question to go", "!document.querySelector('dialog')");
    wait_memory(&desk, "blue pipeline", |_| true);
    desk.browser.press("x");
    desk.browser.wait_for("the question", "!!document.querySelector('dialog button.danger')");
    desk.browser.click("dialog button.danger");
    desk.browser.wait_text(&format!("Forgot {memory}"));
    desk.browser.wait_for(
        "the row to go",
        "![...document.querySelectorAll('.row')].some((row) => row.innerText.includes('blue pipeline'))",
    );
    let listed = desk.env.tow(&["memories", "--all-projects", "--all", "--limit", "100"]).ok().stdout;
    assert!(!listed.contains("blue pipeline"));
    desk.was_well_behaved();
}

#[test]
fn a_server_that_only_reads_offers_no_change() {
    let desk = Desk::new(Hand::Reads);
    let memory = id(&desk.memory("blue pipeline"));
    desk.open(&format!("memories/{memory}"));
    desk.browser.wait_for("it", "!!document.querySelector('.memory h2')");
    desk.browser.wait_text("read-only");
    desk.browser.press("x");
    desk.browser.press("p");
    assert_eq!(desk.browser.eval("document.querySelectorAll('[data-act], dialog').length"), 0);
    let sent = desk.browser.eval(&format!(
        "fetch('/v1/memories/{memory}/pin', {{method: 'POST', body: '{{}}', headers: {{'Content-Type': 'application/json', 'X-Towline': '1'}}}}).then((answer) => answer.status)"
    ));
    assert_eq!(sent, 403);
    assert!(desk.memory("blue pipeline")["pinned_at"].is_null());
}

#[test]
fn hostile_text_stays_text_wherever_it_is_shown() {
    let desk = Desk::new(Hand::Writes);
    let hostile = id(&desk.memory("onerror"));
    let places = [
        "memories".to_owned(),
        "memories?q=boats".to_owned(),
        format!("memories/{hostile}"),
        "timeline".to_owned(),
        "context".to_owned(),
    ];
    for place in places {
        desk.open(&place);
        desk.browser.wait_text("<img src=x");
        assert_eq!(
            desk.browser.eval("document.querySelectorAll('main img, main script').length"),
            0,
            "{place}"
        );
    }
    desk.open(&format!("memories/{}", id(&desk.memory("مرحبا"))));
    desk.browser.wait_for("it", "!!document.querySelector('.memory h2')");
    let shown = desk.browser.eval("document.querySelector('.memory h2').textContent");
    assert!(RIGHT_TO_LEFT.starts_with(shown.as_str().unwrap().split_whitespace().next().unwrap()));
    assert_eq!(desk.browser.eval("getComputedStyle(document.querySelector('.memory h2')).direction"), "rtl");
    assert_ne!(desk.browser.eval("getComputedStyle(document.querySelector('.memory h3')).direction"), "rtl");
    assert!(HOSTILE.contains("<script>"));
    desk.was_well_behaved();
}

#[test]
fn a_proposal_is_announced_shown_whole_and_accepted_or_rejected() {
    let desk = Desk::new(Hand::Writes);
    for text in ["Tests run with nextest\nPlain cargo test misses the retries.", "The boom is of ash"] {
        desk.env.unattended(&["remember", "--pin", text]).ok();
    }
    desk.open("memories");
    desk.browser.wait_text("2 proposals of agents to pin");
    desk.browser.eval("[...document.querySelectorAll('button')].find((button) => button.innerText.includes('proposals')).click(); undefined");
    desk.browser.wait_for("the two", "document.querySelectorAll('.row').length === 2");
    desk.open(&format!("memories/{}", id(&desk.memory("nextest"))));
    desk.browser.wait_text("Plain cargo test misses the retries.");
    desk.browser.click("[data-act=accept]");
    wait_memory(&desk, "nextest", |memory| memory["pinned_at"].is_string() && memory["level"] == "person");
    desk.open(&format!("memories/{}", id(&desk.memory("boom"))));
    desk.browser.wait_text("An agent proposes to pin this");
    desk.browser.click("[data-act=reject]");
    wait_memory(&desk, "boom", |memory| memory["proposed_at"].is_null() && memory["pinned_at"].is_null());
    desk.was_well_behaved();
}
