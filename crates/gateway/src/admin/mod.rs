//! What the gateway answers itself: its health, its counters, its last exchanges, its models, translations.

mod exchanges;
mod health;
mod models;
mod passthrough;
mod translate;

pub(crate) use models::ModelsAsked;
pub(crate) use models::models;
pub(crate) use passthrough::Raw;
pub(crate) use passthrough::embeddings;
pub(crate) use passthrough::passthrough;

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body;

use crate::Gateway;
use crate::admin::exchanges::Viewer;
use crate::egress;
use crate::egress::Reply;
use crate::ingress::Own;

/// Answers one of Sabir's own endpoints.
pub(crate) async fn own<B>(
    gateway: &Arc<Gateway>,
    own: Own,
    (headers, key): (&HeaderMap, Option<usize>),
    body: B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let viewer = Viewer::of(gateway, key);
    match own {
        Own::Root => health::root(),
        Own::Health => health::alive(),
        Own::Ready => health::ready(gateway),
        Own::Metrics => {
            let mut metrics = gateway.metrics.render();
            gateway.pool.render(&mut metrics);
            egress::text(metrics)
        }
        Own::Exchanges => exchanges::all(gateway, viewer),
        Own::Exchange(id) => exchanges::one(gateway, viewer, &id),
        Own::Translate => translate::translate(gateway, headers, body).await,
    }
}
