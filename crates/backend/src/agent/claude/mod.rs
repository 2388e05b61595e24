//! Claude Code: lines of JSON both ways, with its control protocol beside them. The conversation is told as it was, and the answer is
//! that of the model, event by event.

mod drive;
mod faults;
mod isolate;
mod read;
mod seed;
mod suspend;
mod tools;
mod work;

pub(super) use drive::drive;
pub(super) use isolate::{apart, launch};
pub(super) use seed::question;
pub(super) use work::{launch_work, work};
