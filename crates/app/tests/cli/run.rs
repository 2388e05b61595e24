//! Running the built binary.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

/// What a run came to.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `sabir` with words separated by spaces and bytes on standard input.
#[track_caller]
pub(crate) fn sabir(arguments: &str, stdin: impl AsRef<[u8]>) -> Run {
    let mut child = spawn(arguments);
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.as_ref().to_vec();
    // A program that refuses its arguments closes the pipe unread, which is no failure here.
    let writer = thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn spawn(arguments: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_sabir"))
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

impl Run {
    /// Fails unless the run had this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        parse(&self.stdout)
    }

    /// The entries of a JSON report, which must be all that stands on standard error.
    #[track_caller]
    pub(crate) fn losses(&self) -> Vec<Loss> {
        let report = parse(&self.stderr);
        let members: Vec<&String> = report.as_object().unwrap().keys().collect();
        assert_eq!(members, ["losses"]);
        report["losses"].as_array().unwrap().iter().map(Loss::read).collect()
    }
}

#[track_caller]
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text:?}"))
}

/// An entry of a report.
#[derive(Debug)]
pub(crate) struct Loss {
    pub(crate) pointer: String,
    pub(crate) kind: String,
    pub(crate) reason: String,
}

impl Loss {
    #[track_caller]
    fn read(entry: &Value) -> Self {
        assert_eq!(entry.as_object().unwrap().len(), 3, "{entry}");
        let text = |key: &str| entry[key].as_str().unwrap().to_owned();
        Self { pointer: text("pointer"), kind: text("kind"), reason: text("reason") }
    }
}
