//! Codex by its server for applications: requests and notifications as lines of JSON, a thread for one answer of its model.

mod drive;
mod faults;
mod isolate;
mod read;
mod seed;
mod suspend;
mod tools;
mod work;

pub(super) use drive::{drive, probe};
pub(super) use isolate::launch;
pub(super) use seed::question;
pub(super) use tools::is_kept;
pub(super) use work::{launch_work, work};
