//! What `tow install` registers, packed as a plugin of each agent: one folder that is a marketplace for all of them.
//!
//! Made from the same tables as the entries in the settings. Holds no program: it runs the `tow` on the PATH. Writes
//! nothing: `cargo xtask plugin` does.

use crate::settings::{Page, Plan, Refusal, Target, ToolServer};
use crate::{claude, codex};
use std::path::{Path, PathBuf};

/// What is called by the plugin's name stands behind this.
pub(crate) const SIGN: &str = "towline:";
/// The plugin's name and the marketplace's.
const NAME: &str = "towline";
pub(crate) const PROGRAM: &str = "tow";
/// Where in the plugin its hooks and servers stand.
pub(crate) const HOOKS: &str = "hooks/hooks.json";
pub(crate) const SERVERS: &str = ".mcp.json";

const SAYS: &str = "Keeps the work of coding agents in one line: what was done, learned and left to do";

/// What a plugin holds beside its manifest.
pub(crate) struct Packed {
    pub hooks: Target,
    pub server: ToolServer,
    pub pages: Vec<Page>,
}

/// Whether a plugin of this name (`plugin@marketplace`) is ours.
pub(crate) fn is_ours(name: &str) -> bool {
    name.split('@').next() == Some(NAME)
}

/// Every file of the folder, by its path there, with its text.
pub fn files() -> Result<Vec<(PathBuf, String)>, Refusal> {
    let mut files = vec![
        (PathBuf::from(".claude-plugin/marketplace.json"), claude_marketplace()),
        (PathBuf::from("claude/.claude-plugin/plugin.json"), claude_manifest()),
        (PathBuf::from(".agents/plugins/marketplace.json"), codex_marketplace()),
        (PathBuf::from("codex/.codex-plugin/plugin.json"), codex_manifest()),
    ];
    files.extend(unpacked(Path::new("claude"), claude::install::packed())?);
    files.extend(unpacked(Path::new("codex"), codex::install::packed())?);
    Ok(files)
}

fn unpacked(folder: &Path, packed: Packed) -> Result<Vec<(PathBuf, String)>, Refusal> {
    let mut files = vec![
        (folder.join(HOOKS), made(packed.hooks.plan(None)?)),
        (folder.join(SERVERS), made(packed.server.plan(None)?)),
    ];
    files.extend(packed.pages.iter().map(|page| (folder.join(page.file()), page.text().to_owned())));
    Ok(files)
}

fn made(plan: Plan) -> String {
    String::from_utf8_lossy(&plan.after.unwrap_or_default()).into_owned()
}

fn claude_marketplace() -> String {
    format!(
        r#"{{
  "name": "{NAME}",
  "description": "{SAYS}",
  "owner": {{
    "name": "Towline"
  }},
  "plugins": [
    {{
      "name": "{NAME}",
      "source": "./claude",
      "description": "{SAYS}"
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
  "description": "{SAYS}",
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
  "description": "{SAYS}",
  "skills": "./skills/",
  "mcpServers": "./{SERVERS}",
  "hooks": "./{HOOKS}"
}}
"#
    )
}
