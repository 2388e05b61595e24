//! What must not stand in Rust code: a table of banned text, tests that sleep, statuses of failures, and glob re-exports.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// Text that must not stand in code.
struct Ban {
    needle: &'static str,
    place: Scope,
    reason: &'static str,
}

#[derive(Clone, Copy)]
enum Scope {
    Anywhere,
    /// Outside tests and outside xtask, where a panic reaches only a developer.
    Product,
    /// The sources of the pure crate, tests included.
    Wire,
    /// The sources of the pure crate, tests excluded.
    WireProduct,
    /// The walks over a whole request or answer, tests excluded.
    Walk,
}

const WIRE: &str = "crates/wire/src/";
const PURE: &str = "wire has no clock, randomness, environment, threads or I/O: they are passed in";
const WALKS: [&str; 2] = ["crates/wire/src/protocol/reporter/", "crates/wire/src/inspect/"];
const UNFINISHED: &str = "finish it, or leave it out";
const EXPECT: &str =
    "write #[expect(lint, reason = \"…\")], which says why and ends when it is not needed";

const BANS: &[Ban] = &[
    Ban::new("#[allow(", Scope::Anywhere, EXPECT),
    Ban::new("#![allow(", Scope::Anywhere, EXPECT),
    Ban::new("#[ignore", Scope::Anywhere, "assert today's behaviour, or delete the test"),
    Ban::new("todo!(", Scope::Anywhere, UNFINISHED),
    Ban::new("unimplemented!(", Scope::Anywhere, UNFINISHED),
    Ban::new("dbg!(", Scope::Anywhere, UNFINISHED),
    Ban::new(".unwrap()", Scope::Product, "return an error, or expect(\"…\") with the invariant"),
    Ban::new("serde_json", Scope::WireProduct, "wire reads and writes JSON by its own json module"),
    Ban::new(".. }", Scope::Walk, "name every field: a new one must break the build here"),
    Ban::new("tokio", Scope::Wire, PURE),
    Ban::new("rand", Scope::Wire, PURE),
    Ban::new("std::env", Scope::Wire, PURE),
    Ban::new("std::fs", Scope::Wire, PURE),
    Ban::new("std::net", Scope::Wire, PURE),
    Ban::new("std::process", Scope::Wire, PURE),
    Ban::new("std::thread", Scope::Wire, PURE),
    Ban::new("std::time", Scope::Wire, PURE),
    Ban::new("std::{", Scope::Wire, "import one module per line, so that an impure one is seen"),
];

pub(super) fn banned_code(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources() {
        for ban in BANS {
            let lines = source.lines_with(ban.needle).filter(|&line| ban.place.holds(source, line));
            findings.extend(lines.map(|line| ban.finding(&source.path, line)));
        }
    }
    findings
}

/// Test code that may sleep, with the reason.
const SLEEPERS: &[(&str, &str)] = &[
    ("crates/app/tests/cli/waiting.rs", "looks again whether another process is done"),
    ("crates/gateway/tests/gateway/waiting.rs", "real threads and sockets: time cannot be paused"),
    ("crates/backend/src/http/dial/tests.rs", "paused time"),
    ("crates/gateway/src/ingress/body.rs", "paused time"),
];

/// A test that sleeps is slow where it waits too long and fails where it waits too little.
pub(super) fn sleeping_tests(tree: &Tree) -> Vec<Finding> {
    let sources = tree.sources().iter();
    let sources = sources.filter(|it| SLEEPERS.iter().all(|(path, _)| *path != it.path));
    let advice = "a test does not sleep: pause the time, wait for a channel, or for a condition \
                  with the helpers of `waiting.rs`";
    let lines = |source: &'_ Source| -> Vec<Finding> {
        let lines = source.lines_with("sleep(").filter(|&line| source.is_test(line));
        lines.map(|line| Finding::new(&source.path, line, advice)).collect()
    };
    sources.flat_map(lines).collect()
}

/// The statuses that HTTP itself has for a failure of the gateway; every other follows from the failure's kind.
const STATUSES: [&str; 9] = ["405", "408", "415", "426", "431", "502", "503", "504", "508"];

/// A status in the middle of the gateway would be a second place that decides what clients see.
pub(super) fn failure_statuses(tree: &Tree) -> Vec<Finding> {
    let sources = tree.sources().iter().filter(|it| it.path.starts_with("crates/gateway/src/"));
    let strange = |source: &'_ Source| -> Vec<Finding> {
        let stated = source.statements("with_status(").filter(|(line, _)| !source.is_test(*line));
        let stated = stated.map(|(line, call)| (line, digits(&call["with_status(".len()..])));
        let strange = stated.filter(|(_, it)| !it.is_empty() && !STATUSES.contains(it));
        let finding = |(line, status): (usize, &str)| {
            let message = format!("{status} follows from no failure of HTTP's own: give it a kind");
            Finding::new(&source.path, line, message)
        };
        strange.map(finding).collect()
    };
    sources.flat_map(strange).collect()
}

fn digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

/// A face that names what it shows can be read; a glob shows whatever is added later.
pub(super) fn glob_reexports(tree: &Tree) -> Vec<Finding> {
    let faces = tree.sources().iter().filter(|it| matches!(it.file_name(), "mod.rs" | "lib.rs"));
    faces
        .flat_map(|source| {
            source
                .statements("pub")
                .filter(|(_, statement)| is_glob_use(statement))
                .map(|(line, _)| Finding::new(&source.path, line, "re-export by name, not by glob"))
        })
        .collect()
}

/// `statement` begins with `pub` and may run past the item that this word opens.
fn is_glob_use(statement: &str) -> bool {
    let after_pub = statement.trim_start_matches("pub").trim_start();
    let item = match after_pub.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or("", |(_, item)| item).trim_start(),
        None => after_pub,
    };
    item.starts_with("use ") && item.contains('*')
}

impl Ban {
    const fn new(needle: &'static str, place: Scope, reason: &'static str) -> Self {
        Self { needle, place, reason }
    }

    fn finding(&self, path: &str, line: usize) -> Finding {
        Finding::new(path, line, format!("`{}` must not stand here: {}", self.needle, self.reason))
    }
}

impl Scope {
    fn holds(self, source: &Source, line: usize) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Product => !source.path.starts_with("xtask/") && !source.is_test(line),
            Self::Wire => source.path.starts_with(WIRE),
            Self::WireProduct => source.path.starts_with(WIRE) && !source.is_test(line),
            Self::Walk => {
                WALKS.iter().any(|walk| source.path.starts_with(walk)) && !source.is_test(line)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    const WIRE_FILE: &str = "crates/wire/src/a.rs";
    const APP_FILE: &str = "crates/app/src/a.rs";

    #[track_caller]
    fn check(path: &str, text: &str, lines: &[usize]) {
        let expected: Vec<String> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        assert_eq!(places(banned_code, &[(path, text)]), expected, "{text}");
    }

    #[test]
    fn banned_text_is_found_in_code_and_tests_alike() {
        for text in ["#[allow(x)]", "#![allow(x)]", "#[ignore]", "#[ignore = \"slow\"]"] {
            check(APP_FILE, text, &[1]);
        }
        for name in ["todo", "unimplemented", "dbg"] {
            check(APP_FILE, &format!("#[cfg(test)]\nmod tests {{\n    {name}!();\n}}"), &[3]);
        }
    }

    #[test]
    fn banned_text_in_prose_and_longer_words_passes() {
        check(APP_FILE, "// todo!()\nlet a = \"dbg!(b)\";\nmy_dbg!(c);\n#[ignored]", &[]);
        check(APP_FILE, "#[expect(x, reason = \"y\")]", &[]);
    }

    #[test]
    fn unwrap_stays_in_tests_and_xtask() {
        check(APP_FILE, "a\n    .unwrap();\nb.unwrap_or(c);", &[2]);
        check(APP_FILE, "#[cfg(test)]\nmod tests {\n    a.unwrap();\n}", &[]);
        check("crates/app/tests/a.rs", "a.unwrap();", &[]);
        check("xtask/src/a.rs", "a.unwrap();", &[]);
    }

    #[test]
    fn serde_json_stays_in_the_tests_of_wire() {
        check(WIRE_FILE, "use serde_json::Value;", &[1]);
        check(WIRE_FILE, "#[cfg(test)]\nmod tests {\n    use serde_json::Value;\n}", &[]);
        check("crates/testkit/src/a.rs", "use serde_json::Value;", &[]);
    }

    #[test]
    fn walks_name_every_field() {
        let text = "let A { b, .. } = c;\nlet d = A { b, ..c };\nlet e = 0..1;";
        check("crates/wire/src/inspect/a.rs", text, &[1]);
        check("crates/wire/src/protocol/reporter/a.rs", text, &[1]);
        check(WIRE_FILE, text, &[]);
    }

    #[test]
    fn wire_is_pure() {
        for module in ["env", "fs", "net", "process", "thread", "time"] {
            check(WIRE_FILE, &format!("use std::{module}::A;"), &[1]);
            check(APP_FILE, &format!("use std::{module}::A;"), &[]);
        }
        check(WIRE_FILE, "use tokio::A;\nuse rand::B;\nuse std::{fmt, fs};", &[1, 2, 3]);
        check(WIRE_FILE, "use std::fmt;\nuse std::fmt::{self, Write};\nlet operand = 1;", &[]);
    }

    #[test]
    fn tests_do_not_sleep() {
        let sleeps = "fn a() {\n    std::thread::sleep(b);\n    tokio::time::sleep(c).await;\n}";
        let path = "crates/app/tests/a.rs";
        let found = places(sleeping_tests, &[(path, sleeps)]);
        assert_eq!(found, [format!("{path}:2"), format!("{path}:3")]);
        for (path, text) in [(APP_FILE, sleeps), (path, "asleep(1);"), (SLEEPERS[0].0, sleeps)] {
            assert!(places(sleeping_tests, &[(path, text)]).is_empty(), "{path}");
        }
    }

    #[test]
    fn failures_have_few_statuses_of_their_own() {
        let text = "a.with_status(502);\nb.with_status(404);\nc.with_status(match d {\n});";
        let path = "crates/gateway/src/a.rs";
        assert_eq!(places(failure_statuses, &[(path, text)]), [format!("{path}:2")]);
        assert!(places(failure_statuses, &[(APP_FILE, text)]).is_empty());
    }

    #[test]
    fn faces_reexport_by_name() {
        let glob = "pub use a::B;\npub use c::*;\npub(crate) use d::{\n    e::*,\n    f,\n};\n";
        for path in ["crates/a/src/lib.rs", "crates/a/src/b/mod.rs"] {
            assert_eq!(
                places(glob_reexports, &[(path, glob)]),
                [format!("{path}:2"), format!("{path}:3")]
            );
        }
    }

    #[test]
    fn private_globs_and_other_files_pass() {
        let private = "pub fn a(b: *const u8) { use super::*; }\nuse c::*;\npub use d::E;";
        assert!(places(glob_reexports, &[("crates/a/src/lib.rs", private)]).is_empty());
        assert!(places(glob_reexports, &[("crates/a/src/b.rs", "pub use c::*;")]).is_empty());
    }
}
