//! A provider as requests see it: where it is, how to prove who asks, and how it has fared.

use std::sync::Arc;
use std::sync::Mutex;

use sabir_backend::http::Address;
use sabir_backend::sim::Simulator;
use sabir_wire::Protocol;

use crate::admin::Cached;
use crate::attempt::headers::Templates;
use crate::attempt::health::Health;
use crate::attempt::queue::Queue;
use crate::attempt::targets::Targets;
use crate::config::types::Limits;
use crate::config::types::Place;
use crate::config::types::Provider;
use crate::redact::Redactor;
use crate::surface;

#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    pub(crate) redactor: Redactor,
    /// In the order of the provider's endpoints.
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) health: Health,
    pub(crate) queue: Queue,
    pub(crate) targets: Targets,
    /// Its own list of models, as it was last asked for.
    pub(crate) models: Mutex<Cached>,
}

#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) protocol: Protocol,
    pub(crate) end: End,
    /// What all paths begin with.
    pub(crate) base_path: String,
    pub(crate) headers: Templates,
}

/// What stands at the far end.
#[derive(Debug)]
pub(crate) enum End {
    Http(Address),
    Simulator(Arc<Simulator>),
}

impl Upstream {
    pub(crate) fn new(provider: &Provider, limits: &Limits, instance: &str) -> Self {
        let endpoint = |endpoint: &crate::config::types::Endpoint| {
            let (end, base_path) = match &endpoint.place {
                Place::Url(url) => {
                    let address = Address::of(url)?;
                    (End::Http(address), url.path().trim_end_matches('/').to_owned())
                }
                Place::Simulator => {
                    let simulator = Arc::new(Simulator::new(endpoint.protocol));
                    (End::Simulator(simulator), surface::of(endpoint.protocol).version().to_owned())
                }
            };
            let headers = Templates::new(instance, provider, endpoint.protocol);
            Some(Endpoint { protocol: endpoint.protocol, end, base_path, headers })
        };
        Self {
            name: provider.name.as_str().into(),
            redactor: Redactor::of(provider),
            endpoints: provider.endpoints.iter().filter_map(endpoint).collect(),
            health: Health::default(),
            queue: Queue::new(provider.max_in_flight, limits.queue_max, limits.queue_wait_max),
            targets: Targets::new(provider),
            models: Mutex::new(None),
        }
    }

    /// Whether it has an endpoint of this protocol.
    pub(crate) fn speaks(&self, protocol: Protocol) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.protocol == protocol)
    }

    /// The endpoint for a client: its own protocol if the provider speaks it, else the preferred one.
    pub(crate) fn endpoint_for(&self, client: Protocol) -> Option<&Endpoint> {
        let own = self.endpoints.iter().find(|endpoint| endpoint.protocol == client);
        own.or_else(|| self.endpoints.first())
    }
}
