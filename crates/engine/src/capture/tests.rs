//! Files that grow, are truncated, replaced and read again, compared with a single read of the whole.

use super::steps::{Kit, Steps};
use super::*;
use crate::runtime::Config;
use proptest::prelude::*;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;
use towline_core::id::Uid;
use towline_store::DataFolder;
use towline_store::archive::DetailRow;
use towline_store::lock::ArchiveLock;

struct Recorded {
    agent: Agent,
    name: String,
    bytes: Vec<u8>,
}

fn recorded() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts");
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let agent = Agent::ALL.into_iter().find(|agent| name.starts_with(agent.name())).unwrap();
        Recorded { agent, name, bytes: fs::read(&path).unwrap() }
    };
    found.into_iter().map(read).collect()
}

struct Bench {
    folder: TempDir,
    wishes: Wishes,
    file: Transcript,
}

impl Bench {
    fn new(agent: Agent) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let file = Transcript { agent: agent.into(), path: folder.path().join("transcript.jsonl") };
        Bench { folder, wishes: Wishes::of(Config::compiled_in()), file }
    }

    fn writable(&self) -> Writable {
        let home = DataFolder::at(self.folder.path().join("data"));
        home.create().unwrap();
        let lock = ArchiveLock::take_within(&home, []).unwrap().unwrap();
        let archive = Archive::open(&home, &lock, PATIENCE, Uid([7; 16])).unwrap();
        Writable { archive, _lock: lock }
    }

    fn write(&self, bytes: &[u8]) {
        fs::write(&self.file.path, bytes).unwrap();
    }

    fn append(&self, bytes: &[u8]) {
        File::options().append(true).create(true).open(&self.file.path).unwrap().write_all(bytes).unwrap();
    }

    fn capture(&self) {
        take_in(&self.writable(), &self.wishes, &self.file, Timestamp(1)).unwrap();
    }

    /// Captures, and dies after this many written steps.
    fn capture_and_die(&self, steps_written: usize) {
        let writable = self.writable();
        let mut source = known(&writable.archive, &self.file).unwrap();
        let mut kit = Kit::new().unwrap();
        let forgotten = writable.archive.forgotten();
        let steps = Steps::open(&self.file, &mut source, &self.wishes, forgotten, &mut kit).unwrap();
        let Some(mut steps) = steps else { return };
        for _ in 0..steps_written {
            let Some(step) = steps.next().unwrap() else { return };
            source.reading = step.reading;
            writable.archive.write_rows(&mut source, step.rows, Timestamp(1)).unwrap();
        }
        let _ = steps.next();
    }

    fn told(&self) -> String {
        told(&self.writable().archive)
    }
}

/// All archived content, in order, with its ids.
fn told(archive: &Archive) -> String {
    let mut all = String::new();
    for conversation in archive.latest_conversations(None, 100).unwrap() {
        all += &format!("== {} {} turns\n", conversation.session, conversation.turns);
        all += &told_details(archive, &archive.details_before(&conversation).unwrap());
        for turn in archive.turns(&conversation, 0, u32::MAX).unwrap() {
            let (ordinal, origin, line) = (turn.ordinal, turn.origin.name(), &turn.line);
            let stopped = turn.stopped.map_or("", |how| how.name());
            let reverted = if turn.reverted { " (taken back)" } else { "" };
            all += &format!(
                "#{ordinal} {origin} {}/{} {stopped}{reverted}\n   {line}\n",
                turn.tools, turn.failures
            );
            for body in archive.bodies(&turn).unwrap() {
                all += &format!("   {} {}: {:?}\n", body.message, body.speaker.name(), body.text);
            }
            all += &told_details(archive, &archive.details(&turn).unwrap());
        }
    }
    all
}

fn told_details(archive: &Archive, details: &[DetailRow]) -> String {
    let told = |detail: &DetailRow| {
        let text = archive.content(detail).unwrap();
        let (number, kind, size) = (detail.number, detail.kind.name(), detail.size);
        let (tool, outcome) = (detail.tool.as_deref(), detail.outcome.as_deref());
        let (tool, outcome) = (tool.unwrap_or_default(), outcome.unwrap_or_default());
        let helper = detail.subagent.as_ref().map_or(String::new(), |id| format!(" by {id}"));
        format!("   .{number} {kind} {tool} {outcome} {size}{helper}: {text:?}\n")
    };
    details.iter().map(told).collect()
}

fn in_one_go(recorded: &Recorded) -> String {
    let bench = Bench::new(recorded.agent);
    bench.write(&recorded.bytes);
    bench.capture();
    bench.told()
}

/// Shortens parts that a reviewer need not compare letter by letter.
fn for_review(told: &str) -> String {
    let short = |line: &str| {
        if line.chars().count() > 160 {
            line.chars().take(160).chain(['…']).collect()
        } else {
            line.to_owned()
        }
    };
    told.lines().map(short).collect::<Vec<_>>().join("\n")
}

/// Some client was still creating the file when its model had answered.
#[test]
fn a_first_answer_that_is_written_before_its_prompt_belongs_to_it() {
    let line = |kind: &str, (uuid, parent, at): (&str, &str, &str), content: &str| {
        format!(
            r#"{{"parentUuid":{parent},"type":"{kind}","message":{{"role":"{kind}","content":{content}}},"uuid":"{uuid}","timestamp":"2026-11-15T20:41:{at}Z","cwd":"/p","sessionId":"668db8cb"}}"#
        ) + "\n"
    };
    let text = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    let lines = [
        line("assistant", ("a1", r#""u1""#, "41.050"), &text("measured mast: four")),
        line("user", ("u1", "null", "40.983"), r#""first measure the mast""#),
        line("user", ("u2", r#""a1""#, "41.447"), r#""then look at it""#),
        line("assistant", ("a2", r#""u2""#, "41.500"), &text("looked: fine")),
    ];
    for at_once in [1, 2, 4] {
        let bench = Bench::new(Agent::ALL[0]);
        for some in lines.chunks(at_once) {
            bench.append(some.concat().as_bytes());
            bench.capture();
        }
        let archive = bench.writable().archive;
        let conversation = archive.latest_conversations(None, 1).unwrap().remove(0);
        let said = |turn| archive.bodies(turn).unwrap().into_iter().map(|body| body.text).collect::<Vec<_>>();
        let turns = archive.last_turns(&conversation, 9).unwrap();
        assert_eq!(
            turns.iter().map(said).collect::<Vec<_>>(),
            [["first measure the mast", "measured mast: four"], ["then look at it", "looked: fine"]]
        );
    }
}

#[test]
fn recorded_conversations_give_the_turns_that_a_person_reads_in_them() {
    for recorded in recorded() {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(recorded.name.as_str(), for_review(&in_one_go(&recorded))));
    }
}

/// An action on a transcript while it is captured.
#[derive(Clone, Debug)]
enum Act {
    Grow(usize),
    Capture,
    Die(usize),
    /// The file is replaced by a copy of itself: another inode under the same name.
    Replace,
    /// The file is truncated, as after a crash of the agent, and written again.
    Truncate(usize),
    /// The row of the file is lost, so that everything is read again.
    Forget,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (1usize..40_000).prop_map(Act::Grow),
        5 => Just(Act::Capture),
        2 => (0usize..3).prop_map(Act::Die),
        1 => Just(Act::Replace),
        1 => (1usize..20_000).prop_map(Act::Truncate),
        1 => Just(Act::Forget),
    ];
    prop::collection::vec(act, 1..25)
}

fn play(bench: &Bench, bytes: &[u8], acts: &[Act]) {
    let mut written = 0;
    bench.write(b"");
    for act in acts {
        match act {
            Act::Grow(more) => {
                let end = (written + more).min(bytes.len());
                bench.append(&bytes[written..end]);
                written = end;
            }
            Act::Capture => bench.capture(),
            Act::Die(steps) => bench.capture_and_die(*steps),
            Act::Replace => {
                fs::remove_file(&bench.file.path).unwrap();
                bench.write(&bytes[..written]);
            }
            Act::Truncate(less) => {
                written = written.saturating_sub(*less);
                bench.write(&bytes[..written]);
            }
            Act::Forget => {
                bench.writable().archive.forget_source(&whole(&bench.file.path).to_string_lossy()).unwrap()
            }
        }
    }
    bench.append(&bytes[written..]);
    bench.capture();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_happens_to_a_file_each_turn_and_detail_is_kept_once_and_in_order(
        which in any::<prop::sample::Index>(),
        acts in acts(),
    ) {
        let all = recorded();
        let recorded = which.get(&all);
        let bench = Bench::new(recorded.agent);
        play(&bench, &recorded.bytes, &acts);
        prop_assert_eq!(bench.told(), in_one_go(recorded), "{}", recorded.name);
    }
}

#[test]
fn a_second_capture_of_the_same_file_changes_nothing() {
    for recorded in recorded() {
        let bench = Bench::new(recorded.agent);
        bench.write(&recorded.bytes);
        bench.capture();
        let taken = take_in(&bench.writable(), &bench.wishes, &bench.file, Timestamp(2)).unwrap();
        assert_eq!(taken, TakenRows::default(), "{}", recorded.name);
    }
}

#[test]
fn a_helpers_file_belongs_to_the_turn_in_which_it_was_asked_whichever_is_read_first() {
    let all = recorded();
    let find = |name: &str| all.iter().find(|recorded| recorded.name.ends_with(name)).unwrap();
    let (session, helper) = (find("spawn-parent"), find("subagent-child"));
    let captured = |order: [&Recorded; 2]| {
        let bench = Bench::new(session.agent);
        for recorded in order {
            let path = bench.folder.path().join(&recorded.name);
            fs::write(&path, &recorded.bytes).unwrap();
            let file = Transcript { agent: recorded.agent.into(), path };
            take_in(&bench.writable(), &bench.wishes, &file, Timestamp(1)).unwrap();
        }
        bench.writable().archive.seat_subagents().unwrap();
        bench.told()
    };
    let told = captured([session, helper]);
    assert!(told.contains("answer   16 by ") && told.contains("1 turns"), "{told}");
    assert_eq!(captured([helper, session]), told);
}

/// The lines of a session in a database whose user prompted these, with the time of each prompt as its id.
fn spoken(prompts: &[u32]) -> String {
    let mut lines = r#"{"table":"session","id":"ses_1","directory":"/p","time_created":1}"#.to_owned() + "\n";
    for at in prompts {
        for (id, role) in [(format!("{at}0"), "user"), (format!("{at}1"), "assistant")] {
            lines += &format!(
                r#"{{"table":"message","id":"msg_{id}","session_id":"ses_1","time_created":{at},"data":{{"role":"{role}"}}}}
{{"table":"part","id":"prt_{id}","session_id":"ses_1","message_id":"msg_{id}","data":{{"type":"text","text":"{role} {at}"}}}}
"#
            );
        }
    }
    lines
}

fn taken_back(prompt: u32) -> String {
    format!(r#"{{"table":"revert","id":"msg_{prompt}0","time_created":{}}}"#, 900) + "\n"
}

/// The times of the prompts that count, and of those that were taken back.
fn standing(bench: &Bench) -> (Vec<i64>, Vec<i64>) {
    let archive = bench.writable().archive;
    let conversation = archive.latest_conversations(None, 1).unwrap().pop().unwrap();
    let turns = archive.turns(&conversation, 0, u32::MAX).unwrap();
    let of = |reverted: bool| {
        let mut times: Vec<_> =
            turns.iter().filter(|turn| turn.reverted == reverted).map(|turn| turn.at.0).collect();
        times.sort_unstable();
        times
    };
    (of(false), of(true))
}

#[test]
fn turns_that_an_agent_deletes_with_the_next_prompt_stood_in_the_archive() {
    let is_rendered = |agent: &Agent| agent.database(&|_| Some("/home".to_owned())).is_some();
    let bench = Bench::new(Agent::ALL.into_iter().find(is_rendered).unwrap());
    let check = |lines: String, stands: &[i64], back: &[i64]| {
        bench.write(lines.as_bytes());
        bench.capture();
        assert_eq!(standing(&bench), (stands.to_vec(), back.to_vec()), "{lines}");
    };
    let all = || spoken(&[100, 200, 300, 400]);
    check(all(), &[100, 200, 300, 400], &[]);
    check(all() + &taken_back(300), &[100, 200], &[300, 400]);
    check(all() + &taken_back(400), &[100, 200, 300], &[400]);
    check(all(), &[100, 200, 300, 400], &[]);
    check(all() + &taken_back(300), &[100, 200], &[300, 400]);
    check(spoken(&[100, 200, 950]), &[100, 200, 950], &[300, 400]);
    check(spoken(&[100, 200, 950, 960]), &[100, 200, 950, 960], &[300, 400]);
    // No capture ran between going back and the next prompt.
    check(spoken(&[100, 970]), &[100, 970], &[200, 300, 400, 950, 960]);
}
