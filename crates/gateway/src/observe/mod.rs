//! What is remembered of each request: counters, the last exchanges, a line in the log. Never a key, never content.

mod exchanges;
mod histogram;
mod log;
mod losses;
mod metrics;
mod outlet;
mod trace;

pub(crate) use exchanges::Exchanges;
pub(crate) use exchanges::Seen;
pub(crate) use exchanges::Upstream;
pub use log::start as start_log;
pub(crate) use losses::write_losses;
pub(crate) use metrics::Metrics;
pub use outlet::Outlet;
pub(crate) use trace::Ending;
pub(crate) use trace::Trace;
pub(crate) use trace::Whose;
