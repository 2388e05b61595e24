//! Who may name a protocol. What differs between protocols is stated once, as data of each: in `wire` and on the surfaces of
//! the gateway. Code that treats all protocols alike reads it there, so that a new protocol needs no change elsewhere.

use sabir_wire::Protocol;

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// The crates that treat all protocols alike, apart from the folders of single protocols.
const CRATES: [&str; 6] = [
    "crates/app/src/",
    "crates/backend/src/",
    "crates/client/src/",
    "crates/compose/src/",
    "crates/gateway/src/",
    "crates/wire/src/",
];

/// Where each protocol has a folder of its own.
const PROTOCOLS: &str = "crates/wire/src/protocol/";

/// The files and folders of theirs that may name one, each with the reason.
const NAMES: &[(&str, &str)] = &[
    ("crates/gateway/src/surface/", "what the gateway knows of each protocol"),
    ("crates/gateway/src/config/presets.rs", "which protocols a known provider speaks"),
    ("crates/backend/src/agent/claude/", "which protocol the model behind the CLI speaks"),
    ("crates/backend/src/agent/codex/", "which protocol the model behind the CLI speaks"),
    ("crates/backend/src/agent/gemini/", "which protocol the model behind the CLI speaks"),
    ("crates/backend/src/sim/simulator.rs", "which simulator speaks a protocol"),
    ("crates/backend/src/sim/serve.rs", "one address for all simulators"),
    ("crates/client/src/surface.rs", "how a program addresses each protocol's API"),
    ("crates/compose/src/history/block.rs", "which protocol a block of a history is written in"),
    ("crates/compose/src/session/mod.rs", "which protocol an agent's session is told in"),
    ("crates/app/src/agent/", "which protocol an agent CLI speaks"),
    ("crates/wire/src/protocol/conventions.rs", "whose signatures Google's models make"),
];

/// The files of tests and benchmarks that may compare with a named protocol, each with the reason. There are to be at most ten.
const COMPARISONS: &[(&str, &str)] = &[
    ("bench-gateway/src/case.rs", "which rows others are measured by"),
    ("bench-peers/src/main.rs", "which pairs all other libraries have"),
    ("benches-wire/src/case.rs", "whose tool schemas are measured towards Gemini"),
    ("crates/testkit/examples/long.rs", "only Responses repeats its request"),
    ("crates/testkit/src/meaning.rs", "where a string stands for one message"),
    ("crates/testkit/src/sample.rs", "how recorded events were framed"),
];

/// How many matches may list all protocols beside the records of each, and in how many files: a new protocol has to change
/// every one of them.
const MATCHES_MAX: usize = 12;
const FILES_MAX: usize = 8;

/// Where the records of protocols are put together.
const RECORDS: [&str; 3] = [
    "crates/wire/src/protocol/mod.rs",
    "crates/gateway/src/surface/",
    "crates/client/src/surface.rs",
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

/// The folder of a protocol knows no other protocol: what two of them share is canonical, or a convention that each states.
pub(super) fn protocols_know_no_sibling(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources() {
        let Some(own) = protocol_of(&source.path) else { continue };
        for sibling in Protocol::ALL.into_iter().filter(|protocol| *protocol != own) {
            for name in [format!("Protocol::{sibling:?}"), folder(sibling)] {
                let lines = source.lines_with(&name).filter(|line| !source.is_test(*line));
                let message =
                    format!("`{name}` is a sibling: state what differs in `Conventions` instead");
                findings
                    .extend(lines.map(|line| Finding::new(&source.path, line, message.clone())));
            }
        }
    }
    findings
}

/// Code that asks which protocol it has to do with is not found by the compiler when there is a new one.
pub(super) fn comparisons_have_a_reason(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources().iter().filter(|source| !may_compare(&source.path)) {
        for protocol in Protocol::ALL.into_iter().filter(|it| !is_own(&source.path, *it)) {
            let lines = comparisons(source, protocol).filter(|line| !source.is_test(*line));
            let message = format!("a comparison with {protocol:?}: state what differs as data");
            findings.extend(lines.map(|line| Finding::new(&source.path, line, message.clone())));
        }
    }
    findings
}

/// Few matches list all protocols beside the records of each.
pub(super) fn few_matches_list_all(tree: &Tree) -> Vec<Finding> {
    let is_bound = |source: &&Source| {
        let is_crate = source.path.starts_with("crates/") && source.path.contains("/src/");
        is_crate && !RECORDS.iter().any(|place| source.path.starts_with(place))
    };
    let listing: Vec<(&str, Vec<usize>)> = tree
        .sources()
        .iter()
        .filter(is_bound)
        .map(|source| (&*source.path, lists_of_all(source).collect()))
        .filter(|(_, lines): &(_, Vec<usize>)| !lines.is_empty())
        .collect();
    let matches: usize = listing.iter().map(|(_, lines)| lines.len()).sum();
    if matches <= MATCHES_MAX && listing.len() <= FILES_MAX {
        return Vec::new();
    }
    let message = format!(
        "{matches} matches in {} files list all protocols (at most {MATCHES_MAX} in {FILES_MAX}): \
         state what differs as data",
        listing.len()
    );
    let places = listing.iter().flat_map(|(path, lines)| lines.iter().map(move |it| (*path, *it)));
    places.map(|(path, line)| Finding::new(path, line, message.clone())).collect()
}

/// The lines of matches with a pattern for every protocol.
fn lists_of_all(source: &Source) -> impl Iterator<Item = usize> {
    let blocks = source.blocks("match").filter(|(line, _)| !source.is_test(*line));
    let lists_all = |block: &str| {
        let block: String = block.split_whitespace().collect();
        Protocol::ALL.iter().all(|protocol| {
            let patterns = ["=>", "|"].map(|end| format!("Protocol::{protocol:?}{end}"));
            patterns.iter().any(|pattern| block.contains(pattern))
        })
    };
    blocks.filter(move |(_, block)| lists_all(block)).map(|(line, _)| line)
}

fn comparisons(source: &Source, protocol: Protocol) -> impl Iterator<Item = usize> {
    let name = format!("Protocol::{protocol:?}");
    let needles =
        [format!("== {name}"), format!("!= {name}"), format!("{name} =="), format!("{name} !=")];
    let compared: Vec<usize> =
        needles.iter().flat_map(|needle| source.lines_with(needle)).collect();
    let matched = source.statements("matches!(").filter(move |(_, rest)| {
        rest.split(')').next().is_some_and(|pattern| pattern.contains(&name))
    });
    compared.into_iter().chain(matched.map(|(line, _)| line))
}

fn may_compare(path: &str) -> bool {
    path.starts_with("xtask/") || COMPARISONS.iter().any(|(place, _)| path == *place)
}

/// The protocol whose folder in `wire` holds the file.
fn protocol_of(path: &str) -> Option<Protocol> {
    let (name, _) = path.strip_prefix(PROTOCOLS)?.split_once('/')?;
    Protocol::ALL.into_iter().find(|protocol| folder(*protocol) == name)
}

/// Whether a file, or a folder that it stands in, is of this protocol alone.
fn is_own(path: &str, protocol: Protocol) -> bool {
    let own = folder(protocol);
    path.split('/').any(|name| name.strip_suffix(".rs").unwrap_or(name) == own)
}

fn folder(protocol: Protocol) -> String {
    protocol.as_str().replace('-', "_")
}

fn is_bound(path: &str) -> bool {
    protocol_of(path).is_none()
        && CRATES.iter().any(|folder| path.starts_with(folder))
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
            "crates/wire/src/protocol/gemini/a.rs",
        ] {
            assert!(places(protocols_are_named_by_their_own, &[(path, text)]).is_empty(), "{path}");
        }
        let prose = "// Protocol::Gemini\nlet a = Protocol::ALL;";
        let path = "crates/gateway/src/attempt/a.rs";
        assert!(places(protocols_are_named_by_their_own, &[(path, prose)]).is_empty());
    }

    #[test]
    fn a_sibling_that_is_named_in_a_protocol_is_found() {
        let path = "crates/wire/src/protocol/gemini/a.rs";
        let text = "//! A.\nuse crate::protocol::openai_chat::b;\nlet a = Protocol::OpenaiChat;\n\
            let b = Protocol::Gemini;\n#[cfg(test)]\nmod tests { use Protocol::OpenaiChat; }\n";
        assert_eq!(
            places(protocols_know_no_sibling, &[(path, text)]),
            [format!("{path}:2"), format!("{path}:3")]
        );
        let shared =
            [("crates/wire/src/protocol/mod.rs", text), ("crates/gateway/src/gemini.rs", text)];
        assert!(places(protocols_know_no_sibling, &shared).is_empty());
    }

    #[test]
    fn a_comparison_without_a_reason_is_found() {
        let text = "a == Protocol::Gemini;\nProtocol::Gemini != a;\n\
            matches!(a, Protocol::OpenaiChat\n| Protocol::Gemini);\nlet a = Protocol::Gemini;\n";
        let found = |path: &str| places(comparisons_have_a_reason, &[(path, text)]).len();
        assert_eq!(found("crates/testkit/src/a.rs"), 4);
        assert_eq!(found("crates/testkit/src/gemini.rs"), 1, "its own protocol is no other");
        assert_eq!(found("crates/testkit/src/tests.rs"), 0);
        assert_eq!(found(COMPARISONS[0].0), 0);
    }

    #[test]
    fn matches_that_list_all_protocols_are_few() {
        let patterns = Protocol::ALL.map(|it| format!("Protocol::{it:?}")).join(" | ");
        let text = |count: usize| format!("match a {{ {patterns} => b, }};\n").repeat(count);
        let found = |files: &[(&str, usize)]| {
            let files: Vec<(&str, String)> =
                files.iter().map(|(path, count)| (*path, text(*count))).collect();
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (*path, &**text)).collect();
            places(few_matches_list_all, &files).len()
        };
        assert_eq!(found(&[("crates/a/src/a.rs", MATCHES_MAX)]), 0);
        assert_eq!(found(&[("crates/a/src/a.rs", MATCHES_MAX + 1)]), MATCHES_MAX + 1);
        assert_eq!(found(&[("crates/a/tests/a.rs", MATCHES_MAX + 1)]), 0);
        assert_eq!(found(&[(RECORDS[0], MATCHES_MAX + 1)]), 0);
        let paths: Vec<String> =
            (0..=FILES_MAX).map(|it| format!("crates/a/src/{it}.rs")).collect();
        let files: Vec<(&str, usize)> = paths.iter().map(|path| (&**path, 1)).collect();
        assert_eq!(found(&files), files.len());
        assert_eq!(found(&files[1..]), 0);
    }

    #[test]
    fn every_exception_is_one() {
        let tree = Tree::read(crate::project_root()).unwrap();
        assert!(COMPARISONS.len() <= 10);
        for (place, reason) in COMPARISONS {
            let source = tree.sources().iter().find(|source| source.path == *place);
            let compares = |source: &Source| {
                Protocol::ALL.iter().any(|it| comparisons(source, *it).next().is_some())
            };
            assert!(source.is_some_and(compares), "{place}: {reason}");
        }
        for (place, reason) in NAMES {
            assert!(tree.files().any(|(path, _)| path.starts_with(place)), "{place}: {reason}");
        }
    }
}
