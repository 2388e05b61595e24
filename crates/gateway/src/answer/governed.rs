//! The rules on calls, before everybody else who sees an answer: what is recorded, counted and sent is what they let pass.

use sabir_compose::govern::Governor;
use sabir_wire::protocol::Event;

use crate::tap::Taps;

/// Hands an event of an answer on to the taps, or what its governor makes of it, and what comes of that to `emit`.
pub(super) fn pass(
    event: Event<'_>,
    (governor, taps): (&mut Option<Box<Governor>>, &mut Taps),
    emit: &mut dyn FnMut(Event<'_>),
) {
    match governor {
        Some(governor) => governor.event(event, &mut |event| taps.event(event, emit)),
        None => taps.event(event, emit),
    }
}
