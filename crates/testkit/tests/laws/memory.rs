//! What translations take of memory: at most eight times the body, however it is made up. Each is measured in a process of
//! its own, whose memory nobody else has used; where the system does not report how much that is, nothing is held.

use std::process::Command;
use std::{env, fs};

use sabir_testkit::long::{Kind, Long};
use sabir_testkit::translate;
use sabir_wire::Protocol;

/// What a translation may take, in times its body, and so much beyond that.
const TIMES: usize = 8;
const SPARE_BYTES: usize = 1024 * 1024;

/// How long a body is.
const BODY_BYTES: usize = 2 * 1024 * 1024;

/// Conversations, and schemas of short elements, which are many times as large when they are taken apart.
const INPUTS: &[&str] = &[
    "texts",
    "users",
    "calls",
    "tools",
    "schema-all-of",
    "schema-all-of-empty",
    "schema-all-of-required",
    "schema-any-of-types",
    "schema-enum-numbers",
    "schema-properties",
    "schema-required",
    "schema-defs",
    "schema-unknown-keys",
];

/// Names a case to the process that measures it.
const CASE: &str = "SABIR_MEMORY_CASE";

/// This test, as the process that measures finds it.
const TEST: &str = "memory::a_translation_takes_at_most_eight_times_its_body";

#[test]
fn a_translation_takes_at_most_eight_times_its_body() {
    if let Ok(case) = env::var(CASE) {
        return measure(&case);
    }
    let mut over = Vec::new();
    for (number, (from, name)) in inputs().into_iter().enumerate() {
        // The targets take turns: a process for each of all pairs would take minutes.
        let to = Protocol::ALL[number % Protocol::ALL.len()];
        let case = format!("{} {} {name}", from.as_str(), to.as_str());
        let Some((taken, body)) = measured(&case) else { continue };
        if taken > TIMES * body + SPARE_BYTES {
            over.push(format!("{case}: {taken} bytes for a body of {body}"));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// The inputs of every protocol, each once: some schemas stand in tools and in outputs.
fn inputs() -> Vec<(Protocol, &'static str)> {
    let of = |protocol| {
        let has = move |name: &&str| find(protocol, name).is_some();
        INPUTS.iter().copied().filter(has).map(move |name| (protocol, name))
    };
    Protocol::ALL.into_iter().flat_map(of).collect()
}

fn find(protocol: Protocol, name: &str) -> Option<Long> {
    Long::all(protocol).into_iter().find(|it| it.kind == Kind::Request && it.name == name)
}

/// What another process has taken for a case, and how long the body was.
fn measured(case: &str) -> Option<(usize, usize)> {
    let this = env::current_exe().expect("a test knows where it is");
    let output = Command::new(this)
        .args(["--exact", TEST, "--nocapture"])
        .env(CASE, case)
        .output()
        .expect("a test can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{case}: {text}");
    let (_, figures) = text.split_once("taken: ")?;
    let mut figures =
        figures.lines().next()?.split(' ').map(|it| it.parse().expect("figures are printed"));
    Some((figures.next()?, figures.next()?))
}

/// Translates the input of a case once and prints what that took.
fn measure(case: &str) {
    let names: Vec<&str> = case.split(' ').collect();
    let protocol =
        |name: &str| Protocol::ALL.into_iter().find(|it| it.as_str() == name).expect("a protocol");
    let (from, to) = (protocol(names[0]), protocol(names[1]));
    let input = find(from, names[2]).expect("an input");
    let element = (input.of(2_000).len() - input.of(1_000).len()) / 1_000;
    let body = input.of(BODY_BYTES / element);
    let Some(before) = peak_bytes() else { return };
    let _translated =
        translate::request_as_sent(from, to, body.as_bytes(), None).expect("it is translated");
    let taken = peak_bytes().unwrap_or_default().saturating_sub(before);
    println!("taken: {taken} {}", body.len());
}

/// The most memory that this process has had so far.
fn peak_bytes() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}
