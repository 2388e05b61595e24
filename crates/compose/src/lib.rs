//! Between a stored history and an outgoing request: message building and prompt assembly. Pure: no I/O, no clock.

pub mod assemble;
pub mod budget;
pub mod history;

mod builder;
mod draining;
mod log;
mod policy;
mod refused;
mod repair;
mod step;
mod trace;
mod turn;

pub use builder::Builder;
pub use builder::Built;
pub use builder::Stored;
pub use builder::Summary;
pub use log::Line;
pub use log::Log;
pub use policy::Blank;
pub use policy::Misplaced;
pub use policy::Opening;
pub use policy::Policy;
pub use policy::SummaryRole;
pub use policy::Unanswered;
pub use refused::Refused;
pub use refused::RefusedKind;
pub use repair::repair;
pub use trace::Change;
pub use trace::StepName;
pub use trace::Trace;
pub use turn::Origin;
pub use turn::Turn;
