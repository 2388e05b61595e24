//! Samples of what the three CLIs write, and what is wrong with files that nobody should have written.

mod claude;
mod codex;
mod gemini;
mod hostile;

use serde_json::Value;

use super::{Session, SessionError};

const CLAUDE: &str = include_str!("claude.jsonl");
const CODEX: &str = include_str!("codex.jsonl");
const GEMINI: &str = include_str!("gemini.jsonl");

fn parse(text: &str) -> Session {
    Session::parse(text).unwrap()
}

fn refused(text: &str) -> SessionError {
    Session::parse(text).unwrap_err()
}

fn request(session: &Session) -> Value {
    serde_json::from_str(session.request()).unwrap()
}

fn left_out(session: &Session) -> Vec<String> {
    session.left_out().iter().map(ToString::to_string).collect()
}

/// A sample with lines behind it.
fn with(sample: &str, lines: &[&str]) -> String {
    format!("{sample}{}\n", lines.join("\n"))
}

/// A sample without the lines that hold a text.
fn without(sample: &str, text: &str) -> String {
    sample.lines().filter(|line| !line.contains(text)).flat_map(|line| [line, "\n"]).collect()
}
