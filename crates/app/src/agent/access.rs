//! The settings by which an agent finds its gateway.

use std::net::SocketAddr;

use sabir_backend::Secret;
use sabir_gateway::config::types::Config;

use super::Agent;
use super::model::{default_model, smallest_window};

/// What an agent must know of its gateway.
#[derive(Debug)]
pub(crate) struct Access {
    /// The address as a URL, without a path.
    pub(crate) base: String,
    pub(crate) host: String,
    pub(crate) key: Secret,
    /// The model to ask for; the agent's own choice where there is none.
    pub(crate) model: Option<String>,
    /// How many tokens fit that model, where it is named here and that is known. An agent does not know a name that it did not
    /// choose, and takes the window of its own vendor's models for granted.
    pub(crate) window: Option<u64>,
}

/// What stands for a key where none is needed: the CLIs do not start without one.
const PLACEHOLDER_KEY: &str = "sabir";

impl Access {
    pub(crate) fn new(
        config: &Config,
        agent: Agent,
        address: SocketAddr,
        model: Option<String>,
    ) -> Self {
        let needed = config.auth.keys.first().filter(|_| config.auth.required);
        let model = model.or_else(|| default_model(config, agent));
        Self {
            base: format!("http://{address}"),
            host: address.ip().to_string(),
            key: needed.map_or_else(|| Secret::new(PLACEHOLDER_KEY), |key| key.value.clone()),
            window: model.as_deref().and_then(|model| smallest_window(config, agent, model)),
            model,
        }
    }

    #[cfg(test)]
    pub(super) fn for_tests(key: &str, model: Option<&str>) -> Self {
        Self {
            base: "http://127.0.0.1:1".to_owned(),
            host: "127.0.0.1".to_owned(),
            key: Secret::new(key),
            model: model.map(str::to_owned),
            window: None,
        }
    }
}
