//! What is wrong with a configuration: all of it at once, each with its place in the file.

use std::path::Path;
use std::{fmt, io};

/// Everything that is wrong with a file, in the order of its lines; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The file as the user named it.
    pub file: String,
    pub list: Vec<Problem>,
}

/// One thing that is wrong, and what to do about it. It quotes no keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// From 1; 0 where the file as a whole is the problem.
    pub line: usize,
    /// From 1, in characters; 0 where the file as a whole is the problem.
    pub column: usize,
    pub message: String,
}

impl Problems {
    /// The file cannot be read at all.
    pub(super) fn unreadable(file: &Path, error: &io::Error) -> Self {
        let message = format!("cannot be read: {}; mend the path or the file", reason(error));
        let list = vec![Problem { line: 0, column: 0, message }];
        Self { file: file.display().to_string(), list }
    }
}

/// Why a file cannot be read, in words that do not depend on the system where that is possible.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission is denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::InvalidData => "it is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

/// Gathers problems while a text is read.
#[derive(Debug)]
pub(super) struct Collector<'t> {
    text: &'t str,
    list: Vec<Problem>,
}

impl<'t> Collector<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, list: Vec::new() }
    }

    /// Notes what is wrong at a byte of the text.
    pub(super) fn add(&mut self, at: usize, message: impl Into<String>) {
        let (line, column) = self.place(at);
        self.list.push(Problem { line, column, message: message.into() });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn into_list(mut self) -> Vec<Problem> {
        self.list.sort();
        self.list.dedup();
        self.list
    }

    fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{problem}", self.file)?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message } = self;
        match line {
            0 => write!(f, " {message}"),
            _ => write!(f, "{line}:{column}: {message}"),
        }
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "a = 1\nü = 2\n";
        let mut problems = Collector::new(text);
        for at in [0, 6, 9, text.len(), 999] {
            problems.add(at, "");
        }
        let places: Vec<_> = problems.list.iter().map(|it| (it.line, it.column)).collect();
        assert_eq!(places, [(1, 1), (2, 1), (2, 3), (3, 1), (3, 1)]);
    }
}
