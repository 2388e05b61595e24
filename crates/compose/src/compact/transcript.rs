//! A conversation as text for whoever summarises it, in pieces that a model can read at once.

use std::fmt::Write;

use sabir_wire::conversation::Message;

use crate::assemble::{Dialogue, Utterance};

/// What tools and the assistant said is shortened beyond this: facts stand at the beginning and at the end.
const OUTPUT_BYTES_MAX: usize = 16 * 1024;

/// What a heading and the note on what was left out take, rather too much than too little.
const HEADING_BYTES: usize = 128;

/// What somebody said.
#[derive(Clone)]
pub(super) struct Entry {
    from: String,
    content: String,
}

/// Who said what, in its order.
pub(super) fn transcript(messages: &[Message<'_>]) -> Vec<Entry> {
    let Dialogue { system_instruction, utterances, .. } = Dialogue::of(messages);
    let instructions = system_instruction.map(|content| Entry::new("system", &content));
    let others = utterances.iter().map(|it: &Utterance<'_>| Entry::new(&it.from, &it.content));
    instructions.into_iter().chain(others).collect()
}

impl Entry {
    fn new(from: &str, content: &str) -> Self {
        Self { from: from.to_owned(), content: content.to_owned() }
    }
}

/// The transcript in pieces of at most `bytes_max`, none of which divides what somebody said unless that alone is longer.
pub(super) fn pieces(entries: &[Entry], bytes_max: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for Entry { from, content } in entries {
        let is_whole = from == "user" || from == "system";
        let room = if is_whole { bytes_max } else { OUTPUT_BYTES_MAX.min(bytes_max) };
        push(&mut pieces, &entry(from, content, room), bytes_max);
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn entry(from: &str, content: &str, bytes_max: usize) -> String {
    let mut entry = format!("### {from}\n");
    shorten(content, bytes_max.saturating_sub(HEADING_BYTES).max(HEADING_BYTES), &mut entry);
    entry.push_str("\n\n");
    entry
}

/// Three quarters of what fits from the beginning, the rest from the end.
fn shorten(content: &str, bytes_max: usize, out: &mut String) {
    if content.len() <= bytes_max {
        return out.push_str(content);
    }
    let head = content.floor_char_boundary(bytes_max / 4 * 3);
    let tail = content.ceil_char_boundary(content.len() - bytes_max / 4);
    let _ =
        write!(out, "{}\n[{} bytes left out]\n{}", &content[..head], tail - head, &content[tail..]);
}

fn push(pieces: &mut Vec<String>, entry: &str, bytes_max: usize) {
    match pieces.last_mut() {
        Some(last) if last.is_empty() || last.len() + entry.len() <= bytes_max => {
            last.push_str(entry);
        }
        _ => pieces.push(entry.to_owned()),
    }
}
