//! The binary as its users meet it: arguments and bytes in, bytes and exit codes out.

mod convert;
mod errors;
mod inspect;
mod report;
mod run;
mod stream;
mod usage;
