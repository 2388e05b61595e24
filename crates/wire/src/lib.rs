//! One conversation, four LLM wire protocols, every loss on record.

mod error;
mod json;

pub use error::Error;
pub use error::ErrorKind;
pub use error::Result;
pub use json::DEPTH_MAX;
pub use json::Encode;
pub use json::Json;
pub use json::Kind;
pub use json::Number;
pub use json::Reader;
pub use json::Text;
pub use json::Writer;
