//! Calls that come back to the provider that made them, without what it sealed with them: the client's protocol has no field for
//! that, or the client strips it.

use sabir_wire::protocol::DecodedRequest;
use sabir_wire::{Protocol, Report};

use crate::attempt::notes::Notes;
use crate::memory::{Issuer, Known, Lacking};
use crate::route::Candidate;
use crate::state::Snapshot;

/// Puts back what is known of the calls of a request, and notes those that only the store may know.
pub(super) fn put_back(
    snapshot: &Snapshot,
    decoded: &mut DecodedRequest<'_>,
    (candidate, upstream): (&Candidate, Protocol),
    notes: &mut Notes<'_>,
) -> Report {
    let mut search = None;
    let mut ids = Vec::new();
    let report = decoded.put_back(upstream, &mut |call| {
        let begin = || {
            let issuer = Issuer::new(notes.key(), &candidate.provider.name, upstream);
            snapshot.shared.artefacts.search(issuer)
        };
        match search.get_or_insert_with(begin).find(call) {
            Known::Record(record) => Some(record),
            Known::Nothing => None,
            Known::Unsure(more) => {
                ids.extend(more);
                None
            }
        }
    });
    if let Some(search) = search.filter(|_| !ids.is_empty()) {
        notes.lack(Lacking { issuer: search.issuer, ids });
    }
    report
}
