//! What a protocol meant that the conversation cannot say.
//!
//! Everyone may read it; only code under `protocol/` can write it, because every setter is `pub(in crate::protocol)`.

mod artefact;
mod citation;
mod extras;
mod inspect;
mod logprobs;
mod namespace;
mod node;
mod request;
mod shape;

pub use artefact::Artefact;
pub use artefact::ArtefactKind;
pub use citation::Citation;
pub use extras::Extra;
pub use extras::Extras;
pub(in crate::protocol) use logprobs::Fidelity;
pub use logprobs::Logprobs;
pub(in crate::protocol) use logprobs::add_to;
pub use namespace::Declared;
pub(in crate::protocol) use namespace::namespace;
pub use node::CacheMarker;
pub use node::Item;
pub use node::NodeSemantics;
pub use request::Semantics;
pub use request::Session;
pub(in crate::protocol) use shape::Shape;
pub(in crate::protocol) use shape::Speller;
pub(in crate::protocol) use shape::Spelling;
