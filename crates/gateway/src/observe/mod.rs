//! What is remembered of each request: counters, the last exchanges, a line in the log. Never a key, never content.

mod exchanges;
mod histogram;
mod log;
mod losses;
mod metrics;
mod outcome;
mod outlet;

pub(crate) use exchanges::Exchanges;
pub(crate) use exchanges::Seen;
pub(crate) use exchanges::Upstream;
pub(crate) use log::exchange as log_exchange;
pub use log::start as start_log;
pub(crate) use losses::Losses;
pub(crate) use losses::write_losses;
pub(crate) use metrics::Measured;
pub(crate) use metrics::Metrics;
pub(crate) use metrics::ProviderMetrics;
pub(crate) use metrics::SeriesKey;
pub(crate) use outcome::Outcome;
pub use outlet::Outlet;
