//! Creates the configured provider.
//!
//! Never substitutes another one: an unusable provider fails every request.

use crate::memory::model::Provider;
use crate::memory::model::provider::{Anthropic, Command, Key, Nobody, OpenAi, Surroundings, Wire};
use crate::runtime::config::{Enrich, ProviderName};
use crate::runtime::env::find_in_path;
use crate::runtime::{Env, variable};
use std::path::PathBuf;
use std::time::Duration;
use towline_agents::Agent;
use towline_agents::ask::usual_model;

pub fn provider(env: &Env, wanted: &Enrich) -> Box<dyn Provider> {
    match wanted.provider {
        ProviderName::Nobody => Box::new(Nobody { name: "none", why: "no provider is named".to_owned() }),
        ProviderName::Agent(agent) => command(env, wanted, agent),
        ProviderName::Anthropic => {
            let vendors = Vendor { address: "https://api.anthropic.com", variable: "ANTHROPIC_API_KEY" };
            Box::new(Anthropic(wire(env, wanted, &vendors)))
        }
        ProviderName::OpenAi if wanted.model.is_empty() => {
            Box::new(Nobody { name: wanted.provider.name(), why: "distil.model names no model".to_owned() })
        }
        ProviderName::OpenAi => {
            let vendors = Vendor { address: "https://api.openai.com/v1", variable: "OPENAI_API_KEY" };
            Box::new(OpenAi(wire(env, wanted, &vendors)))
        }
    }
}

fn command(env: &Env, wanted: &Enrich, agent: Agent) -> Box<dyn Provider> {
    let unusable = |why: String| Box::new(Nobody { name: agent.name(), why });
    let Some(asking) = agent.asking() else {
        return unusable(format!("{} answers no single questions", agent.title()));
    };
    let Some(program) = find_in_path(agent.name()) else {
        return unusable(format!("`{}` is not on the PATH", agent.name()));
    };
    let around = Surroundings {
        program,
        folder: folder(env),
        settings: agent.folder(&variable),
        patience: patience(wanted),
    };
    Box::new(Command { agent, asking, model: model(wanted), around })
}

/// A vendor's API address, and the customary variable of its key.
struct Vendor {
    address: &'static str,
    variable: &'static str,
}

fn wire(env: &Env, wanted: &Enrich, vendor: &Vendor) -> Wire {
    let is_vendors = wanted.base_url.is_empty();
    Wire {
        base_url: if is_vendors { vendor.address.to_owned() } else { wanted.base_url.clone() },
        model: model(wanted).unwrap_or_default(),
        key: key(wanted, is_vendors.then_some(vendor.variable)),
        patience: patience(wanted),
        certificates: variable("SSL_CERT_FILE").map(PathBuf::from),
        folder: folder(env),
    }
}

/// A vendor's key is sent only to the vendor, unless the user configures otherwise.
fn key(wanted: &Enrich, customary: Option<&str>) -> Key {
    if !wanted.key_command.is_empty() {
        return Key::Command(wanted.key_command.clone());
    }
    let named = Some(wanted.key_env.as_str()).filter(|name| !name.is_empty()).or(customary);
    let Some(name) = named else { return Key::None };
    variable(name).map_or_else(|| Key::Missing(format!("the variable {name} is not set")), Key::Given)
}

fn model(wanted: &Enrich) -> Option<String> {
    let given = Some(wanted.model.clone()).filter(|model| !model.is_empty());
    given.or_else(|| usual_model(wanted.provider.name()).map(str::to_owned))
}

/// An empty folder of our own, so a model finds nothing to read.
fn folder(env: &Env) -> PathBuf {
    env.home.folder().join("asking")
}

fn patience(wanted: &Enrich) -> Duration {
    Duration::from_secs(wanted.timeout_s.into())
}
