//! Gemini CLI by its protocol for editors: requests and news as lines of JSON, a session for one answer of its model, a process for many.

mod drive;
mod faults;
mod isolate;
mod prompt;
mod read;
mod record;
mod seed;
mod talk;
mod tools;
mod work;

pub(super) use drive::{drive, probe};
pub(super) use isolate::{is_complete, launch, launch_prompt};
pub(super) use prompt::drive as drive_prompt;
pub(super) use seed::question;
#[cfg(test)]
pub(super) use tools::seen;
pub(super) use work::{launch_work, work};
