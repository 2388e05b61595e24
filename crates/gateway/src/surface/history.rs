//! What the history of a request may hold that providers of its own protocol refuse: what another vendor made, and fields that
//! a server does not know.

use sabir_wire::conversation::{Part, Request};
use sabir_wire::target::{Dialect, Target};
use sabir_wire::{Protocol, Report};

/// What a protocol's providers refuse in histories.
pub(crate) struct History {
    /// Whether a body may hold what another vendor made and the provider refuses; false only if it holds none.
    pub(crate) may_hold_foreign: fn(&str, &Target) -> bool,
    /// Whether the provider cannot read artefacts of this issuer.
    pub(crate) refuses_artefacts_of: fn(Protocol, &Target) -> bool,
    /// Whether reasoning without a signature cannot be the vendor's own.
    pub(crate) is_foreign_unsigned: fn(&Part<'_>) -> bool,
    /// Changes what else the provider would refuse, and reports it.
    pub(crate) adapt: fn(&mut Request<'_>, &Change<'_>) -> Report,
    /// The body without fields that a server of this dialect refuses; none if nothing has to go.
    pub(crate) strip: fn(&str, Dialect) -> Option<(String, Report)>,
}

/// What is known where a history is adapted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'t> {
    pub(crate) target: &'t Target,
    /// Whether the operator wants histories repaired.
    pub(crate) is_repaired: bool,
    /// Whether anything of another vendor's was withheld, or anything repaired.
    pub(crate) is_changed: bool,
}

impl History {
    /// A history in which nothing is refused but artefacts of other vendors.
    pub(super) const fn of(refuses_artefacts_of: fn(Protocol, &Target) -> bool) -> Self {
        Self {
            may_hold_foreign: |_, _| false,
            refuses_artefacts_of,
            is_foreign_unsigned: |_| false,
            adapt: |_, _| Report::default(),
            strip: |_, _| None,
        }
    }
}
