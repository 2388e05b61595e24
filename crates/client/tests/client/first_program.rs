//! The program that newcomers begin with: short, and it runs.

use std::process::Command;

use crate::servers::Running;

const PROGRAM: &str = include_str!("../../examples/first.rs");

#[test]
fn the_first_program_runs_and_has_ten_lines() {
    let code = PROGRAM.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
    assert!(code.count() <= 10, "{PROGRAM}");
    let running = Running::start("");
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/first");
    let output = Command::new(program).arg(&running.url).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && shown.contains("Hello"), "{shown}");
}

#[test]
fn the_manual_shows_the_same_program() {
    let manual = include_str!("../../../../docs/client.md");
    let (_, program) = PROGRAM.split_once("\n\n").unwrap();
    assert!(manual.contains(program.trim_end()), "docs/client.md has another program");
}
