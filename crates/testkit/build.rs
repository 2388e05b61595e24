//! Writes a test for each fixture case, so that one can be run by its name:
//! `cargo test -p sabir-testkit orphan_tool_result`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = manifest_dir().join("../../fixtures");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut tests = String::new();
    write_folder(&root, &mut tests)?;
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("cases.rs"), tests)
}

fn manifest_dir() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default().into()
}

/// A module for each folder, a test for each case in it.
fn write_folder(folder: &Path, tests: &mut String) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries.iter().filter(|path| path.is_dir()) {
        let name = identifier(path);
        if path.join("expect.json").is_file() {
            let path = path.canonicalize()?;
            let _ = writeln!(tests, "#[test] fn {name}() {{ crate::fixtures::check({path:?}) }}");
        } else {
            let _ = writeln!(tests, "mod {name} {{");
            write_folder(path, tests)?;
            tests.push_str("}\n");
        }
    }
    Ok(())
}

fn identifier(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.replace(|it: char| !it.is_ascii_alphanumeric(), "_")
}
