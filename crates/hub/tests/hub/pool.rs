//! Through PgBouncer in transaction mode: server connections change hands after every transaction.

use crate::bench::{Build, DATABASE, HubBench, LOGINS, OPEN, all_of, machine, memory, outgoing, password};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use towline_hub::{HubAddress, HubClient, HubPassword, HubQuery, Tls};
use towline_testkit::wait;

struct Pool {
    folder: tempfile::TempDir,
    port: u16,
    child: Child,
}

impl Pool {
    /// One server connection per login, however many clients it has.
    fn before(bench: &HubBench) -> Pool {
        let folder = tempfile::Builder::new().prefix("towpool").tempdir_in("/tmp").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let users: Vec<String> =
            LOGINS.iter().map(|name| format!("\"{name}\" \"{}\"", password(name))).collect();
        fs::write(folder.path().join("users"), users.join("\n")).unwrap();
        let settings = format!(
            "[databases]\n{DATABASE} = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {}/users\npool_mode = transaction\n\
             default_pool_size = 1\n",
            bench.postgres.port(),
            folder.path().display(),
        );
        fs::write(folder.path().join("settings"), settings).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let child = spawn(folder.path());
        let pool = Pool { folder, port, child };
        wait::until("the pool to listen", wait::PATIENCE, || {
            std::net::TcpStream::connect(("127.0.0.1", pool.port)).ok()
        });
        pool
    }
}

/// Not as root, which PgBouncer refuses; it ends with the test.
#[expect(clippy::disallowed_methods, reason = "a test of a real pool starts one")]
fn spawn(folder: &std::path::Path) -> Child {
    let mut command = Command::new("setpriv");
    if folder.metadata().is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0) {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command.args(["--pdeathsig", "KILL", "--", "/usr/sbin/pgbouncer", "-q"]).arg(folder.join("settings"));
    let log = fs::File::create(folder.join("log")).unwrap();
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(self.folder.path());
    }
}

#[test]
fn clients_that_share_one_connection_do_not_disturb_each_other() {
    let bench = HubBench::new(Build::Vectors);
    let pool = Pool::before(&bench);
    let connect = |user: &str| {
        let address = HubAddress { port: pool.port, tls: Tls::Plain, ..bench.address(user) };
        let mut hub =
            HubClient::connect(&address, Some(&HubPassword::new(password(user))), crate::bench::PATIENCE)
                .unwrap();
        let membership = hub.join("red", &machine(user)).unwrap();
        (hub, membership)
    };
    let (mut ann, of_ann) = connect("ann");
    let (mut also_ann, _) = connect("ann");
    let (mut bob, of_bob) = connect("bob");
    for uid in 0..20 {
        ann.push(&of_ann, &[outgoing(memory("ann", uid, "a lantern"))]).unwrap();
        also_ann.push(&of_ann, &[outgoing(memory("ann", 50 + uid, "a lamp"))]).unwrap();
        bob.push(&of_bob, &[outgoing(memory("bob", 100 + uid, "another lantern"))]).unwrap();
    }
    assert_eq!(all_of(&mut ann, &of_ann, OPEN).len(), 60);
    let asked = HubQuery { text: "lantern".into(), most: 100, ..HubQuery::default() };
    assert_eq!(also_ann.search(&of_ann, &asked).unwrap().len(), 40);
    assert_eq!(ann.lag(&of_ann, &[(OPEN, 0)]).unwrap(), [(OPEN, 60)]);
    also_ann.replace_seats(&of_ann, &[]).unwrap();
    assert_eq!(ann.fleet(&of_ann).unwrap().len(), 1);
    let connections = "select count(*) from pg_stat_activity where usename = 'ann'";
    assert_eq!(bench.sql(connections), "1", "both clients of ann went through one");
}
