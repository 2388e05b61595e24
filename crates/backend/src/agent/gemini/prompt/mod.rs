//! Gemini CLI without a terminal, as a command that names its output format wants it: a prompt in, lines of JSON out.

mod drive;
mod read;

pub(in crate::agent) use drive::drive;
