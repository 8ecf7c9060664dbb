//! The contents of `tow install` as a plugin of each agent, in one folder that is a marketplace for all of them.
//!
//! Built from the same tables as the settings entries. Contains no program: it runs the `tow` on the PATH. Writes
//! nothing: `cargo xtask plugin` does.

use crate::settings::{EditPlan, EditRefusal, ManagedContent, McpServerEntry, OwnedFile, Target};
use crate::{claude, codex};
use std::path::{Path, PathBuf};

/// The plugin's name and the marketplace's.
const NAME: &str = "towline";
pub(crate) const PROGRAM: &str = "tow";
/// Paths of hooks and MCP servers inside the plugin.
pub(crate) const HOOKS: &str = "hooks/hooks.json";
pub(crate) const SERVERS: &str = ".mcp.json";

const DESCRIPTION: &str =
    "Keeps the work of coding agents in one line: what was done, learned and left to do";

/// Manifests and marketplaces, by their path in the folder.
const TEMPLATES: [(&str, &str); 4] = [
    (".claude-plugin/marketplace.json", include_str!("plugin/claude_marketplace.json")),
    ("claude/.claude-plugin/plugin.json", include_str!("plugin/claude_manifest.json")),
    (".agents/plugins/marketplace.json", include_str!("plugin/codex_marketplace.json")),
    ("codex/.codex-plugin/plugin.json", include_str!("plugin/codex_manifest.json")),
];

/// The contents of a plugin beside its manifest.
pub(crate) struct Contents {
    pub hooks: Target,
    pub server: McpServerEntry,
    pub pages: Vec<OwnedFile>,
}

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
    files.extend(plugin_files(Path::new("claude"), claude::install::plugin_contents())?);
    files.extend(plugin_files(Path::new("codex"), codex::install::plugin_contents())?);
    Ok(files)
}

fn plugin_files(folder: &Path, contents: Contents) -> Result<Vec<(PathBuf, String)>, EditRefusal> {
    let mut files = vec![
        (folder.join(HOOKS), plan_text(contents.hooks.plan(None)?)),
        (folder.join(SERVERS), plan_text(contents.server.plan(None)?)),
    ];
    files.extend(contents.pages.iter().map(|page| (folder.join(page.file()), page.text().to_owned())));
    Ok(files)
}

fn plan_text(plan: EditPlan) -> String {
    String::from_utf8_lossy(&plan.after.unwrap_or_default()).into_owned()
}
