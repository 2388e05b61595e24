//! What translations take of memory: at most eight times the body, however it is made up. The test has a process of its
//! own, whose memory nobody else uses; where the system does not tell how much that is, nothing is held.

use std::fs;

use sabir_testkit::long::Long;
use sabir_testkit::translate;
use sabir_wire::Protocol;

/// What a translation may take, in times its body, and so much beyond that.
const TIMES: usize = 8;
const SPARE_BYTES: usize = 8 * 1024 * 1024;

/// Bodies of short elements, which are many times as large when they are taken apart: each with its number of elements.
const INPUTS: &[(&str, usize)] = &[
    ("schema-all-of-empty", 700_000),
    ("schema-all-of-required", 100_000),
    ("schema-any-of-types", 25_000),
    ("schema-enum-numbers", 300_000),
    ("schema-properties", 50_000),
    ("schema-defs", 30_000),
    ("schema-unknown-keys", 100_000),
];

#[test]
fn a_translation_takes_at_most_eight_times_its_body() {
    let Some(before) = peak_bytes() else { return };
    for protocol in [Protocol::OpenaiChat, Protocol::Gemini] {
        for input in Long::all(protocol) {
            let Some((_, n)) = INPUTS.iter().find(|(name, _)| *name == input.name) else {
                continue;
            };
            let body = input.of(*n);
            for to in Protocol::ALL {
                let _translated =
                    translate::request_as_sent(protocol, to, body.as_bytes(), None).unwrap();
                let taken = peak_bytes().unwrap_or_default().saturating_sub(before);
                // The body itself is there as well.
                let most = (TIMES + 1) * body.len() + SPARE_BYTES;
                let (from, to, name) = (protocol.as_str(), to.as_str(), input.name);
                assert!(taken <= most, "{name} {from}→{to}: {taken} of {} bytes", body.len());
            }
        }
    }
}

/// The most memory that this process has had so far.
fn peak_bytes() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}
