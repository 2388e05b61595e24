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
mod owned;
mod percent;
mod place;

pub use diagnostics::Diagnostics;
pub use diagnostics::MissingField;
pub use error::Error;
pub use error::ErrorKind;
pub use error::Result;
pub use fault::Fault;
pub use fault::FaultKind;
pub use loss::Loss;
pub use loss::LossKind;
pub use loss::Report;
pub use place::Place;
pub use protocol::Exchange;
pub use protocol::Protocol;
