//! What a protocol meant that the conversation cannot say.
//!
//! Everyone may read it; only code under `protocol/` can write it, because every setter is `pub(super)`.

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
pub(super) use logprobs::{Fidelity, add_to};
pub use namespace::Declared;
pub(super) use namespace::{approximated, dropped, implied, namespace, renamed};
pub use node::{CacheMarker, Item, NodeSemantics};
pub use request::{Semantics, Session};
pub(super) use shape::{Shape, Speller, Spelling};
