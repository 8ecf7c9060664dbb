//! Teams, their members, machines and projects.
//!
//! Who may do what is decided in the database: nothing here stands between a member and what a policy would refuse.

use crate::error::HubError;
use crate::value::{SqlUid, Value};
use crate::{Hub, Need};
use towline_core::id::Uid;
use towline_core::time::Timestamp;

/// This machine's place in a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub team: Uid,
    pub team_name: String,
    pub member: Uid,
    /// What the team calls this person.
    pub person: String,
    pub machine: Uid,
    pub rights: Rights,
}

/// What a member may do beside sharing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    Member,
    /// Adds and revokes members, and decides who sees which project.
    Admin,
}

impl Rights {
    fn of(is_admin: bool) -> Rights {
        if is_admin { Rights::Admin } else { Rights::Member }
    }
}

/// A machine of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    pub id: Uid,
    pub name: String,
}

/// A team that this login is a member of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    pub id: Uid,
    pub name: String,
}

/// A person of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    /// Their login in the database.
    pub role: String,
    pub rights: Rights,
    pub revoked_at: Option<Timestamp>,
    pub machines: Vec<String>,
}

/// A project as the team knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubProject {
    pub id: Uid,
    /// By which it is the same everywhere.
    pub key: String,
    pub name: String,
    pub reach: Reach,
}

/// Who sees a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Team,
    /// Only those who were allowed, one by one.
    Chosen,
}

const TEAMS: &str = "
    select t.id, t.name from towline.teams t
    where t.id in (select team from towline.my_memberships()) order by t.name";

const MEMBERS: &str = "
    select m.name, m.role, m.is_admin, m.revoked_at,
        array(select n.name from towline.machines n where n.team = m.team and n.member = m.id order by n.name)
            as machines
    from towline.members m where m.team = $1 order by m.name";

/// More machines than a team has.
const MACHINES: &str = "
    select id, name from towline.machines where team = $1 order by seen_at desc limit 10000";

const PROJECTS: &str = "
    select id, key, name, is_open from towline.projects
    where team = $1 and id in (select project from towline.my_projects() where team = $1) order by name, id";

impl Hub {
    /// Founds a team, with this login as its first member. Only the hub's owner may.
    pub fn found_team(&mut self, name: &str, person: &str) -> Result<(), HubError> {
        self.call("select towline.found_team($1, $2)", vec![Value::text(name), Value::text(person)])
    }

    /// The teams of this login.
    pub fn teams(&mut self) -> Result<Vec<Team>, HubError> {
        self.ready(Need::Read)?;
        let rows = self.link.ask(TEAMS, Vec::new())?;
        let teams = rows.iter().map(|row| {
            Ok(Team { id: self.link.read::<SqlUid>(row, "id")?.0, name: self.link.read(row, "name")? })
        });
        teams.collect()
    }

    /// Makes a login a member under this name, or one that was revoked a member again.
    pub fn add_member(
        &mut self,
        membership: &Membership,
        name: &str,
        role: &str,
        rights: Rights,
    ) -> Result<(), HubError> {
        let team = Value::uid(membership.team);
        let values = vec![team, Value::text(name), Value::text(role), Value::flag(rights == Rights::Admin)];
        self.call("select towline.add_member($1, $2, $3, $4)", values)
    }

    /// From now on this member sees and changes nothing; what they shared stays.
    pub fn revoke_member(&mut self, membership: &Membership, name: &str) -> Result<(), HubError> {
        self.call(
            "select towline.revoke_member($1, $2)",
            vec![Value::uid(membership.team), Value::text(name)],
        )
    }

    pub fn members(&mut self, membership: &Membership) -> Result<Vec<Member>, HubError> {
        self.ready(Need::Read)?;
        let rows = self.link.ask(MEMBERS, vec![Value::uid(membership.team)])?;
        let members = rows.iter().map(|row| {
            Ok(Member {
                name: self.link.read(row, "name")?,
                role: self.link.read(row, "role")?,
                rights: Rights::of(self.link.read(row, "is_admin")?),
                revoked_at: self.link.read::<Option<i64>>(row, "revoked_at")?.map(Timestamp),
                machines: self.link.read(row, "machines")?,
            })
        });
        members.collect()
    }

    /// What the team's machines are called: every row says which one it came from.
    pub fn machines(&mut self, membership: &Membership) -> Result<Vec<Machine>, HubError> {
        self.ready(Need::Read)?;
        let rows = self.link.ask(MACHINES, vec![Value::uid(membership.team)])?;
        let machines = rows.iter().map(|row| {
            Ok(Machine { id: self.link.read::<SqlUid>(row, "id")?.0, name: self.link.read(row, "name")? })
        });
        machines.collect()
    }

    /// Joins a team of this login with this machine; joining again is no harm.
    pub fn join(&mut self, team: &str, machine: &Machine) -> Result<Membership, HubError> {
        self.ready(Need::Write)?;
        let values = vec![Value::text(team), Value::uid(machine.id), Value::text(&machine.name)];
        let rows = self.link.ask("select * from towline.join_team($1, $2, $3)", values)?;
        let row = self.link.only(&rows)?;
        Ok(Membership {
            team: self.link.read::<SqlUid>(row, "team")?.0,
            team_name: team.to_owned(),
            member: self.link.read::<SqlUid>(row, "member")?.0,
            person: self.link.read(row, "person")?,
            machine: machine.id,
            rights: Rights::of(self.link.read(row, "is_admin")?),
        })
    }

    /// Takes this machine and its seats off the hub. What it shared stays.
    pub fn leave(&mut self, membership: &Membership) -> Result<(), HubError> {
        let values = vec![Value::uid(membership.team), Value::uid(membership.machine)];
        self.call("select towline.leave_team($1, $2)", values)
    }

    /// Makes a project known to the team. One that is known stays as it is.
    pub fn share(&mut self, membership: &Membership, project: &HubProject) -> Result<(), HubError> {
        let values = vec![
            Value::uid(membership.team),
            Value::uid(project.id),
            Value::text(&project.key),
            Value::text(&project.name),
            Value::flag(project.reach == Reach::Team),
        ];
        self.call("select towline.share($1, $2, $3, $4, $5)", values)
    }

    /// Takes this person off a project of chosen members; a project without rows goes. Tells how many rows are left.
    pub fn unshare(&mut self, membership: &Membership, project: Uid) -> Result<u64, HubError> {
        self.ready(Need::Write)?;
        let values = vec![Value::uid(membership.team), Value::uid(project)];
        let rows = self.link.ask("select towline.unshare($1, $2) as remaining", values)?;
        let remaining: i64 = self.link.read(self.link.only(&rows)?, "remaining")?;
        Ok(u64::try_from(remaining).unwrap_or(0))
    }

    /// The projects that this person sees.
    pub fn projects(&mut self, membership: &Membership) -> Result<Vec<HubProject>, HubError> {
        self.ready(Need::Read)?;
        let rows = self.link.ask(PROJECTS, vec![Value::uid(membership.team)])?;
        let projects = rows.iter().map(|row| {
            Ok(HubProject {
                id: self.link.read::<SqlUid>(row, "id")?.0,
                key: self.link.read(row, "key")?,
                name: self.link.read(row, "name")?,
                reach: if self.link.read(row, "is_open")? { Reach::Team } else { Reach::Chosen },
            })
        });
        projects.collect()
    }

    /// Decides who sees a project: who shared it may, and administrators.
    pub fn set_reach(&mut self, membership: &Membership, project: Uid, reach: Reach) -> Result<(), HubError> {
        let values =
            vec![Value::uid(membership.team), Value::uid(project), Value::flag(reach == Reach::Team)];
        self.call("select towline.set_reach($1, $2, $3)", values)
    }

    /// Lets a member see a project of chosen members.
    pub fn allow(&mut self, membership: &Membership, project: Uid, name: &str) -> Result<(), HubError> {
        let values = vec![Value::uid(membership.team), Value::uid(project), Value::text(name)];
        self.call("select towline.allow($1, $2, $3)", values)
    }

    /// Takes a member off a project of chosen members.
    pub fn disallow(&mut self, membership: &Membership, project: Uid, name: &str) -> Result<(), HubError> {
        let values = vec![Value::uid(membership.team), Value::uid(project), Value::text(name)];
        self.call("select towline.disallow($1, $2, $3)", values)
    }

    fn call(&mut self, sql: &'static str, values: Vec<Value>) -> Result<(), HubError> {
        self.ready(Need::Write)?;
        self.link.ask(sql, values).map(|_| ())
    }
}
