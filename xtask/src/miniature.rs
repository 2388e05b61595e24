//! `cargo xtask miniature`: adds a fifth protocol to a copy of the project by exactly the steps of
//! `docs/adding-a-protocol.md`, and runs its tests there, so that the document stays true.

mod patch;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use self::patch::Patch;
use self::tree::Files;

const DOCUMENT: &str = "docs/adding-a-protocol.md";

/// The files that the miniature adds, each at its path from the top folder.
const ADDED: &str = "crates/testkit/miniature";

/// What is run in the copy, the cheapest first.
const COMMANDS: &[&[&str]] = &[
    &["check", "--package", "sabir-gateway", "--package", "sabir-client", "--package", "sabir"],
    &["test", "--package", "sabir-wire", "--lib", "miniature"],
    &["test", "--package", "sabir-testkit", "--test", "laws", "generated"],
    &["test", "--package", "sabir-gateway", "--lib", "surface"],
    &["test", "--package", "sabir-gateway", "--test", "gateway", "miniature"],
];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "miniature takes no arguments");
    let root = crate::project_root();
    let document = fs::read_to_string(root.join(DOCUMENT)).context(DOCUMENT)?;
    let target = target_folder(root);
    let copy = target.join("miniature");
    let written = with_miniature(root, &document)?.write(&copy)?;
    println!("{}: {written} files have changed since the last run", copy.display());
    for arguments in COMMANDS {
        if !cargo(&copy, &target, arguments)? {
            println!(
                "the steps of {DOCUMENT} do not add a protocol; the copy is {}",
                copy.display()
            );
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The project's files with the miniature among them: its own, and the edits that the document shows.
fn with_miniature(root: &Path, document: &str) -> Result<Files> {
    let mut files = Files::tracked(root)?;
    for path in files.add_below(ADDED)? {
        ensure!(names(document, &path), "{DOCUMENT} does not name `{path}`, which {ADDED} adds");
    }
    for patch in Patch::all(document)? {
        let text =
            files.text(&patch.path).with_context(|| format!("{DOCUMENT}: {}", patch.path))?;
        let patched = patch.apply(text).with_context(|| format!("{DOCUMENT}: {}", patch.path))?;
        files.set(&patch.path, patched);
    }
    files.set_apart()?;
    Ok(files)
}

/// Whether the document names a file, or the folder that it stands in.
fn names(document: &str, path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    [path, &format!("{folder}/")].iter().any(|name| document.contains(&format!("`{name}`")))
}

/// The copy shares the compiled dependencies of the project.
fn target_folder(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    }
}

fn cargo(folder: &Path, target: &Path, arguments: &[&str]) -> Result<bool> {
    println!("cargo {}", arguments.join(" "));
    let started = Instant::now();
    let status = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--quiet")
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .status()
        .context("cannot run cargo")?;
    println!(
        "  {} after {} s",
        if status.success() { "ok" } else { "failed" },
        started.elapsed().as_secs()
    );
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_fits_the_code() {
        let root = crate::project_root();
        let document = fs::read_to_string(root.join(DOCUMENT)).unwrap();
        with_miniature(root, &document).unwrap();
    }

    #[test]
    fn a_file_is_named_by_itself_or_by_its_folder() {
        let document = "Write `a/b.rs` and `c/d/`.";
        assert!(names(document, "a/b.rs") && names(document, "c/d/e.rs"));
        assert!(!names(document, "a/f.rs") && !names(document, "c/g.rs"));
    }
}
