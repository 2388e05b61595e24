//! What the operator decides, checked whole before anything starts.

mod agent;
mod base_url;
mod bounded;
mod classing;
mod compaction;
mod date;
mod defaults;
mod endpoint;
mod environment;
mod family;
mod file;
pub mod keys;
mod load;
mod locate;
mod model;
mod presets;
mod problem;
mod provider;
mod quantity;
mod secret_source;
mod section;
mod server;
mod store;
mod suggest;
#[cfg(test)]
mod tests;
mod tls;
mod tools;
pub mod types;

pub use date::date;
pub use defaults::LISTEN;
pub use environment::{Lookup, SIMULATED_MODEL, zero_configuration};
pub use file::{parse, parse_listen};
pub use load::{Loaded, load};
pub use locate::{
    DATA_VARIABLE, FILE_NAME, FILE_VARIABLE, Platform, data_folder, locate, user_file,
};
pub use presets::{PRESETS, Preset};
pub use problem::{Problem, Problems};
pub use quantity::parse_duration;
pub use sabir_compose::{Glob, GlobError, Specificity};
