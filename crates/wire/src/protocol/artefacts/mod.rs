//! What only a provider can read and its client may not send back, such as the signature of a call in a field that the client's
//! SDK does not know: taken from an answer together with the call that it belongs to, and put back when the call returns.

mod collector;
mod put_back;
mod record;
#[cfg(test)]
mod tests;

pub use collector::{ArtefactCollector, CallArtefacts, Sealed};
pub use put_back::BareCall;
