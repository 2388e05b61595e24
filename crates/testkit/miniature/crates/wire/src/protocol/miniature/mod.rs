//! Miniature, both ways.

mod codec;
mod decode_request;
mod decode_response;
mod decode_stream;
mod encode_request;
mod encode_response;
mod encode_stream;
mod fault;
mod history;
mod losses;
#[cfg(test)]
mod tests;
mod types;
mod usage;
mod watch;

pub(super) use codec::CODEC;
