//! The history of a call as lines of the log, read as far as it is new: what was read before is known by its bytes.

use std::ops::Range;

use sabir_store::{Hash, NewMessage, TIPS_MAX};
use sabir_wire::Protocol;
use sabir_wire::json::Survey;
use sabir_wire::protocol::{Contents, Outline};

use crate::failure::Result;
use crate::memory::{Look, Mark, Readings};
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

/// How much of a history is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The lines that were not read before, written out, and so many before them that a conversation is found by one.
    New,
    /// The same, and all lines before them.
    All,
    /// All lines, so many of the last ones written out.
    Last(usize),
}

/// A history, of which the last lines are written out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SentHistory {
    /// The names of the lines.
    pub(super) hashes: Vec<Hash>,
    /// What was meant up to the end of each line.
    pub(super) states: Vec<Option<Hash>>,
    /// Whether there are lines before these.
    pub(super) is_cut: bool,
    /// The first of the lines that are written out.
    first: usize,
    messages: Vec<NewMessage>,
    pub(super) end: Position,
    pub(super) settings: Settings,
    pub(super) marks: Marks,
}

/// By which elements a history is known again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// That with which the last line ends that is not written out.
    pub(super) before: Option<Mark>,
    /// That with which the last line ends.
    pub(super) end: Option<Mark>,
}

impl SentHistory {
    /// The last line that is not written out, and those behind it; none if there is no such line.
    pub(super) fn written_out(&mut self) -> Option<(Hash, Vec<NewMessage>)> {
        let last = self.first.checked_sub(1)?;
        Some((*self.hashes.get(last)?, std::mem::take(&mut self.messages)))
    }

    /// Whether the store is known to have so many of the lines that all that are not written out are among them.
    pub(super) fn is_met_by(&self, known: usize) -> bool {
        known >= self.first
    }

    /// The lines behind the first so many; none if not all of them are written out.
    pub(super) fn lines_after(&mut self, known: usize) -> Option<Vec<NewMessage>> {
        let written = known.checked_sub(self.first)?;
        Some(self.messages.drain(written.min(self.messages.len())..).collect())
    }
}

/// Reads a history as far as it is wanted and was not read before.
pub(super) fn read_sent(
    readings: &Readings,
    sender: &Sender,
    body: &Survey<'_>,
    wanted: Wanted,
) -> Result<SentHistory> {
    pool::check_thread(body.source().len());
    let (client, outline) = (sender.client, Outline::of(sender.client, body)?);
    let passage = Passage::read(readings, sender, &outline, wanted)?;
    let (lines, end) = passage.lines();
    let first = match wanted {
        Wanted::New | Wanted::All => {
            lines.iter().take_while(|line| line.elements.end <= passage.read_before).count()
        }
        Wanted::Last(count) => lines.len().saturating_sub(count),
    };
    let write = |line: &Line| {
        let elements = &outline.elements()[line.elements.clone()];
        let record = record(client, &elements.join(",")).map_err(|it| out_of_order(&it))?;
        Ok(NewMessage { hash: line.hash, record })
    };
    let messages = lines.iter().skip(first).map(write).collect::<Result<_>>()?;
    let kept = |text: Option<String>| text.map(|text| (client, text));
    let system = kept(outline.system(passage.leading));
    let settings = Settings { system, tools: kept(outline.tools().map(str::to_owned)) };
    let hashes = lines.iter().map(|line| line.hash).collect();
    let states = passage.steps.iter().filter_map(|step| step.end().map(|it| it.meaning)).collect();
    let is_cut = passage.is_cut();
    let mark = |line: Option<&Line>| passage.marks.get(line?.elements.end.checked_sub(1)?).copied();
    let before = mark(first.checked_sub(1).and_then(|last| lines.get(last)));
    let marks = Marks { before, end: mark(lines.last()) };
    Ok(SentHistory { hashes, states, is_cut, first, messages, end, settings, marks })
}

/// The last elements of a history: from one with which a line begins up to the end.
struct Passage {
    /// How many elements of the history are the leading instructions.
    leading: usize,
    /// The first of the elements.
    first: usize,
    steps: Vec<Step>,
    /// The elements of the history before this one were read before.
    read_before: usize,
    /// Of all elements.
    marks: Vec<Mark>,
}

impl Passage {
    fn read(
        readings: &Readings,
        sender: &Sender,
        outline: &Outline<'_>,
        wanted: Wanted,
    ) -> Result<Self> {
        let elements = outline.elements().iter().map(|element| &**element);
        let marks = readings.marks([&sender.owner, sender.client.as_str()], elements);
        let lines_max = if wanted == Wanted::New { TIPS_MAX } else { usize::MAX };
        let known = readings.look(|look| Self::known(look, &marks, lines_max));
        let known = known.filter(|it| wanted == Wanted::New || !it.is_cut());
        let passage = match known {
            Some(passage) => passage.read_on(readings, outline, &marks)?,
            None => Self::read_all(readings, outline, &marks)?,
        };
        Ok(Self { marks, ..passage })
    }

    /// What was read before of a history, as far as so many lines go back; none if that is no line, or nobody knows any more
    /// where the history begins.
    fn known(look: &mut Look<'_>, marks: &[Mark], lines_max: usize) -> Option<Self> {
        let last = (0..marks.len()).rev().find(|at| look.step(&marks[*at]).is_some())?;
        let mut leading = 0;
        while look.step(marks.get(leading)?)? == Step::Instructs {
            leading += 1;
        }
        let mut steps = Vec::new();
        let mut lines = Vec::new();
        for at in (leading..=last).rev() {
            let Some(step) = look.step(&marks[at]) else { break };
            if let Step::Line { .. } = step {
                lines.push(at);
            }
            if lines.len() > lines_max {
                break;
            }
            steps.push(step);
        }
        let mut first = last + 1 - steps.len();
        if first > leading && lines.len() <= lines_max {
            // What stands before is not known any more: the first line that is may have begun there.
            let behind = lines.last()? + 1;
            steps.truncate(last + 1 - behind);
            first = behind;
        }
        steps.reverse();
        let has_line = steps.iter().any(|step| step.end().is_some());
        let (read_before, marks) = (last + 1, Vec::new());
        has_line.then_some(Self { leading, first, steps, read_before, marks })
    }

    fn read_all(readings: &Readings, outline: &Outline<'_>, marks: &[Mark]) -> Result<Self> {
        let Contents { leading, elements } = outline.contents_from(0)?;
        let mut end = Position::default();
        let mut steps = vec![Step::Instructs; leading];
        steps.extend(elements[leading..].iter().map(|content| end.step(content)));
        remember(readings, marks, &steps);
        let (steps, marks) = (steps.split_off(leading), Vec::new());
        Ok(Self { leading, first: leading, steps, read_before: 0, marks })
    }

    fn read_on(
        mut self,
        readings: &Readings,
        outline: &Outline<'_>,
        marks: &[Mark],
    ) -> Result<Self> {
        if self.read_before < marks.len() {
            let mut end = self.steps.iter().rev().find_map(Step::end).unwrap_or_default();
            let contents = outline.contents_from(self.read_before)?;
            let known = self.steps.len();
            self.steps.extend(contents.elements.iter().map(|content| end.step(content)));
            remember(readings, &marks[self.read_before..], &self.steps[known..]);
        }
        Ok(self)
    }

    fn is_cut(&self) -> bool {
        self.first > self.leading
    }

    /// The lines that the elements make, and where they end.
    fn lines(&self) -> (Vec<Line>, Position) {
        let mut lines = Vec::with_capacity(self.steps.len());
        let mut position = Position::default();
        let (mut start, behind) = (self.first, self.first + self.steps.len());
        for (at, step) in (self.first..).zip(&self.steps) {
            if let Step::Line { hash, end } = step {
                lines.push(Line { hash: *hash, elements: start..at + 1 });
                (start, position) = (at + 1, *end);
            }
        }
        if start < behind {
            let hash = position.think();
            lines.push(Line { hash, elements: start..behind });
        }
        (lines, position)
    }
}

fn remember(readings: &Readings, marks: &[Mark], steps: &[Step]) {
    let new: Vec<(Mark, Step)> = marks.iter().copied().zip(steps.iter().copied()).collect();
    readings.add(&new);
}

/// A line of the log, and its elements.
struct Line {
    hash: Hash,
    elements: Range<usize>,
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

    fn sent(readings: &Readings, client: Protocol, body: &str, wanted: Wanted) -> SentHistory {
        let sent = read_sent(readings, &sender(client), &Survey::new(body), wanted).unwrap();
        SentHistory { marks: Marks::default(), ..sent }
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
            is_cut: false,
            first: 0,
            messages: lines.messages,
            end: lines.end,
            settings: Settings { system: kept(entries.system), tools: kept(entries.tools) },
            marks: Marks::default(),
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
        /// Calls of one process: each goes on from a part of the one before it, and some of what was read is forgotten.
        #[test]
        fn what_was_read_before_changes_nothing(
            calls in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(piece(), 0..12)), 1..6),
            mut forgets in any::<u64>(),
            last in 0_usize..40,
        ) {
            for (client, _) in SPELLINGS {
                let readings = Readings::default();
                let mut pieces: Vec<Piece> = Vec::new();
                for (kept, more) in &calls {
                    pieces.truncate(kept.index(pieces.len() + 1));
                    pieces.extend(more.iter().cloned());
                    let body = body(client, &pieces);
                    let whole = read_whole(client, &body);
                    let mut new = sent(&readings, client, &body, Wanted::New);
                    let cut = whole.hashes.len() - new.hashes.len();
                    prop_assert_eq!(new.is_cut, cut > 0);
                    prop_assert!(!new.is_cut || new.first <= TIPS_MAX);
                    prop_assert_eq!(&new.hashes, &whole.hashes[cut..]);
                    prop_assert!(whole.states.ends_with(&new.states));
                    prop_assert_eq!(new.end, whole.end);
                    prop_assert_eq!(&new.settings, &whole.settings);
                    let first = new.first;
                    prop_assert_eq!(new.lines_after(first).unwrap(), &whole.messages[cut + first..]);
                    // By now all is known, and can be written out all the same.
                    let all = sent(&readings, client, &body, Wanted::All);
                    prop_assert_eq!((&all.hashes, &all.states), (&whole.hashes, &whole.states));
                    let count = last.min(whole.messages.len());
                    let mut ended = sent(&readings, client, &body, Wanted::Last(count));
                    let first = whole.messages.len() - count;
                    prop_assert_eq!(ended.lines_after(first).unwrap(), &whole.messages[first..]);
                    prop_assert_eq!(sent(&readings, client, &body, Wanted::Last(usize::MAX)), whole);
                    readings.forget(|| {
                        forgets = forgets.rotate_left(1);
                        forgets & 0b111 == 0
                    });
                }
            }
        }
    }

    #[test]
    fn only_what_is_new_is_written_out() {
        let (readings, client) = (Readings::default(), Protocol::OpenaiChat);
        let mut pieces = vec![Piece::Instructions, Piece::User(1), Piece::Called(1)];
        let before = sent(&readings, client, &body(client, &pieces), Wanted::New);
        assert_eq!((before.first, before.messages.len()), (0, 3));
        pieces.push(Piece::User(2));
        let mut after = sent(&readings, client, &body(client, &pieces), Wanted::New);
        assert_eq!((after.first, after.messages.len()), (3, 1));
        assert_eq!(after.lines_after(2), None);
        assert_eq!(after.lines_after(4), Some(Vec::new()));
        assert_eq!(after.lines_after(3).unwrap().len(), 1);
    }

    #[test]
    fn the_end_of_a_call_is_what_the_next_one_has_before_what_is_new() {
        for (client, _) in SPELLINGS {
            let readings = Readings::default();
            let mut pieces = vec![Piece::Instructions, Piece::User(1), Piece::Called(1)];
            let read = |pieces: &[Piece]| {
                let body = body(client, pieces);
                read_sent(&readings, &sender(client), &Survey::new(&body), Wanted::New).unwrap()
            };
            let first = read(&pieces);
            assert!(first.marks.before.is_none() && first.marks.end.is_some());
            let end = *first.hashes.last().unwrap();
            pieces.push(Piece::User(2));
            let mut second = read(&pieces);
            assert_eq!(second.marks.before, first.marks.end);
            let (before, new) = second.written_out().unwrap();
            assert_eq!((before, new.len()), (end, 1));
        }
    }

    #[test]
    fn no_more_is_looked_at_than_a_conversation_is_found_by() {
        let (readings, client) = (Readings::default(), Protocol::OpenaiChat);
        let mut pieces: Vec<Piece> = (0..40).map(Piece::User).collect();
        let whole = sent(&readings, client, &body(client, &pieces), Wanted::New);
        assert_eq!((whole.hashes.len(), whole.is_cut), (40, false));
        pieces.push(Piece::User(40));
        let new = sent(&readings, client, &body(client, &pieces), Wanted::New);
        assert_eq!((new.hashes.len(), new.is_cut, new.first), (TIPS_MAX + 1, true, TIPS_MAX));
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_known() {
        let (readings, client) = (Readings::default(), Protocol::OpenaiChat);
        let broken = r#"{"messages":[{"role":"user","content":"a"},{"role":7}]}"#;
        for _ in 0..2 {
            assert!(
                read_sent(&readings, &sender(client), &Survey::new(broken), Wanted::New).is_err()
            );
        }
    }
}
