//! The gateway as clients and providers see it: real sockets on both sides, scripted providers behind it.

mod attempts;
mod cancel;
mod doors;
mod harness;
mod pass;
mod translate;
