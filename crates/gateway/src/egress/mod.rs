//! How answers go out: the head in the client's own protocol, the body as it comes, and failures likewise.

mod headers;
mod live;
mod reply;
mod rescue;

pub(crate) use headers::{add as add_headers, add_own as add_own_headers, add_request_id};
pub(crate) use reply::{
    KeptBody, Reply, ReplyBody, answer, json, next_bytes, stream, text, upgrade,
};
pub(crate) use rescue::rescue;
