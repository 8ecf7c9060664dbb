//! The contents of `tow install` as a plugin for Claude Code and Codex, in one folder that is a marketplace for both.
//!
//! Built from the same tables as the settings entries. Contains no program: it runs the `tow` on the PATH. Writes
//! nothing: `cargo xtask plugin` does.

use crate::settings::{
    EditPlan, EditRefusal, EntryOrder, FileFormat, HookEntry, ManagedContent, McpServerEntry, PLACES, Target,
};
use crate::skills::{self, Dialect};
use crate::{claude, codex};
use std::path::{Path, PathBuf};

/// The plugin's name and the marketplace's.
const NAME: &str = "towline";
const PROGRAM: &str = "tow";
/// Paths of hooks and MCP servers inside the plugin.
pub(crate) const HOOKS: &str = "hooks/hooks.json";
const SERVERS: &str = ".mcp.json";

const DESCRIPTION: &str =
    "Keeps the work of coding agents in one line: what was done, learned and left to do";

/// Manifests and marketplaces, by their path in the folder.
const TEMPLATES: [(&str, &str); 4] = [
    (".claude-plugin/marketplace.json", include_str!("plugin/claude_marketplace.json")),
    ("claude/.claude-plugin/plugin.json", include_str!("plugin/claude_manifest.json")),
    (".agents/plugins/marketplace.json", include_str!("plugin/codex_marketplace.json")),
    ("codex/.codex-plugin/plugin.json", include_str!("plugin/codex_manifest.json")),
];

/// Whether a plugin of this name (`plugin@marketplace`) is ours.
pub(crate) fn is_ours(name: &str) -> bool {
    name.split('@').next() == Some(NAME)
}

/// All files of the folder: relative path and text.
pub fn files() -> Result<Vec<(PathBuf, String)>, EditRefusal> {
    let filled = |template: &str| {
        template.replace("{version}", env!("CARGO_PKG_VERSION")).replace("{description}", DESCRIPTION)
    };
    let templates = TEMPLATES.iter().map(|(path, template)| (PathBuf::from(path), filled(template)));
    let mut files: Vec<(PathBuf, String)> = templates.collect();
    files.extend(plugin_files(&claude::install::DIALECT, claude::install::hooks(PROGRAM), &[])?);
    files.extend(plugin_files(
        &codex::install::dialect("$towline:"),
        codex::install::hooks(PROGRAM),
        &PLACES,
    )?);
    Ok(files)
}

/// The files of one agent's plugin beside its manifest. `forwarded` are variables that the agent must be told to pass on.
fn plugin_files(
    dialect: &Dialect,
    hooks: impl Iterator<Item = HookEntry>,
    forwarded: &'static [&'static str],
) -> Result<Vec<(PathBuf, String)>, EditRefusal> {
    let (agent, folder) = (dialect.agent, Path::new(dialect.agent));
    let hooks = Target::new(agent, HOOKS.into(), EntryOrder::Free).with_entries(hooks);
    let server = McpServerEntry::new(agent, FileFormat::Json, SERVERS.into(), PROGRAM.to_owned());
    let server = server.with_forwarded_variables(forwarded);
    let mut files = vec![
        (folder.join(HOOKS), plan_text(hooks.plan(None)?)),
        (folder.join(SERVERS), plan_text(server.plan(None)?)),
    ];
    let pages = skills::pages_running(dialect, Path::new(""), PROGRAM);
    files.extend(pages.iter().map(|page| (folder.join(page.file()), page.text().to_owned())));
    Ok(files)
}

fn plan_text(plan: EditPlan) -> String {
    String::from_utf8_lossy(&plan.after.unwrap_or_default()).into_owned()
}
