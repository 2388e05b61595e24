//! The counts that clients steer by, estimated where a provider does not state them: a client that believes its conversation
//! to be empty never shortens it.

use crate::conversation::{Content, Count, Counts, Response, Usage};
use crate::loss::{LossKind, Report};
use crate::place::Place;
use crate::protocol::reporter::Reporter;
use crate::protocol::{AnswerContext, Delta, Event, Opening, PartId, Protocol, unfold};

/// In English prose and most code.
const BYTES_PER_TOKEN: u64 = 4;

/// The usage of one answer, as far as it is stated, and an estimate of the rest.
#[derive(Debug, Default)]
pub(super) struct UsageEstimate {
    input: u64,
    output_bytes: u64,
    reasoning_bytes: u64,
    /// The parts that are open and hold reasoning.
    reasoning: Vec<PartId>,
    stated: Counts,
    has_finished: bool,
    is_used: bool,
}

impl UsageEstimate {
    /// An estimate for an answer of another protocol, if it may be needed.
    pub(super) fn of(context: &AnswerContext<'_>, parties: (Protocol, Protocol)) -> Option<Self> {
        let input = context.estimated_input.filter(|_| parties.0 != parties.1)?;
        Some(Self { input, ..Self::default() })
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Open(open) => {
                if matches!(open.opening, Opening::Reasoning(_)) {
                    self.reasoning.push(open.part);
                }
                self.output_bytes += opening_bytes(&open.opening);
            }
            Event::Delta(part, Delta::Text(text)) => {
                let bytes = text.len_hint() as u64;
                self.output_bytes += bytes;
                if self.reasoning.contains(part) {
                    self.reasoning_bytes += bytes;
                }
            }
            Event::Close(closed) => self.reasoning.retain(|part| *part != closed.part),
            Event::Usage(usage) => self.stated.update(usage.counts),
            Event::Finish { .. } => self.has_finished = true,
            Event::Start(_) | Event::Delta(_, Delta::NextPiece) => {}
            Event::Note(_) | Event::Fault(_) => {}
        }
    }

    /// A report with what it lacks. Before the end of an answer more may be stated.
    pub(super) fn complete(&mut self, usage: &mut Usage<'_>) {
        if let Some(counts) = self.lacking().filter(|_| self.has_finished) {
            self.is_used = true;
            usage.counts.update(counts);
        }
    }

    /// A report for an answer that has ended without a whole one.
    pub(super) fn owed(&mut self) -> Option<Usage<'static>> {
        if !self.has_finished || self.is_used || self.lacking().is_none() {
            return None;
        }
        let mut usage = Usage::default();
        self.complete(&mut usage);
        Some(usage)
    }

    /// What is not stated. A count of zero where there is something was counted by nobody.
    fn lacking(&self) -> Option<Counts> {
        let lacks = |count: Count| self.stated[count].unwrap_or_default() == 0;
        let output = self.output_bytes.div_ceil(BYTES_PER_TOKEN);
        let mut counts = self.stated;
        if lacks(Count::Input) {
            counts[Count::Input] = Some(self.input);
        }
        if lacks(Count::Output) && output > 0 {
            counts[Count::Output] = Some(output);
            let reasoning = self.reasoning_bytes.div_ceil(BYTES_PER_TOKEN);
            counts[Count::Reasoning] = Some(reasoning).filter(|count| *count > 0);
        }
        if counts == self.stated {
            return None;
        }
        let sum = [Count::Input, Count::Output].map(|it| counts[it].unwrap_or_default());
        counts[Count::Total] = Some(sum[0].saturating_add(sum[1]));
        Some(counts)
    }

    /// Reports that the client was given an estimate.
    pub(super) fn report(&self, (source, target): (Protocol, Protocol), report: &mut Report) {
        if self.is_used {
            let reason = "the provider does not state all counts; an estimate is written";
            let pointer = source.conventions().usage_pointer;
            let mut reporter = Reporter::new(source, target, report);
            reporter.below(Place::default(), pointer, LossKind::Synthesised, reason);
        }
    }
}

/// The usage of a whole answer with what its provider does not state, if that is anything.
pub(super) fn completed(
    response: &Response<'_>,
    context: &AnswerContext<'_>,
    parties: (Protocol, Protocol),
) -> Option<(Usage<'static>, UsageEstimate)> {
    let is_stated = |count: Count| {
        response.usage.as_ref().and_then(|usage| usage.counts[count]).unwrap_or_default() > 0
    };
    if is_stated(Count::Input) && is_stated(Count::Output) {
        return None;
    }
    let mut estimate = UsageEstimate::of(context, parties)?;
    unfold(response.clone(), &mut |event| estimate.event(&event));
    estimate.has_finished = true;
    let mut usage = response.usage.clone().unwrap_or_default().into_owned();
    estimate.complete(&mut usage);
    estimate.is_used.then_some((usage, estimate))
}

fn opening_bytes(opening: &Opening<'_>) -> u64 {
    let bytes = match opening {
        Opening::ToolCall { name, .. } => name.len_hint(),
        Opening::Whole(Content::Text(text) | Content::Refusal(text)) => text.len_hint(),
        Opening::Text | Opening::Refusal | Opening::Reasoning(_) | Opening::Whole(_) => 0,
    };
    bytes as u64
}

impl AnswerContext<'_> {
    /// Whether the usage of an answer is in part an estimate when it is written in `target`'s protocol.
    pub fn estimates_usage(&self, response: &Response<'_>, parties: (Protocol, Protocol)) -> bool {
        completed(response, self, parties).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client of Messages is told of an answer of Chat, and how many entries say that it was made up.
    fn stated(usage: &str) -> (String, usize) {
        let body = format!(
            r#"{{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":"12345678"}},"finish_reason":"stop"}}],"usage":{usage}}}"#
        );
        let context = AnswerContext { estimated_input: Some(900), ..AnswerContext::default() };
        let source = Protocol::OpenaiChat;
        let response = source.decode_response(body.as_bytes()).unwrap();
        let encoded = Protocol::AnthropicMessages.encode_response(&response, source, &context);
        let usage = encoded.body.split(r#""usage":"#).nth(1).unwrap().to_owned();
        (usage, encoded.report.count(LossKind::Synthesised))
    }

    #[test]
    fn what_is_stated_stays_and_only_the_rest_is_estimated() {
        for (usage, input, output, made_up) in [
            (r#"{"prompt_tokens":5,"completion_tokens":7}"#, 5, 7, 0),
            (r#"{"prompt_tokens":5,"completion_tokens":0}"#, 5, 2, 1),
            (r#"{"prompt_tokens":0,"completion_tokens":7}"#, 900, 7, 1),
            (r#"{"completion_tokens":7}"#, 900, 7, 1),
            ("{}", 900, 2, 1),
            ("null", 900, 2, 1),
        ] {
            let (written, entries) = stated(usage);
            let counts = format!(r#"{{"input_tokens":{input},"output_tokens":{output}"#);
            assert!(written.starts_with(&counts), "{usage}: {written}");
            assert_eq!(entries, made_up, "{usage}");
        }
    }

    #[test]
    fn an_answer_that_says_nothing_costs_no_output() {
        let mut estimate = UsageEstimate::of(
            &AnswerContext { estimated_input: Some(900), ..AnswerContext::default() },
            (Protocol::OpenaiChat, Protocol::Gemini),
        )
        .unwrap();
        assert!(estimate.owed().is_none(), "the answer has not ended");
        estimate.has_finished = true;
        let owed = estimate.owed().unwrap();
        assert_eq!((owed.counts[Count::Input], owed.counts[Count::Output]), (Some(900), None));
        assert!(estimate.owed().is_none(), "it is owed once");
    }
}
