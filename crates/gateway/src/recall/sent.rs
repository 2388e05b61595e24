//! The history of a call as lines of the log, read as far as it is new: what was read before is known by its bytes.

use std::ops::Range;

use sabir_store::{Hash, NewMessage};
use sabir_wire::Protocol;
use sabir_wire::json::Survey;
use sabir_wire::protocol::{Contents, Outline};

use crate::failure::Result;
use crate::memory::{Mark, Readings};
use crate::pool;
use crate::recall::out_of_order;
use crate::recalled::Settings;
use crate::record::{Position, Step, record};

/// Whose history it is.
#[derive(Debug)]
pub(super) struct Sender {
    /// The name of its key; empty for nobody.
    pub(super) owner: String,
    pub(super) client: Protocol,
}

/// A history, of which the last lines are written out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SentHistory {
    /// The names of all lines.
    pub(super) hashes: Vec<Hash>,
    /// What was meant up to the end of each line.
    pub(super) states: Vec<Option<Hash>>,
    /// The first of the lines that are written out.
    first: usize,
    messages: Vec<NewMessage>,
    pub(super) end: Position,
    pub(super) settings: Settings,
}

impl SentHistory {
    /// The lines behind the first so many; none if not all of them are written out.
    pub(super) fn lines_after(&mut self, known: usize) -> Option<Vec<NewMessage>> {
        let written = known.checked_sub(self.first)?;
        Some(self.messages.drain(written.min(self.messages.len())..).collect())
    }
}

/// Reads a history. The lines from `first` on are written out, or those that were not read before.
pub(super) fn read_sent(
    readings: &Readings,
    sender: &Sender,
    body: &Survey<'_>,
    first: Option<usize>,
) -> Result<SentHistory> {
    pool::check_thread(body.source().len());
    let (client, outline) = (sender.client, Outline::of(sender.client, body)?);
    let (steps, read_before) = steps(readings, sender, &outline)?;
    let (lines, end) = lines(&steps);
    let is_read_before = |line: &&Line| line.elements.end <= read_before;
    let first = first.unwrap_or_else(|| lines.iter().take_while(is_read_before).count());
    let write = |line: &Line| {
        let elements = &outline.elements()[line.elements.clone()];
        let record = record(client, &elements.join(",")).map_err(|it| out_of_order(&it))?;
        Ok(NewMessage { hash: line.hash, record })
    };
    let messages = lines.iter().skip(first).map(write).collect::<Result<_>>()?;
    let kept = |text: Option<String>| text.map(|text| (client, text));
    let system = kept(outline.system(leading(&steps)));
    let settings = Settings { system, tools: kept(outline.tools().map(str::to_owned)) };
    let hashes = lines.iter().map(|line| line.hash).collect();
    let states = steps.iter().filter_map(|step| step.end().map(|end| end.meaning)).collect();
    Ok(SentHistory { hashes, states, first, messages, end, settings })
}

/// Each element of a history, and how many of them were read before.
fn steps(
    readings: &Readings,
    sender: &Sender,
    outline: &Outline<'_>,
) -> Result<(Vec<Step>, usize)> {
    let elements = outline.elements().iter().map(|element| &**element);
    let marks = readings.marks([&sender.owner, sender.client.as_str()], elements);
    let mut steps = readings.known(&marks);
    let mut end = steps.iter().rev().find_map(Step::end);
    // Which elements are the leading instructions is sent together with the first that is none.
    if end.is_none() {
        steps.clear();
    }
    let read_before = steps.len();
    if read_before < marks.len() {
        let Contents { leading, elements } = outline.contents_from(read_before)?;
        let leading = if end.is_none() { leading } else { 0 };
        let end = end.get_or_insert_default();
        steps.resize(read_before + leading, Step::Instructs);
        steps.extend(elements[leading..].iter().map(|content| end.step(content)));
        let new: Vec<(Mark, Step)> = marks.into_iter().zip(steps.iter().copied()).collect();
        readings.add(&new[read_before..]);
    }
    Ok((steps, read_before))
}

/// A line of the log, and its elements.
struct Line {
    hash: Hash,
    elements: Range<usize>,
}

/// The lines that elements make, and where they end.
fn lines(steps: &[Step]) -> (Vec<Line>, Position) {
    let mut lines = Vec::with_capacity(steps.len());
    let mut position = Position::default();
    let mut start = leading(steps);
    for (at, step) in steps.iter().enumerate() {
        if let Step::Line { hash, end } = step {
            lines.push(Line { hash: *hash, elements: start..at + 1 });
            (start, position) = (at + 1, *end);
        }
    }
    if start < steps.len() {
        let hash = position.think();
        lines.push(Line { hash, elements: start..steps.len() });
    }
    (lines, position)
}

/// How many elements are the leading instructions.
fn leading(steps: &[Step]) -> usize {
    steps.iter().take_while(|step| **step == Step::Instructs).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::record;

    fn sender(client: Protocol) -> Sender {
        Sender { owner: "me".to_owned(), client }
    }

    fn sent(
        readings: &Readings,
        client: Protocol,
        body: &str,
        first: Option<usize>,
    ) -> SentHistory {
        read_sent(readings, &sender(client), &Survey::new(body), first).unwrap()
    }

    /// The same by reading all of it.
    fn read_whole(client: Protocol, body: &str) -> SentHistory {
        let decoded = client.decode_request_text(body).unwrap();
        let entries = decoded.entries().unwrap();
        let lines = record::lines(client, None, &entries.entries).unwrap();
        let is_meant = entries.entries.iter().map(|entry| !entry.content.meanings.is_empty());
        let states = lines.states.iter().zip(is_meant).filter(|(_, is_meant)| *is_meant);
        let states = states.map(|(state, _)| *state).collect();
        let kept = |text: Option<String>| text.map(|text| (client, text));
        SentHistory {
            hashes: lines.messages.iter().map(|message| message.hash).collect(),
            states,
            first: 0,
            messages: lines.messages,
            end: lines.end,
            settings: Settings { system: kept(entries.system), tools: kept(entries.tools) },
        }
    }

    /// Something that a client says, in the words of each protocol.
    #[derive(Clone, Debug)]
    enum Piece {
        Instructions,
        User(u8),
        Marked(u8),
        Thought,
        Called(u8),
        Image,
    }

    type Spelling = fn(&Piece) -> Vec<Value>;

    const SPELLINGS: [(Protocol, Spelling); 4] = [
        (Protocol::OpenaiChat, Piece::chat),
        (Protocol::OpenaiResponses, Piece::responses),
        (Protocol::AnthropicMessages, Piece::messages),
        (Protocol::Gemini, Piece::gemini),
    ];

    impl Piece {
        fn elements(&self, client: Protocol) -> Vec<Value> {
            let (_, spell) = SPELLINGS.iter().find(|(protocol, _)| *protocol == client).unwrap();
            spell(self)
        }

        fn chat(&self) -> Vec<Value> {
            match self {
                Self::Instructions => vec![json!({"role": "system", "content": "Be brief."})],
                Self::User(word) => {
                    vec![json!({"role": "user", "content": format!("word {word}")})]
                }
                Self::Marked(word) => vec![json!({"role": "user", "content": [
                    {"type": "text", "text": format!("word {word}"), "cache_control": {"type": "ephemeral"}}]})],
                Self::Thought => {
                    vec![json!({"role": "assistant", "content": "", "reasoning_content": "hm"})]
                }
                Self::Called(id) => vec![
                    json!({"role": "assistant", "content": null, "tool_calls": [
                        {"id": format!("c{id}"), "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
                    json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": "done"}),
                ],
                Self::Image => vec![json!({"role": "user", "content": [
                    {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]})],
            }
        }

        fn responses(&self) -> Vec<Value> {
            match self {
                Self::Instructions => vec![json!({"role": "developer", "content": "Be brief."})],
                Self::User(word) | Self::Marked(word) => {
                    vec![json!({"role": "user", "content": format!("word {word}")})]
                }
                Self::Thought => vec![json!({"type": "reasoning", "id": "rs_1", "summary": []})],
                Self::Called(id) => vec![
                    json!({"type": "function_call", "call_id": format!("c{id}"), "name": "f", "arguments": "{}"}),
                    json!({"type": "function_call_output", "call_id": format!("c{id}"), "output": "done"}),
                ],
                Self::Image => vec![json!({"role": "user", "content": [
                    {"type": "input_image", "image_url": "https://a.example/b.png"}]})],
            }
        }

        fn messages(&self) -> Vec<Value> {
            match self {
                Self::Instructions | Self::User(_) | Self::Marked(_) => self.chat(),
                Self::Thought => vec![json!({"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"}]})],
                Self::Called(id) => vec![
                    json!({"role": "assistant", "content": [
                        {"type": "tool_use", "id": format!("c{id}"), "name": "f", "input": {}}]}),
                    json!({"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": format!("c{id}"), "content": "done"}]}),
                ],
                Self::Image => vec![json!({"role": "user", "content": [
                    {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}]})],
            }
        }

        fn gemini(&self) -> Vec<Value> {
            match self {
                Self::Instructions | Self::Thought => {
                    vec![json!({"role": "model", "parts": [{"text": "hm", "thought": true}]})]
                }
                Self::User(word) | Self::Marked(word) => {
                    vec![json!({"role": "user", "parts": [{"text": format!("word {word}")}]})]
                }
                Self::Called(_) => vec![
                    json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}),
                    json!({"role": "user", "parts": [
                        {"functionResponse": {"name": "f", "response": {"output": "done"}}}]}),
                ],
                Self::Image => vec![json!({"role": "user", "parts": [
                    {"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/b.png"}}]})],
            }
        }
    }

    fn piece() -> impl Strategy<Value = Piece> {
        prop_oneof![
            Just(Piece::Instructions),
            any::<u8>().prop_map(|word| Piece::User(word % 4)),
            any::<u8>().prop_map(|word| Piece::Marked(word % 4)),
            Just(Piece::Thought),
            any::<u8>().prop_map(|id| Piece::Called(id % 4)),
            Just(Piece::Image),
        ]
    }

    fn body(client: Protocol, pieces: &[Piece]) -> String {
        let elements: Vec<Value> = pieces.iter().flat_map(|it| it.elements(client)).collect();
        json!({client.facts().messages(): elements}).to_string()
    }

    proptest! {
        /// Calls of one process: each goes on from a part of the one before it.
        #[test]
        fn what_was_read_before_changes_nothing(
            calls in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(piece(), 0..6)), 1..6),
        ) {
            for (client, _) in SPELLINGS {
                let readings = Readings::default();
                let mut pieces: Vec<Piece> = Vec::new();
                for (kept, more) in &calls {
                    pieces.truncate(kept.index(pieces.len() + 1));
                    pieces.extend(more.iter().cloned());
                    let body = body(client, &pieces);
                    let whole = read_whole(client, &body);
                    let mut new = sent(&readings, client, &body, None);
                    prop_assert_eq!(&new.hashes, &whole.hashes);
                    prop_assert_eq!(&new.states, &whole.states);
                    prop_assert_eq!(new.end, whole.end);
                    prop_assert_eq!(&new.settings, &whole.settings);
                    let first = new.first;
                    prop_assert_eq!(new.lines_after(first).unwrap(), &whole.messages[first..]);
                    // By now all is known, and can be written out all the same.
                    prop_assert_eq!(sent(&readings, client, &body, Some(0)), whole);
                }
            }
        }
    }

    #[test]
    fn only_what_is_new_is_written_out() {
        let (readings, client) = (Readings::default(), Protocol::OpenaiChat);
        let mut pieces = vec![Piece::Instructions, Piece::User(1), Piece::Called(1)];
        let before = sent(&readings, client, &body(client, &pieces), None);
        assert_eq!((before.first, before.messages.len()), (0, 3));
        pieces.push(Piece::User(2));
        let mut after = sent(&readings, client, &body(client, &pieces), None);
        assert_eq!((after.first, after.messages.len()), (3, 1));
        assert_eq!(after.lines_after(2), None);
        assert_eq!(after.lines_after(4), Some(Vec::new()));
        assert_eq!(after.lines_after(3).unwrap().len(), 1);
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_known() {
        let (readings, client) = (Readings::default(), Protocol::OpenaiChat);
        let broken = r#"{"messages":[{"role":"user","content":"a"},{"role":7}]}"#;
        for _ in 0..2 {
            assert!(read_sent(&readings, &sender(client), &Survey::new(broken), None).is_err());
        }
    }
}
