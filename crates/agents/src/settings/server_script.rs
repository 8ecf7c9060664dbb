//! Our server as a script: a plugin inside the agent that adds it to the agent's configuration.
//!
//! Writes the whole script, and edits no file of the user's: a server of the same name in their configuration stays.

use super::tool_server::{McpServerEntry, NAME, VERB};
use serde_json::{Map, Value, json};

const SCRIPT: &str = "\
// Offers the tools of Towline in this program. `tow install` writes this file, `tow uninstall` removes it.
const SERVER = @SERVER@;

export const TowlineTools = async () => ({
  config: async (config) => {
    config.mcp = { @NAME@: SERVER, ...config.mcp };
  },
});
";

pub(super) fn text(server: &McpServerEntry) -> String {
    let mut entry = json!({"type": "local", "command": [server.command, VERB], "enabled": true});
    let places: Map<String, Value> =
        server.set_places().map(|(name, value)| (name.to_owned(), value.into())).collect();
    if !places.is_empty() {
        entry["environment"] = places.into();
    }
    SCRIPT.replace("@NAME@", NAME).replace("@SERVER@", &entry.to_string())
}
