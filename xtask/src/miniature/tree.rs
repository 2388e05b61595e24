//! The files of a copy of the project, written only where they differ: what did not change is not compiled again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Files by their paths from the top folder.
pub(super) struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    /// The files of the project, with the changes that are not committed yet.
    pub(super) fn tracked(root: &Path) -> Result<Self> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let output = Command::new("git").args(arguments).current_dir(root).output();
        let output = output.context("cannot run git")?;
        ensure!(output.status.success(), "git cannot list the project's files");
        let mut files = BTreeMap::new();
        for path in String::from_utf8(output.stdout)?.split_terminator('\0') {
            // A file that was deleted and not yet committed is still listed.
            if let Ok(bytes) = fs::read(root.join(path)) {
                files.insert(path.to_owned(), bytes);
            }
        }
        Ok(Self(files))
    }

    /// Adds what stands below `folder` as if that were the top folder, and answers which paths are new.
    pub(super) fn add_below(&mut self, folder: &str) -> Result<Vec<String>> {
        let prefix = format!("{folder}/");
        let below = |(path, bytes): (&String, &Vec<u8>)| {
            Some((path.strip_prefix(&prefix)?.to_owned(), bytes.clone()))
        };
        let added: Vec<(String, Vec<u8>)> = self.0.iter().filter_map(below).collect();
        ensure!(!added.is_empty(), "{folder} has no files");
        for (path, bytes) in &added {
            let earlier = self.0.insert(path.clone(), bytes.clone());
            ensure!(earlier.is_none(), "`{path}` stands in the project and below {folder}");
        }
        Ok(added.into_iter().map(|(path, _)| path).collect())
    }

    pub(super) fn text(&self, path: &str) -> Result<&str> {
        let bytes = self.0.get(path).context("there is no such file")?;
        Ok(std::str::from_utf8(bytes)?)
    }

    pub(super) fn set(&mut self, path: &str, text: String) {
        self.0.insert(path.to_owned(), text.into_bytes());
    }

    /// Gives the crates a version of their own: cargo tells crates of one target folder apart by name and version, not by
    /// the workspace that they stand in.
    pub(super) fn set_apart(&mut self) -> Result<()> {
        let manifest = self.text("Cargo.toml")?;
        let version = manifest.lines().find(|line| line.starts_with("version = "));
        let version = version.context("Cargo.toml states no version")?.to_owned();
        let apart = format!("{}-miniature\"", version.trim_end_matches('"'));
        let manifest = manifest.replacen(&version, &apart, 1);
        let is_own = |package: &&str| !package.contains("\nsource = ");
        let lock = self.text("Cargo.lock")?.split("\n\n").map(|package| match is_own(&package) {
            true => package.replacen(&version, &apart, 1),
            false => package.to_owned(),
        });
        let lock = lock.collect::<Vec<_>>().join("\n\n");
        self.set("Cargo.toml", manifest);
        self.set("Cargo.lock", lock);
        Ok(())
    }

    /// Makes `folder` hold these files and no others, and answers how many had to be written or removed.
    pub(super) fn write(&self, folder: &Path) -> Result<usize> {
        fs::create_dir_all(folder)?;
        let mut changed = self.remove_others(folder, "")?;
        for (path, bytes) in &self.0 {
            let place = folder.join(path);
            if fs::read(&place).is_ok_and(|old| old == *bytes) {
                continue;
            }
            if let Some(parent) = place.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&place, bytes).with_context(|| place.display().to_string())?;
            changed += 1;
        }
        Ok(changed)
    }

    fn remove_others(&self, folder: &Path, below: &str) -> Result<usize> {
        let mut removed = 0;
        for entry in fs::read_dir(folder.join(below))? {
            let entry = entry?;
            let path = format!("{below}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                removed += self.remove_others(folder, &format!("{path}/"))?;
            } else if !self.0.contains_key(&path) {
                fs::remove_file(entry.path())?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}
