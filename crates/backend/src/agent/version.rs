//! Which version of a CLI runs, as its processes state it themselves when they begin. It is told when it is not the one before.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::rest::Warmth;
use super::spawn::{Launch, Program, Spawner};

/// The version that was stated last.
#[derive(Debug, Default)]
pub(super) struct Version(Mutex<Option<String>>);

/// No version has a longer name.
const VERSION_BYTES_MAX: usize = 64;

impl Version {
    /// Takes note of what a process states.
    pub(super) fn note(&self, program: &str, stated: Option<String>) {
        let Some(stated) = stated.filter(|it| it.len() <= VERSION_BYTES_MAX) else { return };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref() != Some(&stated) {
            tracing::info!(program, version = stated, "an agent CLI states its version");
            *known = Some(stated);
        }
    }

    pub(super) fn known(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// More than that is no answer to the question for a version.
const ANSWER_BYTES_MAX: usize = 4 * 1024;

/// Asks a program which version it is; none if it does not say so in time.
pub async fn ask_version(program: Program, patience: Duration) -> io::Result<Option<String>> {
    stated(&Spawner::new(program, Warmth { processes: 0, idle: Duration::ZERO }), patience).await
}

/// The same of the program of a spawner.
pub(super) async fn stated(spawner: &Spawner, patience: Duration) -> io::Result<Option<String>> {
    let arguments = vec!["--version".to_owned()];
    let mut process = spawner.spawn(Launch { arguments, ..Launch::default() }).await?;
    process.send_all(b"");
    let answer = async {
        let mut answer = Vec::new();
        while answer.len() < ANSWER_BYTES_MAX {
            match process.chunk().await {
                Ok(chunk) if !chunk.is_empty() => answer.extend(chunk),
                _ => break,
            }
        }
        answer
    };
    let answer = tokio::time::timeout(patience, answer).await.unwrap_or_default();
    Ok(version_in(&String::from_utf8_lossy(&answer)))
}

/// The first word that is a version: numbers with points between them.
fn version_in(answer: &str) -> Option<String> {
    let words = answer.split(|it: char| it.is_whitespace() || it == ',' || it == '/');
    let words = words.map(|word| word.strip_prefix('v').unwrap_or(word));
    let is_version = |word: &&str| {
        let mut numbers = word.split('.');
        let first = numbers.next().is_some_and(|it| it.parse::<u32>().is_ok());
        let begins = |it: &str| it.starts_with(|it: char| it.is_ascii_digit());
        first && numbers.next().is_some_and(begins) && word.len() <= VERSION_BYTES_MAX
    };
    words.into_iter().find(is_version).map(str::to_owned)
}

/// The first three numbers of a version, by which versions follow each other.
pub(super) fn numbers(version: &str) -> [u32; 3] {
    let mut numbers = version.split(|it: char| !it.is_ascii_digit()).map(|it| it.parse());
    [(); 3].map(|()| numbers.next().and_then(Result::ok).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_among_other_words() {
        for (answer, version) in [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("0.62.0-preview.1\n", Some("0.62.0-preview.1")),
            ("v1.2\n", Some("1.2")),
            ("usage: tr [OPTION]...\n", None),
            ("", None),
        ] {
            assert_eq!(version_in(answer).as_deref(), version, "{answer}");
        }
    }

    #[test]
    fn versions_follow_each_other_by_their_numbers() {
        let rising = ["", "1.9.900", "2", "2.1.99", "2.1.268-beta", "2.1.325", "2.10.0"];
        assert!(rising.map(numbers).is_sorted_by(|one, other| one < other));
    }
}
