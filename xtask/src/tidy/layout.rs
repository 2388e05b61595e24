//! Where things stand: a header in every Rust file, the same file names in every protocol folder.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

const PROTOCOL_FOLDERS: [&str; 5] = [
    "crates/wire/src/protocol/openai_chat",
    "crates/wire/src/protocol/openai_responses",
    "crates/wire/src/protocol/anthropic_messages",
    "crates/wire/src/protocol/gemini",
    "crates/testkit/miniature/crates/wire/src/protocol/miniature",
];

/// Every Rust file opens with a sentence on what it is for.
pub(super) fn module_headers(tree: &Tree) -> Vec<Finding> {
    let bare = tree.sources().iter().filter(|source| !source.text.starts_with("//!"));
    bare.map(|source| Finding::new(&source.path, 1, "the file does not open with a `//!` sentence"))
        .collect()
}

/// The same job has the same name in every protocol, be it a file or a folder: who knows one protocol knows all.
pub(super) fn protocol_folders(tree: &Tree) -> Vec<Finding> {
    let folders: Vec<(&str, BTreeSet<&str>)> = PROTOCOL_FOLDERS
        .iter()
        .map(|folder| (*folder, module_names(tree, folder)))
        .filter(|(_, names)| !names.is_empty())
        .collect();
    let mut findings = Vec::new();
    for (folder, names) in &folders {
        let others = folders.iter().flat_map(|(_, names)| names).collect::<BTreeSet<_>>();
        let missing = others.into_iter().filter(|name| !names.contains(*name));
        findings.extend(missing.map(|name| missing_module(folder, name)));
    }
    findings
}

fn module_names<'a>(tree: &'a Tree, folder: &str) -> BTreeSet<&'a str> {
    let first = |path: &'a str| path.split('/').next().unwrap_or(path).trim_end_matches(".rs");
    tree.below(folder).map(|(path, _)| first(path)).collect()
}

fn missing_module(folder: &str, name: &str) -> Finding {
    Finding::new(folder, 1, format!("lacks `{name}`, which another protocol has"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    #[test]
    fn a_file_with_a_header_passes() {
        assert!(places(module_headers, &[("a.rs", "//! A.\n"), ("b.py", "b = 1\n")]).is_empty());
    }

    #[test]
    fn a_file_without_a_header_is_found() {
        let files = [("a.rs", "use b;\n"), ("c.rs", "\n//! C.\n"), ("d.rs", "/// D.\nfn d() {}\n")];
        assert_eq!(places(module_headers, &files), ["a.rs:1", "c.rs:1", "d.rs:1"]);
    }

    #[test]
    fn protocol_folders_with_the_same_names_pass() {
        let files = [
            ("crates/wire/src/protocol/mod.rs", ""),
            ("crates/wire/src/protocol/gemini/mod.rs", ""),
            ("crates/wire/src/protocol/gemini/decode_stream.rs", ""),
            ("crates/wire/src/protocol/openai_responses/mod.rs", ""),
            ("crates/wire/src/protocol/openai_responses/decode_stream/mod.rs", ""),
            ("crates/wire/src/protocol/openai_responses/decode_stream/items.rs", ""),
        ];
        assert!(places(protocol_folders, &files).is_empty());
    }

    #[test]
    fn a_name_that_one_protocol_lacks_is_found() {
        let files = [
            ("crates/wire/src/protocol/gemini/mod.rs", ""),
            ("crates/wire/src/protocol/gemini/helpers.rs", ""),
            ("crates/wire/src/protocol/anthropic_messages/mod.rs", ""),
            ("crates/wire/src/protocol/anthropic_messages/helpers.rs", ""),
            ("crates/wire/src/protocol/openai_chat/mod.rs", ""),
        ];
        assert_eq!(places(protocol_folders, &files), ["crates/wire/src/protocol/openai_chat:1"]);
    }
}
