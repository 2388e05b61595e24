//! The operator's key as a word that no answer repeats: some providers do in their errors.

use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem;
use sabir_backend::Secret;
use sabir_wire::Fault;
use sabir_wire::json::Json;
use sabir_wire::json::Text;

use crate::config::types::Provider;

/// A key to be hidden, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct HiddenKey(Option<Arc<Secret>>);

/// Shorter ones are words that may stand in any message, such as the `none` of a server that takes any key.
const KEY_BYTES_MIN: usize = 8;

const HIDDEN: &str = "[key]";

impl HiddenKey {
    pub(crate) fn of(provider: &Provider) -> Self {
        let key = provider.key.clone().filter(|key| key.expose().len() >= KEY_BYTES_MIN);
        Self(key.map(Arc::new))
    }

    fn exposed(&self) -> Option<&str> {
        self.0.as_deref().map(Secret::expose)
    }

    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.exposed().is_some_and(|key| memmem::find(bytes, key.as_bytes()).is_some())
    }

    /// What the provider says without the key.
    pub(crate) fn without(&self, body: Bytes) -> Bytes {
        match self.exposed() {
            Some(key) if self.is_in(&body) => {
                String::from_utf8_lossy(&body).replace(key, HIDDEN).into()
            }
            _ => body,
        }
    }

    /// Takes the key out of an error.
    pub(crate) fn hide_in(&self, fault: &mut Fault<'_>) {
        let Some(key) = self.exposed() else { return };
        hide(key, &mut fault.message);
        fault.code.iter_mut().for_each(|code| hide(key, code));
        if let Some((protocol, json)) = fault.original.take() {
            let json = match json.as_str().contains(key) {
                true => Json::parse(json.as_str().replace(key, HIDDEN)).ok(),
                false => Some(json),
            };
            fault.original = json.map(|json| (protocol, json));
        }
    }
}

fn hide(key: &str, text: &mut Text<'_>) {
    let words = text.to_str();
    if words.contains(key) {
        *text = Text::plain(words.replace(key, HIDDEN));
    }
}
