//! A provider as requests see it: where it is, how to prove who asks, and how it has fared.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ::http::Uri;
use sabir_backend::http::{Address, Timeouts};
use sabir_backend::sim::Simulator;
use sabir_wire::Protocol;

use crate::config::types;
use crate::config::types::{Limits, Location};
use crate::observe::ProviderMetrics;
use crate::redact::Redactor;
use crate::surface;
use crate::upstream::AnyBackend;
use crate::upstream::agent::Agent;
use crate::upstream::headers::Templates;
use crate::upstream::health::Health;
use crate::upstream::http::Http;
use crate::upstream::keys::Keys;
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
    pub(crate) health: Arc<Health>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) targets: Targets,
    pub(crate) metrics: Arc<ProviderMetrics>,
    /// Its own list of models, as it was last asked for.
    pub(crate) models: Arc<Mutex<CachedModels>>,
    /// Whose connections it may use: those of the generation in which its address and key were last changed.
    partition: u64,
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

/// What all providers of a configuration share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) limits: &'a Limits,
    /// The name of the gateway that asks.
    pub(crate) instance: &'a str,
    /// How many configurations there were before this one.
    pub(crate) generation: u64,
    /// The folder of Sabir's own files.
    pub(crate) data_folder: Option<&'a Path>,
}

impl Provider {
    pub(crate) fn new(config: Arc<types::Provider>, site: Site<'_>) -> Self {
        let name: Arc<str> = config.name.as_str().into();
        let Limits { queue_max, queue_wait_max, .. } = *site.limits;
        Self {
            redactor: Redactor::of(&config),
            endpoints: endpoints(&config, site, site.generation),
            health: Arc::default(),
            keys: Arc::new(Keys::new(&config.keys, None, site.generation)),
            queue: Arc::new(Queue::new(config.max_in_flight, queue_max, queue_wait_max)),
            targets: Targets::new(&config),
            metrics: Arc::new(ProviderMetrics::new(Arc::clone(&name))),
            models: Arc::default(),
            partition: site.generation,
            name,
            config,
        }
    }

    /// The provider of that name under another configuration: its counters go on, and so does what is known of whoever
    /// stands at its address, unless that may be somebody else now.
    pub(crate) fn next(
        self: &Arc<Self>,
        config: Arc<types::Provider>,
        site: Site<'_>,
    ) -> Arc<Self> {
        let new = Self::new(config, site);
        let has_same_queue = self.queue.has_limits_of(&new.queue);
        if self.config == new.config && has_same_queue {
            return Arc::clone(self);
        }
        let mut next = Self { metrics: Arc::clone(&self.metrics), ..new };
        if has_same_queue {
            next.queue = Arc::clone(&self.queue);
        }
        if is_same_server(&self.config, &next.config) {
            next.endpoints = endpoints(&next.config, site, self.partition);
            next.health = Arc::clone(&self.health);
            next.keys = Arc::clone(&self.keys);
            next.models = Arc::clone(&self.models);
            next.partition = self.partition;
        } else if self.config.endpoints == next.config.endpoints {
            next.keys = Arc::new(Keys::new(&next.config.keys, Some(&self.keys), site.generation));
        }
        Arc::new(next)
    }

    /// Whether it can be asked in its own place: it has not failed of late, and has a key that does not rest.
    pub(crate) fn is_good(&self) -> bool {
        self.health.is_good() && !self.keys.all_rest()
    }

    /// The endpoint for a client: its own protocol if the provider has it, else the preferred one.
    pub(crate) fn endpoint_for(&self, client: Protocol) -> Option<&Endpoint> {
        let own = self.endpoints.iter().find(|endpoint| endpoint.protocol == client);
        own.or_else(|| self.endpoints.first())
    }
}

impl Endpoint {
    fn new(
        configured: &types::Endpoint,
        provider: &types::Provider,
        site: Site<'_>,
        partition: u64,
    ) -> Option<Self> {
        let protocol = configured.protocol;
        let (backend, base_path) = match &configured.place {
            Location::Url(url) => {
                let types::Timeouts { connect, first_byte, .. } = provider.timeouts;
                let timeouts = Timeouts { connect, first_byte };
                let auth = &surface::of(protocol).auth;
                let address = address(url, provider)?.in_partition(partition);
                let key = provider.sole_key().cloned();
                let server = Http { address, timeouts, auth, key };
                (AnyBackend::Http(server), url.path().trim_end_matches('/').to_owned())
            }
            Location::Simulator => {
                let simulator = Simulated(Arc::new(Simulator::new(protocol)));
                (AnyBackend::Simulated(simulator), surface::of(protocol).version().to_owned())
            }
            Location::Agent(agent) => {
                let agent = Agent::new(agent, provider, site.data_folder);
                (AnyBackend::Agent(Box::new(agent)), String::new())
            }
        };
        let headers = Templates::new(site.instance, provider, protocol);
        Some(Self { protocol, backend, base_path, headers })
    }

    /// The agent CLI that stands here, if one does.
    pub(crate) fn agent(&self) -> Option<&Agent> {
        match &self.backend {
            AnyBackend::Agent(agent) => Some(agent),
            _ => None,
        }
    }

    /// Ends what waits for calls.
    pub(crate) fn close(&self) {
        if let AnyBackend::Agent(agent) = &self.backend {
            agent.close();
        }
    }

    /// Whether clients of the protocol are served as by its vendor: what they send goes through as it is.
    pub(crate) fn is_native_to(&self, client: Protocol) -> bool {
        self.protocol == client && self.agent().is_none()
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

fn endpoints(provider: &types::Provider, site: Site<'_>, partition: u64) -> Vec<Endpoint> {
    let endpoint = |it| Endpoint::new(it, provider, site, partition);
    provider.endpoints.iter().filter_map(endpoint).collect()
}

/// Whether the same server is asked in the same name. Certificates of its own keep connections apart by themselves.
fn is_same_server(before: &types::Provider, after: &types::Provider) -> bool {
    before.endpoints == after.endpoints && before.keys == after.keys
}
