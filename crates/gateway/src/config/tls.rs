//! Reading `ca_file`, `client_certificate` and `client_key` of a `[[provider]]`: files of certificates, checked when the
//! gateway starts. No message quotes what it read.

use std::path::PathBuf;

use http::uri::Scheme;
use sabir_backend::http::{Authorities, Identity, IdentityError, Tls};

use crate::config::bounded;
use crate::config::problem::{Collector, reason};
use crate::config::secret_source::Outside;
use crate::config::section::{Item, Section};
use crate::config::types::{Endpoint, Location};

/// A bundle of all authorities that browsers know has a quarter of a megabyte.
const PEM_BYTES_MAX: usize = 4 * 1024 * 1024;

const NAMES: [&str; 3] = ["ca_file", "client_certificate", "client_key"];

/// The provider's own certificates, if it has any. Problems are noted.
pub(super) fn read(
    section: &Section<'_, '_>,
    endpoints: &[Endpoint],
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<Tls> {
    let first = NAMES.into_iter().find_map(|name| section.item(name))?;
    if !endpoints.is_empty() && !endpoints.iter().any(is_https) {
        first.wrong("needs a `base_url` that begins with https://", problems);
    }
    let authorities = match section.item("ca_file") {
        Some(item) => Some(authorities(item, outside, problems)?),
        None => None,
    };
    let identity = match (section.item("client_certificate"), section.item("client_key")) {
        (Some(item), key) => Some(identity(item, key, outside, problems)?),
        (None, Some(key)) => {
            key.wrong("belongs to a `client_certificate`; give that too", problems);
            return None;
        }
        (None, None) => None,
    };
    Tls::new(authorities, identity).map_err(|error| first.remark(error, problems)).ok()
}

fn is_https(endpoint: &Endpoint) -> bool {
    match &endpoint.place {
        Location::Url(url) => url.scheme() == Some(&Scheme::HTTPS),
        Location::Simulator | Location::Agent(_) => false,
    }
}

fn authorities(
    item: Item<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<Authorities> {
    let pem = Pem::read(item, outside, problems)?;
    Authorities::parse(&pem.text).map_err(|error| pem.unusable(&error, problems)).ok()
}

/// The certificate to show, with the key of the same file unless that has one of its own.
fn identity(
    certificate: Item<'_, '_>,
    key: Option<Item<'_, '_>>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<Identity> {
    let certificate = Pem::read(certificate, outside, problems);
    let own_key = match key {
        Some(item) => Some(Pem::read(item, outside, problems)?),
        None => None,
    };
    let certificate = certificate?;
    let key = own_key.as_ref().unwrap_or(&certificate);
    match Identity::parse(&certificate.text, &key.text) {
        Ok(identity) => return Some(identity),
        Err(IdentityError::Certificate(error)) => certificate.unusable(&error, problems),
        Err(IdentityError::Key(error)) => key.unusable(&error, problems),
    }
    None
}

/// A file that an item names.
struct Pem<'a, 'i> {
    item: Item<'a, 'i>,
    path: PathBuf,
    text: String,
}

impl<'a, 'i> Pem<'a, 'i> {
    fn read(
        item: Item<'a, 'i>,
        outside: Outside<'_>,
        problems: &mut Collector<'_>,
    ) -> Option<Self> {
        let path = outside.path(item.string(problems)?);
        match bounded::read(&path, PEM_BYTES_MAX) {
            Ok(text) => Some(Self { item, path, text }),
            Err(error) => {
                let (path, reason) = (path.display(), reason(&error));
                let advice = "name a file of certificates in PEM";
                item.remark(format!("cannot read {path}: {reason}; {advice}"), problems);
                None
            }
        }
    }

    fn unusable(&self, error: &str, problems: &mut Collector<'_>) {
        self.item.remark(format!("cannot use {}: {error}", self.path.display()), problems);
    }
}
