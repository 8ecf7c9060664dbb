//! The MCP server entry that `tow install` adds to the agents' settings and `tow uninstall` removes.
//!
//! Leaves a foreign entry, or a file that cannot be edited, alone and reports it; other steps go on.

use std::path::Path;
use towline_agents::Agent;
use towline_agents::settings::{Archive, Pace, Plan, Refusal, Subject, ToolServer};
use towline_engine::runtime::env::places;
use towline_engine::runtime::env::variable;
use towline_engine::runtime::failure::chain;
use towline_engine::status::tmux::conf::Writing;

/// The result for the entry.
#[derive(Default)]
pub struct Tools {
    /// `None` if there was nothing to do, or the edit was refused.
    pub plan: Option<Plan>,
    /// Why the file was left alone.
    pub remark: Option<String>,
}

/// Our server in the agent's settings; `None` if there is no home folder for them.
pub fn server(agent: Agent, tow: &Path) -> Option<Result<ToolServer, Refusal>> {
    let file = agent.servers_file(&variable)?;
    Some(agent.tool_server(&file, tow, &places()))
}

pub fn put(agent: Agent, tow: &Path, archive: &Archive, writing: Writing) -> Tools {
    done(server(agent, tow), |server| match writing {
        Writing::Planned => server.preview(Pace::USUAL),
        Writing::Done => server.apply(archive, Pace::USUAL).map(|applied| applied.plan),
    })
}

pub fn take_away(agent: Agent, tow: &Path, archive: &Archive, writing: Writing) -> Tools {
    done(server(agent, tow), |server| match writing {
        Writing::Planned => server.preview_removal(archive, Pace::USUAL),
        Writing::Done => server.remove(archive, Pace::USUAL).map(|applied| applied.plan),
    })
}

fn done(
    server: Option<Result<ToolServer, Refusal>>,
    act: impl Fn(&ToolServer) -> Result<Plan, Refusal>,
) -> Tools {
    match server.map(|server| server.and_then(|server| act(&server))) {
        None => Tools::default(),
        Some(Ok(plan)) => Tools { plan: Some(plan), remark: None },
        Some(Err(refusal)) => {
            Tools { plan: None, remark: Some(format!("{}. {}", chain(&refusal), refusal.hint())) }
        }
    }
}
