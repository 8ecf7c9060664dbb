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
    let mut files = vec![
        (PathBuf::from(".claude-plugin/marketplace.json"), claude_marketplace()),
        (PathBuf::from("claude/.claude-plugin/plugin.json"), claude_manifest()),
        (PathBuf::from(".agents/plugins/marketplace.json"), codex_marketplace()),
        (PathBuf::from("codex/.codex-plugin/plugin.json"), codex_manifest()),
    ];
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

fn claude_marketplace() -> String {
    format!(
        r#"{{
  "name": "{NAME}",
  "description": "{DESCRIPTION}",
  "owner": {{
    "name": "Towline"
  }},
  "plugins": [
    {{
      "name": "{NAME}",
      "source": "./claude",
      "description": "{DESCRIPTION}"
    }}
  ]
}}
"#
    )
}

fn claude_manifest() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        r#"{{
  "name": "{NAME}",
  "version": "{version}",
  "description": "{DESCRIPTION}",
  "author": {{
    "name": "Towline"
  }}
}}
"#
    )
}

fn codex_marketplace() -> String {
    format!(
        r#"{{
  "name": "{NAME}",
  "plugins": [
    {{
      "name": "{NAME}",
      "source": {{
        "source": "local",
        "path": "./codex"
      }},
      "policy": {{
        "installation": "AVAILABLE",
        "authentication": "ON_INSTALL"
      }},
      "category": "Productivity"
    }}
  ]
}}
"#
    )
}

fn codex_manifest() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        r#"{{
  "name": "{NAME}",
  "version": "{version}",
  "description": "{DESCRIPTION}",
  "skills": "./skills/",
  "mcpServers": "./{SERVERS}",
  "hooks": "./{HOOKS}"
}}
"#
    )
}
