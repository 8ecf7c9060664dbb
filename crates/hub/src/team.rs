//! Teams, their members, machines and projects.
//!
//! The database decides on permissions: nothing here anticipates a policy.

use crate::error::HubError;
use crate::value::{SqlUid, SqlValue};
use crate::{HubClient, Need};
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
    /// Adds and revokes members, and decides who sees which project.
    Admin,
}

impl MemberRole {
    fn of(is_admin: bool) -> MemberRole {
        if is_admin { MemberRole::Admin } else { MemberRole::Member }
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

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    /// The database login.
    pub role: String,
    pub rights: MemberRole,
    pub revoked_at: Option<Timestamp>,
    pub machines: Vec<String>,
}

/// A project in a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubProject {
    pub id: Uid,
    /// Identifies the project on every machine.
    pub key: String,
    pub name: String,
    pub reach: ProjectVisibility,
}

/// The visibility of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectVisibility {
    Team,
    /// Only members who were allowed individually.
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

/// The limit exceeds any team's number of machines.
const MACHINES: &str = "
    select id, name from towline.machines where team = $1 order by seen_at desc limit 10000";

const PROJECTS: &str = "
    select id, key, name, is_open from towline.projects
    where team = $1 and id in (select project from towline.my_projects() where team = $1) order by name, id";

impl HubClient {
    /// Founds a team, with this login as its first member. Only the hub's owner may.
    pub fn found_team(&mut self, name: &str, person: &str) -> Result<(), HubError> {
        self.call("select towline.found_team($1, $2)", vec![SqlValue::text(name), SqlValue::text(person)])
    }

    /// The teams of this login.
    pub fn teams(&mut self) -> Result<Vec<Team>, HubError> {
        self.ready(Need::Read)?;
        let rows = self.link.query(TEAMS, Vec::new())?;
        let teams = rows.iter().map(|row| {
            Ok(Team { id: self.link.read::<SqlUid>(row, "id")?.0, name: self.link.read(row, "name")? })
        });
        teams.collect()
    }

    /// Adds a login as a member under this name, or reinstates a revoked one.
    pub fn add_member(
        &mut self,
        membership: &Membership,
        name: &str,
        role: &str,
        rights: MemberRole,
    ) -> Result<(), HubError> {
        let team = SqlValue::uid(membership.team);
        let values = vec![
            team,
            SqlValue::text(name),
            SqlValue::text(role),
            SqlValue::flag(rights == MemberRole::Admin),
        ];
        self.call("select towline.add_member($1, $2, $3, $4)", values)
    }

    /// Revokes a member: they see and change nothing any more; rows they shared stay.
    pub fn revoke_member(&mut self, membership: &Membership, name: &str) -> Result<(), HubError> {
        self.call(
            "select towline.revoke_member($1, $2)",
            vec![SqlValue::uid(membership.team), SqlValue::text(name)],
        )
    }

    pub fn members(&mut self, membership: &Membership) -> Result<Vec<Member>, HubError> {
        self.ready(Need::Read)?;
        let rows = self.link.query(MEMBERS, vec![SqlValue::uid(membership.team)])?;
        let members = rows.iter().map(|row| {
            Ok(Member {
                name: self.link.read(row, "name")?,
                role: self.link.read(row, "role")?,
                rights: MemberRole::of(self.link.read(row, "is_admin")?),
                revoked_at: self.link.read::<Option<i64>>(row, "revoked_at")?.map(Timestamp),
                machines: self.link.read(row, "machines")?,
            })
        });
        members.collect()
    }

    /// The names of the team's machines: every row names the one it came from.
    pub fn machines(&mut self, membership: &Membership) -> Result<Vec<Machine>, HubError> {
        self.ready(Need::Read)?;
        let rows = self.link.query(MACHINES, vec![SqlValue::uid(membership.team)])?;
        let machines = rows.iter().map(|row| {
            Ok(Machine { id: self.link.read::<SqlUid>(row, "id")?.0, name: self.link.read(row, "name")? })
        });
        machines.collect()
    }

    /// Joins a team of this login with this machine; joining again is harmless.
    pub fn join(&mut self, team: &str, machine: &Machine) -> Result<Membership, HubError> {
        self.ready(Need::Write)?;
        let values = vec![SqlValue::text(team), SqlValue::uid(machine.id), SqlValue::text(&machine.name)];
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
    pub fn remove_machine(&mut self, membership: &Membership) -> Result<(), HubError> {
        let values = vec![SqlValue::uid(membership.team), SqlValue::uid(membership.machine)];
        self.call("select towline.leave_team($1, $2)", values)
    }

    /// Registers a project with the team. An existing one stays as it is.
    pub fn share(&mut self, membership: &Membership, project: &HubProject) -> Result<(), HubError> {
        let values = vec![
            SqlValue::uid(membership.team),
            SqlValue::uid(project.id),
            SqlValue::text(&project.key),
            SqlValue::text(&project.name),
            SqlValue::flag(project.reach == ProjectVisibility::Team),
        ];
        self.call("select towline.share($1, $2, $3, $4, $5)", values)
    }

    /// Removes this user from a project of chosen members and deletes a project without rows. Returns the rows left.
    pub fn unshare(&mut self, membership: &Membership, project: Uid) -> Result<u64, HubError> {
        self.ready(Need::Write)?;
        let values = vec![SqlValue::uid(membership.team), SqlValue::uid(project)];
        let rows = self.link.query("select towline.unshare($1, $2) as remaining", values)?;
        let remaining: i64 = self.link.read(self.link.only(&rows)?, "remaining")?;
        Ok(u64::try_from(remaining).unwrap_or(0))
    }

    /// The projects this user sees.
    pub fn projects(&mut self, membership: &Membership) -> Result<Vec<HubProject>, HubError> {
        self.ready(Need::Read)?;
        let rows = self.link.query(PROJECTS, vec![SqlValue::uid(membership.team)])?;
        let projects = rows.iter().map(|row| {
            Ok(HubProject {
                id: self.link.read::<SqlUid>(row, "id")?.0,
                key: self.link.read(row, "key")?,
                name: self.link.read(row, "name")?,
                reach: if self.link.read(row, "is_open")? {
                    ProjectVisibility::Team
                } else {
                    ProjectVisibility::Chosen
                },
            })
        });
        projects.collect()
    }

    /// Sets who sees a project: allowed for the member who shared it, and for administrators.
    pub fn set_reach(
        &mut self,
        membership: &Membership,
        project: Uid,
        reach: ProjectVisibility,
    ) -> Result<(), HubError> {
        let values = vec![
            SqlValue::uid(membership.team),
            SqlValue::uid(project),
            SqlValue::flag(reach == ProjectVisibility::Team),
        ];
        self.call("select towline.set_reach($1, $2, $3)", values)
    }

    /// Lets a member see a project of chosen members.
    pub fn allow(&mut self, membership: &Membership, project: Uid, name: &str) -> Result<(), HubError> {
        let values = vec![SqlValue::uid(membership.team), SqlValue::uid(project), SqlValue::text(name)];
        self.call("select towline.allow($1, $2, $3)", values)
    }

    /// Removes a member from a project of chosen members.
    pub fn disallow(&mut self, membership: &Membership, project: Uid, name: &str) -> Result<(), HubError> {
        let values = vec![SqlValue::uid(membership.team), SqlValue::uid(project), SqlValue::text(name)];
        self.call("select towline.disallow($1, $2, $3)", values)
    }

    fn call(&mut self, sql: &'static str, values: Vec<SqlValue>) -> Result<(), HubError> {
        self.ready(Need::Write)?;
        self.link.query(sql, values).map(|_| ())
    }
}
