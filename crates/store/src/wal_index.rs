//! Opens a database with fewer system calls: keeps SQLite's WAL index (the `-shm` file) from one process to the next, and
//! spares it the search for links in the path.
//!
//! The first process that opens a database truncates the index, because a power cut may have damaged it, and builds it anew
//! from the whole WAL. Most hooks are the first process: a prompt's hook read 30 frames of `towline.db`, and a session's first
//! prompt up to 8 MB of `archive.db`. A hook keeps the index if it was made since the machine started, and if the WAL ends with
//! the frame that the index names. Any other process that is the first builds it anew, and so verifies every frame: with a
//! kept index, a damaged value within a page of the WAL was read as it was, and not restored. A hook may still read such a
//! value, and what it commits after it is dropped with it: the journal and `memories.log` bring both back.
//!
//! Which WAL belongs to the index is known from the names under which SQLite opened both: asking `/proc` for the name of an
//! open file took 16 µs of a prompt's 1,000, and opening the WAL once more 4 µs.
//!
//! Decides only whether SQLite may keep the file. The locks, the format and every repair are SQLite's own
//! (<https://sqlite.org/walformat.html>): an index that a killed process left half written is repaired by its protocol.
#![expect(unsafe_code, reason = "SQLite asks for file operations by C functions")]

use rusqlite::ffi;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::mem::{ManuallyDrop, transmute, zeroed};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::sync::{Once, OnceLock};
use std::{io, ptr};

/// The length to which SQLite truncates the index, and no other file.
const RESET: i64 = 3;

/// The first part of the index; SQLite never makes a smaller one.
const SMALLEST: u64 = 32 * 1024;

/// Two copies of the header, and what checkpoints and readers share.
const HEAD: usize = 136;
const COPY: usize = 48;

/// Eight bytes that SQLite reserves for systems whose locks are part of the file; ours hold the boot that made the file.
const MARK: usize = 120;

const WAL_HEAD: u64 = 32;
const FRAME_HEAD: u64 = 24;

thread_local! {
    static KEEPS: Cell<bool> = const { Cell::new(false) };
}

/// Lets this thread keep the index of an earlier process. For hooks, which have one thread.
pub(crate) fn trust() {
    KEEPS.set(true);
}

/// Replaces the functions by which SQLite opens files. Must be called before the first database is opened.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the default VFS lives as long as the process, and the functions have the signatures of those they replace.
        unsafe {
            let Some(vfs) = ffi::sqlite3_vfs_find(ptr::null()).as_mut() else { return };
            if let Some(resolve) = vfs.xFullPathname {
                let _ = RESOLVE.set(resolve);
                vfs.xFullPathname = Some(full_path);
            }
            let Some(set) = vfs.xSetSystemCall else { return };
            set(vfs, c"open".as_ptr(), Some(transmute::<Open, unsafe extern "C" fn()>(open)));
            set(vfs, c"ftruncate".as_ptr(), Some(transmute::<Truncate, unsafe extern "C" fn()>(truncate)));
        }
    });
}

type FullPath = unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *const c_char, c_int, *mut c_char) -> c_int;

/// SQLite's own function, which looks at each folder of the path for a link: six system calls of a hook's 120.
static RESOLVE: OnceLock<FullPath> = OnceLock::new();

/// Replaces `xFullPathname`. An absolute path to a file that is no link stays as it is: SQLite needs names for the WAL and its
/// index beside the file, and those lie in the same folder, whichever way leads there.
unsafe extern "C" fn full_path(
    vfs: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    room: c_int,
    full: *mut c_char,
) -> c_int {
    // SAFETY: SQLite's paths end with a zero.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes_with_nul();
    let fits = usize::try_from(room).is_ok_and(|room| bytes.len() <= room);
    if bytes.starts_with(b"/") && fits && !is_link(path) {
        // SAFETY: `full` has `room` bytes, and the path fits.
        unsafe { ptr::copy_nonoverlapping(path, full, bytes.len()) };
        return ffi::SQLITE_OK;
    }
    // SAFETY: the call that SQLite asked for.
    RESOLVE.get().map_or(ffi::SQLITE_CANTOPEN, |resolve| unsafe { resolve(vfs, path, room, full) })
}

fn is_link(path: *const c_char) -> bool {
    // SAFETY: zeros are a value of the type, which the kernel fills.
    let mut found: libc::stat = unsafe { zeroed() };
    // SAFETY: the path ends with a zero, and the structure lives during the call.
    let is_found = unsafe { libc::lstat(path, &raw mut found) } == 0;
    is_found && found.st_mode & libc::S_IFMT == libc::S_IFLNK
}

type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;
type Truncate = unsafe extern "C" fn(c_int, libc::off_t) -> c_int;

/// SQLite opens no longer path than 512 bytes.
const LONGEST_NAME: usize = 512;

/// A file that SQLite opened, with its name without the suffix. Nothing to drop: a destructor per thread would cost each
/// hook six system calls and three page faults.
struct Opened {
    file: c_int,
    length: usize,
    database: [u8; LONGEST_NAME],
}

impl Opened {
    const NONE: Opened = Opened { file: -1, length: 0, database: [0; LONGEST_NAME] };

    /// `None` for a longer name.
    fn set(&mut self, file: c_int, database: &[u8]) -> Option<()> {
        *self = Opened::NONE;
        self.database.get_mut(..database.len())?.copy_from_slice(database);
        (self.file, self.length) = (file, database.len());
        Some(())
    }

    fn database(&self) -> &[u8] {
        self.database.get(..self.length).unwrap_or_default()
    }
}

thread_local! {
    /// The latest WAL and the latest index. A connection opens its WAL before its index, and keeps it as long.
    static LATEST: RefCell<[Opened; 2]> = const { RefCell::new([Opened::NONE; 2]) };
}

const SUFFIXES: [&[u8]; 2] = [b"-wal", b"-shm"];

/// Replaces `open`, and remembers the files of a WAL. The system call alone: musl's `open` adds one for kernels that do not
/// know `O_CLOEXEC`.
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: the call that SQLite asked for.
    let file = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, mode) };
    let file = c_int::try_from(file).unwrap_or(-1);
    // SAFETY: SQLite's paths end with a zero.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    for (place, suffix) in SUFFIXES.iter().enumerate() {
        if let Some(database) = path.strip_suffix(*suffix).filter(|_| file >= 0) {
            LATEST.with_borrow_mut(|latest| latest[place].set(file, database));
        }
    }
    file
}

/// Replaces `ftruncate`. SQLite resets an index while it holds the lock that keeps every other process from opening it.
unsafe extern "C" fn truncate(file: c_int, length: libc::off_t) -> c_int {
    if length == RESET {
        // SAFETY: SQLite's file is open during the call, and is not closed here.
        let index = ManuallyDrop::new(unsafe { File::from_raw_fd(file) });
        if let Some(boot) = boot() {
            if KEEPS.get() && is_current(&index, boot).unwrap_or(false) {
                return 0;
            }
            // A header of zeros makes SQLite build the index anew, as after the death of a writer beside others. To cut the
            // file took ext4 2 ms, more than a whole command.
            let mut head = [0; HEAD];
            head[MARK..MARK + boot.len()].copy_from_slice(&boot);
            if index.write_all_at(&head, 0).is_ok() {
                return 0;
            }
        }
    }
    // SAFETY: the call that SQLite asked for.
    unsafe { libc::ftruncate(file, length) }
}

/// A mark of this start of the machine. `None` where the system gives none.
fn boot() -> Option<[u8; 8]> {
    static BOOT: OnceLock<Option<[u8; 8]>> = OnceLock::new();
    *BOOT.get_or_init(|| birth_of_devices().or_else(random_id))
}

/// Half of the random id that the kernel gives each start of the machine.
fn random_id() -> Option<[u8; 8]> {
    let mut id = [0; 36];
    File::open("/proc/sys/kernel/random/boot_id").ok()?.read_exact_at(&mut id, 0).ok()?;
    let digits = std::str::from_utf8(&id).ok()?.get(19..)?.replace('-', "");
    u64::from_str_radix(&digits, 16).ok().map(u64::to_be_bytes)
}

/// A clock that was never set starts over with each start of the machine: September 2020.
const EARLIEST_BIRTH: i64 = 1_600_000_000;

/// The kind of file system; its type and that of the constant differ between C libraries.
const TMPFS: u64 = 0x0102_1994;

/// When the kernel made `/dev`, which lies in memory: with each start of a machine or of a container. Takes 2 µs, where the
/// random id takes 12 of a prompt's 1,000.
fn birth_of_devices() -> Option<[u8; 8]> {
    let folder = c"/dev".as_ptr();
    // SAFETY: zeros are values of both types, which the kernel fills.
    let (mut system, mut devices): (libc::statfs, libc::statx) = unsafe { (zeroed(), zeroed()) };
    // SAFETY: the path ends with a zero, and the structures live during the calls.
    let told = unsafe {
        libc::statfs(folder, &raw mut system) == 0
            && libc::statx(libc::AT_FDCWD, folder, 0, libc::STATX_BTIME, &raw mut devices) == 0
    };
    let lies_in_memory = told && u64::try_from(system.f_type).is_ok_and(|kind| kind == TMPFS);
    let is_born = devices.stx_mask & libc::STATX_BTIME != 0 && devices.stx_btime.tv_sec > EARLIEST_BIRTH;
    let birth = devices.stx_btime.tv_sec.cast_unsigned() << 30 | u64::from(devices.stx_btime.tv_nsec);
    (lies_in_memory && is_born).then_some(birth.to_be_bytes())
}

/// Whether the index was made since the machine started, and is that of the WAL beside it.
fn is_current(index: &File, boot: [u8; 8]) -> io::Result<bool> {
    let mut head = [0; HEAD];
    index.read_exact_at(&mut head, 0)?;
    if head[MARK..MARK + boot.len()] != boot || head[..COPY] != head[COPY..2 * COPY] {
        return Ok(false);
    }
    if index.metadata()?.len() < SMALLEST {
        return Ok(false);
    }
    let Some(log) = log_of(index) else { return Ok(false) };
    ends_as(&Header::of(&head), &log)
}

/// The open WAL of an index. `None` unless this thread opened both, and the index last.
fn log_of(index: &File) -> Option<ManuallyDrop<File>> {
    LATEST.with_borrow(|[log, latest]| {
        let is_its = latest.file == index.as_raw_fd() && latest.database() == log.database();
        // SAFETY: the connection that opens the index has its WAL open, and it is not closed here.
        is_its.then(|| ManuallyDrop::new(unsafe { File::from_raw_fd(log.file) }))
    })
}

/// What an index says of its WAL.
struct Header {
    page: u64,
    frames: u64,
    checksum: [u32; 2],
    salts: [u8; 8],
}

impl Header {
    fn of(head: &[u8; HEAD]) -> Header {
        let number = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let page = u64::from(u16::from_ne_bytes([head[14], head[15]]));
        let mut salts = [0; 8];
        salts.copy_from_slice(&head[32..40]);
        Header {
            page: (page & 0xfe00) + ((page & 1) << 16),
            frames: u64::from(number(16)),
            checksum: [number(24), number(28)],
            salts,
        }
    }
}

/// Whether the last frame of the index is in the WAL, with its page. An index without frames is none: nothing vouches for the
/// size of the database that it tells, and a new one costs nothing.
fn ends_as(header: &Header, log: &File) -> io::Result<bool> {
    if header.frames == 0 {
        return Ok(false);
    }
    if log.metadata()?.len() < WAL_HEAD + header.frames * (FRAME_HEAD + header.page) {
        return Ok(false);
    }
    let mut head = [0; WAL_HEAD as usize];
    log.read_exact_at(&mut head, 0)?;
    let mut frame = [0; FRAME_HEAD as usize];
    log.read_exact_at(&mut frame, WAL_HEAD + (header.frames - 1) * (FRAME_HEAD + header.page))?;
    let number = |at: usize| u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    Ok(head[16..24] == header.salts
        && frame[8..16] == header.salts
        && [number(16), number(20)] == header.checksum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{open_for_reading, open_for_writing};
    use crate::home::beside;
    use rusqlite::Connection;
    use std::fs;
    use std::path::PathBuf;
    use std::time::Duration;

    const SCHEMA: [&str; 1] = ["create table t (a)"];

    struct Files(tempfile::TempDir);

    impl Files {
        /// A database with three rows, all of them in the WAL only, that no process has open.
        fn with_three_rows() -> Files {
            trust();
            let files = Files(tempfile::tempdir().unwrap());
            for row in 1..=3 {
                files.writing().execute("insert into t values (?)", [row]).unwrap();
            }
            files
        }

        fn database(&self) -> PathBuf {
            self.0.path().join("x.db")
        }

        fn log(&self) -> PathBuf {
            beside(&self.database(), "-wal")
        }

        fn index(&self) -> PathBuf {
            beside(&self.database(), "-shm")
        }

        fn writing(&self) -> Connection {
            open_for_writing(&self.database(), Duration::ZERO, &SCHEMA).unwrap()
        }

        /// Zero also if the table is gone with the WAL.
        fn rows(&self) -> u32 {
            let Ok(Some(db)) = open_for_reading(&self.database(), Duration::ZERO, &SCHEMA) else { return 0 };
            db.query_row("select count(*) from t", [], |row| row.get::<_, u32>(0)).unwrap_or(0)
        }

        /// Damages what a new index would be built from, but not what is read by the present one.
        fn damage_a_checksum(&self) {
            let log = File::options().write(true).open(self.log()).unwrap();
            log.write_all_at(&[0x5a; 8], WAL_HEAD + 16).unwrap();
        }
    }

    #[test]
    fn the_next_process_does_not_read_the_whole_wal() {
        let files = Files::with_three_rows();
        files.damage_a_checksum();
        assert_eq!(files.rows(), 3);
        files.writing().execute("insert into t values (4)", []).unwrap();
        assert_eq!(files.rows(), 4);
    }

    /// A memory's time was read with its bits inverted, and stayed so: one of 350 random injuries.
    #[test]
    fn a_damaged_frame_of_the_wal_was_read_as_it_was() {
        let files = Files::with_three_rows();
        files.damage_a_checksum();
        KEEPS.set(false);
        assert_eq!(files.rows(), 0, "no frame from the damaged one on counts");
    }

    #[test]
    fn an_index_of_an_earlier_boot_is_built_anew() {
        let files = Files::with_three_rows();
        let index = File::options().write(true).open(files.index()).unwrap();
        index.write_all_at(&[7; 8], MARK as u64).unwrap();
        files.damage_a_checksum();
        assert_eq!(files.rows(), 0, "the WAL was read from its start");
    }

    #[test]
    fn an_index_that_another_program_has_reset_is_built_anew() {
        let files = Files::with_three_rows();
        fs::write(files.index(), b"abc").unwrap();
        assert_eq!(files.rows(), 3);
        fs::remove_file(files.index()).unwrap();
        assert_eq!(files.rows(), 3);
    }

    #[test]
    fn an_index_is_not_used_with_another_wal() {
        let files = Files::with_three_rows();
        let earlier = fs::read(files.log()).unwrap();
        files.writing().execute("insert into t values (4)", []).unwrap();
        fs::write(files.log(), &earlier).unwrap();
        assert_eq!(files.rows(), 3);
        fs::write(files.log(), b"").unwrap();
        assert_eq!(files.rows(), 0);
        assert_eq!(fs::read(files.index()).unwrap()[..4], fs::read(files.index()).unwrap()[48..52]);
    }

    /// The head of its last frame was there: every reader failed with a disk I/O error until the machine restarted.
    #[test]
    fn an_index_was_kept_though_the_wal_was_cut_within_its_last_page() {
        for cut in [1, 100, 4095, 4096, 4097] {
            let files = Files::with_three_rows();
            let length = fs::metadata(files.log()).unwrap().len();
            File::options().write(true).open(files.log()).unwrap().set_len(length - cut).unwrap();
            assert_eq!(files.rows(), 2, "{cut} bytes less");
            files.writing().execute("insert into t values (4)", []).unwrap();
            assert_eq!(files.rows(), 3);
        }
    }

    /// An index without frames says how many pages the database has: with less than that, SQLite calls it malformed.
    #[test]
    fn an_index_was_kept_though_a_larger_database_took_the_place_of_its_own() {
        let (files, larger) = (Files::with_three_rows(), Files::with_three_rows());
        larger.writing().execute("insert into t values (zeroblob(100000))", []).unwrap();
        for files in [&files, &larger] {
            files.writing().query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
        }
        fs::rename(larger.database(), files.database()).unwrap();
        files.writing().execute("insert into t values (4)", []).unwrap();
        assert_eq!(files.rows(), 5);
    }

    /// The WAL lies beside the file that a link names, and beside the link's own name there is none.
    #[test]
    fn a_database_behind_links_has_one_wal() {
        let files = Files::with_three_rows();
        let beside = tempfile::tempdir().unwrap();
        let (link, folder) = (beside.path().join("link.db"), beside.path().join("folder"));
        std::os::unix::fs::symlink(files.database(), &link).unwrap();
        std::os::unix::fs::symlink(files.0.path(), &folder).unwrap();
        for (path, row) in [(&link, 4), (&folder.join("x.db"), 5)] {
            let db = open_for_writing(path, Duration::ZERO, &SCHEMA).unwrap();
            db.execute("insert into t values (?)", [row]).unwrap();
            assert_eq!(files.rows(), row);
        }
        assert_eq!(fs::read_dir(beside.path()).unwrap().count(), 2);
    }

    #[test]
    fn rows_written_after_a_checkpoint_are_found() {
        let files = Files::with_three_rows();
        files.writing().query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
        assert_eq!((files.rows(), fs::metadata(files.log()).unwrap().len()), (3, 0));
        files.writing().execute("insert into t values (4)", []).unwrap();
        assert_eq!(files.rows(), 4);
        files.writing().query_row("pragma wal_checkpoint(passive)", [], |_| Ok(())).unwrap();
        files.writing().execute("insert into t values (5)", []).unwrap();
        assert_eq!(files.rows(), 5);
    }

    #[test]
    fn an_index_that_was_cut_short_is_built_anew() {
        let files = Files::with_three_rows();
        for length in [0, 3, 100, 128, 136, 4096, 32 * 1024 - 1] {
            File::options().write(true).open(files.index()).unwrap().set_len(length).unwrap();
            assert_eq!(files.rows(), 3, "{length} bytes");
            assert_eq!(fs::metadata(files.index()).unwrap().len(), SMALLEST);
        }
    }
}
