//! Running the binary in a folder that a test has for itself.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::run::Run;

/// A folder of its own for a test, gone afterwards.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sabir-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn with(self, file: &str, text: &str) -> Self {
        fs::write(self.0.join(file), text).unwrap();
        self
    }

    /// Runs `sabir` in this folder, with no variables but these and one that keeps its data here.
    pub(crate) fn sabir(&self, arguments: &str, variables: &[(&str, &str)]) -> Run {
        Self::ended(self.command(arguments, variables).output().unwrap())
    }

    /// The same with text on standard input.
    pub(crate) fn sabir_reads(&self, arguments: &str, text: &str) -> Run {
        let mut command = self.command(arguments, &[]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses its arguments closes the pipe unread, which is no failure here.
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        Self::ended(child.wait_with_output().unwrap())
    }

    pub(crate) fn command(&self, arguments: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sabir"));
        command.args(arguments.split_whitespace()).current_dir(&self.0);
        command.env_clear().env("SABIR_DATA_DIR", &self.0).envs(variables.iter().copied());
        command
    }

    fn ended(output: Output) -> Run {
        Run {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
