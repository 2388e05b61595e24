//! Rules on Cargo's files: which of our crates may use which, and where foreign crates come from.

use super::Finding;
use super::tree::Tree;

/// What one of our crates may use of the others.
struct Arrows {
    name: &'static str,
    uses: &'static [&'static str],
    /// What its tests may use beyond that.
    uses_in_tests: &'static [&'static str],
}

/// Data flows one way. A new crate gets a row here, and a paragraph in ARCHITECTURE.md.
const ARROWS: &[Arrows] = &[
    Arrows { name: "sabir-wire", uses: &[], uses_in_tests: &[] },
    Arrows {
        name: "sabir-compose",
        uses: &["sabir-wire"],
        uses_in_tests: &["sabir-backend", "sabir-testkit"],
    },
    Arrows { name: "sabir-backend", uses: &["sabir-wire"], uses_in_tests: &["sabir-testkit"] },
    Arrows { name: "sabir-store", uses: &[], uses_in_tests: &[] },
    Arrows {
        name: "sabir-client",
        uses: &["sabir-wire", "sabir-backend", "sabir-store"],
        uses_in_tests: &["sabir-gateway"],
    },
    Arrows {
        name: "sabir-gateway",
        uses: &["sabir-wire", "sabir-backend", "sabir-compose", "sabir-store"],
        uses_in_tests: &["sabir-testkit"],
    },
    Arrows { name: "sabir-testkit", uses: &["sabir-wire"], uses_in_tests: &["sabir-compose"] },
    Arrows {
        name: "sabir",
        uses: &["sabir-wire", "sabir-backend", "sabir-compose", "sabir-gateway", "sabir-client"],
        uses_in_tests: &["sabir-testkit"],
    },
    Arrows { name: "xtask", uses: &["sabir-wire", "sabir-testkit"], uses_in_tests: &[] },
];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks the members of the workspace; fuzz targets and peer benchmarks stand outside it and may use what they like.
pub(super) fn dependency_arrows(tree: &Tree) -> Vec<Finding> {
    let is_member = |path: &str| path.starts_with("crates/") || path.starts_with("xtask/");
    let manifests =
        tree.files().filter(|(path, _)| is_member(path) && is_named(path, "Cargo.toml"));
    manifests.flat_map(|(path, text)| manifest_arrows(path, text)).collect()
}

/// Cargo writes the registry it was configured with; a mirror's address must not end up in the repository.
pub(super) fn lock_sources(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| is_named(path, "Cargo.lock")) {
        for (index, line) in text.lines().enumerate() {
            let source = line.trim().strip_prefix("source = ").map(|value| value.trim_matches('"'));
            if source.is_some_and(|source| source != REGISTRY) {
                findings.push(Finding::new(path, index + 1, "a source other than crates.io"));
            }
        }
    }
    findings
}

fn is_named(path: &str, name: &str) -> bool {
    path.rsplit('/').next() == Some(name)
}

fn manifest_arrows(path: &str, text: &str) -> Vec<Finding> {
    let Some(package) = entries(text).find(|it| it.table == "package" && it.key == "name") else {
        return vec![Finding::new(path, 1, "the package has no name")];
    };
    let Some(arrows) = ARROWS.iter().find(|arrows| arrows.name == package.value) else {
        let message = format!("`{}` has no row in the table of crates", package.value);
        return vec![Finding::new(path, package.line, message)];
    };
    let forbidden = entries(text).filter(|entry| !arrows.allow(entry));
    forbidden
        .map(|entry| {
            let message = format!("`{}` must not depend on `{}`", arrows.name, entry.key);
            Finding::new(path, entry.line, message)
        })
        .collect()
}

impl Arrows {
    /// Whether this line of the manifest is fine: no dependency, a foreign crate, or one that may be used.
    fn allow(&self, entry: &Entry<'_>) -> bool {
        let is_ours =
            ARROWS.iter().any(|arrows| arrows.name == entry.key) || entry.key.starts_with("sabir");
        let in_tests = entry.table.ends_with("dev-dependencies");
        !entry.table.ends_with("dependencies")
            || !is_ours
            || self.uses.contains(&entry.key)
            || in_tests && self.uses_in_tests.contains(&entry.key)
    }
}

/// A line of a manifest: `key = value` or `key.something = value` below its table's header.
struct Entry<'a> {
    line: usize,
    table: &'a str,
    key: &'a str,
    value: &'a str,
}

/// Reads the part of TOML that our manifests use. `[dependencies.name]` is read as an entry of `dependencies`.
fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut table = "";
    text.lines().enumerate().filter_map(move |(index, line)| {
        let line_number = index + 1;
        if let Some(header) = line.trim().strip_prefix('[') {
            table = header.trim_end_matches(']');
            let (parent, key) = table.rsplit_once('.')?;
            return Some(Entry { line: line_number, table: parent, key, value: "" });
        }
        let (key, value) = line.split_once('=')?;
        let key = key.split('.').next().unwrap_or(key).trim();
        Some(Entry { line: line_number, table, key, value: value.trim().trim_matches('"') })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    const WIRE: &str = "crates/wire/Cargo.toml";
    const APP: &str = "crates/app/Cargo.toml";

    #[test]
    fn arrows_that_point_down_pass() {
        let wire = "[package]\nname = \"sabir-wire\"\n\n[dependencies]\nmemchr.workspace = true\n";
        let app = "[package]\nname = \"sabir\"\n\n[dependencies]\nsabir-wire.workspace = true\n\n\
                   [dev-dependencies]\nsabir-testkit = { path = \"../testkit\" }\n";
        let fuzz = ("fuzz/Cargo.toml", "[package]\nname = \"sabir-fuzz\"\n");
        assert!(places(dependency_arrows, &[(WIRE, wire), (APP, app), fuzz]).is_empty());
    }

    #[test]
    fn arrows_that_point_up_or_sideways_are_found() {
        let wire = "[package]\nname = \"sabir-wire\"\n[dev-dependencies]\nsabir-testkit.workspace = true\n";
        let app = "[package]\nname = \"sabir\"\n[dependencies]\nsabir-testkit = \"1\"\n\
                   [build-dependencies.xtask]\npath = \"../../xtask\"\n";
        assert_eq!(
            places(dependency_arrows, &[(WIRE, wire), (APP, app)]),
            [format!("{APP}:4"), format!("{APP}:5"), format!("{WIRE}:4")]
        );
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let files = [("crates/new/Cargo.toml", "[package]\nname = \"sabir-new\"\n")];
        assert_eq!(places(dependency_arrows, &files), ["crates/new/Cargo.toml:2"]);
    }

    #[test]
    fn a_lock_file_on_crates_io_passes() {
        let lock = format!("[[package]]\nname = \"a\"\nsource = \"{REGISTRY}\"\n");
        assert!(places(lock_sources, &[("Cargo.lock", &lock)]).is_empty());
    }

    #[test]
    fn a_lock_file_on_a_mirror_or_a_repository_is_found() {
        let lock = "source = \"registry+https://mirror.example/index\"\n\
                    source = \"sparse+https://mirror.example/\"\n\
                    source = \"git+https://code.example/a#0\"\n";
        assert_eq!(
            places(lock_sources, &[("fuzz/Cargo.lock", lock)]),
            ["fuzz/Cargo.lock:1", "fuzz/Cargo.lock:2", "fuzz/Cargo.lock:3"]
        );
    }
}
