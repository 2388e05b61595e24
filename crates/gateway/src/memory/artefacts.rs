//! What providers sealed with their calls and clients may not send back: known for an hour in memory, and where there is a store,
//! kept there for every node. What one key got is unknown to the others, and what one provider sealed no other is sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sabir_store::{Artefact, ArtefactKey, Hash, Keep, Name, Owner, Record, Store, Time};
use sabir_wire::Protocol;
use sabir_wire::protocol::{BareCall, CallArtefacts, Sealed};
use tokio::time::Instant;

use crate::config::types::{GatewayKey, Level};
use crate::memory::Memory;
use crate::memory::cache::{Cache, Source, Variant};
use crate::memory::digest::{Digest, DigestKey};
use crate::memory::health::{Duty, Health};
use crate::memory::open::owner;
use crate::memory::unwritten::Unwritten;

/// The store is asked for so many calls of one request. Who has more without what belongs to them has other worries.
const CALLS_MAX: usize = 1_024;

/// How long a call waits for the store.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is used is kept longer, and written anew so often at most.
const RENEWED_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// The memory of artefacts.
#[derive(Debug)]
pub(crate) struct Artefacts {
    /// By what the cache finds calls.
    key: DigestKey,
    cache: Mutex<Cache>,
    kept: Option<Kept>,
}

/// Where they are kept beyond this process.
#[derive(Debug)]
struct Kept {
    store: Store,
    keep: Keep,
    /// Whether readable thinking may be written: it is content.
    keeps_words: bool,
    unwritten: Arc<Unwritten>,
    health: Arc<Health>,
}

/// Who sealed something, and for whom.
#[derive(Clone, Debug)]
pub(crate) struct Issuer {
    owner: Owner,
    name: String,
}

/// A search for what belongs to calls. A request may have hundreds of them, and nobody else searches meanwhile.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    artefacts: &'a Artefacts,
    cache: MutexGuard<'a, Cache>,
    pub(crate) issuer: Issuer,
    /// What the digests of all its calls begin with.
    begun: Digest,
    now: Instant,
}

/// What is known of a call.
pub(crate) enum Known {
    Record(Arc<str>),
    /// Nothing belongs to it, or it was edited.
    Nothing,
    /// The store may know more of these ids.
    Unsure(Vec<String>),
}

/// What only the store may know of the calls of a request.
#[derive(Clone, Debug)]
pub(crate) struct Lacking {
    pub(crate) issuer: Issuer,
    pub(crate) ids: Vec<String>,
}

impl Issuer {
    pub(crate) fn new(key: Option<&Arc<GatewayKey>>, provider: &str, protocol: Protocol) -> Self {
        Self { owner: owner(key), name: format!("{provider}/{}", protocol.as_str()) }
    }
}

impl Artefacts {
    pub(crate) fn new(memory: Option<&Memory>) -> Self {
        let kept = memory.map(|memory| Kept {
            store: memory.store().clone(),
            keep: memory.keep(),
            keeps_words: memory.level() != Level::Metadata,
            unwritten: Arc::clone(memory.unwritten()),
            health: Arc::clone(memory.health()),
        });
        Self { key: DigestKey::random(), cache: Mutex::default(), kept }
    }

    /// Keeps what belongs to the calls of an answer.
    pub(crate) fn remember(&self, issuer: &Issuer, calls: Vec<CallArtefacts>) {
        let (now, begun) = (Instant::now(), self.begun(issuer));
        let mut unwritten = Vec::new();
        let mut cache = self.cache();
        for CallArtefacts { id, sealed } in calls {
            let call = begun.with(&self.key, id.as_bytes()).mark();
            let Some(Sealed { meaning, record, has_words }) = sealed else {
                // Without a store nothing known is nothing there.
                if self.kept.is_some() {
                    cache.put(call, None, (Source::Store, now));
                }
                continue;
            };
            let variant = Variant { digest: Hash::of_bytes(&meaning), record: record.into() };
            let kept = self.kept.as_ref().filter(|kept| kept.keeps_words || !has_words);
            let artefact = kept.and_then(|kept| kept.artefact(issuer, &id, &variant));
            let source = if artefact.is_some() { Source::Store } else { Source::Here };
            unwritten.extend(artefact);
            cache.put(call, Some(variant), (source, now));
        }
        drop(cache);
        self.write(unwritten);
    }

    /// Looks for what belongs to the calls of a request.
    pub(crate) fn search(&self, issuer: Issuer) -> Search<'_> {
        let (begun, now) = (self.begun(&issuer), Instant::now());
        Search { artefacts: self, cache: self.cache(), issuer, begun, now }
    }

    /// Asks the store for what only it may know, and returns whether it had any. A store that fails has nothing.
    pub(crate) async fn fetch(&self, lacking: Lacking) -> bool {
        let Lacking { issuer, mut ids } = lacking;
        let Some(kept) = self.kept.as_ref().filter(|kept| kept.health.is_up()) else {
            return false;
        };
        ids.truncate(CALLS_MAX);
        let Some(found) = kept.read(&issuer, &ids).await else { return false };
        let (now, begun, mut unwritten) = (Instant::now(), self.begun(&issuer), Vec::new());
        let call = |id: &str| begun.with(&self.key, id.as_bytes()).mark();
        let mut cache = self.cache();
        for id in ids.iter().filter(|id| !found.iter().any(|it| it.key.call.as_str() == **id)) {
            cache.put(call(id), None, (Source::Missing, now));
        }
        let has_found = !found.is_empty();
        for artefact in found {
            if let Some(variant) = variant(&artefact) {
                let call = call(artefact.key.call.as_str());
                cache.put(call, Some(variant), (Source::Store, now));
                unwritten.extend(kept.renewed(artefact));
            }
        }
        drop(cache);
        self.write(unwritten);
        has_found
    }

    fn write(&self, artefacts: Vec<Artefact>) {
        if let Some(kept) = self.kept.as_ref().filter(|_| !artefacts.is_empty()) {
            kept.health.dropped(kept.unwritten.add(artefacts));
        }
    }

    /// What the digests of all calls between an issuer and an owner begin with.
    fn begun(&self, issuer: &Issuer) -> Digest {
        let texts = [issuer.owner.as_str(), issuer.name.as_str()];
        texts.iter().fold(Digest::EMPTY, |digest, text| digest.with(&self.key, text.as_bytes()))
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Search<'_> {
    /// What is known of a call that came back bare.
    pub(crate) fn find(&mut self, call: BareCall<'_>) -> Known {
        let mut unknown = Vec::new();
        for id in call.ids() {
            let mark = self.begun.with(&self.artefacts.key, id.as_bytes()).mark();
            if let Some(variants) = self.cache.find(mark, self.now) {
                return matching(variants, call).map_or(Known::Nothing, Known::Record);
            }
            if self.artefacts.kept.is_some() {
                unknown.push(id.into_owned());
            }
        }
        if unknown.is_empty() { Known::Nothing } else { Known::Unsure(unknown) }
    }
}

impl Kept {
    /// What the store has of calls with these ids; none if it does not answer.
    async fn read(&self, issuer: &Issuer, ids: &[String]) -> Option<Vec<Artefact>> {
        let names = ids.iter().filter_map(|id| Name::new(id.as_str()).ok()).collect();
        let name = Name::new(issuer.name.as_str()).ok()?;
        let reading = self.store.artefacts(&issuer.owner, &name, names);
        let found = tokio::time::timeout(PATIENCE, reading).await.ok()?;
        self.health.note(Duty::Artefacts, &found);
        found.ok()
    }

    /// The row of what belongs to a call. Some ids are none that the store takes.
    fn artefact(&self, issuer: &Issuer, id: &str, variant: &Variant) -> Option<Artefact> {
        let key = ArtefactKey {
            owner: issuer.owner.clone(),
            issuer: Name::new(issuer.name.as_str()).ok()?,
            call: Name::new(id).ok()?,
            digest: variant.digest,
        };
        let record = Record::new(variant.record.as_bytes()).ok()?;
        Some(Artefact { key, record, expires_at: self.expires_at() })
    }

    /// The same row for longer, if it was not written lately.
    fn renewed(&self, artefact: Artefact) -> Option<Artefact> {
        let expires_at = self.expires_at();
        (artefact.expires_at.plus(RENEWED_EVERY) < expires_at)
            .then_some(Artefact { expires_at, ..artefact })
    }

    fn expires_at(&self) -> Time {
        match self.keep {
            Keep::Forever => Time(i64::MAX),
            Keep::For(duration) => self.store.now().plus(duration),
        }
    }
}

/// What belongs to a call that means what it meant.
fn matching(variants: &[Variant], call: BareCall<'_>) -> Option<Arc<str>> {
    if variants.is_empty() {
        return None;
    }
    let digest = Hash::of_bytes(&call.meaning());
    variants.iter().find(|it| it.digest == digest).map(|it| Arc::clone(&it.record))
}

fn variant(artefact: &Artefact) -> Option<Variant> {
    let record = std::str::from_utf8(artefact.record.as_bytes()).ok()?;
    Some(Variant { digest: artefact.key.digest, record: record.into() })
}
