//! Cutting whole answers into streams: pieces of text, turns between queues, and frames.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::{Arbitrary, BoxedStrategy, Strategy, any};
use serde_json::Value;

/// Decides where a stream is cut and what comes next; equal cuts decide equally.
#[derive(Clone, Debug)]
pub struct Cuts {
    choices: Vec<u8>,
    next: usize,
}

impl Arbitrary for Cuts {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        vec(any::<u8>(), 1..24).prop_map(|choices| Self { choices, next: 0 }).boxed()
    }
}

impl Cuts {
    /// A number below `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        let choice = self.choices[self.next % self.choices.len()];
        self.next += 1;
        usize::from(choice) % count.max(1)
    }

    /// True once in `count` times, more or less.
    pub(super) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    /// A text in pieces; an empty text has none, and some pieces are empty.
    pub(super) fn pieces(&mut self, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut characters: VecDeque<char> = text.chars().collect();
        let longest = 1 + characters.len() / 3;
        while !characters.is_empty() {
            let length = self.below(longest + 1).min(characters.len());
            pieces.push(characters.drain(..length).collect());
            if length == 0 {
                pieces.push(characters.drain(..1).collect());
            }
        }
        pieces
    }

    /// Takes from the queues in turn until all are empty; they begin in their order, and the order within each stays.
    pub(super) fn interleave<T>(&mut self, mut queues: Vec<VecDeque<T>>) -> Vec<T> {
        let mut taken: Vec<T> = queues.iter_mut().filter_map(VecDeque::pop_front).collect();
        loop {
            queues.retain(|queue| !queue.is_empty());
            if queues.is_empty() {
                return taken;
            }
            let choice = self.below(queues.len());
            taken.extend(queues[choice].pop_front());
        }
    }
}

/// A stream of events in the making.
pub(super) struct Frames {
    out: String,
    line_end: &'static str,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self { out: String::new(), line_end: "\n" }
    }

    pub(super) fn with_returns() -> Self {
        Self { out: String::new(), line_end: "\r\n" }
    }

    /// A frame with only data.
    pub(super) fn data(&mut self, data: &Value) {
        self.raw(&data.to_string());
    }

    /// A frame that is named by the `type` of its data.
    pub(super) fn named(&mut self, data: &Value) {
        let name = data["type"].as_str().unwrap_or_default();
        self.out.push_str(&format!("event: {name}{}", self.line_end));
        self.data(data);
    }

    /// A frame whose data is no JSON.
    pub(super) fn raw(&mut self, data: &str) {
        let end = self.line_end;
        self.out.push_str(&format!("data: {data}{end}{end}"));
    }

    /// A comment, as proxies send to keep a connection alive.
    pub(super) fn comment(&mut self) {
        let end = self.line_end;
        self.out.push_str(&format!(": keepalive{end}{end}"));
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out.into_bytes()
    }
}
