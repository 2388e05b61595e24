//! How answers go out: in the client's own protocol, event by event as they come, and failures likewise.

mod along;
mod array;
mod frames;
mod headers;
mod live;
mod reply;
mod rescue;
mod translation;

pub(crate) use along::Along;
pub(crate) use frames::Beginning;
pub(crate) use frames::Frames;
pub(crate) use frames::decode_all;
pub(crate) use frames::is_event_stream;
pub(crate) use headers::add_own as add_own_headers;
pub(crate) use headers::add_request_id;
pub(crate) use live::Live;
pub(crate) use reply::Cut;
pub(crate) use reply::Reply;
pub(crate) use reply::ReplyBody;
pub(crate) use reply::json;
pub(crate) use reply::opened;
pub(crate) use reply::text;
pub(crate) use rescue::rescue;
pub(crate) use translation::Translation;
