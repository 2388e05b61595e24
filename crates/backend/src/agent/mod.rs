//! Agent CLIs as models: what they print, understood. Starting them is left to the caller.

mod ansi;
pub mod gemini;
