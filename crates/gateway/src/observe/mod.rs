//! What is remembered of each request: counters, the last exchanges, a line in the log. Never a key, never content.

mod exchanges;
mod histogram;
mod log;
mod losses;
mod metrics;
mod outcome;
mod outlet;

pub(crate) use exchanges::{ClassSeen, Exchanges, Seen, SwitchSeen, Upstream};
pub(crate) use log::exchange as log_exchange;
pub use log::start as start_log;
pub(crate) use losses::{Losses, write_losses};
pub(crate) use metrics::{KeySeen, Measured, Metrics, ProviderMetrics, SeriesKey, render_keys};
pub(crate) use outcome::Outcome;
pub use outlet::Outlet;
