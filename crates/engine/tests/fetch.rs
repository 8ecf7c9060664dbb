//! Fetching a file from a server on this machine that sends too little, something else, or nothing.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests report by panicking; the server is a thread"
)]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::{fs, thread};
use tempfile::TempDir;
use towline_engine::runtime::fetch::{FetchError, Wanted, fetch, sha256_of, take};

/// What the server does with the next request.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Whole,
    /// It says how much there is, and hangs up after so many bytes.
    HangsUpAfter(usize),
    /// It knows no parts.
    AlwaysFromTheBeginning,
    SomethingElse,
    SendsElsewhere,
    NotFound,
}

struct World {
    folder: TempDir,
    address: String,
    file: Vec<u8>,
    sha256: String,
    /// The `range` of each request.
    asked: Arc<Mutex<Vec<Option<String>>>>,
}

impl World {
    /// A server with one manner for each request.
    fn new(manners: &[Manner]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let file: Vec<u8> =
            (0..300_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        fs::write(folder.path().join("original"), &file).unwrap();
        let sha256 = sha256_of(&folder.path().join("original")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(vec![]));
        let (manners, sent, seen) = (manners.to_vec(), file.clone(), asked.clone());
        thread::spawn(move || {
            for manner in manners {
                let (stream, _) = listener.accept().unwrap();
                let range = range_of(&stream);
                seen.lock().unwrap().push(range.clone());
                answer(stream, manner, range.as_deref(), &sent);
            }
        });
        World { folder, address, file, sha256, asked }
    }

    fn wanted(&self) -> Wanted {
        let url = format!("{}/model/file.bin", self.address);
        Wanted { url, sha256: self.sha256.clone(), into: self.place(), certificates: None }
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join("file.bin")
    }

    fn part(&self) -> PathBuf {
        self.folder.path().join("file.bin.part")
    }

    fn fetch(&self) -> Result<(), FetchError> {
        fetch(&self.wanted(), &mut |_, _| {})
    }

    fn has_it(&self) -> bool {
        fs::read(self.place()).is_ok_and(|bytes| bytes == self.file) && !self.part().exists()
    }

    fn asked(&self) -> Vec<Option<String>> {
        self.asked.lock().unwrap().clone()
    }
}

fn range_of(stream: &TcpStream) -> Option<String> {
    let mut range = None;
    for line in BufReader::new(stream).lines().map(Result::unwrap).take_while(|line| !line.is_empty()) {
        if let Some(value) = line.to_lowercase().strip_prefix("range: ") {
            range = Some(value.to_owned());
        }
    }
    range
}

fn answer(mut stream: TcpStream, manner: Manner, range: Option<&str>, file: &[u8]) {
    let from: usize =
        range.map_or(0, |range| range.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap());
    let is_part = from > 0 && !matches!(manner, Manner::AlwaysFromTheBeginning);
    let rest = &file[if is_part { from } else { 0 }..];
    let (status, headers) = match (manner, is_part) {
        (Manner::NotFound, _) => ("404 Not Found", String::new()),
        (Manner::SendsElsewhere, _) => ("302 Found", "location: /elsewhere\r\n".to_owned()),
        (_, true) => (
            "206 Partial Content",
            format!("content-range: bytes {from}-{}/{}\r\n", file.len() - 1, file.len()),
        ),
        (_, false) => ("200 OK", String::new()),
    };
    let body = match manner {
        Manner::NotFound | Manner::SendsElsewhere => vec![],
        Manner::SomethingElse => vec![7; rest.len()],
        Manner::Whole | Manner::AlwaysFromTheBeginning | Manner::HangsUpAfter(_) => rest.to_vec(),
    };
    let head =
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    let sent = if let Manner::HangsUpAfter(most) = manner { most.min(body.len()) } else { body.len() };
    let _ = stream.write_all(&body[..sent]);
}

#[test]
fn file_is_fetched_proven_and_put_in_its_place_with_progress() {
    let world = World::new(&[Manner::SendsElsewhere, Manner::Whole]);
    let mut steps = vec![];
    fetch(&world.wanted(), &mut |got, all| steps.push((got, all))).unwrap();
    assert!(world.has_it());
    assert_eq!(steps.last(), Some(&(300_000, Some(300_000))));
    assert!(steps.is_sorted());
}

#[test]
fn cut_connection_keeps_what_came_and_is_gone_on_with() {
    let world = World::new(&[Manner::HangsUpAfter(100_000), Manner::HangsUpAfter(50_000), Manner::Whole]);
    let error = world.fetch().unwrap_err();
    assert!(matches!(error, FetchError::CutOff { got: 100_000, .. }), "{error}");
    assert!(!world.place().exists());
    assert!(matches!(world.fetch().unwrap_err(), FetchError::CutOff { got: 150_000, .. }));
    world.fetch().unwrap();
    assert!(world.has_it());
    assert_eq!(world.asked(), [None, Some("bytes=100000-".to_owned()), Some("bytes=150000-".to_owned())]);
}

#[test]
fn server_that_knows_no_parts_sends_it_from_the_beginning() {
    let world = World::new(&[Manner::HangsUpAfter(100_000), Manner::AlwaysFromTheBeginning]);
    world.fetch().unwrap_err();
    world.fetch().unwrap();
    assert!(world.has_it());
}

#[test]
fn part_of_another_file_is_found_out_and_fetched_anew() {
    let world = World::new(&[Manner::Whole, Manner::Whole]);
    fs::write(world.part(), [1; 1000]).unwrap();
    world.fetch().unwrap();
    assert!(world.has_it());
    assert_eq!(world.asked(), [Some("bytes=1000-".to_owned()), None]);
}

#[test]
fn wrong_checksum_is_never_used_and_says_which_it_is() {
    let world = World::new(&[Manner::SomethingElse]);
    let error = world.fetch().unwrap_err();
    assert!(error.to_string().contains(&world.sha256), "{error}");
    assert!(!world.place().exists() && !world.part().exists());
}

#[test]
fn what_is_there_stays_when_nothing_better_comes() {
    let world = World::new(&[Manner::NotFound, Manner::SomethingElse]);
    fs::write(world.place(), b"former").unwrap();
    assert!(matches!(world.fetch().unwrap_err(), FetchError::Refused { status: 404, .. }));
    assert!(matches!(world.fetch().unwrap_err(), FetchError::Wrong { .. }));
    assert_eq!(fs::read(world.place()).unwrap(), b"former");
}

#[test]
fn nobody_at_home_is_said_with_the_address() {
    let world = World::new(&[]);
    let wanted = Wanted { url: "http://127.0.0.1:1/x".to_owned(), ..world.wanted() };
    let error = fetch(&wanted, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.to_string(), "could not reach http://127.0.0.1:1/x");
}

#[test]
fn file_of_another_folder_is_taken_by_the_same_proof() {
    let world = World::new(&[]);
    let (right, wrong) = (world.folder.path().join("original"), world.folder.path().join("wrong"));
    fs::write(&wrong, b"wrong").unwrap();
    assert!(matches!(take(&world.wanted(), &wrong).unwrap_err(), FetchError::Wrong { .. }));
    assert!(!world.place().exists());
    take(&world.wanted(), &right).unwrap();
    assert!(world.has_it());
}
