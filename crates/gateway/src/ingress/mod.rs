//! How requests come in: who may ask, what is asked of whom, and the body that states it.

mod body;
mod coding;
mod density;
mod framing;
mod guard;
mod head;
mod key;
mod members;
mod path;
mod routing;
mod skim;
mod upgrade;

pub(crate) use body::{drain, into_text, read as read_body, read_raw, text};
pub(crate) use coding::unpack;
pub(crate) use density::{check_answer_density, check_density, check_history_density, survey};
pub(crate) use framing::{Misframed, check_framing};
pub(crate) use guard::{admit, is_allowed_origin, names_loopback};
pub(crate) use head::check_head;
pub(crate) use key::identify;
pub(crate) use members::{members, repeated_member};
pub(crate) use path::{
    Conversations, Endpoint, Listing, Own, find as find_endpoint, is_passthrough,
};
pub(crate) use routing::{Arrived, Routed, route_call, route_large_call};
pub(crate) use skim::skim;
pub(crate) use upgrade::{VERSION as SOCKET_VERSION, accept_key, wants_socket};
