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

pub use artefact::{Artefact, ArtefactKind};
pub use citation::Citation;
pub use extras::{Extra, Extras};
pub use logprobs::Logprobs;
pub(in crate::protocol) use logprobs::{Fidelity, add_to};
pub use namespace::Declared;
pub(in crate::protocol) use namespace::namespace;
pub use node::{CacheMarker, Item, NodeSemantics};
pub use request::{Semantics, Session};
pub(in crate::protocol) use shape::{Shape, Speller, Spelling};
