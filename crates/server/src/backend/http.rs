//! Maps every HTTP operation to the function that answers it.
//!
//! Contains no queries of its own.

use super::{changes, hosts, news, reads, views};
use crate::http::{Answer, Asked, Batch, HttpBackend, Operation, Refusal, Status, Writing};
use serde_json::json;
use std::time::Duration;
use towline_core::time::Timestamp;
use towline_engine::curate::MemoryChange;
use towline_engine::runtime::config::warning;
use towline_engine::runtime::env::Env;
use towline_engine::runtime::watch::Watch;

/// Answers with the functions of the engine.
pub struct EngineBackend {
    pub began_at: Timestamp,
    pub writing: Writing,
}

impl HttpBackend for EngineBackend {
    fn answer(&self, asked: &Asked) -> Result<Answer, Refusal> {
        let given = &asked.given;
        match asked.operation {
            Operation::Health => Ok(self.health()),
            Operation::OpenApi | Operation::Stream => {
                Err(Refusal::new(Status::NotFound, "the server answers this"))
            }
            Operation::Seats => reads::seats(),
            Operation::Sessions => reads::sessions(given),
            Operation::Session => views::session(given),
            Operation::Turns => reads::turns(given),
            Operation::Turn | Operation::Detail | Operation::Memory => reads::one(given),
            Operation::Memories | Operation::MemoriesByFile => reads::memories(given),
            Operation::Proposals => reads::proposals(given),
            Operation::MemoryBatch => views::memories(&given.texts("ids")),
            Operation::Summaries => views::summaries(given),
            Operation::Search => reads::search(given),
            Operation::Timeline => reads::timeline(given),
            Operation::Context => reads::context(given),
            Operation::Bookmarks => reads::bookmarks(given),
            Operation::Jobs => reads::jobs(given),
            Operation::Faults => views::faults(),
            Operation::Projects => views::projects(),
            Operation::Stats => views::stats(),
            Operation::Report => reads::report(given),
            Operation::Usage => reads::usage(given),
            Operation::Config => reads::config(),
            Operation::Goto => changes::goto(given),
            Operation::Remember => changes::remember(given),
            Operation::Edit => changes::edit(given),
            Operation::Pin => changes::change_one(given, &MemoryChange::Pin),
            Operation::Unpin => changes::change_one(given, &MemoryChange::Unpin),
            Operation::Accept => changes::change_one(given, &MemoryChange::Accept),
            Operation::Reject => changes::change_one(given, &MemoryChange::Reject),
            Operation::AcceptProposal => changes::answer_proposal(given, &MemoryChange::Accept),
            Operation::RejectProposal => changes::answer_proposal(given, &MemoryChange::Reject),
            Operation::Supersede => changes::supersede(given),
            Operation::Hold => changes::hold(given),
            Operation::Release => changes::change_one(given, &MemoryChange::Release),
            Operation::Undo => changes::change_one(given, &MemoryChange::Undo),
            Operation::Forget => changes::forget(given),
            Operation::RetryJob => changes::retry_job(given),
            Operation::DropJob => changes::drop_job(given),
            Operation::Events => hosts::event(given),
            Operation::HostContext => hosts::context(given),
            Operation::HostBegin => hosts::begin(given),
            Operation::HostTool => hosts::tool(given),
            Operation::HostSummarise => hosts::summarise(given),
            Operation::HostEnd => hosts::end(given),
            Operation::HostProcessing => Ok(hosts::processing(given)),
            Operation::HostBatch => hosts::batch(given),
            Operation::HostSearch => hosts::search(given),
            Operation::HostTimeline => hosts::timeline(given),
        }
    }

    fn now(&self) -> Option<Timestamp> {
        Some(Env::new()?.now)
    }

    fn place(&self) -> Option<String> {
        towline_engine::query::news::cursor(&Env::new()?.home)
    }

    fn news(&self, after: &str) -> Option<Batch> {
        news::since(after)
    }

    fn watch(&self) -> Box<dyn FnMut(Duration) -> bool + Send> {
        let Some(env) = Env::new() else { return Box::new(|_| false) };
        let mut watch = Watch::on(&env.home);
        Box::new(move |patience| watch.wait(patience))
    }
}

impl EngineBackend {
    fn health(&self) -> Answer {
        let env = Env::new();
        let warning = env.as_ref().and_then(warning);
        let machine = env.and_then(|env| std::fs::read_to_string(env.home.folder().join("machine")).ok());
        let health = json!({
            "name": "towline", "version": env!("CARGO_PKG_VERSION"), "started_at": self.began_at.to_utc(),
            "write": self.writing == Writing::Allowed, "machine": machine.map(|name| name.trim().to_owned()),
            "warning": warning, "place": self.place(),
        });
        Answer::Json(health.to_string())
    }
}
