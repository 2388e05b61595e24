//! The list of models: every `[[model]]`, and each provider's own as `provider/id`, in the shape that the client knows.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::VIA;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use sabir_backend::http::{Afterwards, Client};
use sabir_wire::{FaultKind, Protocol};

use crate::answer::{InFlight, Incoming};
use crate::attempt::Handles;
use crate::config::SIMULATED_MODEL;
use crate::config::types::GatewayKey;
use crate::egress::Reply;
use crate::failure::Failure;
use crate::ingress::Listing;
use crate::state::Snapshot;
use crate::surface::Listed;
use crate::upstream::{Payload, Provider, Request};
use crate::{attempt, egress, route, surface, upstream};

/// How long a provider's list is good for.
const GOOD_FOR: Duration = Duration::from_secs(300);

/// How long a provider that gave no list is left in peace: a listing must not wait for it each time.
const FAILED_FOR: Duration = Duration::from_secs(30);

/// How long a provider may take to give its list: a listing must not wait for the slowest.
const DEADLINE: Duration = Duration::from_secs(3);

/// How many models of a provider are listed: whoever asks for the list waits until all of them are written.
const LISTED_MAX: usize = 10_000;

/// Of how many models a list says what is known: looking a name up takes a while.
const DESCRIBED_MAX: usize = 1_000;

const LIST_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A question for models.
pub(crate) struct ModelsAsked<'r> {
    pub(crate) shape: Protocol,
    pub(crate) listing: Listing,
    pub(crate) headers: &'r HeaderMap,
    /// The gateway key that it came with.
    pub(crate) key: Option<&'r Arc<GatewayKey>>,
}

pub(crate) async fn models(
    snapshot: &Arc<Snapshot>,
    client: &Client,
    asked: ModelsAsked<'_>,
) -> Reply {
    let ModelsAsked { shape, listing, headers, key } = asked;
    match listing {
        Listing::All => {
            let models = all(snapshot, client, headers).await;
            egress::json(StatusCode::OK, surface::of(shape).model_list.write(&models))
        }
        Listing::One(id) => match route::resolve(&snapshot.directory, &id, shape) {
            Ok(_) => {
                let model = listed(snapshot, id);
                egress::json(StatusCode::OK, surface::of(shape).model_list.write_one(&model))
            }
            Err(not_found) => {
                let failure = Failure::client(FaultKind::NotFound, not_found.to_string());
                let failure = failure.with_param("model").with_code("model_not_found");
                let mut flight = InFlight::begin(snapshot, shape, key);
                flight.trace.set_no_call();
                egress::rescue(shape, *failure, flight)
            }
        },
    }
}

/// What can be asked for, each name once: those of the configuration first.
async fn all(snapshot: &Arc<Snapshot>, client: &Client, headers: &HeaderMap) -> Vec<Listed> {
    let directory = &snapshot.directory;
    let named = directory.config.models.iter().map(|model| model.name.as_str().to_owned());
    let mut names: Vec<String> = named.collect();
    if route::resolve(directory, SIMULATED_MODEL, surface::DEFAULT).is_ok() {
        names.push(SIMULATED_MODEL.to_owned());
    }
    let before: Arc<[HeaderValue]> = upstream::gateways(headers).cloned().collect();
    let lists = all_lists(snapshot, client, &before).await;
    for (provider, own) in directory.providers.iter().zip(lists) {
        names.extend(own.into_iter().map(|id| format!("{}/{id}", provider.name)));
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let described = |(place, name)| match place < DESCRIBED_MAX {
        true => listed(snapshot, name),
        false => Listed { name, capabilities: None },
    };
    names.into_iter().enumerate().map(described).collect()
}

/// A model with what is known of whoever answers first.
fn listed(snapshot: &Snapshot, name: String) -> Listed {
    Listed { capabilities: route::capabilities(&snapshot.directory, &name), name }
}

/// The providers' own lists, asked for at the same time; `before` are the gateways that the listing was asked through.
async fn all_lists(
    snapshot: &Arc<Snapshot>,
    client: &Client,
    before: &Arc<[HeaderValue]>,
) -> Vec<Vec<String>> {
    let asking = snapshot.directory.providers.iter().map(|provider| {
        let (snapshot, client) = (Arc::clone(snapshot), client.clone());
        let (provider, before) = (Arc::clone(provider), Arc::clone(before));
        let list = async move {
            let handles = Handles { snapshot: &snapshot, client: &client };
            provider_list(handles, &provider, &before).await
        };
        tokio::task::spawn_local(list)
    });
    let asking: Vec<_> = asking.collect();
    let mut lists = Vec::with_capacity(asking.len());
    for list in asking {
        lists.push(list.await.unwrap_or_default());
    }
    lists
}

/// A provider's own list, from memory if it is fresh. One that gives none keeps its last, if it ever gave one.
async fn provider_list(
    handles: Handles<'_>,
    provider: &Provider,
    before: &[HeaderValue],
) -> Vec<String> {
    let cached = &provider.models;
    let remembered = cached.lock().unwrap_or_else(|it| it.into_inner()).clone();
    let last = match remembered {
        Some((until, list)) if Instant::now() < until => return list,
        Some((_, list)) => list,
        None => Vec::new(),
    };
    let fetched =
        tokio::time::timeout(DEADLINE, fetch(handles, provider, before)).await.ok().flatten();
    let good_for = if fetched.is_some() { GOOD_FOR } else { FAILED_FOR };
    let list = fetched.unwrap_or(last);
    let remembered = Some((Instant::now() + good_for, list.clone()));
    *cached.lock().unwrap_or_else(|it| it.into_inner()) = remembered;
    list
}

async fn fetch(
    handles: Handles<'_>,
    provider: &Provider,
    before: &[HeaderValue],
) -> Option<Vec<String>> {
    let endpoint = provider.endpoints.first()?;
    let mut headers: HeaderMap = upstream::base_headers(
        &handles.snapshot.shared.instance,
        &provider.config,
        endpoint.protocol,
    );
    for hop in before {
        headers.append(VIA, hop.clone());
    }
    headers.extend(provider.config.headers.iter().cloned());
    let query = surface::of(endpoint.protocol).model_list.whole_page;
    let path = format!("{}/models{query}", endpoint.base_path);
    let request = Request {
        method: &Method::GET,
        path: &path,
        headers: &headers,
        body: &Payload::default(),
        turn: None,
        afterwards: Afterwards::Keep,
        owner: None,
    };
    let begun = attempt::send_alone(handles, provider, endpoint, request, || {}).await;
    let Incoming { head, mut feed, .. } = begun.ok()?;
    let body = feed.collect_unpacked(handles.snapshot, &head.headers, LIST_BYTES_MAX).await.ok()?;
    if head.status != 200 {
        return None;
    }
    let pool = &handles.snapshot.shared.pool;
    let ids = pool.run_on(body.len(), move |_| Ok(surface::listed_ids(&body))).await;
    ids.ok().map(|mut ids| {
        ids.truncate(LISTED_MAX);
        ids
    })
}
