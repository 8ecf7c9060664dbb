//! The MCP server entry that `tow install` adds to the agents' settings and `tow uninstall` removes.
//!
//! Leaves a foreign entry, or a file that cannot be edited, alone and reports it; other steps go on.

use std::path::Path;
use towline_agents::Agent;
use towline_agents::settings::{
    EditPlan, EditRefusal, ManagedContent, McpServerEntry, OriginalsArchive, RetryPace,
};
use towline_engine::runtime::env::{places, variable};
use towline_engine::runtime::failure::chain;
use towline_engine::status::tmux::conf::Writing;

/// The result for the entry.
#[derive(Default)]
pub struct Tools {
    /// `None` if there was nothing to do, or the edit was refused.
    pub plan: Option<EditPlan>,
    /// Why the file was left alone.
    pub remark: Option<String>,
}

/// Our server in the agent's settings; `None` if there is no home folder for them.
pub fn server(agent: Agent, tow: &Path) -> Option<Result<McpServerEntry, EditRefusal>> {
    let file = agent.servers_file(&variable)?;
    Some(agent.mcp_server(&file, tow, &places()))
}

pub fn put(agent: Agent, tow: &Path, archive: &OriginalsArchive, writing: Writing) -> Tools {
    done(server(agent, tow), |server| match writing {
        Writing::Planned => server.preview(RetryPace::USUAL),
        Writing::Done => server.apply(archive, RetryPace::USUAL).map(|applied| applied.plan),
    })
}

pub fn take_away(agent: Agent, tow: &Path, archive: &OriginalsArchive, writing: Writing) -> Tools {
    done(server(agent, tow), |server| match writing {
        Writing::Planned => server.preview_removal(archive, RetryPace::USUAL),
        Writing::Done => server.remove(archive, RetryPace::USUAL).map(|applied| applied.plan),
    })
}

fn done(
    server: Option<Result<McpServerEntry, EditRefusal>>,
    act: impl Fn(&McpServerEntry) -> Result<EditPlan, EditRefusal>,
) -> Tools {
    match server.map(|server| server.and_then(|server| act(&server))) {
        None => Tools::default(),
        Some(Ok(plan)) => Tools { plan: Some(plan), remark: None },
        Some(Err(refusal)) => {
            Tools { plan: None, remark: Some(format!("{}. {}", chain(&refusal), refusal.hint())) }
        }
    }
}
