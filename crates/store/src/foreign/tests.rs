//! Databases of every version, in use, locked, damaged, hostile: what is read from them, and that they do not change.

use super::samples::{SampleDatabase, SampleValue};
use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;
use towline_core::piece::PieceContent;

/// Sunday, 1 November 2026.
const AT: i64 = 1_793_500_000_000;
const ONE: &str = "11111111-aaaa-4bbb-8ccc-000000000001";

/// A folder of another product, and a data folder of ours beside it.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("theirs")).unwrap();
        Bench { folder }
    }

    fn theirs(&self) -> PathBuf {
        self.folder.path().join("theirs")
    }

    fn path(&self) -> PathBuf {
        self.theirs().join("their memory?#%.db")
    }

    fn home(&self) -> DataFolder {
        DataFolder::at(self.folder.path().join("ours"))
    }

    /// Opens it, and checks that this left no trace.
    #[track_caller]
    fn open(&self, product: Product) -> Result<ForeignDatabase, ForeignError> {
        let before = self.bytes();
        let opened = ForeignDatabase::open(product, &self.path(), &self.home());
        if let Ok(foreign) = &opened {
            for session in foreign.sessions() {
                for extent in [ReadScope::Whole, ReadScope::Notes] {
                    let _ = foreign.read(session, extent, &mut |_| {});
                }
            }
            assert!(!foreign.was_changed());
        }
        assert!(self.bytes() == before, "their folder was changed");
        assert!(!self.home().folder().exists(), "a copy was left");
        opened
    }

    /// Every file with its content.
    fn bytes(&self) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(self.theirs()).unwrap().map(|entry| entry.unwrap());
        let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        files.map(|entry| (name(&entry), fs::read(entry.path()).unwrap())).collect()
    }
}

/// The items of all sessions except memories and summaries, one line each.
fn item_lines(foreign: &ForeignDatabase, extent: ReadScope) -> Vec<String> {
    let mut all = vec![];
    for session in foreign.sessions() {
        all.push(format!("== {} {:?} {:?}", session.key, session.folder, session.project));
        let is_learnt = |found: &ForeignRecord| {
            matches!(found, ForeignRecord::Memory { .. } | ForeignRecord::Summary { .. })
        };
        let mut take = |found: ForeignRecord| all.extend((!is_learnt(&found)).then(|| line(&found)));
        foreign.read(session, extent, &mut take).unwrap();
    }
    all
}

/// The memories and summaries, one line each.
fn memory_lines(foreign: &ForeignDatabase, extent: ReadScope) -> Vec<String> {
    let mut all = vec![];
    for session in foreign.sessions() {
        let is_learnt = |found: &ForeignRecord| {
            matches!(found, ForeignRecord::Memory { .. } | ForeignRecord::Summary { .. })
        };
        let mut take = |found: ForeignRecord| all.extend(is_learnt(&found).then(|| line(&found)));
        foreign.read(session, extent, &mut take).unwrap();
    }
    all
}

fn line(found: &ForeignRecord) -> String {
    match found {
        ForeignRecord::Line { prompt, text } => format!("{prompt} in one line: {text}"),
        ForeignRecord::Note { id, at, during, text } => {
            format!("{id} {}/{}: {text}", at.0 - AT, during.0 - AT)
        }
        ForeignRecord::Memory { id, at, during, draft, .. } => {
            format!(
                "{id} {}/{}: {} {} {:?} {:?}",
                at.0 - AT,
                during.0 - AT,
                draft.kind,
                draft.title,
                draft.facts,
                draft.files
            )
        }
        ForeignRecord::Summary { at, during, draft } => {
            format!("{}/{}: {} {}", at.0 - AT, during.0 - AT, draft.request, draft.learned)
        }
        ForeignRecord::Piece(piece) => {
            format!("{} +{}: {}", piece.id, piece.at.0 - AT, content_line(&piece.what))
        }
    }
}

fn content_line(content: &PieceContent<'_>) -> String {
    match content {
        PieceContent::Prompt { text, origin } => format!("prompt ({}) {text}", origin.name()),
        PieceContent::Answer { text } => format!("answer {text}"),
        PieceContent::Thinking { text } => format!("thinking {text}"),
        PieceContent::Note { text } => format!("note {text}"),
        PieceContent::ToolCall { call, tool, input } => format!("call {call} {tool} {input}"),
        PieceContent::ToolResult { call, output, .. } => format!("result {call} {output}"),
        PieceContent::Image { .. } => "image".to_owned(),
        PieceContent::Opened { .. }
        | PieceContent::Compacted { .. }
        | PieceContent::Stopped { .. }
        | PieceContent::Usage { .. }
        | PieceContent::Reverted { .. }
        | PieceContent::ReadAgain => "what none of them keeps".to_owned(),
    }
}

fn cell(text: &str) -> SampleValue {
    text.into()
}

/// One session with two turns, as that version of Throughline keeps it.
fn throughline(path: &Path, schema: i64) -> SampleDatabase {
    let sample = SampleDatabase::throughline(path, schema).unwrap();
    let times = [("created_at", AT.into()), ("updated_at", AT.into())];
    let session = [[("session_id", cell(ONE)), ("project_path", cell("/srv/app"))], times].concat();
    sample.add("sessions", &session).unwrap();
    let whose = |turn: i64, at: i64| {
        let mut row =
            vec![("session_id", cell(ONE)), ("turn_number", turn.into()), ("created_at", (AT + at).into())];
        if schema >= 3 {
            // Merged into a later session, as its third version does.
            row[0].1 = cell("22222222-aaaa-4bbb-8ccc-000000000002");
            row.push(("origin_session_id", cell(ONE)));
        }
        row
    };
    let with = |row: Vec<(&'static str, SampleValue)>, more: &[(&'static str, SampleValue)]| {
        [row, more.to_vec()].concat()
    };
    if schema >= 4 {
        for (turn, role, text) in [(2, "user", "fix it"), (2, "assistant", "fixed"), (4, "user", "thanks")] {
            let row = with(whose(turn, turn * 10), &[("role", cell(role)), ("text", cell(text))]);
            sample.add("bodies", &row).unwrap();
        }
    } else {
        let user = with(whose(2, 20), &[("role", cell("user")), ("summary", cell("asked to fix"))]);
        sample.add("skeletons", &user).unwrap();
        let category =
            [("category", cell("decision")), ("content", cell("use x")), ("content_hash", cell("h"))];
        sample.add("judgments", &with(whose(2, 20), &category)).unwrap();
    }
    let assistant = with(whose(2, 20), &[("role", cell("assistant")), ("summary", cell("fixed the thing"))]);
    sample.add("skeletons", &assistant).unwrap();
    let tool = [("tool_name", cell("Edit")), ("input_text", cell("{\"file_path\":\"a.rs\"}"))];
    if schema >= 5 {
        let call =
            with(with(whose(2, 99), &tool), &[("kind", cell("tool_input")), ("source_id", cell("toolu_1"))]);
        sample.add("details", &call).unwrap();
        for (kind, source, text) in [
            ("tool_output", "toolu_1:result", "done"),
            ("thinking", "u:thinking:0", "hm"),
            ("system", "s", "hook said"),
        ] {
            let row = [("kind", cell(kind)), ("source_id", cell(source)), ("output_text", cell(text))];
            sample
                .add("details", &with(whose(2, 99), &[&row[..], &[("tool_name", cell(kind))]].concat()))
                .unwrap();
        }
    } else {
        sample.add("details", &with(with(whose(2, 99), &tool), &[("output_text", cell("done"))])).unwrap();
    }
    sample
}

#[test]
fn every_schema_of_throughline_gives_its_turns_to_the_session_that_had_them() {
    for schema in 1..=12 {
        let bench = Bench::new();
        throughline(&bench.path(), schema).close().unwrap();
        let foreign = bench.open(Product::Throughline).unwrap();
        assert_eq!((foreign.survey().schema, foreign.survey().is_newer), (Some(schema), false));
        let item_lines = item_lines(&foreign, ReadScope::Whole);
        let session = format!("== claude:{ONE} Some(\"/srv/app\") None");
        let mut expected = vec![session.as_str()];
        if schema < 4 {
            expected.extend([
                "throughline:2 +20: prompt (human) asked to fix",
                "throughline:detail:throughline:2:tool_input:0 +99: call throughline:2:tool_input:0 Edit {\"file_path\":\"a.rs\"}",
                "throughline:detail:throughline:2:tool_input:0:result +99: result throughline:2:tool_input:0 done",
                "throughline:2:judgment:0 +20: note [Throughline judgment, decision]\nuse x",
                "throughline:2:answer:0 +20: answer fixed the thing",
            ]);
            assert_eq!(item_lines, expected, "schema {schema}");
            continue;
        }
        expected.push("throughline:2 +20: prompt (human) fix it");
        if schema == 4 {
            expected.extend([
                "throughline:detail:throughline:2:tool_input:0 +99: call throughline:2:tool_input:0 Edit {\"file_path\":\"a.rs\"}",
                "throughline:detail:throughline:2:tool_input:0:result +99: result throughline:2:tool_input:0 done",
            ]);
        } else {
            expected.extend([
                "throughline:detail:toolu_1 +99: call toolu_1 Edit {\"file_path\":\"a.rs\"}",
                "throughline:detail:toolu_1:result +99: result toolu_1 done",
                "throughline:detail:u:thinking:0 +99: thinking hm",
                "throughline:detail:s +99: note hook said",
            ]);
        }
        expected.extend([
            "throughline:2:answer:0 +20: answer fixed",
            "throughline:2 in one line: fixed the thing",
            "throughline:4 +40: prompt (human) thanks",
        ]);
        assert_eq!(item_lines, expected, "schema {schema}");
    }
}

#[test]
fn other_tables_of_throughline_are_counted_and_reported_as_left() {
    let bench = Bench::new();
    let sample = throughline(&bench.path(), 12);
    let turn = ["project_path", "room_id", "message_id", "speaker", "text"].map(|name| (name, cell("x")));
    sample.add("room_turns", &turn).unwrap();
    sample.run("create table novelty (x); insert into novelty values (1), (2)").unwrap();
    sample.close().unwrap();
    let foreign = bench.open(Product::Throughline).unwrap();
    let fates: Vec<_> =
        foreign.survey().tables.iter().filter(|table| table.fate != TableImport::Taken).collect();
    let find =
        |name: &str| fates.iter().find(|table| table.name == name).map(|table| (table.rows, table.fate));
    assert_eq!(find("novelty"), Some((Some(2), TableImport::Unknown)));
    assert_eq!(
        find("room_turns"),
        Some((Some(1), TableImport::Left("conversations that belong to no session")))
    );
    assert_eq!(foreign.survey().missing, Vec::<String>::new());
}

#[test]
fn a_newer_schema_is_reported_and_its_known_tables_are_read() {
    let bench = Bench::new();
    let sample = throughline(&bench.path(), 14);
    sample.run("alter table bodies rename column turn_start to origin").unwrap();
    sample.run("drop table skeletons").unwrap();
    sample.close().unwrap();
    let foreign = bench.open(Product::Throughline).unwrap();
    assert!(foreign.survey().is_newer);
    assert_eq!(foreign.survey().missing, ["bodies.turn_start", "skeletons"]);
    assert!(item_lines(&foreign, ReadScope::Whole).iter().any(|line| line.ends_with("answer fixed")));
}

#[test]
fn sessions_keep_their_agent_and_invalid_ids_are_counted() {
    let bench = Bench::new();
    let sample = SampleDatabase::throughline(&bench.path(), 12).unwrap();
    let body = |session: SampleValue| {
        let row =
            [("session_id", session.clone()), ("origin_session_id", session), ("turn_number", 1.into())];
        let rest = [("role", cell("user")), ("text", cell("hello")), ("created_at", AT.into())];
        sample.add("bodies", &[&row[..], &rest[..]].concat()).unwrap();
    };
    body(cell("codex:019a-b"));
    body(cell("grok:1"));
    let secret = format!("ghp_{}", "A1b2".repeat(9));
    for hostile in ["../../etc/passwd", "a b", "", "x\0y", "a:b:c", "'; drop table bodies; --", &secret] {
        body(cell(hostile));
    }
    body(SampleValue::Bytes(vec![0xff, 0xfe]));
    sample.close().unwrap();
    let foreign = bench.open(Product::Throughline).unwrap();
    let keys: Vec<_> = foreign.sessions().iter().map(|session| session.key.to_string()).collect();
    assert_eq!(keys, ["codex:019a-b", "grok:1"]);
    let unfit: Vec<_> = foreign.survey().unfit_rows().collect();
    assert_eq!(unfit, [SkippedRows { table: "bodies", rows: 8, why: "no valid session id" }]);
}

#[test]
fn values_of_the_wrong_type_and_of_any_size_are_read_without_harm() {
    let bench = Bench::new();
    let sample = SampleDatabase::throughline(&bench.path(), 12).unwrap();
    let row = |turn: i64, role: &str, text: SampleValue, at: SampleValue| {
        let whose =
            [("session_id", cell(ONE)), ("origin_session_id", cell(ONE)), ("turn_number", turn.into())];
        sample
            .add(
                "bodies",
                &[&whose[..], &[("role", cell(role)), ("text", text), ("created_at", at)]].concat(),
            )
            .unwrap();
    };
    row(1, "user", 42.into(), cell("2026-11-01T00:00:00Z"));
    row(1, "assistant", SampleValue::Bytes(vec![b'a', 0xff, 0, b'b']), (AT / 1000).into());
    row(2, "user", cell("bell \x07 and nul \0 stay\u{202e}"), cell("never"));
    row(2, "assistant", SampleValue::Bytes(vec![b'x'; (64 << 20) + 1]), i64::MAX.into());
    row(i64::MIN, "nobody", SampleValue::Text(String::new()), i64::MIN.into());
    sample.close().unwrap();
    let foreign = bench.open(Product::Throughline).unwrap();
    let item_lines = item_lines(&foreign, ReadScope::Whole);
    let first = Timestamp::parse_utc("2026-11-01T00:00:00Z").unwrap().0 - AT;
    assert_eq!(
        item_lines[1..],
        [
            format!("throughline:{} +{first}: prompt (human) ", i64::MIN),
            format!("throughline:1 +{first}: prompt (human) 42"),
            "throughline:1:answer:0 +0: answer a\u{fffd}\0b".to_owned(),
            format!("throughline:2 +{first}: prompt (human) bell \x07 and nul \0 stay\u{202e}"),
            format!("throughline:2:answer:0 +{first}: answer [… 67108865 bytes cut …]"),
        ]
    );
}

/// Two prompts with their observations, as that version of claude-mem keeps them.
fn claude_mem(path: &Path, migration: i64) -> SampleDatabase {
    let sample = SampleDatabase::claude_mem(path, migration).unwrap();
    let is_renamed = migration >= 17;
    let agents_id = if is_renamed { "content_session_id" } else { "claude_session_id" };
    let observers_id = if is_renamed { "memory_session_id" } else { "sdk_session_id" };
    let times = |at: i64| [("created_at", cell("then")), ("created_at_epoch", (AT + at).into())];
    let session = [
        (agents_id, cell(ONE)),
        (observers_id, cell("observer-1")),
        ("project", cell("app")),
        ("user_prompt", cell("fix it")),
        ("started_at", cell("then")),
        ("started_at_epoch", AT.into()),
    ];
    sample.add("sdk_sessions", &session).unwrap();
    if migration >= 10 {
        for (number, text) in [(1, "fix it"), (2, "and test it")] {
            let row = [(agents_id, cell(ONE)), ("prompt_number", number.into()), ("prompt_text", cell(text))];
            sample.add("user_prompts", &[&row[..], &times(number * 100)].concat()).unwrap();
        }
    }
    let noted =
        |at: i64| [&[(observers_id, cell("observer-1")), ("project", cell("app"))][..], &times(at)].concat();
    let numbered = |number: i64, row: Vec<(&'static str, SampleValue)>| {
        let number = (migration >= 6).then_some(("prompt_number", number.into()));
        [row, number.into_iter().collect()].concat()
    };
    let observed = if migration >= 8 {
        vec![
            ("type", cell("bugfix")),
            ("title", cell("Off by one")),
            ("subtitle", cell("in the loop")),
            ("narrative", cell("It ran once too often.")),
            ("facts", cell("[\"n is 3\", \"was 4\"]")),
            ("concepts", cell("[]")),
            ("files_modified", cell("[\"a.rs\"]")),
        ]
    } else {
        vec![("type", cell("bugfix")), ("text", cell("Off by one"))]
    };
    // It arrives late, after the second prompt.
    sample.add("observations", &[numbered(1, noted(250)), observed].concat()).unwrap();
    let summary =
        vec![("request", cell("Test")), ("learned", cell("it works")), ("files_read", cell("none"))];
    sample.add("session_summaries", &[numbered(2, noted(300)), summary].concat()).unwrap();
    sample
}

#[test]
fn claude_mem_prompts_become_turns_with_their_observations() {
    let bench = Bench::new();
    let sample = claude_mem(&bench.path(), 48);
    let used = [
        ("content_session_id", cell(ONE)),
        ("tool_use_id", cell("toolu_1")),
        ("tool_name", cell("Bash")),
        ("tool_input", cell("{\"command\":\"true\"}")),
        ("tool_response", cell("ok")),
        ("cwd", cell("/srv/app")),
        ("prompt_number", 2.into()),
        ("created_at_epoch", (AT + 210).into()),
    ];
    sample.add("tool_uses", &used).unwrap();
    sample.close().unwrap();
    let foreign = bench.open(Product::ClaudeMem).unwrap();
    let observation = "[claude-mem observation 1, bugfix] Off by one\nin the loop\n\nIt ran once too often.\n\n\
                       Facts:\n- n is 3\n- was 4\n\nFiles modified:\n- a.rs";
    let summary = "[claude-mem summary 1]\nRequest: Test\n\nLearned: it works\n\nFiles read: \nnone";
    let session = format!("== claude:{ONE} Some(\"/srv/app\") Some(\"app\")");
    assert_eq!(
        item_lines(&foreign, ReadScope::Whole),
        [
            session.clone(),
            "claude-mem:prompt:1 +100: prompt (human) fix it".to_owned(),
            format!("claude-mem:observation:1 +250: note {observation}"),
            "claude-mem:prompt:2 +200: prompt (human) and test it".to_owned(),
            "claude-mem:tool:1 +210: call toolu_1 Bash {\"command\":\"true\"}".to_owned(),
            "claude-mem:tool:1:result +210: result toolu_1 ok".to_owned(),
            format!("claude-mem:summary:1 +300: answer {summary}"),
        ]
    );
    assert_eq!(
        item_lines(&foreign, ReadScope::Notes),
        [
            session,
            format!("claude-mem:observation:1 250/100: {observation}"),
            format!("claude-mem:summary:1 300/200: {summary}"),
        ]
    );
}

#[test]
fn claude_mem_observations_become_memories() {
    let bench = Bench::new();
    claude_mem(&bench.path(), 48).close().unwrap();
    let foreign = bench.open(Product::ClaudeMem).unwrap();
    for extent in [ReadScope::Whole, ReadScope::Notes] {
        assert_eq!(
            memory_lines(&foreign, extent),
            [
                "claude-mem:observation:1 250/100: bugfix Off by one [\"n is 3\", \"was 4\"] [(\"a.rs\", Changed)]",
                "300/200: Test it works",
            ]
        );
    }
}

#[test]
fn every_migration_of_claude_mem_is_read_by_the_names_it_had_then() {
    for migration in [4, 6, 8, 10, 16, 17, 48, 50, 77] {
        let bench = Bench::new();
        claude_mem(&bench.path(), migration).close().unwrap();
        let foreign = bench.open(Product::ClaudeMem).unwrap();
        let survey = foreign.survey();
        assert_eq!((survey.schema, survey.is_newer), (Some(migration), migration > 50));
        assert_eq!(survey.unfit_rows().count(), 0, "migration {migration}");
        let item_lines = item_lines(&foreign, ReadScope::Whole).join("\n");
        for words in ["prompt (human) fix it", "Off by one", "Learned: it works"] {
            assert!(item_lines.contains(words), "migration {migration}: {item_lines}");
        }
        assert_eq!(item_lines.contains("and test it"), migration >= 10, "migration {migration}");
        assert_eq!(survey.missing.contains(&"user_prompts".to_owned()), migration < 10);
    }
}

#[test]
fn observations_whose_session_is_not_known_are_counted() {
    let bench = Bench::new();
    let sample = claude_mem(&bench.path(), 17);
    let row = ["memory_session_id", "project", "type", "created_at"].map(|name| (name, cell("nobody")));
    sample.add("observations", &[&row[..], &[("created_at_epoch", AT.into())]].concat()).unwrap();
    sample.close().unwrap();
    let foreign = bench.open(Product::ClaudeMem).unwrap();
    let why = "its session is not among the sessions";
    assert_eq!(
        foreign.survey().unfit_rows().collect::<Vec<_>>(),
        [SkippedRows { table: "observations", rows: 1, why }]
    );
}

#[test]
fn a_database_in_use_is_read_with_what_its_log_holds_and_stays_untouched() {
    let bench = Bench::new();
    let sample = throughline(&bench.path(), 12);
    assert!(bench.bytes().keys().any(|name| name.ends_with("-wal")), "the log is there");
    let foreign = bench.open(Product::Throughline).unwrap();
    assert_eq!(item_lines(&foreign, ReadScope::Whole).len(), 9);
    sample
        .run("insert into injection_log (session_id, event_type, created_at) values ('a', 'b', 1)")
        .unwrap();
    assert!(foreign.was_changed());
    sample.close().unwrap();
}

#[test]
fn a_log_whose_program_died_is_read_too() {
    let bench = Bench::new();
    let living = bench.folder.path().join("living.db");
    let sample = throughline(&living, 12);
    for suffix in ["", "-wal"] {
        let to = format!("{}{suffix}", bench.path().display());
        fs::copy(format!("{}{suffix}", living.display()), to).unwrap();
    }
    drop(sample);
    assert_eq!(item_lines(&bench.open(Product::Throughline).unwrap(), ReadScope::Whole).len(), 9);
}

#[test]
fn a_read_only_folder_can_be_read() {
    for keeps_log in [true, false] {
        let bench = Bench::new();
        let sample = throughline(&bench.path(), 8);
        if keeps_log {
            sample.close().unwrap()
        } else {
            sample.close_without_log().unwrap()
        }
        fs::set_permissions(bench.path(), fs::Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(bench.theirs(), fs::Permissions::from_mode(0o500)).unwrap();
        assert_eq!(item_lines(&bench.open(Product::Throughline).unwrap(), ReadScope::Whole).len(), 9);
        fs::set_permissions(bench.theirs(), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn an_unfinished_transaction_is_rolled_back() {
    let bench = Bench::new();
    let living = bench.folder.path().join("living.db");
    throughline(&living, 12).close_without_log().unwrap();
    let sample = SampleDatabase::again(&living).unwrap();
    sample
        .run("pragma cache_size = 1; begin; update bodies set text = text || hex(zeroblob(200000))")
        .unwrap();
    for suffix in ["", "-journal"] {
        let to = format!("{}{suffix}", bench.path().display());
        fs::copy(format!("{}{suffix}", living.display()), to).unwrap();
    }
    drop(sample);
    let item_lines = item_lines(&bench.open(Product::Throughline).unwrap(), ReadScope::Whole);
    assert!(item_lines.contains(&"throughline:2:answer:0 +20: answer fixed".to_owned()), "{item_lines:?}");
}

#[test]
fn a_locked_database_is_reported_as_busy() {
    let bench = Bench::new();
    throughline(&bench.path(), 12).close_without_log().unwrap();
    let sample = SampleDatabase::again(&bench.path()).unwrap();
    sample.hold().unwrap();
    assert!(matches!(bench.open(Product::Throughline), Err(ForeignError::Busy { .. })));
}

#[test]
fn damaged_files_and_non_databases_are_reported_without_a_panic() {
    let bench = Bench::new();
    let check = |bytes: &[u8]| {
        fs::write(bench.path(), bytes).unwrap();
        bench.open(Product::Throughline).err().map(|error| error.to_string())
    };
    let path = bench.path().display().to_string();
    for bytes in [&b""[..], b"not one", &[b'x'; 8192], b"SQLite format 3\0"] {
        assert_eq!(check(bytes).unwrap(), format!("{path} is not a database"));
    }
    fs::remove_file(bench.path()).unwrap();
    throughline(&bench.path(), 12).close().unwrap();
    let whole = fs::read(bench.path()).unwrap();
    for from in (100..whole.len()).step_by(1777) {
        let mut broken = whole.clone();
        let to = (from + 3000).min(broken.len());
        broken[from..to].fill(0xa5);
        let _ = check(&broken);
        let _ = check(&whole[..from]);
    }
    assert_eq!(check(&whole), None);
}

#[test]
fn another_products_database_is_not_taken_for_its_own() {
    let bench = Bench::new();
    let sample = SampleDatabase::throughline(&bench.path(), 0).unwrap();
    sample.run("create table recipes (id integer primary key, session_id text)").unwrap();
    sample.close().unwrap();
    let error = bench.open(Product::Throughline).err().unwrap().to_string();
    assert!(error.ends_with("holds none of the tables of throughline"), "{error}");
}

#[test]
fn a_view_in_place_of_a_table_is_not_queried() {
    let bench = Bench::new();
    let sample = throughline(&bench.path(), 12);
    sample.run("drop table details; create view details as select * from bodies, bodies, bodies").unwrap();
    sample.close().unwrap();
    let foreign = bench.open(Product::Throughline).unwrap();
    assert!(foreign.survey().missing.contains(&"details".to_owned()));
}

#[test]
fn products_are_found_where_they_keep_their_databases() {
    let home = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
    let places = Product::ALL.map(|product| product.database(&home).unwrap());
    let expected = ["/home/me/.throughline/throughline.db", "/home/me/.claude-mem/claude-mem.db"];
    assert_eq!(places, expected.map(PathBuf::from));
    let moved = |name: &str| (name == "CLAUDE_MEM_DATA_DIR").then(|| "/data".to_owned());
    assert_eq!(Product::ClaudeMem.database(&moved), Some("/data/claude-mem.db".into()));
    assert_eq!(Product::Throughline.database(&moved), None);
}
