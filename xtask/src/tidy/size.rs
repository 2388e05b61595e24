//! How long files and functions may be. The limits are generous: they catch what grew unnoticed.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 100;
const FUNCTION_LINES_NOTED: usize = 70;

/// Files that are too long without their `#[cfg(test)]` items.
pub(super) fn long_files(tree: &Tree) -> Vec<Finding> {
    let long = tree.sources().iter().filter(|source| source.line_count() > FILE_LINES_MAX);
    long.map(|source| {
        let message =
            format!("{} lines beside tests, {FILE_LINES_MAX} allowed", source.line_count());
        Finding::new(&source.path, FILE_LINES_MAX + 1, message)
    })
    .collect()
}

/// Functions that are too long.
pub(super) fn overlong_functions(tree: &Tree) -> Vec<Finding> {
    let is_overlong = |lines: usize| lines > FUNCTION_LINES_MAX;
    tree.sources().iter().flat_map(|source| functions(source, is_overlong)).collect()
}

/// Functions that are worth a look and no failure; those of [`overlong_functions`] are not repeated.
pub(super) fn long_functions(tree: &Tree) -> Vec<Finding> {
    let is_long = |lines| lines > FUNCTION_LINES_NOTED && lines <= FUNCTION_LINES_MAX;
    tree.sources().iter().flat_map(|source| functions(source, is_long)).collect()
}

fn functions(source: &Source, selects: impl Fn(usize) -> bool) -> Vec<Finding> {
    source
        .functions()
        .filter_map(|function| {
            let count = function.lines.clone().count();
            let message = format!("`{}` has {count} lines", function.name);
            selects(count).then(|| Finding::new(&source.path, *function.lines.start(), message))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    fn function_of(lines: usize) -> String {
        format!("\nfn a() {{\n{}}}\n", "    b();\n".repeat(lines - 2))
    }

    #[test]
    fn a_file_at_the_limit_passes_and_its_tests_do_not_count() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(100));
        let text = "a();\n".repeat(600) + &tests;
        assert!(places(long_files, &[("a.rs", &text)]).is_empty());
    }

    #[test]
    fn a_file_over_the_limit_is_found() {
        assert_eq!(places(long_files, &[("a.rs", &"a();\n".repeat(601))]), ["a.rs:601"]);
    }

    #[test]
    fn a_function_is_noted_over_70_lines_and_refused_over_100() {
        for (lines, noted, refused) in [(70, 0, 0), (71, 1, 0), (100, 1, 0), (101, 0, 1)] {
            let text = function_of(lines);
            let files = [("a.rs", text.as_str())];
            assert_eq!(places(long_functions, &files), vec!["a.rs:2"; noted], "{lines}");
            assert_eq!(places(overlong_functions, &files), vec!["a.rs:2"; refused], "{lines}");
        }
    }
}
