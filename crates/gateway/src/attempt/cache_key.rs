//! The key by which a provider finds the prompt cache of a session, for clients whose protocol has another name for sessions.

use sabir_wire::conversation::Request;
use sabir_wire::json::{Kind, Reader, Text};
use sabir_wire::target::{CacheMarkers, Target};
use sabir_wire::{LossKind, Protocol, Report};

use crate::call::Call;

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

/// The session that an agent states inside the id of its end user.
fn session_of_user(request: &Request<'_>) -> Option<String> {
    let user = request.safety_identifier.as_ref()?.to_str();
    let mut session = None;
    let mut reader = Reader::new(&user);
    if reader.kind().ok()? != Kind::Object {
        return None;
    }
    // What is no such object names no session.
    let _ = reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("session_id", Kind::String) => session = Some(reader.string()?.to_str().into_owned()),
            _ => reader.skip()?,
        }
        Ok(())
    });
    session
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_inside_the_users_id_is_found() {
        for (user, session) in [
            (r#"{"device_id":"d","account_uuid":"a","session_id":"s-1"}"#, Some("s-1")),
            (r#"{"device_id":"d"}"#, None),
            ("user-9", None),
            ("{", None),
            ("", None),
        ] {
            let safety_identifier = Some(Text::plain(user));
            let request = Request { safety_identifier, ..Request::default() };
            assert_eq!(session_of_user(&request).as_deref(), session, "{user}");
        }
    }
}
