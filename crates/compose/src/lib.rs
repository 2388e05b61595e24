//! Between a stored history and an outgoing request: message building and prompt assembly. Pure: no I/O, no clock.

pub mod assemble;
pub mod budget;
pub mod class;
pub mod clear;
pub mod compact;
pub mod govern;
pub mod history;
pub mod session;
pub mod team;

mod builder;
mod draining;
mod glob;
mod log;
mod policy;
mod refused;
mod repair;
mod step;
mod trace;
mod turn;

pub use builder::{Builder, Built, Stored, Summary};
pub use glob::{Glob, GlobError, Specificity};
pub use log::{Line, Log};
pub use policy::{Blank, Misplaced, Opening, Policy, SummaryRole, Unanswered};
pub use refused::{Refused, RefusedKind};
pub use repair::repair;
pub use trace::{Change, StepName, Trace};
pub use turn::{Origin, Turn};
