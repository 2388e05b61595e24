//! The order of the gateway's modules: each uses only those that stand before it in the list of `lib.rs`.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

const FOLDER: &str = "crates/gateway/src/";

/// Modules have an order as crates have one: a cycle between two folders is one folder that does not know it.
pub(super) fn module_order(tree: &Tree) -> Vec<Finding> {
    let root = format!("{FOLDER}lib.rs");
    let Some(lib) = tree.sources().iter().find(|source| source.path == root) else {
        return Vec::new();
    };
    let order = Order::of(lib);
    let files = tree.sources().iter().filter(|it| it.path.starts_with(FOLDER) && it.path != root);
    files.flat_map(|source| order.check(source)).collect()
}

/// The modules from the lowest to the highest, and the items that the crate's root re-exports from them.
struct Order<'a> {
    modules: Vec<&'a str>,
    reexports: Vec<(&'a str, &'a str)>,
}

impl<'a> Order<'a> {
    /// The list in the header of a crate's root: a line for each module, its name first and in backticks.
    fn of(lib: &'a Source) -> Self {
        let entries = lib.text.lines().filter_map(|line| line.strip_prefix("//! - `"));
        let modules = entries.filter_map(|entry| entry.split('`').next()).collect();
        let reexports = lib.statements("pub use").filter_map(|(_, statement)| {
            let (module, item) = statement.strip_prefix("pub use ")?.split_once("::")?;
            Some((item, module))
        });
        Self { modules, reexports: reexports.collect() }
    }

    fn check(&self, source: &Source) -> Vec<Finding> {
        let module = first_name(&source.path[FOLDER.len()..]);
        let Some(own) = self.rank(module) else {
            // Tests of the whole stand above everything.
            let is_missing = !source.is_test(1);
            let message = format!("`{module}` has no line in the list of modules in lib.rs");
            return is_missing
                .then(|| Finding::new(&source.path, 1, message))
                .into_iter()
                .collect();
        };
        let uses = source.statements("crate::").filter(|(line, _)| !source.is_test(*line));
        let above = uses.filter_map(|(line, path)| {
            let used = self.module_of(first_name(&path["crate::".len()..]));
            let message = format!("`{module}` must not use `{used}`, which stands above it");
            (self.rank(used)? > own).then(|| Finding::new(&source.path, line, message))
        });
        above.collect()
    }

    fn rank(&self, module: &str) -> Option<usize> {
        self.modules.iter().position(|it| *it == module)
    }

    fn module_of<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.reexports.iter().find(|(item, _)| *item == name).map_or(name, |(_, module)| module)
    }
}

/// The first word of a path, be it one of files or of modules.
fn first_name(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    const LIB: &str =
        "//! A crate.\n//!\n//! - `low`: a.\n//! - `high`: b.\n\npub use high::Top;\n";

    fn check(path: &str, text: &str) -> Vec<String> {
        let lib = format!("{FOLDER}lib.rs");
        places(module_order, &[(&lib, LIB), (&format!("{FOLDER}{path}"), text)])
    }

    #[test]
    fn a_module_uses_those_before_it() {
        assert!(check("high/mod.rs", "use crate::low::A;\nuse crate::high::B;\n").is_empty());
        assert!(check("low.rs", "// crate::high\nuse crate::low::A;\n").is_empty());
        let test = "#[cfg(test)]\nmod tests {\n    use crate::high::B;\n}\n";
        assert!(check("low.rs", test).is_empty());
        assert!(check("tests/all.rs", "use crate::high::B;\n").is_empty());
    }

    #[test]
    fn a_module_that_uses_one_above_it_is_found() {
        let at = |line: usize| vec![format!("{FOLDER}low/a.rs:{line}")];
        assert_eq!(check("low/a.rs", "use crate::low::A;\nuse crate::high;\n"), at(2));
        assert_eq!(check("low/a.rs", "fn a() { crate::high::b() }\n"), at(1));
        assert_eq!(check("low/a.rs", "use crate::Top;\n"), at(1));
    }

    #[test]
    fn a_module_without_a_line_is_found() {
        assert_eq!(check("middle.rs", "use crate::low;\n"), [format!("{FOLDER}middle.rs:1")]);
    }
}
