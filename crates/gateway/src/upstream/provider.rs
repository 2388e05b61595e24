//! A provider as requests see it: where it is, how to prove who asks, and how it has fared.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;

use ::http::Uri;
use sabir_backend::http::Address;
use sabir_backend::http::Timeouts;
use sabir_backend::sim::Simulator;
use sabir_wire::Protocol;

use crate::config::types;
use crate::config::types::Limits;
use crate::config::types::Place;
use crate::observe::ProviderMetrics;
use crate::redact::Redactor;
use crate::surface;
use crate::upstream::AnyBackend;
use crate::upstream::headers::Templates;
use crate::upstream::health::Health;
use crate::upstream::http::Http;
use crate::upstream::queue::Queue;
use crate::upstream::simulated::Simulated;
use crate::upstream::targets::Targets;

/// A provider, shared by all requests that may ask it.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) config: Arc<types::Provider>,
    pub(crate) name: Arc<str>,
    pub(crate) redactor: Redactor,
    /// In the order of the provider's endpoints.
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) health: Health,
    pub(crate) queue: Queue,
    pub(crate) targets: Targets,
    pub(crate) metrics: Arc<ProviderMetrics>,
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

impl Provider {
    pub(crate) fn new(config: Arc<types::Provider>, limits: &Limits, instance: &str) -> Self {
        let name: Arc<str> = config.name.as_str().into();
        let endpoints = config.endpoints.iter();
        Self {
            redactor: Redactor::of(&config),
            endpoints: endpoints.filter_map(|it| Endpoint::new(it, &config, instance)).collect(),
            health: Health::default(),
            queue: Queue::new(config.max_in_flight, limits.queue_max, limits.queue_wait_max),
            targets: Targets::new(&config),
            metrics: Arc::new(ProviderMetrics::new(Arc::clone(&name))),
            models: Mutex::new(None),
            name,
            config,
        }
    }

    /// The endpoint for a client: its own protocol if the provider speaks it, else the preferred one.
    pub(crate) fn endpoint_for(&self, client: Protocol) -> Option<&Endpoint> {
        let own = self.endpoints.iter().find(|endpoint| endpoint.protocol == client);
        own.or_else(|| self.endpoints.first())
    }
}

impl Endpoint {
    fn new(
        configured: &types::Endpoint,
        provider: &types::Provider,
        instance: &str,
    ) -> Option<Self> {
        let protocol = configured.protocol;
        let (backend, base_path) = match &configured.place {
            Place::Url(url) => {
                let types::Timeouts { connect, first_byte, .. } = provider.timeouts;
                let timeouts = Timeouts { connect, first_byte };
                let auth = &surface::of(protocol).auth;
                let (address, key) = (address(url, provider)?, provider.key.clone());
                let server = Http { address, timeouts, auth, key };
                (AnyBackend::Http(server), url.path().trim_end_matches('/').to_owned())
            }
            Place::Simulator => {
                let simulator = Simulated(Arc::new(Simulator::new(protocol)));
                (AnyBackend::Simulated(simulator), surface::of(protocol).version().to_owned())
            }
        };
        let headers = Templates::new(instance, provider, protocol);
        Some(Self { protocol, backend, base_path, headers })
    }
}

/// Where a provider is, with its own certificates if it has any.
fn address(url: &Uri, provider: &types::Provider) -> Option<Address> {
    let address = Address::of(url)?;
    Some(match &provider.tls {
        Some(tls) => address.with_tls(tls.clone()),
        None => address,
    })
}
