//! Folding: a stream of events becomes the whole response it stands for.

use crate::conversation::{
    Arguments, Candidate, Content, Message, Part, Reasoning, Response, Role, ToolCall,
};
use crate::json::Text;
use crate::limit::CANDIDATES_MAX;
use crate::protocol::event::{
    Closed, Delta, Event, Note, NoteAt, NoteKind, Open, Opening, PartId, Start,
};

/// A response in the making.
#[derive(Debug, Default)]
pub struct Fold {
    response: Response<'static>,
    /// Where each part went, by the number it was opened under: candidate and index.
    parts: Vec<(usize, usize)>,
}

impl Fold {
    /// Adds one event.
    pub fn step(&mut self, event: Event<'_>) {
        match event.into_owned() {
            Event::Start(start) => self.start(start),
            Event::Open(open) => self.open(open),
            Event::Delta(part, delta) => {
                if let Some(part) = self.part(part) {
                    grow(part, delta);
                }
            }
            Event::Note(note) => self.note(note),
            Event::Close(Closed { part, semantics }) => {
                if let Some(part) = self.part(part) {
                    part.semantics_mut().merge(semantics);
                }
            }
            Event::Usage(usage) => {
                let place = usage.semantics().place();
                let all = self.response.usage.get_or_insert_default();
                all.update(usage);
                all.semantics_mut().move_to(place);
            }
            Event::Finish { candidate, place, finish } => {
                let candidate = self.candidate(candidate);
                candidate.finish = Some(finish);
                candidate.semantics_mut().move_to(place);
            }
            Event::Fault(fault) => self.response.fault = Some(fault),
        }
    }

    /// A part that was opened, as far as it has come, and the number of its candidate.
    pub fn opened(&self, part: PartId) -> Option<(usize, &Part<'static>)> {
        let (candidate, index) = *self.parts.get(part.0 as usize)?;
        let parts = &self.response.candidates.get(candidate)?.message.parts;
        parts.get(index).map(|part| (candidate, part))
    }

    /// The response as far as it has come.
    pub fn so_far(&self) -> &Response<'static> {
        &self.response
    }

    /// The whole response; a stream that failed has its fault in it.
    pub fn finish(self) -> Response<'static> {
        self.response
    }

    fn start(&mut self, start: Start<'static>) {
        let Start { id, model, created, service_tier, semantics } = start;
        let earlier = std::mem::take(&mut self.response);
        self.response = Response { id, model, created, service_tier, semantics, ..earlier };
    }

    fn open(&mut self, open: Open<'static>) {
        let Open { part: _, candidate, opening, semantics } = open;
        let place = (candidate as usize).min(CANDIDATES_MAX - 1);
        let parts = &mut self.candidate(candidate).message.parts;
        parts.push(Part { content: opening.into_content(), semantics });
        let index = parts.len() - 1;
        self.parts.push((place, index));
    }

    fn note(&mut self, note: Note<'static>) {
        let semantics = match note.at {
            NoteAt::Response => self.response.semantics_mut(),
            NoteAt::Candidate(candidate) => self.candidate(candidate).semantics_mut(),
            NoteAt::Part(part) => match self.part(part) {
                Some(part) => part.semantics_mut(),
                None => return,
            },
        };
        match note.kind {
            NoteKind::Citation(citation) => semantics.add_citation(citation),
            NoteKind::Logprobs(more) => semantics.add_logprobs(more),
            NoteKind::Semantics(later) => semantics.merge(later),
        }
    }

    fn candidate(&mut self, candidate: u32) -> &mut Candidate<'static> {
        let index = (candidate as usize).min(CANDIDATES_MAX - 1);
        while self.response.candidates.len() <= index {
            let message = Message::new(Role::Assistant, Vec::new());
            self.response.candidates.push(Candidate::new(message));
        }
        &mut self.response.candidates[index]
    }

    fn part(&mut self, part: PartId) -> Option<&mut Part<'static>> {
        let (candidate, index) = *self.parts.get(part.0 as usize)?;
        self.response.candidates.get_mut(candidate)?.message.parts.get_mut(index)
    }
}

impl<'a> Opening<'a> {
    /// The part as it stands when it begins.
    pub(in super::super) fn into_content(self) -> Content<'a> {
        match self {
            Opening::Text => Content::Text(Text::default()),
            Opening::Refusal => Content::Refusal(Text::default()),
            Opening::Reasoning(form) => {
                Content::Reasoning(Box::new(Reasoning { form, texts: Vec::new() }))
            }
            Opening::ToolCall { id, name, form } => {
                let arguments = Arguments::Text(Text::default());
                Content::ToolCall(Box::new(ToolCall { id, name, arguments, form }))
            }
            Opening::Whole(content) => content,
        }
    }
}

/// Adds to a part what a delta says.
pub(in super::super) fn grow(part: &mut Part<'static>, delta: Delta<'_>) {
    match (part.content_mut(), delta) {
        (Content::Text(text) | Content::Refusal(text), Delta::Text(more)) => text.push(&more),
        (Content::Reasoning(reasoning), Delta::Text(more)) => match reasoning.texts.last_mut() {
            Some(text) => text.push(&more),
            None => reasoning.texts.push(more.into_owned()),
        },
        (Content::Reasoning(reasoning), Delta::NextPiece) => {
            reasoning.texts.push(Text::default());
        }
        (Content::ToolCall(call), Delta::Text(more)) => {
            if let Arguments::Text(text) = &mut call.arguments {
                text.push(&more);
            }
        }
        (Content::Text(_) | Content::Refusal(_) | Content::ToolCall(_), Delta::NextPiece)
        | (Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_), _) => {}
    }
}
