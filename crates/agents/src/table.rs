//! The table of adapters: which one each agent has.
//!
//! The only file that names every agent's module beside the reader of transcripts; what an adapter declares is in `adapter`.

use crate::adapter::Adapter;
use crate::agent::Agent;
use crate::{claude, codex, copilot, gemini, opencode, qwen};

impl Agent {
    pub(crate) fn adapter(self) -> &'static Adapter {
        match self {
            Agent::Claude => &claude::adapter::ADAPTER,
            Agent::Codex => &codex::adapter::ADAPTER,
            Agent::Gemini => &gemini::adapter::ADAPTER,
            Agent::Qwen => &qwen::adapter::ADAPTER,
            Agent::Copilot => &copilot::adapter::ADAPTER,
            Agent::Opencode => &opencode::adapter::OPENCODE,
            Agent::Kilo => &opencode::adapter::KILO,
        }
    }
}
