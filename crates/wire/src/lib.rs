//! One conversation, four LLM wire protocols, every loss on record.

mod error;

pub use error::Error;
pub use error::ErrorKind;
pub use error::Result;
