//! What the chunks of a stream say of one choice.

use crate::conversation::{CallForm, Content, Finish, MediaKind};
use crate::json::{Text, Writer};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::object::{IsWritten, Object};
use crate::protocol::openai_chat::encode_request::message::{
    details, made_up_id, words, write_audio, write_signature,
};
use crate::protocol::openai_chat::encode_response;
use crate::protocol::openai_chat::encode_response::EndsWith;
use crate::protocol::openai_chat::encode_stream::Encoder;
use crate::protocol::openai_chat::types::shape;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{Citation, Field, Logprobs, NoteAt, Open, Opening, PartId};

/// A choice that has begun.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) index: u32,
    /// How many calls it has made; their numbers go up from 0.
    calls: u32,
    /// The part whose reasoning was written last.
    pub(super) reasoned: Option<PartId>,
    /// How many characters of text were written.
    pub(super) emitted: u64,
    /// Its last text, refusal and reasoning.
    text: Option<PartId>,
    refusal: Option<PartId>,
    reasoning: Option<PartId>,
    /// Whether one of its parts is no reasoning.
    speaks: bool,
    /// Whether anything of a refusal was written.
    pub(super) refused: bool,
}

/// A part by its number in the stream.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) candidate: u32,
    pub(super) kind: PartKind,
    pub(super) place: Place,
    /// Log probabilities that wait for the text they speak of.
    pub(super) logprobs: Option<Logprobs<'static>>,
    /// Where its text begins in the text of the choice.
    pub(super) from: u64,
    /// Citations that wait for the end of the text they speak of.
    pub(super) citations: Vec<Citation<'static>>,
    /// Whether anything of it was written.
    pub(super) is_emitted: bool,
    pub(super) is_closed: bool,
}

#[derive(Debug, Default)]
pub(super) enum PartKind {
    Text,
    Refusal,
    /// Reasoning, under the name of the field that it goes into.
    Reasoning(&'static str),
    Call {
        number: u32,
        form: CallForm,
        grown: bool,
    },
    /// The one call of `function_call`.
    Legacy,
    /// A custom tool that was offered as a function: its input shows only in the whole arguments.
    Wrapped {
        number: u32,
        arguments: Text<'static>,
    },
    /// Not shown to this client.
    #[default]
    Hidden,
}

impl Encoder<'_> {
    /// Begins a choice if it has not begun: clients want the role first.
    pub(super) fn choice(&mut self, index: u32) -> usize {
        if let Some(position) = self.find_choice(index) {
            return position;
        }
        self.choices.push(Choice { index, ..Choice::default() });
        self.chunk(index, |delta| {
            delta.field("role", "assistant");
            delta.field("content", "");
        });
        self.choices.len() - 1
    }

    pub(super) fn find_choice(&mut self, index: u32) -> Option<usize> {
        self.numbers.last(&self.choices, &index, |choice| &choice.index)
    }

    /// Writes a chunk with one delta of one choice.
    pub(super) fn chunk(&mut self, index: u32, delta: impl FnOnce(&mut Writer)) {
        self.choice_frame(index, |choice| {
            choice.literal_key("delta");
            choice.object(delta);
            choice.literal_key("finish_reason");
            choice.null();
        });
    }

    /// Writes a chunk for one choice.
    pub(super) fn choice_frame(&mut self, index: u32, members: impl FnOnce(&mut Writer)) {
        self.frame(|writer| {
            writer.literal_key("choices");
            writer.array(|writer| {
                writer.object(|choice| {
                    choice.literal_key("index");
                    choice.value(&index);
                    members(choice);
                });
            });
        });
    }

    pub(super) fn open(&mut self, open: Open<'_>) {
        let Open { part, candidate, opening, semantics } = open;
        self.begin_if_needed();
        let choice = self.choice(candidate);
        let place = semantics.place();
        let is_call = matches!(opening, Opening::ToolCall { .. });
        self.losses.add(NoteAt::Part(part), |reporter| match is_call {
            true => reporter.call_semantics(&semantics),
            false => reporter.semantics(&semantics),
        });
        self.report_joined((part, choice), &opening, &semantics);
        let kind = match opening {
            Opening::Text => PartKind::Text,
            Opening::Refusal => PartKind::Refusal,
            Opening::Reasoning(_) => self.open_reasoning((part, candidate), &semantics),
            Opening::ToolCall { id, name, form } => {
                self.open_call((part, choice), (id, name, form), &semantics)
            }
            Opening::Whole(content) => {
                self.write_whole((part, candidate), &content, &semantics);
                PartKind::Hidden
            }
        };
        let logprobs = semantics.logprobs().map(|it| it.clone().into_owned());
        // By its place in the list, whatever number it came with.
        self.choices[choice].add(PartId(self.parts.len() as u32), &kind);
        let from = self.choices[choice].emitted;
        self.parts.push(Part { candidate, kind, place, logprobs, from, ..Part::default() });
        for citation in semantics.citations() {
            self.cite(part, citation.clone());
        }
    }

    /// Reports a text, refusal or reasoning that is joined to an earlier one, and a text or refusal that stood behind a call.
    fn report_joined(
        &mut self,
        (part, choice): (PartId, usize),
        opening: &Opening<'_>,
        semantics: &NodeSemantics<'_>,
    ) {
        let place = encode_response::outermost(semantics);
        let Choice { text, refusal, reasoning, speaks, calls, .. } = &self.choices[choice];
        // A message of its own, of whatever words, is joined to the one before.
        let is_message = semantics.item().is_some();
        let either = text.max(refusal).filter(|_| is_message);
        let (earlier, is_behind) = match opening {
            Opening::Text => (either.or(*text), *speaks),
            Opening::Refusal => (either.or(*refusal), *calls > 0),
            Opening::Reasoning(_) => (*reasoning, false),
            Opening::ToolCall { .. } | Opening::Whole(_) => (None, false),
        };
        let before = earlier.map(|at| (at, self.parts[at.0 as usize].place));
        let own = (before.is_some() || is_behind).then_some((part, place));
        for (part, place) in [before, own].into_iter().flatten() {
            self.losses.add(NoteAt::Part(part), |reporter| {
                reporter.renamed(place, encode_response::ONE_TEXT);
                reporter.item(place, LossKind::Renamed, encode_response::ONE_TEXT);
            });
        }
    }

    fn open_reasoning(
        &mut self,
        (part, candidate): (PartId, u32),
        semantics: &NodeSemantics<'_>,
    ) -> PartKind {
        if !self.is_same() && !self.context.show_reasoning {
            self.losses.add(NoteAt::Part(part), |reporter| {
                let reason = "the request does not ask for reasoning to be shown";
                reporter.dropped((semantics, Field::Reasoning), reason);
            });
            return PartKind::Hidden;
        }
        if self.write_details(candidate, semantics) == IsWritten::Yes {
            return PartKind::Hidden;
        }
        PartKind::Reasoning(match self.is_same() {
            true if semantics.has_shape(shape::IN_CONTENT) => "content",
            true if semantics.has_shape(shape::REASONING) => "reasoning",
            _ => "reasoning_content",
        })
    }

    /// Writes what this protocol's own server wants back to go on reasoning, if the node holds that.
    pub(super) fn write_details(
        &mut self,
        candidate: u32,
        semantics: &NodeSemantics<'_>,
    ) -> IsWritten {
        let Some(json) = details(semantics) else { return IsWritten::No };
        self.chunk(candidate, |delta| delta.field("reasoning_details", &json));
        IsWritten::Yes
    }

    fn open_call(
        &mut self,
        (part, choice): (PartId, usize),
        (id, name, form): (Option<Text<'_>>, Text<'_>, CallForm),
        semantics: &NodeSemantics<'_>,
    ) -> PartKind {
        let candidate = self.choices[choice].index;
        if self.is_same() && semantics.has_shape(shape::LEGACY) {
            self.chunk(candidate, |delta| {
                delta.object_field("function_call", |it| {
                    it.field("name", &name);
                    it.field("arguments", "");
                });
            });
            return PartKind::Legacy;
        }
        let number = self.choices[choice].calls;
        self.choices[choice].calls += 1;
        if id.is_none() {
            self.losses.add(NoteAt::Part(part), |reporter| {
                let reason = "Chat pairs results with calls by id";
                reporter.synthesised((semantics, Field::CallId), reason);
            });
        }
        let name = self.context.client_name(&name).into_owned();
        let wrapped = form == CallForm::Function && self.context.is_custom(&name);
        let form = if wrapped { CallForm::Custom } else { form };
        let id = id.unwrap_or_else(|| made_up_id(&self.context, part.0 as usize));
        let extras = semantics.extras().filter(|_| self.is_same());
        let (kind, key) = words(form);
        self.write_fragment((candidate, number), extras, |call| {
            call.field("id", &id);
            call.field("type", kind);
            let mut payload = Object::open(call.key(kind), extras.map(|extras| (extras, kind)));
            payload.field("name", &name);
            payload.field(key, "");
            payload.close();
            write_signature(call, semantics, extras);
        });
        match wrapped {
            true => PartKind::Wrapped { number, arguments: Text::default() },
            false => PartKind::Call { number, form, grown: false },
        }
    }

    /// Writes a part that comes in one piece, if this protocol has it in answers.
    fn write_whole(
        &mut self,
        (part, candidate): (PartId, u32),
        content: &Content<'_>,
        semantics: &NodeSemantics<'_>,
    ) {
        let same = self.is_same();
        let sealed =
            matches!(content, Content::Reasoning(_)) && (same || self.context.show_reasoning);
        if sealed && self.write_details(candidate, semantics) == IsWritten::Yes {
            return;
        }
        match content {
            Content::Media(media) if same && media.kind == MediaKind::Audio => {
                self.chunk(candidate, |delta| {
                    delta.key("audio");
                    write_audio(delta, media, semantics);
                });
            }
            Content::Opaque(opaque) if same => {
                let in_calls = semantics.has_shape(shape::IN_CALLS);
                let key = if in_calls { "tool_calls" } else { "content" };
                self.chunk(candidate, |delta| {
                    delta.array_field(key, |writer| writer.value(&opaque.json));
                });
            }
            _ => self.losses.add(NoteAt::Part(part), |reporter| {
                reporter.dropped(semantics, "Chat answers have no such content");
            }),
        }
    }

    pub(super) fn note_choice(&mut self, index: u32, semantics: &NodeSemantics<'_>) {
        let at = NoteAt::Candidate(index);
        self.losses.add(at, |reporter| reporter.semantics(semantics));
        let Some(extras) = semantics.extras().filter(|_| self.is_same()) else { return };
        self.choice(index);
        self.choice_frame(index, |choice| {
            choice.key("delta");
            Object::open(choice, Some((extras, "message"))).close();
            if extras.within("logprobs").next().is_some() {
                choice.key("logprobs");
                Object::open(choice, Some((extras, "logprobs"))).close();
            }
            extras.within("").for_each(|extra| choice.field(&extra.key, &extra.json));
        });
    }

    pub(super) fn finish(&mut self, (candidate, place): (u32, Place), finish: &Finish<'_>) {
        self.begin_if_needed();
        let choice = self.choice(candidate);
        let ends_with = match (self.choices[choice].calls > 0, self.choices[choice].refused) {
            (true, _) => EndsWith::Calls,
            (false, true) => EndsWith::Refusal,
            (false, false) => EndsWith::Other,
        };
        let own = finish.raw.as_ref().filter(|_| self.is_same()).map(Text::to_str);
        let mut word = if ends_with == EndsWith::Calls { "tool_calls" } else { "stop" };
        self.losses.add(NoteAt::Candidate(candidate), |reporter| {
            reporter.finish(place, finish);
            word = encode_response::finish_word(finish.kind, ends_with, place, reporter);
        });
        let word = own.as_deref().unwrap_or(word);
        self.choice_frame(candidate, |choice| {
            choice.object_field("delta", |_| {});
            choice.field("finish_reason", word);
        });
    }
}

impl Choice {
    /// Remembers a part that begins.
    fn add(&mut self, part: PartId, kind: &PartKind) {
        self.speaks |= !matches!(kind, PartKind::Reasoning(_));
        match kind {
            PartKind::Text => self.text = Some(part),
            PartKind::Refusal => self.refusal = Some(part),
            PartKind::Reasoning(_) => self.reasoning = Some(part),
            PartKind::Call { .. } | PartKind::Legacy => {}
            PartKind::Wrapped { .. } | PartKind::Hidden => {}
        }
    }
}
