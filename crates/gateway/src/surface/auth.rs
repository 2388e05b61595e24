//! How a request proves who sends it: clients to the gateway, and the gateway to providers.

use std::borrow::Cow;
use std::time::SystemTime;

use http::{HeaderMap, HeaderName, HeaderValue};
use sabir_backend::Secret;
use sabir_backend::http::Outgoing;

use crate::surface::{SURFACES, all};

/// The place of a key in a request.
pub(crate) struct Auth {
    pub(crate) header: HeaderName,
    /// The scheme before the key in its header.
    pub(crate) scheme: Option<&'static str>,
    /// The parameter of the query that clients may send their key in instead.
    pub(crate) query: Option<&'static str>,
    /// For protocols whose key is never sent: it signs each request instead, body and headers included.
    pub(crate) signer: Option<Signer>,
}

/// Makes the headers that prove that a request, as it is about to be sent at this time, comes from the owner of the key.
pub(crate) type Signer = fn(&Secret, &Outgoing<'_>, SystemTime) -> HeaderMap;

impl Auth {
    /// The header that carries a provider's key with every request.
    pub(crate) fn key_header(&self, key: &Secret) -> Option<(HeaderName, HeaderValue)> {
        if self.signer.is_some() {
            return None;
        }
        let value = match self.scheme {
            Some(scheme) => HeaderValue::try_from(format!("{scheme} {}", key.expose())),
            None => HeaderValue::try_from(key.expose()),
        };
        let mut value = value.ok()?;
        value.set_sensitive(true);
        Some((self.header.clone(), value))
    }

    /// Headers with a key, unless they have one of the operator's own.
    pub(crate) fn with_key(&self, key: &Secret, headers: &HeaderMap) -> HeaderMap {
        let mut headers = headers.clone();
        if let Some((name, value)) = self.key_header(key) {
            headers.entry(name).or_insert(value);
        }
        headers
    }

    /// The headers of a request that is about to be sent, signed where the protocol wants that.
    pub(crate) fn signed<'h>(
        &self,
        key: Option<&Secret>,
        outgoing: &Outgoing<'h>,
    ) -> Cow<'h, HeaderMap> {
        let (Some(sign), Some(key)) = (self.signer, key) else {
            return Cow::Borrowed(outgoing.headers);
        };
        let mut headers = outgoing.headers.clone();
        headers.extend(sign(key, outgoing, SystemTime::now()));
        Cow::Owned(headers)
    }

    /// The keys that the headers of a client's request hold.
    pub(crate) fn keys_in<'r>(&'r self, headers: &'r HeaderMap) -> impl Iterator<Item = &'r str> {
        let values = headers.get_all(&self.header).iter().filter_map(|value| value.to_str().ok());
        values.filter_map(|value| match self.scheme {
            None => Some(value),
            Some(own) => {
                let (scheme, key) = value.split_once(' ')?;
                scheme.eq_ignore_ascii_case(own).then(|| key.trim())
            }
        })
    }

    /// The key in a parameter of a query, still percent-encoded.
    pub(crate) fn key_in_pair<'q>(&self, pair: &'q str) -> Option<&'q str> {
        pair.strip_prefix(self.query?)?.strip_prefix('=')
    }

    /// The advice on how to send a key.
    pub(crate) fn advice(&self) -> String {
        match self.scheme {
            Some(scheme) => format!("as a {} token", scheme.to_ascii_lowercase()),
            None => format!("in {}", self.header),
        }
    }
}

/// Every place of a key, each once.
pub(crate) fn key_places() -> impl Iterator<Item = &'static Auth> + Clone {
    let is_first = |(index, auth): &(usize, &Auth)| {
        !SURFACES[..*index].iter().any(|earlier| earlier.auth.header == auth.header)
    };
    all().map(|surface| &surface.auth).enumerate().filter(is_first).map(|(_, auth)| auth)
}

/// Whether a header may hold a key.
pub(crate) fn is_key_header(name: &HeaderName) -> bool {
    key_places().any(|auth| auth.header == *name)
}

/// A query without keys.
pub(crate) fn without_key(query: &str) -> String {
    let is_key = |pair: &str| all().any(|surface| surface.auth.key_in_pair(pair).is_some());
    let kept: Vec<&str> = query.split('&').filter(|pair| !is_key(pair)).collect();
    kept.join("&")
}
