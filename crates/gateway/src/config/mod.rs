//! What the operator decides, checked whole before anything starts.

mod base_url;
mod bounded;
mod defaults;
mod endpoint;
mod environment;
mod file;
mod glob;
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
mod suggest;
#[cfg(test)]
mod tests;
mod tls;
pub mod types;

pub use defaults::LISTEN;
pub use environment::Lookup;
pub use environment::SIMULATED_MODEL;
pub use environment::zero_configuration;
pub use file::parse;
pub use file::parse_listen;
pub use glob::Glob;
pub use glob::GlobError;
pub use glob::Specificity;
pub use load::Loaded;
pub use load::load;
pub use locate::FILE_NAME;
pub use locate::FILE_VARIABLE;
pub use locate::Platform;
pub use locate::locate;
pub use locate::user_file;
pub use presets::PRESETS;
pub use presets::Preset;
pub use problem::Problem;
pub use problem::Problems;
