//! A provider as requests see it: where it is, how to prove who asks, and how it has fared.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;

use ::http::Uri;
use sabir_backend::http::Address;
use sabir_backend::http::Timeouts;
use sabir_backend::sim::Simulator;
use sabir_wire::Protocol;

use crate::config::types::Limits;
use crate::config::types::Place;
use crate::config::types::Provider;
use crate::redact::Redactor;
use crate::surface;
use crate::upstream::AnyBackend;
use crate::upstream::headers::Templates;
use crate::upstream::health::Health;
use crate::upstream::http::Http;
use crate::upstream::queue::Queue;
use crate::upstream::simulated::Simulated;
use crate::upstream::targets::Targets;

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
    pub(crate) models: Mutex<CachedModels>,
}

/// A provider's own list of models, and until when it need not be asked again.
pub(crate) type CachedModels = Option<(Instant, Vec<String>)>;

#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) protocol: Protocol,
    pub(crate) backend: AnyBackend,
    /// What all paths begin with.
    pub(crate) base_path: String,
    pub(crate) headers: Templates,
}

impl Upstream {
    pub(crate) fn new(provider: &Provider, limits: &Limits, instance: &str) -> Self {
        let endpoint = |endpoint: &crate::config::types::Endpoint| {
            let (backend, base_path) = match &endpoint.place {
                Place::Url(url) => {
                    let (connect, first_byte) =
                        (provider.timeouts.connect, provider.timeouts.first_byte);
                    let timeouts = Timeouts { connect, first_byte };
                    let auth = &surface::of(endpoint.protocol).auth;
                    let (address, key) = (address(url, provider)?, provider.key.clone());
                    let server = Http { address, timeouts, auth, key };
                    (AnyBackend::Http(server), url.path().trim_end_matches('/').to_owned())
                }
                Place::Simulator => {
                    let simulator = Simulated(Arc::new(Simulator::new(endpoint.protocol)));
                    let base_path = surface::of(endpoint.protocol).version().to_owned();
                    (AnyBackend::Simulated(simulator), base_path)
                }
            };
            let headers = Templates::new(instance, provider, endpoint.protocol);
            Some(Endpoint { protocol: endpoint.protocol, backend, base_path, headers })
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

    /// The endpoint for a client: its own protocol if the provider speaks it, else the preferred one.
    pub(crate) fn endpoint_for(&self, client: Protocol) -> Option<&Endpoint> {
        let own = self.endpoints.iter().find(|endpoint| endpoint.protocol == client);
        own.or_else(|| self.endpoints.first())
    }
}

/// Where a provider is, with its own certificates if it has any.
fn address(url: &Uri, provider: &Provider) -> Option<Address> {
    let address = Address::of(url)?;
    Some(match &provider.tls {
        Some(tls) => address.with_tls(tls.clone()),
        None => address,
    })
}
