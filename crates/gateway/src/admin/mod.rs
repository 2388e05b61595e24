//! What the gateway answers itself: its health, its counters, its last exchanges, its models, what it keeps, what it cost, translations.

mod conversations;
mod exchanges;
mod health;
mod kept;
mod models;
mod passthrough;
mod reload;
mod translate;
mod usage;

pub(crate) use conversations::{Asker, conversations};
pub(crate) use kept::{KeptAsked, kept};
pub(crate) use models::{ModelsAsked, models};
pub(crate) use passthrough::{Raw, embeddings, passthrough};
pub(crate) use reload::{ReloadAsked, reload};
pub(crate) use usage::usage;

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body;

use crate::admin::exchanges::Viewer;
use crate::config::types::GatewayKey;
use crate::egress;
use crate::egress::Reply;
use crate::ingress::Own;
use crate::state::Snapshot;

/// Answers one of Sabir's own endpoints.
pub(crate) async fn own<B>(
    snapshot: &Arc<Snapshot>,
    own: Own,
    (headers, key): (&HeaderMap, Option<&Arc<GatewayKey>>),
    body: B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let viewer = Viewer::of(key);
    match own {
        Own::Root => health::root(),
        Own::Health => health::alive(),
        Own::Ready => health::ready(snapshot),
        Own::Metrics => egress::text(snapshot.render_metrics()),
        Own::Exchanges => exchanges::all(snapshot, viewer),
        Own::Exchange(id) => exchanges::one(snapshot, viewer, &id),
        Own::Translate => translate::translate(snapshot, headers, body).await,
    }
}
