//! The process environment: the only reader of clock, environment variables, randomness and home.
//!
//! All other code receives values. Tests replace clock and randomness with `TOWLINE_NOW` and `TOWLINE_SEED`;
//! `TOWLINE_PATIENCE` multiplies every limit on waiting, for slow machines.

use super::clock;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use towline_agents::settings::{PLACES, quote};
use towline_core::id::Uid;
use towline_core::patience;
use towline_core::time::Timestamp;
pub use towline_store::DataFolder;
pub use towline_store::home::{private_folder, replace_file};

/// Set in every process we start: an agent running below us is not doing the user's work.
pub const GUARD: &str = "TOWLINE_CHILD";

/// The factor for limits on waiting.
const PATIENCE: &str = "TOWLINE_PATIENCE";

/// The values this process took from its environment.
pub struct Env {
    pub home: DataFolder,
    pub config_file: PathBuf,
    pub now: Timestamp,
    /// The sub-millisecond part of the time that `now` does not show, in 4096ths.
    fraction: u16,
    /// By the monotonic clock.
    begun: Duration,
    drawn: AtomicU16,
    /// How a user's command says that it waits.
    pub(super) waits: OnceLock<fn(&str)>,
}

impl Env {
    /// Returns `None` without a home: there is no place to store anything.
    pub fn new() -> Option<Env> {
        let user_home = user_home();
        let given = variable("TOWLINE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let data = given
            .clone()
            .or_else(|| Some(xdg("XDG_DATA_HOME", user_home.as_deref(), ".local/share")?.join("towline")));
        let settings = xdg("XDG_CONFIG_HOME", user_home.as_deref(), ".config")
            .map(|folder| folder.join("towline"))
            .or(given);
        patience::set_factor(variable(PATIENCE).and_then(|factor| factor.parse().ok()).unwrap_or(1));
        let (now, fraction) = now();
        Some(Env {
            home: DataFolder::at(data?),
            config_file: settings?.join("config.toml"),
            now,
            fraction,
            begun: clock::monotonic(),
            drawn: AtomicU16::new(0),
            waits: OnceLock::new(),
        })
    }

    /// For tests of long-running code: a separate home and the real clock.
    #[cfg(test)]
    pub fn at(home: DataFolder, config_file: PathBuf) -> Env {
        let (now, fraction) = now();
        Env {
            home,
            config_file,
            now,
            fraction,
            begun: clock::monotonic(),
            drawn: AtomicU16::new(0),
            waits: OnceLock::new(),
        }
    }

    /// The same environment at the current time. A clock fixed by a test advances from its fixed value.
    pub fn later(&self) -> Env {
        let ran_on = self.now.plus_ms(i64::try_from(self.begun_ago().as_millis()).unwrap_or(i64::MAX));
        let (read, fraction) = now();
        Env {
            home: self.home.clone(),
            config_file: self.config_file.clone(),
            // The monotonic clock stops while the machine sleeps; the wall clock does not.
            now: ran_on.max(read),
            fraction,
            begun: clock::monotonic(),
            drawn: AtomicU16::new(0),
            waits: self.waits.clone(),
        }
    }

    /// Creates a row id. Ids sort by time to a fraction of a millisecond; ids from one process sort by
    /// creation order.
    pub fn uid(&self) -> Uid {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&self.draw().to_le_bytes());
        random[..2].copy_from_slice(&(self.fraction + self.drawn.load(Ordering::Relaxed)).to_be_bytes());
        Uid::v7(self.now, random)
    }

    /// Time since this `Env` was created, as limits count it: a slow machine has spent less of them.
    pub fn elapsed(&self) -> Duration {
        patience::shrink(self.begun_ago())
    }

    fn begun_ago(&self) -> Duration {
        clock::monotonic().saturating_sub(self.begun)
    }

    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// `RandomState` is seeded from the kernel once per process, so no random number crate is needed.
    fn draw(&self) -> u64 {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(seed) = variable("TOWLINE_SEED").and_then(|seed| seed.parse::<u64>().ok()) {
            return seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(drawn.into());
        }
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u16(drawn);
        hasher.finish()
    }
}

/// Unpredictable bytes from the kernel.
pub fn secret() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes)
}

/// Returns a variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "the env")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The variables that locate data and configuration, with their values. A relative path becomes `None`,
/// because `Env::new` ignores it too.
pub fn places() -> Vec<(&'static str, Option<String>)> {
    let said = |name: &'static str| (name, variable(name).filter(|path| Path::new(path).is_absolute()));
    PLACES.map(said).to_vec()
}

/// The value of `TZ`: empty means UTC, unset means the system's zone.
#[expect(clippy::disallowed_methods, reason = "the env")]
pub fn zone_variable() -> Option<String> {
    std::env::var("TZ").ok()
}

#[expect(clippy::disallowed_methods, reason = "the env")]
pub fn arguments() -> impl Iterator<Item = std::ffi::OsString> {
    std::env::args_os()
}

#[expect(clippy::disallowed_methods, reason = "the env")]
pub fn current_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Leaves the start folder, which may be on a disk that the user wants to unmount.
#[expect(clippy::disallowed_methods, reason = "the env, and nobody else runs in this process")]
pub fn leave_folder() {
    let _ = std::env::set_current_dir("/");
}

pub fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "machine".to_owned() } else { name }
}

pub fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

#[expect(clippy::disallowed_methods, reason = "the env")]
pub fn user_home() -> Option<PathBuf> {
    std::env::home_dir().filter(|path| path.is_absolute())
}

fn xdg(name: &str, user_home: Option<&Path>, below: &str) -> Option<PathBuf> {
    let given = variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    given.or_else(|| Some(user_home?.join(below)))
}

/// The time, and its sub-millisecond part in 4096ths. The part stays below 4000, so `uid` can count upwards.
fn now() -> (Timestamp, u16) {
    if let Some(fixed) = variable("TOWLINE_NOW").and_then(|ms| ms.parse().ok()) {
        return (Timestamp(fixed), 0);
    }
    let since = clock::wall();
    let fraction = u64::from(since.subsec_nanos() % 1_000_000) * 4000 / 1_000_000;
    (Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)), u16::try_from(fraction).unwrap_or(0))
}

pub fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = variable("PATH")?;
    let candidates =
        path.split(':').filter(|folder| !folder.is_empty()).map(|folder| Path::new(folder).join(name));
    candidates.into_iter().find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Our command for a shell: `tow` if the PATH resolves it to this program, else its full path, quoted. Resolved once.
pub fn program() -> String {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    let file = |path: &PathBuf| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let find = || match own_program() {
        Some(path) if find_in_path("tow").as_ref().and_then(file) != file(&path) => {
            quote(&path.to_string_lossy())
        }
        Some(_) | None => "tow".to_owned(),
    };
    PROGRAM.get_or_init(find).clone()
}
