//! One conversation, four LLM wire protocols, every loss on record.

pub mod alias;
pub mod base64;
pub mod conversation;
pub mod json;
pub mod protocol;
pub mod roles;
pub mod schema;
pub mod sse;
pub mod target;
pub mod unified;
pub mod utf8;

mod characters;
mod diagnostics;
mod error;
mod fault;
mod index;
mod inspect;
mod limit;
mod loss;
mod overflow;
mod owned;
mod percent;
mod place;

pub use diagnostics::{Diagnostics, MissingField};
pub use error::{Error, ErrorKind, Result};
pub use fault::{Fault, FaultKind};
pub use loss::{Loss, LossKind, Report};
pub use overflow::Overflow;
pub use place::Place;
pub use protocol::{DecodedRequest, Protocol};
