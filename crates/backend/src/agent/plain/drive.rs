//! The prompt goes in, the input is closed, and what comes out is the answer.

use bytes::Bytes;
use sabir_wire::FaultKind;
use sabir_wire::conversation::FinishKind;

use crate::agent::ansi::Cleaner;
use crate::agent::faults::{Failed, fault, gone, unreadable};
use crate::agent::process::Process;
use crate::agent::speech::Speech;

/// How much a program may say.
const OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(in crate::agent) async fn drive(
    mut process: Process,
    prompt: Bytes,
    mut speech: Speech,
) -> Result<(), Failed> {
    process.send_all(&prompt);
    let mut cleaner = Cleaner::default();
    let (mut held, mut bytes) = (Vec::new(), 0);
    loop {
        let chunk = process.chunk().await.map_err(|error| unreadable(&error))?;
        if chunk.is_empty() {
            break;
        }
        bytes += chunk.len();
        if bytes > OUTPUT_BYTES_MAX {
            return Err(too_much());
        }
        held.extend_from_slice(&chunk);
        speech.push(cleaner.push(&take_text(&mut held))).await;
    }
    let rest = cleaner.push(&String::from_utf8_lossy(&held));
    speech.push(rest + &cleaner.finish()).await;
    match process.exit().await {
        Some(0) => {
            speech.finish(FinishKind::Stop, None);
            Ok(())
        }
        code => Err(gone(code)),
    }
}

/// All whole characters. What is none never will be one.
fn take_text(held: &mut Vec<u8>) -> String {
    let end = held.utf8_chunks().last().map_or(0, |last| match may_be_cut(last.invalid()) {
        true => held.len() - last.invalid().len(),
        false => held.len(),
    });
    let rest = held.split_off(end);
    let text = String::from_utf8_lossy(held).into_owned();
    *held = rest;
    text
}

/// Whether bytes at the end of a piece are the beginning of a character.
fn may_be_cut(bytes: &[u8]) -> bool {
    let width = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 0,
    };
    bytes.len() < width
}

fn too_much() -> Failed {
    let mib = OUTPUT_BYTES_MAX / 1024 / 1024;
    fault(FaultKind::Truncated, format!("the agent wrote more than {mib} MiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_whole_wherever_they_are_cut() {
        let text = "aé€😀\u{fffd}z";
        for size in 1..5 {
            let (mut held, mut read) = (Vec::new(), String::new());
            for piece in text.as_bytes().chunks(size) {
                held.extend_from_slice(piece);
                read += &take_text(&mut held);
            }
            assert_eq!(read, text, "{size}");
            assert!(held.is_empty());
        }
        let mut broken = b"a\xff\xe2\x82b".to_vec();
        assert_eq!(take_text(&mut broken), "a\u{fffd}\u{fffd}b");
    }
}
