//! Everything that can be wrong, with its place and its advice: each `wrong/CASE.toml` with what is said of it in
//! `wrong/CASE.txt`. The word `sesame` stands for keys wherever a user may put one by mistake.

use std::fs;
use std::path::{Path, PathBuf};

use super::read;

/// The problems of every case, each beside what is expected.
fn cases() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/tests/wrong");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    let cases = files.map(|path| {
        let problems = read(&fs::read_to_string(&path).unwrap()).unwrap_err();
        (path, format!("{problems}\n"))
    });
    cases.collect()
}

#[test]
fn every_problem_is_told_with_its_place() {
    let cases = cases();
    assert!(cases.len() >= 6, "{cases:?}");
    for (path, problems) in cases {
        let expected = fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
        assert_eq!(problems, expected, "of {}", path.display());
    }
}

#[test]
fn no_problem_quotes_a_key() {
    for (path, problems) in cases() {
        assert!(!problems.contains("sesame"), "of {}: {problems}", path.display());
    }
}
