//! A server with a hub, two teams, and logins for their members.
//!
//! Everything goes through the crate's own functions.

use std::time::Duration;

use towline_core::id::Uid;
use towline_core::share::{Registers, RowKind, RowLife, RowProvenance, SharedRow, WriteStamp};
use towline_core::time::Timestamp;
use towline_hub::{
    HubAddress, HubClient, HubPassword, HubProject, InitOptions, Machine, MemberRole, Membership,
    OutgoingRow, ProjectVisibility, Tls,
};
use towline_testkit::Postgres;

pub const PATIENCE: Duration = Duration::from_secs(20);
pub const DATABASE: &str = "shared";

/// All logins. Olga owns the hub and administers the red team; dan is in the blue team, eve in none.
pub const LOGINS: [&str; 6] = ["olga", "ann", "bob", "cat", "dan", "eve"];

/// Visible to all of the red team.
pub const OPEN: Uid = Uid([0x11; 16]);
/// Visible to ann alone.
pub const CLOSED: Uid = Uid([0x22; 16]);
/// Of the blue team.
pub const BLUE: Uid = Uid([0x33; 16]);

pub struct HubBench {
    pub postgres: Postgres,
    pub build: Build,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    Debian,
    Vectors,
}

impl HubBench {
    /// A server with logins, but no hub yet.
    pub fn empty(build: Build) -> HubBench {
        let postgres = match build {
            Build::Debian => Postgres::debian(),
            Build::Vectors => Postgres::with_vectors(),
        };
        LOGINS.iter().for_each(|name| postgres.create_login(name, &password(name), DATABASE));
        if build == Build::Vectors {
            // The extension is not marked as trusted, so an administrator creates it.
            postgres.run_in(DATABASE, "create extension vector");
        }
        HubBench { postgres, build }
    }

    /// A server with both teams: ann, bob and cat are red, dan is blue.
    pub fn new(build: Build) -> HubBench {
        let bench = HubBench::empty(build);
        let mut olga = bench.connect("olga");
        olga.init(&InitOptions { partitions: 4 }).unwrap();
        olga.found_team("red", "olga").unwrap();
        olga.found_team("blue", "olga").unwrap();
        let red = olga.join("red", &machine("olga")).unwrap();
        for name in ["ann", "bob", "cat"] {
            olga.add_member(&red, name, name, MemberRole::Member).unwrap();
        }
        let blue = olga.join("blue", &machine("olga")).unwrap();
        olga.add_member(&blue, "dan", "dan", MemberRole::Member).unwrap();
        let (mut ann, red) = bench.join("ann");
        ann.share(&red, &project(OPEN, ProjectVisibility::Team)).unwrap();
        ann.share(&red, &project(CLOSED, ProjectVisibility::Chosen)).unwrap();
        let (mut dan, blue) = bench.join("dan");
        dan.share(&blue, &project(BLUE, ProjectVisibility::Team)).unwrap();
        bench
    }

    pub fn address(&self, user: &str) -> HubAddress {
        let tls = match self.build {
            Build::Debian => Tls::Verified { ca: Some(self.postgres.ca()) },
            Build::Vectors => Tls::Plain,
        };
        HubAddress {
            host: self.postgres.host().into(),
            port: self.postgres.port(),
            database: DATABASE.into(),
            user: user.into(),
            tls,
        }
    }

    pub fn connect(&self, user: &str) -> HubClient {
        HubClient::connect(&self.address(user), Some(&HubPassword::new(password(user))), PATIENCE).unwrap()
    }

    /// Connects a member and joins their team.
    pub fn join(&self, user: &str) -> (HubClient, Membership) {
        let mut hub = self.connect(user);
        let team = if user == "dan" { "blue" } else { "red" };
        let membership = hub.join(team, &machine(user)).unwrap();
        (hub, membership)
    }

    /// Runs SQL under a login and returns its output, or the server's error.
    pub fn sql_as(&self, user: &str, sql: &str) -> Result<String, String> {
        let run = self.postgres.run_as((user, &password(user)), DATABASE, sql);
        if run.status.success() { Ok(run.stdout.trim_end().to_owned()) } else { Err(run.stderr) }
    }

    pub fn sql(&self, sql: &str) -> String {
        self.postgres.run_in(DATABASE, sql)
    }
}

pub fn password(user: &str) -> String {
    format!("hush-{user}-hush")
}

pub fn machine(user: &str) -> Machine {
    let letter = user.as_bytes()[0];
    Machine { id: Uid([letter; 16]), name: format!("{user}'s laptop") }
}

pub fn project(id: Uid, reach: ProjectVisibility) -> HubProject {
    HubProject { id, key: format!("example.com/{}", id.0[0]), name: format!("p{}", id.0[0]), reach }
}

/// A memory of this user with these words.
pub fn memory(person: &str, uid: u8, words: &str) -> SharedRow {
    let at = machine(person).id;
    SharedRow {
        uid: Uid([uid; 16]),
        kind: RowKind::Memory,
        project: OPEN,
        from: RowProvenance {
            person: person.into(),
            machine: at,
            session: None,
            turn: None,
            made_at: Timestamp(1_000),
        },
        life: RowLife::Lives(Box::new(Registers::of_words(
            words.into(),
            WriteStamp { count: 1, machine: at },
        ))),
    }
}

pub fn outgoing(row: SharedRow) -> OutgoingRow {
    let text = match &row.life {
        RowLife::Lives(registers) => registers.words.value.clone(),
        RowLife::Forgotten { .. } => String::new(),
    };
    OutgoingRow { row, text, meaning: None }
}

/// All rows of a project, as this member pulls them from the beginning.
pub fn all_of(hub: &mut HubClient, membership: &Membership, project: Uid) -> Vec<SharedRow> {
    let pulled = hub.pull(membership, project, 0, 10_000).unwrap();
    assert!(pulled.is_all);
    pulled.rows
}
