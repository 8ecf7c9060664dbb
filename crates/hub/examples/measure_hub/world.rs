//! A server with a hub, a team of five and a hundred projects.
//!
//! The hub is created by the crate itself. Only an administrator's login bypasses it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use towline_core::id::Uid;
use towline_hub::{
    HubAddress, HubClient, HubPassword, HubProject, InitOptions, Machine, MemberRole, Membership,
    ProjectVisibility, Tls,
};
use towline_testkit::Postgres;

use crate::database::Database;
use crate::texts::{PEOPLE, PROJECTS, Texts, machine, project};

const DATABASE: &str = "shared";
const OWNER: &str = "olga";
const ADMINISTRATOR: &str = "root";
/// Building the indexes of millions of rows takes minutes.
const PATIENCE: Duration = Duration::from_secs(3600);

pub struct BenchWorld {
    pub postgres: Postgres,
    pub texts: Texts,
    pub team: Uid,
    /// Ann, who sees all projects.
    pub hub: HubClient,
    pub membership: Membership,
    /// Bypasses all policies.
    pub admin: Database,
    /// The number of the next row.
    pub next: u64,
    pub laid: Laid,
}

/// The rows loaded last.
#[derive(Default)]
pub struct Laid {
    pub numbers: Range<u64>,
    /// The team's counter before loading.
    pub seq: u64,
}

impl Laid {
    pub fn seq_of(&self, number: u64) -> i64 {
        (self.seq + number - self.numbers.start) as i64 + 1
    }
}

impl BenchWorld {
    pub fn start(folder: &Path) -> BenchWorld {
        let postgres = Postgres::debian_roomy(folder);
        for login in PEOPLE.iter().chain([&OWNER, &ADMINISTRATOR]) {
            let owner = if *login == OWNER { DATABASE } else { "postgres" };
            postgres.create_login(login, &password(login), owner);
        }
        postgres.run(&format!("alter role {ADMINISTRATOR} superuser"));
        let mut owner = connect(&postgres, OWNER);
        owner.init(&InitOptions::default()).unwrap();
        owner.found_team("crew", OWNER).unwrap();
        let crew = owner.join("crew", &Machine { id: Uid([9; 16]), name: OWNER.into() }).unwrap();
        for person in PEOPLE {
            owner.add_member(&crew, person, person, MemberRole::Member).unwrap();
        }
        let mut hub = connect(&postgres, PEOPLE[0]);
        let membership = join(&mut hub, 0);
        for number in 0..PROJECTS {
            let name = format!("p{number}");
            let key = format!("example.com/{name}");
            hub.share(
                &membership,
                &HubProject { id: project(number), key, name, reach: ProjectVisibility::Team },
            )
            .unwrap();
        }
        let admin = database(&postgres, ADMINISTRATOR);
        let (team, texts, laid) = (membership.team, Texts::new(), Laid::default());
        BenchWorld { postgres, texts, team, hub, membership, admin, next: 0, laid }
    }

    /// Lets the crate recreate missing schema objects, as after an upgrade.
    pub fn look_after(&self) {
        connect(&self.postgres, OWNER).init(&InitOptions::default()).unwrap();
    }

    /// Another administrator connection.
    pub fn administrator(&self) -> Database {
        database(&self.postgres, ADMINISTRATOR)
    }

    /// Ann's direct connection, without the hub client.
    pub fn plain(&self) -> Database {
        database(&self.postgres, PEOPLE[0])
    }
}

/// Joins the team with this person's machine.
fn join(hub: &mut HubClient, person: usize) -> Membership {
    let name = format!("{}'s laptop", PEOPLE[person]);
    hub.join("crew", &Machine { id: machine(person), name }).unwrap()
}

fn connect(postgres: &Postgres, login: &str) -> HubClient {
    let secret = HubPassword::new(password(login));
    HubClient::connect(&address(postgres, login), Some(&secret), PATIENCE).unwrap()
}

fn database(postgres: &Postgres, login: &str) -> Database {
    Database::connect(&address(postgres, login), &password(login), &ca(postgres))
}

fn address(postgres: &Postgres, login: &str) -> HubAddress {
    HubAddress {
        host: postgres.host().into(),
        port: postgres.port(),
        database: DATABASE.into(),
        user: login.into(),
        tls: Tls::Verified { ca: Some(ca(postgres)) },
    }
}

fn ca(postgres: &Postgres) -> PathBuf {
    postgres.ca()
}

fn password(login: &str) -> String {
    format!("hush-{login}-hush")
}
