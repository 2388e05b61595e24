//! The project's files in memory, as the rules see them. What `.gitignore` names is left out.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result};

use super::source::Source;

/// Every file by its path from the top folder, written with forward slashes.
pub(super) struct Tree {
    files: BTreeMap<String, String>,
    sources: Vec<Source>,
}

impl Tree {
    /// Reads all files below `root`. Bytes that are not UTF-8 are replaced: the rules only look for text.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let ignore = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
        let mut paths = Vec::new();
        list(root, "", &ignore, &mut paths).context("cannot list the project's files")?;
        let mut files = BTreeMap::new();
        for path in paths {
            let bytes =
                fs::read(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
        Ok(Self::new(files))
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self::new(files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect())
    }

    fn new(files: BTreeMap<String, String>) -> Self {
        let sources = files
            .iter()
            .filter(|(path, _)| path.ends_with(".rs"))
            .map(|(path, text)| Source::new(path, text))
            .collect();
        Self { files, sources }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files below `folder`, each with its path from there.
    pub(super) fn below(&self, folder: &str) -> impl Iterator<Item = (&str, &str)> {
        let prefix = format!("{folder}/");
        self.files().filter_map(move |(path, text)| Some((path.strip_prefix(&prefix)?, text)))
    }

    pub(super) fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether `path` is a file or a folder with a file in it; the empty path is the top folder.
    pub(super) fn holds(&self, path: &str) -> bool {
        path.is_empty() || self.files.contains_key(path) || self.below(path).next().is_some()
    }
}

/// Symbolic links are neither followed nor listed: what they point to is found where it stands.
fn list(root: &Path, folder: &str, ignore: &str, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if is_ignored(&path, ignore) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list(root, &path, ignore, paths)?;
        } else if kind.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

/// Knows the two forms our `.gitignore` uses: `/path/from/the/top` and `name/` anywhere.
fn is_ignored(path: &str, ignore: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == ".git"
        || ignore.lines().any(|line| match line.strip_prefix('/') {
            Some(anchored) => path == anchored.trim_end_matches('/'),
            None => name == line.trim_end_matches('/'),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_paths_are_anchored_only_with_a_leading_slash() {
        let ignore = "/target\n/fuzz/corpus\n.venv/\n";
        for path in ["target", "fuzz/corpus", ".venv", "tests/.venv", ".git"] {
            assert!(is_ignored(path, ignore), "{path}");
        }
        for path in ["crates/wire/target", "corpus", "src/lib.rs", ".gitignore", ".ci"] {
            assert!(!is_ignored(path, ignore), "{path}");
        }
    }

    #[test]
    fn a_folder_is_held_when_a_file_stands_in_it() {
        let tree = Tree::of(&[("docs/guide.md", "")]);
        assert!(tree.holds("docs") && tree.holds("docs/guide.md") && tree.holds(""));
        assert!(!tree.holds("doc") && !tree.holds("docs/guide"));
    }
}
