//! The server: any of four protocols in, any provider out, the answer in the client's own protocol.

pub mod config;
pub mod route;
pub mod server;

#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;

mod admin;
mod attempt;
mod authority;
mod call;
mod egress;
mod failure;
mod held;
mod ingress;
mod observe;
mod pool;
mod redact;
mod stack;
mod state;
mod surface;
mod understand;

pub use observe::Outlet;
pub use observe::start_log;
pub use state::Gateway;
