//! Indexing and search speed, index size, and memory of a search.
//!
//! Documents are cut from real source code and prose, so that word frequencies are realistic.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use towline_search::{
    Document, DocumentKind, Encoder, Query, QuerySimilarity, SearchIndex, VectorFile, VectorFormat,
    VectorWriter,
};

/// Documents of one session, and sessions of one project.
const IN_SESSION: usize = 40;
const IN_PROJECT: usize = 50;
/// About as long as a message or the result of a tool.
const LENGTH: usize = 480;
const WORDS_ASKED: usize = 6;
/// The kernel's CPU accounting has a resolution of some milliseconds: each query is repeated to be measured.
const REPEATED: u32 = 20;
const QUESTIONS: &str = "questions.txt";

/// Indexes `wanted` documents made of the files below `texts`, and prints the cost.
pub fn index(folder: &Path, count: usize, texts: &[&str]) {
    let cuts = cuts(texts, count);
    let before = cpu_seconds();
    let index = SearchIndex::rebuild(&folder.join("index")).unwrap();
    let mut writer = index.writer().unwrap();
    for number in 0..count {
        writer.add(&document(number, &cuts)).unwrap();
        if number % 20_000 == 19_999 {
            writer.commit(number as i64).unwrap();
        }
    }
    writer.commit(count as i64).unwrap();
    writer.close().unwrap();
    println!("indexing, CPU s = {:.2}", cpu_seconds() - before);
    println!("index, MB = {:.1}", size_of(&folder.join("index")) as f64 / 1e6);
    println!(
        "text, MB = {:.1}",
        (0..count).map(|number| text_of(number, &cuts).len()).sum::<usize>() as f64 / 1e6
    );
    std::fs::write(folder.join(QUESTIONS), questions(&cuts).join("\n")).unwrap();
}

/// Searches in one process, and prints the cost per query once the index is in memory.
pub fn ask(folder: &Path, rounds: usize) {
    let index = SearchIndex::open(&folder.join("index")).unwrap();
    let questions = std::fs::read_to_string(folder.join(QUESTIONS)).unwrap();
    let questions: Vec<&str> = questions.lines().take(rounds).collect();
    questions.iter().for_each(|question| drop(index.search(&query(question), &[]).unwrap()));
    let mut costs: Vec<f64> = questions
        .iter()
        .map(|question| {
            let before = cpu_nanoseconds();
            (0..REPEATED).for_each(|_| drop(index.search(&query(question), &[]).unwrap()));
            (cpu_nanoseconds() - before) as f64 / 1e6 / f64::from(REPEATED)
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    println!("warm, CPU ms, median = {:.2}", costs[costs.len() / 2]);
    println!("warm, CPU ms, p95 = {:.2}", costs[costs.len() * 95 / 100]);
    println!("memory of its own, MB = {:.1}", memory("RssAnon:") + memory("RssShmem:"));
    println!("memory at most, mapped files included, MB = {:.1}", memory("VmHWM:"));
}

/// Starts a process per query: opening the index, and one search.
pub fn cold(folder: &Path, rounds: usize) {
    let questions = std::fs::read_to_string(folder.join(QUESTIONS)).unwrap();
    let before = children_seconds();
    for question in questions.lines().take(rounds) {
        let me = std::env::current_exe().unwrap();
        let status = Command::new(me).arg("once").arg(folder).arg(question).status().unwrap();
        assert!(status.success());
    }
    println!("whole process, CPU ms, mean = {:.2}", (children_seconds() - before) * 1000.0 / rounds as f64);
}

/// `cold` with the index evicted from the page cache before each query.
pub fn evicted(folder: &Path, rounds: usize) {
    let questions = std::fs::read_to_string(folder.join(QUESTIONS)).unwrap();
    let before = children_seconds();
    let mut times: Vec<f64> = Vec::new();
    for question in questions.lines().take(rounds) {
        evict(&folder.join("index"));
        let me = std::env::current_exe().unwrap();
        let begin = Instant::now();
        let status = Command::new(me).arg("once").arg(folder).arg(question).status().unwrap();
        assert!(status.success());
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    let spent = (children_seconds() - before) * 1000.0 / rounds as f64;
    println!("whole process, cold file cache, CPU ms, mean = {spent:.2}");
    println!("whole process, cold file cache, wall ms, median = {:.2}", times[times.len() / 2]);
}

fn evict(folder: &Path) {
    for file in std::fs::read_dir(folder).unwrap() {
        let file = std::fs::File::open(file.unwrap().path()).unwrap();
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    }
}

pub fn once(folder: &Path, question: &str) {
    let index = SearchIndex::open(&folder.join("index")).unwrap();
    let hits = index.search(&query(question), &[]).unwrap();
    assert!(!hits.is_empty());
}

const QUESTION: &str = "why does the login cookie expire after a restart";

/// The cost of a model: embedding a query and a full-length document with the model mapped, a query in a process of
/// its own, and a scan of 100,000 vectors.
pub fn embed(folder: &Path, rounds: usize) {
    let encoder = Encoder::open(folder).unwrap();
    let document = "the session cookie was written before its key was read from the settings ".repeat(40);
    for (name, text) in [("a question", QUESTION), ("a document of 128 pieces", document.as_str())] {
        drop(encoder.embed(text));
        let before = cpu_nanoseconds();
        (0..rounds).for_each(|_| drop(encoder.embed(text)));
        println!(
            "embedding {name}, CPU ms = {:.2}",
            (cpu_nanoseconds() - before) as f64 / 1e6 / rounds as f64
        );
    }
    scan(&encoder, rounds);
    println!("memory of a process with the model, mapped files included, MB = {:.1}", memory("VmHWM:"));
    let before = children_seconds();
    for _ in 0..rounds {
        let me = std::env::current_exe().unwrap();
        assert!(Command::new(me).arg("open").arg(folder).status().unwrap().success());
    }
    let spent = (children_seconds() - before) * 1000.0 / rounds as f64;
    println!("embedding a question, whole process, CPU ms = {spent:.2}");
}

fn scan(encoder: &Encoder, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors");
    let of = VectorFormat { model: 1, dimensions: encoder.dimensions() };
    let vector = encoder.embed(QUESTION);
    let mut writer = VectorWriter::open(&file, of).unwrap().unwrap();
    (0..100_000).for_each(|id| writer.add(id, 1, &vector).unwrap());
    let vectors = VectorFile::open(&file, of).unwrap().unwrap();
    drop(QuerySimilarity::to(&vectors, &vector));
    let before = cpu_nanoseconds();
    (0..rounds).for_each(|_| drop(QuerySimilarity::to(&vectors, &vector)));
    println!(
        "scanning 100000 vectors, CPU ms = {:.2}",
        (cpu_nanoseconds() - before) as f64 / 1e6 / rounds as f64
    );
    println!("100000 vectors, MB = {:.1}", std::fs::metadata(&file).unwrap().len() as f64 / 1e6);
}

pub fn open(folder: &Path) {
    assert!(!Encoder::open(folder).unwrap().embed(QUESTION).is_empty());
}

fn query(text: &str) -> Query {
    Query { text: text.to_owned(), limit: 20, now: 1_800_000_000_000, ..Query::default() }
}

/// Chunks of files, a few lines each.
fn cuts(texts: &[&str], count: usize) -> Vec<String> {
    let mut cuts = Vec::new();
    let mut folders: Vec<PathBuf> = texts.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if cuts.len() < count && is_text(&path) {
                cuts.extend(std::fs::read_to_string(&path).ok().into_iter().flat_map(|text| cut(&text)));
            }
        }
    }
    cuts
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rs" || ending == "md" || ending == "toml")
        && path.metadata().is_ok_and(|file| file.len() < 300_000)
}

fn cut(text: &str) -> Vec<String> {
    let mut cuts = vec![String::new()];
    for line in text.lines() {
        if let Some(last) = cuts.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
        if cuts.last().is_some_and(|last| last.len() > LENGTH) {
            cuts.push(String::new());
        }
    }
    cuts
}

/// Beyond the number of cuts, a document consists of the halves of two.
fn text_of(number: usize, cuts: &[String]) -> String {
    let first = &cuts[number % cuts.len()];
    if number < cuts.len() {
        return first.clone();
    }
    let second = &cuts[(number * 31 + number / cuts.len()) % cuts.len()];
    let half = |text: &str| text.lines().step_by(2).collect::<Vec<_>>().join("\n");
    format!("{}\n{}", half(first), half(second))
}

fn document(number: usize, cuts: &[String]) -> Document {
    let session = number / IN_SESSION;
    let kinds = [
        DocumentKind::Prompt,
        DocumentKind::Body,
        DocumentKind::Detail,
        DocumentKind::Detail,
        DocumentKind::Line,
    ];
    Document {
        session: format!("session-{session}"),
        project: format!("project-{}", session / IN_PROJECT),
        branch: "main".to_owned(),
        agent: "agent".to_owned(),
        turn: (number % IN_SESSION / kinds.len()) as u32,
        at: 1_700_000_000_000 + number as i64 * 60_000,
        files: vec![format!("src/part{}/file{}.rs", number % 97, number % 1009)],
        ..Document::plain(number as i64, kinds[number % kinds.len()], &text_of(number, cuts))
    }
}

/// Six words of a document each, as a user would remember them.
fn questions(cuts: &[String]) -> Vec<String> {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    let mut questions = Vec::new();
    while questions.len() < 300 {
        let words: Vec<&str> = cuts[random(cuts.len())]
            .split(|letter: char| !letter.is_alphabetic())
            .filter(|word| word.len() > 3)
            .collect();
        if words.len() >= WORDS_ASKED * 2 {
            let chosen: Vec<&str> = (0..WORDS_ASKED).map(|_| words[random(words.len())]).collect();
            questions.push(chosen.join(" "));
        }
    }
    questions
}

fn size_of(folder: &Path) -> u64 {
    std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

/// A field of `/proc/self/stat` in seconds; 14 and 15 are our own, 16 and 17 our children's.
fn ticks(first: usize) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let field =
        |number: usize| after_name.split_whitespace().nth(number - 3).unwrap().parse::<f64>().unwrap();
    (field(first) + field(first + 1)) / 100.0
}

fn cpu_seconds() -> f64 {
    ticks(14)
}

fn children_seconds() -> f64 {
    ticks(16)
}

fn cpu_nanoseconds() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
}

/// A line of `/proc/self/status`, in megabytes.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1000.0
}
