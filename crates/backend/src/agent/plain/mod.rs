//! Any program that reads a prompt and writes text.

mod drive;

pub(super) use drive::drive;
