//! Teams, their members, machines and projects.
//!
//! The database decides on permissions: nothing here anticipates a policy.

use crate::error::Result;
use crate::link::HubConn;
use crate::value::{SqlUid, SqlValue, values};
use crate::{HubClient, Need};
use tokio_postgres::Row;
use towline_core::id::Uid;
use towline_core::time::Timestamp;

/// This machine's membership in a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub team: Uid,
    pub team_name: String,
    pub member: Uid,
    /// The user's name in the team.
    pub person: String,
    pub machine: Uid,
    pub rights: MemberRole,
}

/// A member's permissions besides sharing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberRole {
    Member,
    /// Adds and revokes members, decides who sees which project, and may change every row.
    Admin,
}

impl MemberRole {
    fn of(is_admin: bool) -> MemberRole {
        if is_admin { MemberRole::Admin } else { MemberRole::Member }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    pub id: Uid,
    pub name: String,
}

/// A machine that has joined a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamMachine {
    pub id: Uid,
    pub name: String,
    /// Whether it is one of this user's.
    pub is_own: bool,
}

/// A team that this login is a member of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    pub id: Uid,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    /// The database login.
    pub role: String,
    pub rights: MemberRole,
    pub revoked_at: Option<Timestamp>,
    pub machines: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubProject {
    pub id: Uid,
    /// Identifies the project on every machine.
    pub key: String,
    pub name: String,
    pub reach: ProjectVisibility,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectVisibility {
    Team,
    /// Only members who were allowed individually.
    Chosen,
}

impl ProjectVisibility {
    fn of(is_open: bool) -> ProjectVisibility {
        if is_open { ProjectVisibility::Team } else { ProjectVisibility::Chosen }
    }
}

const TEAMS: &str = "
    select t.id, t.name from towline.teams t
    where t.id in (select team from towline.my_memberships()) order by t.name";

const MEMBERS: &str = "
    select m.name, m.role, m.is_admin, m.revoked_at,
        array(select n.name from towline.machines n where n.team = m.team and n.member = m.id order by n.name)
            as machines
    from towline.members m where m.team = $1 order by m.name";

/// The limit exceeds any team's number of machines.
const MACHINES: &str = "
    select id, name, member = $2 as is_own from towline.machines where team = $1 order by seen_at desc limit 10000";

const PROJECTS: &str = "
    select id, key, name, is_open from towline.projects
    where team = $1 and id in (select project from towline.my_projects() where team = $1) order by name, id";

impl HubClient {
    /// Founds a team, with this login as its first member. Only the hub's owner may.
    pub fn found_team(&mut self, name: &str, person: &str) -> Result<()> {
        self.call("select towline.found_team($1, $2)", values![name, person])
    }

    /// The teams of this login.
    pub fn teams(&mut self) -> Result<Vec<Team>> {
        self.rows(TEAMS, vec![], |link, row| {
            Ok(Team { id: link.read::<SqlUid>(row, "id")?.0, name: link.read(row, "name")? })
        })
    }

    /// Adds a login as a member under this name, or reinstates a revoked one.
    pub fn add_member(
        &mut self,
        membership: &Membership,
        name: &str,
        role: &str,
        rights: MemberRole,
    ) -> Result<()> {
        let values = values![membership.team, name, role, rights == MemberRole::Admin];
        self.call("select towline.add_member($1, $2, $3, $4)", values)
    }

    /// Revokes a member: they see and change nothing any more; rows they shared stay.
    pub fn revoke_member(&mut self, membership: &Membership, name: &str) -> Result<()> {
        self.call("select towline.revoke_member($1, $2)", values![membership.team, name])
    }

    pub fn members(&mut self, membership: &Membership) -> Result<Vec<Member>> {
        self.rows(MEMBERS, values![membership.team], |link, row| {
            Ok(Member {
                name: link.read(row, "name")?,
                role: link.read(row, "role")?,
                rights: MemberRole::of(link.read(row, "is_admin")?),
                revoked_at: link.read::<Option<i64>>(row, "revoked_at")?.map(Timestamp),
                machines: link.read(row, "machines")?,
            })
        })
    }

    /// The team's machines: every row names the one it came from.
    pub fn machines(&mut self, membership: &Membership) -> Result<Vec<TeamMachine>> {
        self.rows(MACHINES, values![membership.team, membership.member], |link, row| {
            Ok(TeamMachine {
                id: link.read::<SqlUid>(row, "id")?.0,
                name: link.read(row, "name")?,
                is_own: link.read(row, "is_own")?,
            })
        })
    }

    /// Joins a team of this login with this machine; joining again is harmless.
    pub fn join(&mut self, team: &str, machine: &Machine) -> Result<Membership> {
        self.ready(Need::Write)?;
        let values = values![team, machine.id, &machine.name];
        let rows = self.link.query("select * from towline.join_team($1, $2, $3)", values)?;
        let row = self.link.only(&rows)?;
        Ok(Membership {
            team: self.link.read::<SqlUid>(row, "team")?.0,
            team_name: team.to_owned(),
            member: self.link.read::<SqlUid>(row, "member")?.0,
            person: self.link.read(row, "person")?,
            machine: machine.id,
            rights: MemberRole::of(self.link.read(row, "is_admin")?),
        })
    }

    /// Removes this machine and its seats from the hub. Rows it shared stay.
    pub fn remove_machine(&mut self, membership: &Membership) -> Result<()> {
        let values = values![membership.team, membership.machine];
        self.call("select towline.leave_team($1, $2)", values)
    }

    /// Registers a project with the team. An existing one stays as it is.
    pub fn share(&mut self, membership: &Membership, project: &HubProject) -> Result<()> {
        let is_open = project.reach == ProjectVisibility::Team;
        let values = values![membership.team, project.id, &project.key, &project.name, is_open];
        self.call("select towline.share($1, $2, $3, $4, $5)", values)
    }

    /// Removes this user from a project of chosen members and deletes a project without rows. Returns the rows left.
    pub fn unshare(&mut self, membership: &Membership, project: Uid) -> Result<u64> {
        self.ready(Need::Write)?;
        let values = values![membership.team, project];
        let rows = self.link.query("select towline.unshare($1, $2) as remaining", values)?;
        let remaining: i64 = self.link.read(self.link.only(&rows)?, "remaining")?;
        Ok(u64::try_from(remaining).unwrap_or(0))
    }

    /// The projects this user sees.
    pub fn projects(&mut self, membership: &Membership) -> Result<Vec<HubProject>> {
        self.rows(PROJECTS, values![membership.team], |link, row| {
            Ok(HubProject {
                id: link.read::<SqlUid>(row, "id")?.0,
                key: link.read(row, "key")?,
                name: link.read(row, "name")?,
                reach: ProjectVisibility::of(link.read(row, "is_open")?),
            })
        })
    }

    /// Sets who sees a project: allowed for the member who shared it, and for administrators.
    pub fn set_reach(
        &mut self,
        membership: &Membership,
        project: Uid,
        reach: ProjectVisibility,
    ) -> Result<()> {
        let values = values![membership.team, project, reach == ProjectVisibility::Team];
        self.call("select towline.set_reach($1, $2, $3)", values)
    }

    /// Lets a member see a project of chosen members.
    pub fn allow(&mut self, membership: &Membership, project: Uid, name: &str) -> Result<()> {
        self.call("select towline.allow($1, $2, $3)", values![membership.team, project, name])
    }

    /// Removes a member from a project of chosen members.
    pub fn disallow(&mut self, membership: &Membership, project: Uid, name: &str) -> Result<()> {
        self.call("select towline.disallow($1, $2, $3)", values![membership.team, project, name])
    }

    /// All rows that a query finds.
    pub(crate) fn rows<T>(
        &mut self,
        sql: &'static str,
        values: Vec<SqlValue>,
        read: impl Fn(&HubConn, &Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.ready(Need::Read)?;
        self.link.query(sql, values)?.iter().map(|row| read(&self.link, row)).collect()
    }

    pub(crate) fn call(&mut self, sql: &'static str, values: Vec<SqlValue>) -> Result<()> {
        self.ready(Need::Write)?;
        self.link.query(sql, values).map(|_| ())
    }
}
