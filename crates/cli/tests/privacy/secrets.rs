//! Done when: every known kind of secret, in every place of a conversation, through hooks, capture, import and what is
//! given to the next session. No byte of it is found afterwards.

use crate::samples::{Sample, SeededRng, announced, armoured, keys, passwords};
use crate::script::{Script, Shape};
use crate::world::{World, padded};
use serde_json::json;
use std::collections::HashMap;

/// All samples, each once.
fn all() -> Vec<Sample> {
    let mut chance = SeededRng::new(41);
    let mut samples = keys(&mut chance);
    // Each announcement once or twice is enough here, each time with another kind of secret: all are tried where
    // redaction is.
    samples.extend(announced(&mut chance).into_iter().step_by(3));
    samples.extend(passwords());
    samples.extend(armoured(&mut chance));
    samples
}

/// What must not be found of a secret: its beginning and its end, or all of it, as it is, in JSON, and in base 64.
fn forms(sample: &Sample) -> Vec<Vec<u8>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+/_-.!".contains(c);
    let parts = sample.secret.split(|c| !is_plain(c)).filter(|part| part.len() >= LEAST);
    let mut forms = vec![];
    for part in parts {
        let ends = if part.len() >= 40 { vec![&part[..24], &part[part.len() - 24..]] } else { vec![part] };
        for end in ends {
            let json = serde_json::to_string(end).unwrap();
            forms.push(end.as_bytes().to_vec());
            forms.push(json.as_bytes()[1..json.len() - 1].to_vec());
            forms.extend((0..3).map(|shift| base64(end.as_bytes(), shift)));
        }
    }
    forms.retain(|form| form.len() >= LEAST);
    forms
}

/// Shorter forms stand anywhere by chance.
const LEAST: usize = 7;

/// What is the same in base 64 wherever in a group of three the bytes begin: all but the ends.
fn base64(bytes: &[u8], shift: usize) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let shifted: Vec<u8> = vec![0; shift].into_iter().chain(bytes.iter().copied()).collect();
    let mut out = vec![];
    for group in shifted.chunks_exact(3) {
        let number = group.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        out.extend([18, 12, 6, 0].map(|bits| LETTERS[(number >> bits & 63) as usize]));
    }
    out.split_off(if shift == 0 { 0 } else { 4 })
}

/// Many texts, looked for at once.
struct Lookout {
    by_head: HashMap<[u8; LEAST], Vec<(usize, Vec<u8>)>>,
}

impl Lookout {
    fn for_all(samples: &[Sample]) -> Lookout {
        let mut by_head: HashMap<_, Vec<_>> = HashMap::new();
        for (index, sample) in samples.iter().enumerate() {
            for form in forms(sample) {
                by_head.entry(form[..LEAST].try_into().unwrap()).or_default().push((index, form));
            }
        }
        Lookout { by_head }
    }

    fn found<'s>(&self, bytes: &[u8], samples: &'s [Sample]) -> Vec<&'s Sample> {
        let mut found = vec![];
        for (at, head) in bytes.windows(LEAST).enumerate() {
            let Some(forms) = self.by_head.get(head) else { continue };
            let here = forms.iter().filter(|(_, form)| bytes[at..].starts_with(form));
            found.extend(here.map(|(index, _)| &samples[*index]));
        }
        found
    }
}

/// A session in which the secret stands wherever anything can stand.
fn plant(world: &World, shape: Shape, (number, sample): (usize, &Sample)) {
    let text = &sample.text;
    let session = format!("{}-planted-{number:08}", shape.agent());
    let mut script = Script::new(shape, &session, &world.env.project());
    let json = serde_json::to_string(&json!({"reply": {"text": format!("a\n{text}\nb")}})).unwrap();
    script.prompt(&format!("please look:\n{text}\n")).note(&format!("from a hook:\n{text}\n"));
    script.thinking(&format!("hm\n{text}\nso"));
    script.tool("Bash", json!({"command": text}), &padded(text));
    script.tool("Bash", json!({"command": "cat reply.json"}), &json);
    script.tool("Bash", json!({"command": "tail log"}), &format!("1: before\n{text}\n2: after\n"));
    script.writes("/p/settings.txt", &format!("# settings\n{text}\n# end\n"));
    script.answer(&format!("Found it:\n{text}\n"));
    let mut helper = script.of_helper(&format!("helper{number}"));
    helper.prompt(&format!("check\n{text}\n")).tool("Bash", json!({"command": "x"}), text).answer(text);
    script.summary(&format!("So far:\n{text}\n")).prompt("go on").answer("done");
    script.save(&world.env.home());
    helper.save(&world.env.home());
}

/// A live session whose hooks carried a secret.
struct Told {
    number: usize,
    shape: Shape,
    session: String,
}

/// Every ninth secret, in a live session of one of the agents.
fn tell_some(world: &World, samples: &[Sample]) -> Vec<Told> {
    let some = samples.iter().enumerate().step_by(9);
    some.map(|(number, sample)| {
        let shape = if number % 2 == 0 { Shape::Claude } else { Shape::Codex };
        Told { number, shape, session: tell(world, shape, (number, sample)) }
    })
    .collect()
}

/// The hooks of a live session with the secret in them. Returns the session.
fn tell(world: &World, shape: Shape, (number, sample): (usize, &Sample)) -> String {
    let text = &sample.text;
    let mut script = Script::new(shape, &format!("{}-told-{number:08}", shape.agent()), &world.env.project());
    world.hook(&script, "SessionStart", json!({}));
    world.hook(&script, "UserPromptSubmit", json!({"prompt": format!("use this:\n{text}\n")}));
    let answer = format!("used:\n{text}\n");
    script.prompt(&format!("use this:\n{text}\n")).answer(&answer).save(&world.env.home());
    world.hook(
        &script,
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": text}, "tool_response": text}),
    );
    world.hook(&script, "Stop", json!({"last_assistant_message": answer}));
    script.session
}

/// The context that is shown of such a session, and the one that an heir is given.
fn inherit(world: &World, told: &Told) -> String {
    let Told { number, shape, session } = told;
    let shown = world.tow(&["context", session]).ok().stdout;
    let mut heir = Script::new(*shape, &format!("{}-heir-{number:08}", shape.agent()), &world.env.project());
    heir.later(600);
    world.hook(&heir, "SessionStart", json!({}));
    world.tow(&["inherit", "take", session, "--session", &heir.session]).ok();
    let given = world.hook(&heir, "UserPromptSubmit", json!({"prompt": "go on with it"})).stdout;
    assert!(given.contains("use this:"), "nothing was given: {given}");
    shown + &given
}

#[test]
fn no_secret_of_any_kind_is_found_in_any_byte_after_hooks_capture_import_and_context() {
    let world = World::new();
    let samples = all();
    assert!(samples.len() >= 60);
    for planted in samples.iter().enumerate() {
        [Shape::Claude, Shape::Codex].into_iter().for_each(|shape| plant(&world, shape, planted));
    }
    let told = tell_some(&world, &samples);
    world.env.wait_no_process();
    let inherited: Vec<String> = told.iter().map(|told| inherit(&world, told)).collect();
    world.env.wait_no_process();
    let imported = world.tow(&["import", "--json"]).ok().json();
    assert!(imported["details"].as_u64().unwrap() as usize > samples.len() * 15, "{imported}");
    let lookout = Lookout::for_all(&samples);
    let mut flaws = vec![];
    let kept = world.kept();
    assert!(kept.iter().any(|(name, _)| name.starts_with("unpacked output")));
    assert!(kept.iter().any(|(name, _)| name.starts_with("unpacked answer")), "helpers were captured");
    let shown = inherited.into_iter().map(|text| ("what was shown and given".to_owned(), text.into_bytes()));
    for (place, bytes) in kept.into_iter().chain(shown) {
        flaws.extend(
            lookout.found(&bytes, &samples).into_iter().map(|sample| format!("{}: {}", place, sample.name)),
        );
    }
    flaws.sort();
    flaws.dedup();
    assert!(flaws.is_empty(), "{} flaws:\n{}", flaws.len(), flaws[..flaws.len().min(80)].join("\n"));
}

#[test]
fn the_lookout_finds_a_secret_as_it_is_in_json_and_in_base_64() {
    let samples = all();
    let lookout = Lookout::for_all(&samples);
    for sample in &samples {
        let mut encoded = vec![b'x'; 3];
        encoded.extend(base64(
            sample.secret.split(|c: char| !c.is_ascii_graphic()).next().unwrap().as_bytes(),
            0,
        ));
        assert!(!lookout.found(sample.text.as_bytes(), &samples).is_empty(), "{}", sample.name);
        assert!(!lookout.found(&encoded, &samples).is_empty(), "{} in base 64", sample.name);
    }
}
