//! The two programs that stay open: the server with clients that search, and the monitor's first frame.
//!
//! Each is started on its own home and ended by its process.

use std::io::Read;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use super::meter::{nothing, short};
use super::world::World;
use crate::bench::report::{Judgement, Table};
use crate::bench::statistics::{median, percentile, sorted};
use crate::outcome::{Failure, Result};
use crate::server::Server;

const CLIENTS: usize = 8;
const SEARCHES_EACH: usize = 25;
const WORDS: [&str; 5] = ["cache", "retry+bound", "rotate_thumbnail", "xylophonist", "decided+instead"];
const LARGEST_SERVER_MB: f64 = 150.0;

pub struct Views {
    pub table: Table,
    pub judgements: Vec<Judgement>,
}

pub fn measured(world: &World) -> Result<Views> {
    let yardstick = median((0..5).map(|_| nothing()).collect::<Result<_>>()?) / 1e6;
    let start = Instant::now();
    let mut tow = world.home.command();
    tow.env("TMUX_TMPDIR", world.home.plain_folder());
    let server = Server::start(&mut tow, &["--rate", "1000000"])?;
    let started = millis(start);
    let start = Instant::now();
    server.answer("/v1/sessions?limit=1")?;
    let first_row = millis(start);
    let at_rest = server.resident_mb()?;
    let searches = sorted(search_at_once(&server)?);
    let (peak, cpu_s) = (server.peak_mb()?, processor_seconds(server.process()));
    drop(server);
    let frame = first_frame(world)?;
    let timed = |name: &str, figure: f64, memory: String| {
        vec![name.to_owned(), short(figure), short(figure / yardstick), memory]
    };
    let none = || "–".to_owned();
    let rows = vec![
        timed("serve: from its start to its address", started, none()),
        timed("serve: first row", first_row, short(at_rest)),
        timed("serve: a search, eight clients at once, p50", percentile(&searches, 50), none()),
        timed("serve: the same, p99", percentile(&searches, 99), short(peak)),
        timed("serve: CPU per search", cpu_s * 1e3 / searches.len() as f64, none()),
        timed("monitor: first frame on a terminal", frame, none()),
    ];
    let table = Table::new("Views", &["view", "ms", "× true", "memory MB"], rows);
    let judgement =
        Judgement::at_most("serve, eight clients searching", peak, LARGEST_SERVER_MB, " MB of memory");
    Ok(Views { table, judgements: vec![judgement] })
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The times of all searches, in milliseconds.
fn search_at_once(server: &Server) -> Result<Vec<f64>> {
    let one_client = || -> Result<Vec<f64>> {
        let timed = |number: usize| {
            let start = Instant::now();
            server.answer(&format!("/v1/search?q={}&limit=20", WORDS[number % WORDS.len()]))?;
            Ok(millis(start))
        };
        (0..SEARCHES_EACH).map(timed).collect()
    };
    let clients: Vec<Result<Vec<f64>>> = thread::scope(|scope| {
        let running: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(one_client)).collect();
        let lost = || Err(Failure::malformed("a client of `tow data serve`", "it ended early"));
        running.into_iter().map(|client| client.join().unwrap_or_else(|_| lost())).collect()
    });
    Ok(clients.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// User and system time of a running process: fields 14 and 15, behind the name in parentheses.
fn processor_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split(' ').skip(12).take(2);
    let ticks: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

/// From the start of the monitor until its first words are on the terminal, in milliseconds.
fn first_frame(world: &World) -> Result<f64> {
    let mut command = world.home.on_terminal(&["monitor"])?;
    command.env("TMUX_TMPDIR", world.home.plain_folder());
    let start = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(Failure::start("tow monitor"))?;
    let mut terminal = child.stdout.take();
    let (mut shown, mut block) = (Vec::new(), [0; 4096]);
    while let Some(Ok(read @ 1..)) = terminal.as_mut().map(|terminal| terminal.read(&mut block)) {
        shown.extend_from_slice(&block[..read]);
        if has_words(&shown) {
            break;
        }
    }
    let spent = millis(start);
    // Closing the terminal ends the monitor.
    drop(terminal);
    child.kill().and_then(|()| child.wait()).map_err(Failure::start("tow monitor"))?;
    if has_words(&shown) {
        Ok(spent)
    } else {
        Err(Failure::malformed("first frame", "the monitor showed no words"))
    }
}

/// Whether there is text beside control sequences.
fn has_words(shown: &[u8]) -> bool {
    shown.windows(4).any(|bytes| bytes.iter().all(u8::is_ascii_alphabetic))
}
