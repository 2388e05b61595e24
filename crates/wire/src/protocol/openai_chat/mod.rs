//! Chat Completions, both ways.

mod decode_request;
mod decode_response;
mod decode_stream;
mod encode_request;
mod encode_response;
mod encode_stream;
mod facts;
mod fault;
mod losses;
#[cfg(test)]
mod tests;
mod types;
mod usage;
mod watch;

pub(in crate::protocol) use decode_request::decode_request;
pub(in crate::protocol) use decode_response::decode_response;
pub(in crate::protocol) use decode_response::is_older_word;
pub use decode_stream::Decoder;
pub(in crate::protocol) use encode_request::encode_request;
pub(in crate::protocol) use encode_response::encode_response;
pub(in crate::protocol) use encode_response::is_plain_citation;
pub use encode_stream::Encoder;
pub(in crate::protocol) use facts::FACTS;
pub(in crate::protocol) use fault::decode_fault;
pub(in crate::protocol) use fault::encode_fault;
pub(in crate::protocol) use losses::LOST;
pub(in crate::protocol) use losses::fate;
pub(in crate::protocol) use losses::is_stop_string;
pub(in crate::protocol) use losses::pointer;
pub use types::ChatSemantics;
pub(in crate::protocol) use types::DECLARED;
pub(in crate::protocol) use types::UNNAMED_FILE;
pub(in crate::protocol) use usage::USAGE;
pub(in crate::protocol) use watch::watch;
