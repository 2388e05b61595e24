//! The key by which a provider finds the prompt cache of a session, for clients whose protocol has another name for sessions.

use sabir_wire::conversation::Request;
use sabir_wire::json::Text;
use sabir_wire::target::{CacheMarkers, Target};
use sabir_wire::{LossKind, Protocol, Report};

use crate::call::Call;
use crate::route::session_of_user;

/// What the vendor takes.
const KEY_CHARS_MAX: usize = 64;

/// Names the session of a call as the key of its prompt cache, where the provider has such keys and the request none.
pub(super) fn name(
    request: &mut Request<'_>,
    call: &Call<'_>,
    (upstream, target): (Protocol, &Target),
) -> Report {
    let mut report = Report::default();
    let takes_key = upstream.facts().takes_cache_key && target.dialect.cache_key;
    if !takes_key || target.cache == CacheMarkers::Stated || request.cache.key.is_some() {
        return report;
    }
    let named = call.session_name().map(str::to_owned).or_else(|| session_of_user(request));
    if let Some(key) = named.filter(|key| key.chars().count() <= KEY_CHARS_MAX) {
        request.cache.key = Some(Text::plain(key));
        let reason = "the client's session, by which the provider finds its prompt cache";
        report.lose("/prompt_cache_key", LossKind::Synthesised, reason);
    }
    report
}
