//! Watching answers that pass as they are: what they state of themselves, by the tables of the decoders and without taking
//! them apart. Each protocol reads its own frames in its `watch.rs`.

use std::collections::BTreeMap;

use memchr::memmem::Finder;

use crate::conversation::Counts;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Fault;
use crate::json::{Kind, Reader};
use crate::place::Place;
use crate::protocol::partial_call::Joiner;
use crate::protocol::semantics::Speller;
use crate::protocol::usage::Table;
use crate::protocol::{Event, Protocol, StreamDecoder};
use crate::sse::Frame;

/// What a passing answer has stated so far.
///
/// ```
/// use sabir_wire::Protocol;
/// use sabir_wire::conversation::Count;
/// use sabir_wire::protocol::Watch;
///
/// let mut watch = Watch::new(Protocol::OpenaiChat);
/// watch.whole(r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5}}"#);
/// assert_eq!(watch.counts()[Count::Output], Some(5));
/// ```
#[derive(Clone, Debug)]
pub struct Watch {
    protocol: Protocol,
    has_begun: bool,
    fault: Option<Fault<'static>>,
    progress: Progress,
}

/// How far a passing answer has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) candidates: Candidates,
    pub(super) has_failed: bool,
    /// Whether nothing more is to come, not even a count.
    pub(super) is_over: bool,
    counts: Counts,
    /// The counts as the vendor states them, since later reports need not repeat earlier ones.
    stated: Counts,
    /// Counts that hold if the answer states none where the protocol has them.
    pub(super) aside: Option<Counts>,
}

/// The candidates that have begun, and those that have ended: a bit for each, the last for all beyond.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    begun: u64,
    ended: u64,
    /// Those whose finish reason is that they broke off.
    broken_off: u64,
    /// Whether there are none because the prompt was blocked.
    pub(super) are_blocked: bool,
    /// The calls that come in pieces: as long as some are missing, an end is none.
    pieces: BTreeMap<u64, Joiner>,
}

impl Watch {
    pub fn new(protocol: Protocol) -> Self {
        Self { protocol, has_begun: false, fault: None, progress: Progress::default() }
    }

    /// Watches the next frame of a stream. Most frames are read no further than it takes to see that they state nothing of
    /// interest; one that is no frame of the protocol, as far as is seen, is an error.
    pub fn frame(&mut self, frame: &Frame<'_>) -> Result<()> {
        if !self.has_begun {
            self.begin(frame)?;
        } else if !is_whole(frame.data) {
            return Err(Error::new(ErrorKind::Syntax, "expected an object"));
        }
        if !self.has_begun || self.progress.has_failed || self.progress.is_over {
            return Ok(());
        }
        let progress = &mut self.progress;
        // What cannot be read passes too, and states nothing.
        let _ = (self.protocol.codec().watch_frame)(frame, progress);
        Ok(())
    }

    /// Watches an answer that is not a stream.
    pub fn whole(&mut self, body: &str) {
        self.has_begun = true;
        self.progress.is_over = true;
        let progress = &mut self.progress;
        // What cannot be read states nothing.
        if let Ok(true) = (self.protocol.codec().watch_whole)(body, progress)
            && let Ok(response) = self.protocol.decode_response(body.as_bytes())
        {
            self.fault = response.fault.map(Fault::into_owned);
            self.progress.has_failed = self.fault.is_some();
        }
    }

    /// Reads a first frame in full: it shows whether the provider answers at all.
    fn begin(&mut self, frame: &Frame<'_>) -> Result<()> {
        let (has_begun, first) = (&mut self.has_begun, &mut self.fault);
        let _ = StreamDecoder::new(self.protocol).step(frame, &mut |event| {
            if let (false, Event::Fault(fault)) = (*has_begun, &event) {
                *first = Some(fault.clone().into_owned());
            }
            *has_begun = true;
        })?;
        Ok(())
    }

    /// Whether the answer has begun, if only with a fault.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Takes the fault that stood in the place of an answer.
    pub fn take_fault(&mut self) -> Option<Fault<'static>> {
        self.fault.take()
    }

    pub fn has_failed(&self) -> bool {
        self.progress.has_failed
    }

    /// Whether the answer came to an end of its own, good or bad.
    pub fn is_complete(&self) -> bool {
        self.progress.candidates.have_ended() || self.progress.has_failed
    }

    /// Whether its provider states an end and no fault, though not all of it can be acted on: a call in pieces lacks some.
    pub fn lacks_pieces(&self) -> bool {
        let Progress { candidates, has_failed, .. } = &self.progress;
        candidates.have_stated_ends() && candidates.lack_pieces() && !has_failed
    }

    /// Whether nothing more is to come, not even a count.
    pub fn is_over(&self) -> bool {
        self.progress.is_over
    }

    /// What the answer cost, as far as it states it.
    pub fn counts(&self) -> Counts {
        let Progress { candidates, counts, aside, .. } = &self.progress;
        match aside {
            Some(aside) if *counts == Counts::default() && candidates.have_ended() => *aside,
            Some(_) | None => *counts,
        }
    }
}

impl Progress {
    /// Reads a usage report of a stream.
    pub(super) fn count<S: Speller>(
        &mut self,
        table: &Table<S>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let report = table.read(reader, Place::default())?;
        self.counts.update(table.following(report, &mut self.stated).counts);
        Ok(())
    }

    /// Looks through a whole answer, and returns whether it has an error.
    pub(super) fn whole<S: Speller>(&mut self, table: &Table<S>, body: &str) -> Result<bool> {
        let mut has_error = false;
        Reader::new(body).object(|key, reader| match (&*key, reader.kind()?) {
            (member, Kind::Object) if member == table.member => {
                table.decode(reader, Place::default()).map(|usage| self.counts = usage.counts)
            }
            (member, kind) => {
                has_error |= member == "error" && matches!(kind, Kind::Object | Kind::String);
                reader.skip()
            }
        })?;
        Ok(has_error)
    }
}

impl Candidates {
    pub(super) fn have_begun(&self) -> bool {
        self.begun != 0
    }

    /// Whether the first one has, of which most frames speak.
    pub(super) fn first_has_begun(&self) -> bool {
        self.begun & 1 != 0
    }

    pub(super) fn begin(&mut self, number: u64) {
        self.begun |= bit(number);
    }

    pub(super) fn end(&mut self, number: u64) {
        self.ended |= bit(number);
    }

    /// Sets whether the finish reason of a candidate is that it broke off: then its calls may lack pieces.
    pub(super) fn set_broken_off(&mut self, number: u64, breaks_off: bool) {
        self.broken_off &= !bit(number);
        self.broken_off |= bit(number) * u64::from(breaks_off);
    }

    pub(super) fn end_all(&mut self) {
        self.ended = u64::MAX;
    }

    fn have_ended(&self) -> bool {
        self.have_stated_ends() && !self.lack_pieces()
    }

    fn have_stated_ends(&self) -> bool {
        match self.begun {
            0 => self.are_blocked || self.ended != 0,
            begun => begun & !self.ended == 0,
        }
    }

    fn lack_pieces(&self) -> bool {
        let lacks = |(number, pieces): (&u64, &Joiner)| {
            pieces.lacks_pieces() && self.broken_off & bit(*number) == 0
        };
        self.pieces.iter().any(lacks)
    }

    /// The calls of a candidate that come in pieces.
    pub(super) fn pieces(&mut self, number: u64) -> &mut Joiner {
        self.pieces.entry(number).or_default()
    }
}

fn bit(number: u64) -> u64 {
    1 << number.min(u64::from(u64::BITS - 1))
}

/// Whether a frame holds what all frames hold, as far as its two ends show.
fn is_whole(data: &str) -> bool {
    let data = data.trim_ascii();
    data.starts_with('{') && data.ends_with('}') || matches!(data, "" | "[DONE]")
}

/// Whether a member of the name that is searched for, anywhere in the data, has a value of which `says` is true. A quoted
/// name cannot stand in a string, where its quotes would be escaped.
pub(super) fn has_value(name: &Finder<'_>, data: &str, is_meant: impl Fn(&[u8]) -> bool) -> bool {
    let bytes = data.as_bytes();
    name.find_iter(bytes).any(|start| {
        let behind = bytes[start + name.needle().len()..].trim_ascii_start();
        behind.strip_prefix(b":").is_some_and(|value| is_meant(value.trim_ascii_start()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Count;

    fn watched(protocol: Protocol, frames: &[&str]) -> Watch {
        let mut watch = Watch::new(protocol);
        for data in frames {
            watch.frame(&Frame { event: None, data }).unwrap();
        }
        watch
    }

    fn whole(protocol: Protocol, body: &str) -> Watch {
        let mut watch = Watch::new(protocol);
        watch.whole(body);
        watch
    }

    #[track_caller]
    fn check(watch: &Watch, counts: [Option<u64>; 4]) {
        let seen = [Count::Input, Count::CacheRead, Count::Output, Count::Reasoning]
            .map(|count| watch.counts()[count]);
        assert_eq!(seen, counts);
    }

    const CHAT: Protocol = Protocol::OpenaiChat;
    const MESSAGES: Protocol = Protocol::AnthropicMessages;

    #[test]
    fn keys_of_another_protocol_are_not_counted() {
        let usage = r#"{"prompt_tokens":100,"cache_read_input_tokens":80,"completion_tokens":2}"#;
        let expected = [Some(100), None, Some(2), None];
        check(&whole(CHAT, &format!(r#"{{"choices":[],"usage":{usage}}}"#)), expected);
        let chunk =
            format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{{}}}}],"usage":{usage}}}"#);
        check(&watched(CHAT, &[&chunk]), expected);
    }

    #[test]
    fn a_later_report_keeps_the_cache_counts_of_an_earlier_one() {
        let watch = watched(
            MESSAGES,
            &[
                r#"{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":3}}}"#,
                r#"{"type":"message_delta","delta":{},"usage":{"input_tokens":5,"output_tokens":2}}"#,
            ],
        );
        check(&watch, [Some(8), Some(3), Some(2), None]);
    }

    #[test]
    fn a_number_that_is_not_whole_is_no_count() {
        let body = r#"{"usage":{"prompt_tokens":12.0,"completion_tokens":"3"}}"#;
        check(&whole(CHAT, body), [None; 4]);
    }

    #[test]
    fn a_stream_is_over_when_nothing_more_can_come() {
        let chunk = r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
        let mut watch = watched(CHAT, &[chunk]);
        assert!(watch.is_complete() && !watch.is_over());
        watch.frame(&Frame { event: None, data: "[DONE]" }).unwrap();
        assert!(watch.is_over());
        let stop = [r#"{"type":"message_start","message":{}}"#, r#"{"type":"message_stop"}"#];
        assert!(watched(MESSAGES, &stop).is_over());
    }

    #[test]
    fn words_of_the_model_are_no_signs() {
        let chunk = r#"{"id":"c","choices":[{"index":0,"delta":{"content":"\"error\":{} \"usage\":{} \"finish_reason\":\"stop\""}}]}"#;
        let watch = watched(CHAT, &[chunk, chunk]);
        assert!(watch.has_begun() && !watch.is_complete() && !watch.has_failed());
        check(&watch, [None; 4]);
    }

    #[test]
    fn an_error_in_the_place_of_an_answer_is_a_fault() {
        let error = r#"{"error":{"message":"no","type":"api_error"}}"#;
        for protocol in Protocol::ALL {
            assert!(whole(protocol, error).take_fault().is_some(), "{protocol:?}");
        }
        let mut watch = watched(CHAT, &[error]);
        assert!(watch.has_failed() && watch.take_fault().is_some());
    }

    #[test]
    fn half_a_frame_is_none() {
        let mut watch = watched(MESSAGES, &[r#"{"type":"message_start","message":{}}"#]);
        let half = Frame { event: None, data: r#"{"type":"message_"# };
        assert!(watch.frame(&half).is_err());
    }
}
