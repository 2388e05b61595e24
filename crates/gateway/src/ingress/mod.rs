//! How requests come in: who may ask, what is asked of whom, and the body that says it.

mod body;
mod coding;
mod framing;
mod guard;
mod head;
mod key;
mod path;
mod routing;
mod skim;

pub(crate) use body::drain;
pub(crate) use body::into_text;
pub(crate) use body::read as read_body;
pub(crate) use body::read_raw;
pub(crate) use body::text;
pub(crate) use coding::unpack;
pub(crate) use framing::Misframed;
pub(crate) use framing::check_framing;
pub(crate) use guard::admit;
pub(crate) use guard::is_allowed_origin;
pub(crate) use guard::names_loopback;
pub(crate) use head::check_head;
pub(crate) use key::identify;
pub(crate) use path::Endpoint;
pub(crate) use path::Listing;
pub(crate) use path::Own;
pub(crate) use path::find as find_endpoint;
pub(crate) use path::is_passthrough;
pub(crate) use routing::Arrived;
pub(crate) use routing::Routed;
pub(crate) use routing::route_call;
pub(crate) use routing::route_large_call;
pub(crate) use skim::skim;
