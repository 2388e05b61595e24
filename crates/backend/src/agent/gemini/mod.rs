//! Gemini CLI without a terminal: a prompt in, lines of JSON out.

mod drive;
mod faults;
mod isolate;
mod read;

pub(super) use drive::{drive, launch};
