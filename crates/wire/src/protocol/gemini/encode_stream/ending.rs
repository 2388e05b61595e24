//! Writing the last frame, in which everything stands that is known only at the end.

use std::collections::VecDeque;

use crate::conversation::{Finish, FinishKind, Part};
use crate::json::{Text, Writer};
use crate::protocol::gemini::encode_response::{
    BLOCKED, Beside, finish_word, logprobs_result, write_candidate, write_grounding,
};
use crate::protocol::object::Object;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{Citation, Logprobs};
use crate::sse;

use super::Encoder;
use super::part::OpenPart;
use crate::protocol::gemini::usage::USAGE;

/// How one candidate ends.
#[derive(Debug, Default)]
pub(super) struct CandidateEnd {
    pub(super) finish: Option<Finish<'static>>,
    pub(super) semantics: NodeSemantics<'static>,
    /// Whether one of its parts is a refusal.
    pub(super) refused: bool,
    /// Whether one of its parts is a call.
    pub(super) calls: bool,
    /// A signature of the vendor's own that waits for the part it was on.
    pub(super) handed: Option<Part<'static>>,
    /// Whether any of its parts went out.
    pub(super) begun: bool,
    /// Its calls that have not gone out, in their order.
    pub(super) unsent: VecDeque<usize>,
}

impl CandidateEnd {
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether there is no answer, only the word that the prompt was refused.
    fn is_blocked(&self) -> bool {
        let filtered =
            self.finish.as_ref().is_some_and(|finish| finish.kind == FinishKind::PromptFilter);
        filtered && !self.begun
    }
}

impl Encoder<'_> {
    pub(super) fn last_frame(&self, out: &mut String) {
        sse::guarded_frame(out, |writer| {
            let extras = self.semantics.extras().filter(|_| self.is_same());
            let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
            let endings = || (0..).zip(&self.endings).filter(|(_, it)| it.is_finished());
            if endings().any(|(_, ending)| !ending.is_blocked()) {
                let list = object.key("candidates");
                list.begin_array();
                // The parts that are not silent, those of one candidate together.
                let mut parts: Vec<_> = self.parts.iter().filter(|part| !part.silent).collect();
                parts.sort_by_key(|part| part.candidate);
                for (index, ending) in endings().filter(|(_, ending)| !ending.is_blocked()) {
                    self.candidate(list, (index, ending), parts_of(&parts, index));
                }
                list.end_array();
            } else {
                object.unless_kept("promptFeedback", &BLOCKED);
            }
            if let Some(usage) = &self.usage {
                let stating = USAGE.stating(self.source);
                USAGE.write(object.key(USAGE.member), usage, self.tier.as_ref(), stating);
            }
            object.optional("modelVersion", self.model.as_ref());
            object.optional("responseId", self.id.as_ref());
            object.close();
        });
    }

    /// Writes an empty content too: the official clients look for one in every frame.
    fn candidate(
        &self,
        writer: &mut Writer,
        (index, ending): (u32, &CandidateEnd),
        parts: &[&OpenPart],
    ) {
        let same = self.is_same();
        let cited: Vec<(&[Citation<'_>], Option<&Text<'_>>)> =
            parts.iter().map(|it| (it.citations.as_slice(), it.text.as_ref())).collect();
        let finish = ending.finish.as_ref();
        // Those that came after all of the text they speak of.
        let late = Logprobs::joined(parts.iter().filter_map(|part| part.logprobs.clone()));
        let beside = Beside {
            index: index as usize,
            finish: finish.map(|finish| finish_word(finish, ending.refused, same)),
            grounding: write_grounding(&cited),
            logprobs: late.as_ref().and_then(logprobs_result),
        };
        let extras = ending.semantics.extras().filter(|_| same);
        write_candidate(writer, extras, &beside, |_| {});
    }
}

/// The parts of one candidate, of parts that are sorted by theirs.
fn parts_of<'p>(parts: &'p [&'p OpenPart], candidate: u32) -> &'p [&'p OpenPart] {
    let start = parts.partition_point(|part| part.candidate < candidate);
    let end = parts.partition_point(|part| part.candidate <= candidate);
    &parts[start..end]
}
