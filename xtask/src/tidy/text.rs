//! Rules on plain text: no stray whitespace, no paths of one developer's machine.

use super::Finding;
use super::tree::Tree;

const TEXT_EXTENSIONS: [&str; 7] = ["rs", "md", "toml", "py", "sh", "js", "mjs"];

/// Top folders of a machine. They stand here without their slashes, so that this file passes its own rule.
const MACHINE_FOLDERS: [&str; 4] = ["home", "root", "tmp", "work"];

pub(super) fn whitespace(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, line, text) in lines(tree) {
        if text.ends_with(char::is_whitespace) {
            findings.push(Finding::new(path, line, "whitespace at the end of the line"));
        }
        if text.contains('\t') {
            findings.push(Finding::new(path, line, "a tab; use spaces, or `\\t` in a literal"));
        }
    }
    findings
}

/// What names a folder of one machine works, or makes sense, on that machine alone.
pub(super) fn machine_paths(tree: &Tree) -> Vec<Finding> {
    lines(tree)
        .filter_map(|(path, line, text)| {
            let folder = MACHINE_FOLDERS.iter().find(|folder| names_folder(text, folder))?;
            Some(Finding::new(path, line, format!("names the machine's own folder `{folder}`")))
        })
        .collect()
}

/// Whether `text` holds `/folder/` at the start of a path; a URL or a longer path may well contain that name.
fn names_folder(text: &str, folder: &str) -> bool {
    let inside_path = |c: char| c.is_alphanumeric() || "_-.~}/".contains(c);
    let needle = format!("/{folder}/");
    text.match_indices(&needle).any(|(start, _)| !text[..start].ends_with(inside_path))
}

/// Every line of every text file: by its extension, or a script by its first line.
fn lines(tree: &Tree) -> impl Iterator<Item = (&str, usize, &str)> {
    tree.files().filter(|(path, text)| is_text(path) || text.starts_with("#!")).flat_map(
        |(path, text)| {
            text.split('\n').enumerate().map(move |(index, line)| (path, index + 1, line))
        },
    )
}

fn is_text(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| TEXT_EXTENSIONS.contains(&extension))
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    #[test]
    fn clean_text_passes() {
        let files = [("a.md", "a\n\nb\n"), ("b.json", "{\t} \n"), ("LICENSE", "c \n")];
        assert!(places(whitespace, &files).is_empty());
    }

    #[test]
    fn stray_whitespace_is_found() {
        let files =
            [("a.rs", "a\nb \n"), ("b.toml", "\tc\n"), ("d.md", "e\r\n"), ("f", "#!g\n \n")];
        assert_eq!(places(whitespace, &files), ["a.rs:2", "b.toml:1", "d.md:1", "f:2"]);
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        for folder in MACHINE_FOLDERS {
            for before in ["", "cd ", "\"", "(", "=", "file:"] {
                let text = format!("a\n{before}/{folder}/b\n");
                let files = [("a.py", text.as_str())];
                assert_eq!(places(machine_paths, &files), ["a.py:2"], "{text}");
            }
        }
    }

    #[test]
    fn other_paths_pass() {
        for folder in MACHINE_FOLDERS {
            let text =
                format!("https://a.example/{folder}/b ${{C}}/{folder}/ /{folder}s/d e/{folder}/");
            assert!(places(machine_paths, &[("a.md", &text)]).is_empty(), "{text}");
            let path = format!("/{folder}/\n");
            assert!(places(machine_paths, &[(".gitignore", &path)]).is_empty());
        }
    }
}
