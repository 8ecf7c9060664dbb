//! Descriptions against recordings of the real programs, and the mistakes that a user makes in one.
//!
//! `described/AGENT-VERSION` holds what was recorded: `screens/WHAT.STATE.txt` with the pane's title in the first line, and
//! the agent's folder as `home`.

use super::*;
use std::fs;
use towline_core::event::ToolOutcome;
use towline_core::piece::{PieceContent, TranscriptPiece};

fn shipped(name: &str) -> Arc<Description> {
    let (_, text) = SHIPPED.into_iter().find(|(known, _)| *known == name).unwrap();
    Arc::new(Description::parse(name, text).unwrap())
}

/// The recordings: the description, and their folder.
fn recordings() -> Vec<(Arc<Description>, PathBuf)> {
    let of = |(name, _): (&str, &str)| {
        let description = shipped(name);
        let version = description.proven().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("described/{name}-{version}"));
        assert!(folder.is_dir(), "{name} {version} was not recorded");
        (description, folder)
    };
    SHIPPED.into_iter().map(of).collect()
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_recorded_screen_shows_its_state() {
    let mut seen = 0;
    for (description, folder) in recordings() {
        let screens = listed(&folder.join("screens"));
        let capabilities = description.capabilities();
        assert_eq!(!screens.is_empty(), capabilities.screen || capabilities.title, "{}", description.name());
        for file in screens {
            let text = fs::read_to_string(&file).unwrap();
            let (title, screen) = text.split_once('\n').unwrap();
            let name = file.file_name().unwrap().to_str().unwrap();
            let expected = match name.split('.').nth(1).unwrap() {
                "waiting" => ScreenProbe::Dialog,
                "working" => ScreenProbe::Busy,
                "idle" => ScreenProbe::Prompt,
                _ => ScreenProbe::Unknown,
            };
            let found = description.state(screen, title.strip_prefix("title: ").unwrap_or(""));
            assert_eq!(found, expected, "{} {name}", description.name());
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn every_recorded_conversation_gives_what_a_person_reads_in_it() {
    for (description, folder) in recordings() {
        let home = folder.join("home");
        let transcripts = description.transcripts(&home).files;
        assert!(!transcripts.is_empty(), "{}", description.name());
        let mut all = String::new();
        for path in transcripts {
            all.push_str(&format!("== {}\n", path.strip_prefix(&home).unwrap().display()));
            read(&description, &home, &path).iter().for_each(|piece| all.push_str(&line(piece)));
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("described-{}", description.name()), all));
    }
}

/// The lines of a transcript, as capture reads them.
fn lines_of(description: &Description, path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    match description.format() {
        Format::Lines => bytes,
        Format::Document => description.as_lines(&bytes).unwrap(),
        Format::Rows => unreachable!("no shipped description is of a database"),
    }
}

fn reader(description: &Arc<Description>, home: &Path, path: &Path) -> TranscriptReader {
    let writer = TranscriptWriter::Described(Arc::clone(description), home.to_owned());
    let about = writer.about(path).map(|about| fs::read(about).unwrap());
    writer.reader(path, about.as_deref()).unwrap()
}

fn read(description: &Arc<Description>, home: &Path, path: &Path) -> Vec<TranscriptPiece<'static>> {
    let (mut reader, mut found) = (reader(description, home, path), vec![]);
    for line in lines_of(description, path).split(|byte| *byte == b'\n') {
        let mut pieces = vec![];
        reader.read(line, &mut pieces).unwrap();
        found.extend(pieces.into_iter().map(owned));
    }
    found
}

/// Pieces of described agents own their texts already; the type does not say so.
fn owned(piece: TranscriptPiece<'_>) -> TranscriptPiece<'static> {
    let own = |text: std::borrow::Cow<'_, str>| std::borrow::Cow::Owned(text.into_owned());
    let what = match piece.what {
        PieceContent::Opened { session, folder, .. } => {
            PieceContent::Opened { session: own(session), folder: folder.map(own), branch: None, base: None }
        }
        PieceContent::Prompt { text, origin } => PieceContent::Prompt { text: own(text), origin },
        PieceContent::Answer { text } => PieceContent::Answer { text: own(text) },
        PieceContent::Thinking { text } => PieceContent::Thinking { text: own(text) },
        PieceContent::Note { text } => PieceContent::Note { text: own(text) },
        PieceContent::Compacted { summary } => PieceContent::Compacted { summary: own(summary) },
        PieceContent::ToolCall { call, tool, input } => {
            PieceContent::ToolCall { call: own(call), tool: own(tool), input: own(input) }
        }
        PieceContent::ToolResult { call, output, outcome } => {
            PieceContent::ToolResult { call: own(call), output: own(output), outcome }
        }
        PieceContent::Stopped { how, words } => PieceContent::Stopped { how, words: own(words) },
        PieceContent::Usage { message, model, tokens } => {
            PieceContent::Usage { message: own(message), model: model.map(own), tokens }
        }
        other @ (PieceContent::Image { .. } | PieceContent::Reverted { .. } | PieceContent::ReadAgain) => {
            unreachable!("no rule gives {other:?}")
        }
    };
    TranscriptPiece { id: own(piece.id), place: piece.place, at: piece.at, turn: None, subagent: None, what }
}

fn line(piece: &TranscriptPiece<'_>) -> String {
    let at = piece.at.to_utc();
    let text = format!("{:?}", piece.what);
    let short: String = text.chars().take(230).collect();
    format!("{at} {short}\n")
}

#[test]
fn a_transcript_that_is_read_in_parts_gives_the_same_pieces() {
    for (description, folder) in recordings() {
        let home = folder.join("home");
        for path in description.transcripts(&home).files {
            let whole = read(&description, &home, &path);
            let (mut state, mut parts) = (reader(&description, &home, &path), vec![]);
            for line in lines_of(&description, &path).split(|byte| *byte == b'\n') {
                let stored = serde_json::to_string(&state).unwrap();
                state = description.continued(serde_json::from_str(&stored).unwrap()).unwrap();
                let mut pieces = vec![];
                state.read(line, &mut pieces).unwrap();
                parts.extend(pieces.into_iter().map(owned));
            }
            assert_eq!(whole, parts, "{}", path.display());
        }
    }
}

#[test]
fn what_another_version_of_a_description_read_is_read_again() {
    let text = SHIPPED.into_iter().find(|(name, _)| *name == "pi").unwrap().1;
    let other = Description::parse("pi", &text.replace("title = \"Pi\"", "title = \"Other\"")).unwrap();
    let path = Path::new("/h/sessions/p/1_s1.jsonl");
    let state = shipped("pi").reader(Path::new("/h"), path, None).unwrap();
    assert!(shipped("pi").continued(state.clone()).is_some());
    assert!(other.continued(state).is_none());
}

#[test]
fn damaged_lines_give_no_panic_and_leave_the_reader_usable() {
    for (description, folder) in recordings() {
        let home = folder.join("home");
        let path = description.transcripts(&home).files.pop().unwrap();
        let lines = lines_of(&description, &path);
        for line in lines.split(|byte| *byte == b'\n') {
            let mut state = reader(&description, &home, &path);
            for cut in (0..line.len()).step_by(13) {
                let mut damaged = line.to_vec();
                damaged[cut] ^= 0x15;
                let _ = state.read(&line[..cut], &mut vec![]);
                let _ = state.read(&damaged, &mut vec![]);
                let _ = description.as_lines(&damaged);
            }
        }
    }
}

#[test]
fn tools_are_known_by_their_names_only() {
    let kimi = shipped("kimi");
    assert_eq!(kimi.tool_action("Bash", r#"{"command":"make"}"#), ToolAction::Ran { command: "make".into() });
    assert_eq!(kimi.tool_action("Write", r#"{"path":"a"}"#), ToolAction::Changed { paths: vec!["a".into()] });
    assert_eq!(kimi.tool_action("Unheard", r#"{"path":"a"}"#), ToolAction::Other);
    assert_eq!(kimi.tool_action("Bash", "{}"), ToolAction::Other);
}

#[track_caller]
fn check_process(agent: &str, name: &str, program: &str, arguments: &[&str], expected: bool) {
    let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
    let traits = ProcessTraits { name, program, arguments: &|| arguments.clone() };
    assert_eq!(shipped(agent).is_process(&traits), expected, "{name} {program} {arguments:?}");
}

#[test]
fn an_agent_is_known_by_its_process_or_by_the_script_that_an_interpreter_runs() {
    check_process("kimi", "kimi-code", "node", &["kimi-code"], true);
    check_process("kimi", "MainThread", "node", &["node", "--no-warnings", "/opt/bin/kimi", "-c"], true);
    check_process("kimi", "node", "node", &["node", "/opt/other.js", "kimi"], false);
    check_process("kimi", "node", "node", &["node"], false);
    check_process("kimi", "vim", "vim", &["vim", "kimi"], false);
    check_process("vibe", "python3.12", "python3.12", &["python3.12", "-I", "/opt/bin/vibe"], true);
    check_process("pi", "node", "node", &["node", "/x/pi.mjs"], true);
    check_process("grok", "grok", "grok-native", &["grok"], true);
    check_process("droid", "droids", "droids", &["droids"], false);
    let headless = ["droid", "exec", "hello"].map(str::to_owned);
    assert!(shipped("droid").runs_headless(&headless) && !shipped("droid").runs_headless(&headless[..1]));
}

#[test]
fn a_session_is_resumed_by_the_command_that_the_description_names() {
    let id = SessionId::parse("s-1").unwrap();
    assert_eq!(shipped("kimi").resume_command(&id).unwrap(), ["kimi", "--session", "s-1"]);
    let own = Description::parse("own", MINIMAL).unwrap();
    assert_eq!(own.resume_command(&id), None);
    assert_eq!(own.transcripts(Path::new("/")).files, [] as [PathBuf; 0]);
    assert_eq!(own.state("anything", "any"), ScreenProbe::Unknown);
}

#[test]
fn the_folder_is_below_the_home_or_where_the_agents_variable_says() {
    let at = |pairs: &'static [(&str, &str)]| {
        move |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    };
    let kimi = shipped("kimi");
    assert_eq!(kimi.folder(&at(&[("HOME", "/h")])), Some("/h/.kimi-code".into()));
    assert_eq!(kimi.folder(&at(&[("HOME", "/h"), ("KIMI_CODE_HOME", "/k")])), Some("/k".into()));
    assert_eq!(kimi.folder(&at(&[("HOME", "/h"), ("KIMI_CODE_HOME", "/")])), Some("/h/.kimi-code".into()));
    assert_eq!(kimi.folder(&at(&[])), None);
}

const MINIMAL: &str = "title = 'Own'\nfolder = '.own'\n[process]\nnames = ['own']\n";

/// The mistake in a minimal description with this added.
#[track_caller]
fn check_mistake(added: &str, expected: &str) {
    let found = Description::parse("own", &format!("{MINIMAL}{added}")).unwrap_err();
    assert_eq!(found.to_string(), expected);
}

#[test]
fn a_misspelt_key_is_named_with_its_line() {
    check_mistake("nmaes = ['x']", "line 5: there is no key `process.nmaes`; did you mean `process.names`?");
    let titled = Description::parse("own", "titel = 'x'").unwrap_err().to_string();
    assert_eq!(titled, "line 1: there is no key `titel`; did you mean `title`?");
    let named = Description::parse("own", "title = 'x'\nfolder = 'y'\n[process]\nnams = 'z'").unwrap_err();
    assert_eq!(named.to_string(), "line 4: there is no key `process.nams`; did you mean `process.names`?");
    check_mistake("[screeen]", "line 5: there is no key `screeen`; did you mean `screen`?");
    check_mistake(
        "[screen]\ncolour = 'red'",
        "line 6: there is no key `screen.colour`; there are idle, input, lines, waiting, working",
    );
    let prompt = "[transcript]\nfiles = '{session}.jsonl'\ntime = 'ts'\n[[transcript.pieces]]\nis = 'prompt'\ntext = 'a'\n";
    check_mistake(
        &format!("{prompt}output = 'b'"),
        "line 11: there is no key `transcript.pieces.output`; there are between, each, is, text, when (in a `prompt`)",
    );
}

#[test]
fn whatever_is_missing_or_of_the_wrong_kind_is_named() {
    let whole = |text: &str| Description::parse("own", text).unwrap_err().to_string();
    assert_eq!(whole(""), "line 1: there is no `title`, which is needed");
    assert_eq!(whole("title = 7"), "line 1: `title` must be a text that is not empty");
    assert_eq!(
        whole("title = 'x'\nfolder = '../up'\n[process]\nnames='x'"),
        "line 2: `folder` must be a folder below your home, without `..`"
    );
    assert_eq!(
        whole("title = 'x'\nfolder = '/etc'\n[process]\nnames='x'"),
        "line 2: `folder` must be a folder below your home, without `..`"
    );
    assert_eq!(
        whole("title = 'x'\nfolder = 'y'"),
        "line 1: there is no `[process]`, which is needed: it names the agent's process"
    );
    assert_eq!(whole("title = "), "line 1: string values must be quoted, expected literal string");
    assert_eq!(
        whole("title = 'x'\nfolder = 'y'\nfolder_variable = 'HOME'"),
        "line 3: `folder_variable` must be a variable of the agent's own, that holds its folder"
    );
    check_mistake("[screen]\nlines = 0", "line 6: `screen.lines` must be from 1 to 100");
    check_mistake(
        "[screen]\nidle = ['*']",
        "line 6: `screen.idle` has the pattern `*`, which would match every line",
    );
    check_mistake(
        "[resume]\ncommand = ['own']",
        "line 6: `resume.command` must name the session to resume: `{session}`",
    );
    check_mistake(
        "[resume]\ncommand = ['own; rm', '{session}']",
        "line 6: `resume.command` must be a program and its arguments, each without blanks",
    );
    check_mistake(
        "[transcript]\nfiles = '../{session}'",
        "line 6: `transcript.files` has `../{session}`, which must be a path below the agent's folder, without `..`, `.` or a `/` at its start",
    );
    check_mistake(
        "[transcript]\nfiles = 'a.jsonl'",
        "line 6: `transcript.files` must say where the session's id stands: `{session}`",
    );
    check_mistake(
        "[transcript]\nfiles = '{session}'\ntime = 'ts'",
        "line 5: no `[[transcript.pieces]]` is a `prompt`: turns begin with prompts",
    );
    check_mistake(
        "[[tools]]\nis = 'eat'",
        "line 6: `tools.is` must be one of read, change, run, search, fetch, delegate, ask",
    );
}

#[test]
fn a_format_that_cannot_be_described_is_refused_with_those_that_can() {
    check_mistake(
        "[transcript]\nformat = 'csv'",
        "line 6: `transcript.format` must be `jsonl`, `json` or `sqlite`",
    );
}

#[test]
fn a_mistake_about_a_database_is_named() {
    let with = |keys: &str| format!("[transcript]\nformat = 'sqlite'\nfiles = 'a.db'\ntime = 'at'\n{keys}");
    check_mistake(&with(""), "line 5: there is no `transcript.rows`, which is needed");
    check_mistake(&with("rows = 'messages'"), "line 9: `transcript.rows` must be `table.column`");
    check_mistake(
        &with("rows = 'm.s'\nabout = '{session}.json'"),
        "line 10: `transcript.about` names a file: what a database says of a session is `sessions`",
    );
    check_mistake(
        "[transcript]\nformat = 'sqlite'\nfiles = 'a.json'\nrows = 'm.s'",
        "line 7: `transcript.files` must be databases, which end in `.db`, `.sqlite`, `.sqlite3`",
    );
    check_mistake(
        "[transcript]\nfiles = '{session}'\nrows = 'm.s'\ntime = 'at'\n[[transcript.pieces]]\nis = 'prompt'\ntext = 'a'",
        "line 7: there is no key `transcript.rows`; there are about, entries, files, folder, format, id, pieces, time",
    );
}

#[test]
fn a_second_file_about_a_session_is_a_mistake() {
    check_mistake(
        "[transcript]\nfiles = '{session}'\nabout = ['a/{session}', 'b/{session}']\ntime = 'ts'",
        "line 7: `transcript.about` must be one path: one file tells about a session",
    );
}

/// The pieces of one line of a transcript, by a description with these rules.
fn given(rules: &str, line: &str) -> Vec<TranscriptPiece<'static>> {
    let prompt = "[[transcript.pieces]]\nis = 'prompt'\ntext = 'prompt'\n";
    let text = format!("{MINIMAL}[transcript]\nfiles = '{{session}}'\ntime = 'ts'\n{prompt}{rules}");
    let description = Description::parse("own", &text).unwrap();
    let mut reader = description.reader(Path::new("/h"), Path::new("/h/s1"), None).unwrap();
    let mut found = vec![];
    reader.read(line.as_bytes(), &mut found).unwrap();
    found.into_iter().map(owned).collect()
}

#[test]
fn token_counts_as_large_as_there_are_do_not_overflow() {
    let rule = "[[transcript.pieces]]\nis = 'usage'\ninput = 'i'\noutput = 'o'\ncache_read = 'c'\n";
    let most = u64::MAX;
    let found = given(rule, &format!(r#"{{"i":{most},"o":{most},"c":{most}}}"#));
    let [_, TranscriptPiece { what: PieceContent::Usage { tokens, .. }, .. }] = &found[..] else {
        unreachable!("{found:?}")
    };
    assert_eq!((tokens.input, tokens.output, tokens.cache_read), (1 << 40, 1 << 40, 1 << 40));
    assert_eq!(given(rule, r#"{"i":0,"o":0,"c":0}"#), []);
}

#[test]
fn a_result_that_tells_no_failure_was_taken_for_a_failed_one() {
    let rule = "[[transcript.pieces]]\nis = 'tool_result'\ncall = 'call'\noutput = 'out'\nfailed = 'error'\n";
    let outcome = |error: &str| {
        let found = given(rule, &format!(r#"{{"call":"c","out":"o"{error}}}"#));
        let [_, TranscriptPiece { what: PieceContent::ToolResult { outcome, .. }, .. }] = &found[..] else {
            unreachable!("{found:?}")
        };
        *outcome
    };
    for absent in ["", r#","error":false"#, r#","error":null"#] {
        assert_eq!(outcome(absent), ToolOutcome::Done, "{absent}");
    }
    for told in [r#","error":true"#, r#","error":"no such file""#] {
        assert_eq!(outcome(told), ToolOutcome::Failed, "{told}");
    }
}

#[test]
fn the_parts_of_an_entry_are_numbered_in_time_that_grows_with_them() {
    let rule = "[[transcript.pieces]]\nis = 'answer'\neach = 'parts[]'\ntext = '@'\n";
    let parts: Vec<String> = (0..100_000).map(|part| format!("\"{part}\"")).collect();
    let found = given(rule, &format!(r#"{{"parts":[{}]}}"#, parts.join(",")));
    let ids: Vec<&str> = found.iter().skip(1).map(|piece| &*piece.id).collect();
    assert_eq!(ids.len(), 100_000);
    assert!(
        ids[0].ends_with("#answer") && ids[1].ends_with("#answer1") && ids[99_999].ends_with("#answer99999")
    );
}

#[test]
fn a_part_is_meant_only_where_parts_are_named() {
    let rule = "[transcript]\nfiles = '{session}'\ntime = 'ts'\n[[transcript.pieces]]\nis = 'prompt'\n";
    check_mistake(
        &format!("{rule}text = '@.text'"),
        "line 10: `transcript.pieces.text` has `@`, the part of an entry, but there is no `each` that names the parts",
    );
    check_mistake(
        &format!("{rule}text = 'a..b'"),
        "line 10: `transcript.pieces.text` has the path `a..b`, which has an empty name between two dots",
    );
}

#[test]
fn an_agent_with_an_adapter_needs_no_description() {
    let found = |name: &str| Description::parse(name, MINIMAL).unwrap_err().to_string();
    assert_eq!(found("claude"), "line 1: `claude` is supported without a description: choose another name");
    assert_eq!(found("My Agent"), found("UPPER"));
}
