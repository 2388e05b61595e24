//! Providers over HTTP/1.1: a client that reads answers where they are needed, without a task or a queue per
//! connection. Dropping an answer closes its connection, and a reader that is slow slows the provider.

mod address;
mod body;
mod certificates;
mod chunked;
mod client;
mod connect;
mod dial;
mod direct;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
mod head;
mod pool;
mod proxy;
mod reason;
mod reuse;
mod scratch;
mod socks;
mod tls;

#[cfg(test)]
mod tests;

pub use address::Address;
pub use body::Body;
pub use certificates::{Authorities, Identity, IdentityError};
pub use chunked::Chunked;
pub use client::{Client, HttpResponse, Outgoing, Timeouts};
pub use head::connection_options;
pub use proxy::Proxies;
pub use reason::add_reason;
pub use reuse::Afterwards;
pub use tls::Tls;
