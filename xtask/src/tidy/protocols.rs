//! Who may name a protocol. What differs between protocols is stated once, as data of each: in `wire` and on the surfaces of
//! the gateway. Code that treats all protocols alike reads it there, so that a new protocol needs no change elsewhere.

use sabir_wire::Protocol;

use super::Finding;
use super::tree::Tree;

/// The crates that treat all protocols alike.
const CRATES: [&str; 4] =
    ["crates/app/src/", "crates/backend/src/", "crates/compose/src/", "crates/gateway/src/"];

/// The files and folders of theirs that may name one, each with the reason.
const NAMES: &[(&str, &str)] = &[
    ("crates/gateway/src/surface/", "what the gateway knows of each protocol"),
    ("crates/gateway/src/config/presets.rs", "which protocols a known provider speaks"),
    ("crates/backend/src/sim/simulator.rs", "which simulator speaks a protocol"),
    ("crates/backend/src/sim/serve.rs", "one address for all simulators"),
    ("crates/compose/src/history/block.rs", "which protocol a block of a history is written in"),
    ("crates/app/src/agent/", "which protocol an agent CLI speaks"),
];

/// A protocol is named only where its own facts are.
pub(super) fn protocols_are_named_by_their_own(tree: &Tree) -> Vec<Finding> {
    let names = Protocol::ALL.map(|protocol| format!("Protocol::{protocol:?}"));
    let mut findings = Vec::new();
    for source in tree.sources().iter().filter(|source| is_bound(&source.path)) {
        for name in &names {
            let lines = source.lines_with(name).filter(|line| !source.is_test(*line));
            let message =
                format!("`{name}` must not stand here: state it on the surface or in `wire`");
            findings.extend(lines.map(|line| Finding::new(&source.path, line, message.clone())));
        }
    }
    findings
}

fn is_bound(path: &str) -> bool {
    CRATES.iter().any(|folder| path.starts_with(folder))
        && !NAMES.iter().any(|(place, _)| path.starts_with(place))
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    #[test]
    fn a_protocol_that_is_named_elsewhere_is_found() {
        let text = "//! A.\nuse Protocol::Gemini;\nfn a() { b == Protocol::OpenaiChat }\n";
        for path in ["crates/gateway/src/attempt/a.rs", "crates/compose/src/a.rs"] {
            assert_eq!(
                places(protocols_are_named_by_their_own, &[(path, text)]),
                [format!("{path}:2"), format!("{path}:3")]
            );
        }
    }

    #[test]
    fn facts_tests_and_prose_may_name_one() {
        let text = "let a = Protocol::Gemini;";
        for path in [
            "crates/gateway/src/surface/gemini.rs",
            "crates/gateway/src/route/tests.rs",
            "crates/gateway/tests/gateway/a.rs",
            "crates/wire/src/a.rs",
        ] {
            assert!(places(protocols_are_named_by_their_own, &[(path, text)]).is_empty(), "{path}");
        }
        let prose = "// Protocol::Gemini\nlet a = Protocol::ALL;";
        let path = "crates/gateway/src/attempt/a.rs";
        assert!(places(protocols_are_named_by_their_own, &[(path, prose)]).is_empty());
    }

    #[test]
    fn every_exception_is_one() {
        let tree = Tree::read(crate::project_root()).unwrap();
        for (place, reason) in NAMES {
            assert!(tree.files().any(|(path, _)| path.starts_with(place)), "{place}: {reason}");
        }
    }
}
