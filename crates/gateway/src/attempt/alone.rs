//! A request to one provider that no other target stands in for: its own paths, and its list of models.

use http::HeaderMap;
use http::Method;

use crate::attempt::Feed;
use crate::attempt::Means;
use crate::attempt::PAUSE;
use crate::attempt::RawRequest;
use crate::attempt::open::begin_raw;
use crate::attempt::upstream::Endpoint;
use crate::failure::Result;

/// Sends a request and reads the head of the answer. If its connection fails, a request that changes nothing is sent again,
/// as often as `retries` says; `tries` is called each time.
pub(crate) async fn begin_alone(
    means: Means<'_>,
    provider: usize,
    endpoint: &Endpoint,
    request: RawRequest<'_>,
    mut tries: impl FnMut(),
) -> Result<(u16, HeaderMap, Feed)> {
    let mut tries_left = match *request.method {
        Method::GET | Method::HEAD | Method::OPTIONS => {
            means.gateway.config.providers[provider].retries
        }
        _ => 0,
    };
    loop {
        tries();
        match begin_raw(means, provider, endpoint, request).await {
            Err(failure) if failure.broken.is_some() && tries_left > 0 => tries_left -= 1,
            outcome => return outcome,
        }
        tokio::time::sleep(PAUSE).await;
    }
}
